//! Effects of the commands of operators, summed up for each order until the batch is committed.

use messages::{Command, OrderEffect};
use page::Timestamp;
use std::collections::BTreeMap;
use stream::TaskId;

/// The effect of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// So many pages were added, changed or forgotten.
    Pages(usize),
    /// So many pages were forgotten, and the command goes on.
    Begun(usize),
    /// A host was changed.
    Host,
    /// All is as it was.
    Unchanged,
    /// The command was not carried out, for this reason.
    Refused(&'static str),
}

impl Effect {
    pub(crate) fn of_host(is_change: bool) -> Self {
        if is_change { Self::Host } else { Self::Unchanged }
    }
}

/// The effects of the commands in this batch, by order.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    of_orders: BTreeMap<String, OrderEffect>,
}

impl Effects {
    /// Adds what came of a command, if it is part of an order.
    pub(crate) fn note(&mut self, command: &Command, effect: Effect, now: Timestamp) {
        let Some(order_id) = &command.order_id else { return };
        let sum = self.of_orders.entry(order_id.clone()).or_default();
        sum.taken_at = now;
        sum.commands += i64::from(!matches!(effect, Effect::Begun(_)));
        match effect {
            Effect::Pages(pages) | Effect::Begun(pages) => sum.pages += pages as i64,
            Effect::Host => sum.hosts += 1,
            Effect::Unchanged => sum.unchanged += 1,
            Effect::Refused(reason) => match (&command.url, &command.host) {
                (Some(url), _) => sum.refuse(reason, url),
                (None, Some(host)) => sum.refuse(reason, host),
                (None, None) => sum.refuse(reason, &"nothing"),
            },
        }
    }

    /// The effects since the last call, for the record.
    pub(crate) fn take(&mut self, task: &TaskId) -> Vec<OrderEffect> {
        let partition = i32::try_from(task.partition).unwrap_or(i32::MAX);
        let effects = std::mem::take(&mut self.of_orders).into_iter();
        effects
            .map(|(order_id, effect)| OrderEffect { order_id, stage: task.stage.clone(), partition, ..effect })
            .collect()
    }
}
