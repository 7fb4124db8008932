//! Writes records of orders.

use super::Author;
use crate::Order;
use daemon::CommandFailure;
use messages::{AuditRecord, AuditedOrder, OrderEffect, topics};
use page::{DAY, Timestamp};
use std::sync::{Arc, Mutex, PoisonError};
use stream::{Clock, Log, OutputRecord};
use topology::LogNames;

/// Refused orders that are recorded in a day. The holder of any key can make them, and could fill the disk.
const MOST_REFUSALS_A_DAY: u32 = 1_000;

/// Writes records of orders to a log, embedded or Kafka.
#[derive(Clone)]
pub struct AuditWriter {
    log: Arc<dyn Log>,
    topic: String,
    clock: Arc<dyn Clock>,
    refusals: Arc<Mutex<Refusals>>,
}

/// The refusals of a day.
#[derive(Default)]
struct Refusals {
    since: Timestamp,
    recorded: u32,
    /// Those that the next record counts.
    left_out: i64,
}

impl AuditWriter {
    /// A writer to the topic of a log.
    ///
    /// # Errors
    /// The topic is missing, or the log does not answer.
    pub fn new(log: Arc<dyn Log>, names: &LogNames, clock: Arc<dyn Clock>) -> Result<Self, CommandFailure> {
        let topic = names.topic(topics::AUDIT);
        if log.topic(&topic)?.is_none() {
            let problem = format!("topic {topic} does not exist; create it with recrawl topics create");
            return Err(CommandFailure::Input(problem));
        }
        Ok(Self { log, topic, clock, refusals: Arc::default() })
    }

    /// The record of an order. `partitions`: of the scheduler, because some orders have a command for each.
    pub(crate) fn order(&self, order: &Order, partitions: u32, author: &Author) -> AuditedOrder {
        let commands = match order {
            Order::AddFocus { .. } | Order::RemoveFocus(_) | Order::SaveRules(_) => 0,
            Order::Sources(_, sources) => sources.len() as i64 * i64::from(partitions),
            Order::Seeds { .. } | Order::Pages(..) | Order::Hosts(..) => order.count() as i64,
        };
        let names = order.names(AuditedOrder::MOST_NAMES);
        AuditedOrder { names, count: order.count() as i64, commands, ..self.action(order.word(), author) }
    }

    /// The record of an action, still without names.
    pub(crate) fn action(&self, word: &str, author: &Author) -> AuditedOrder {
        let Author { caller, claimed_caller, claimed_login } = author.clone();
        AuditedOrder {
            order_id: format!("{:016x}", rand::random::<u64>()),
            given_at: self.clock.now(),
            caller,
            claimed_caller,
            claimed_login,
            action: word.to_owned(),
            refusals_left_out: std::mem::take(&mut self.lock().left_out),
            ..AuditedOrder::default()
        }
    }

    /// A record for the log.
    pub(crate) fn record(&self, record: impl Into<AuditRecord>) -> OutputRecord {
        let record: AuditRecord = record.into();
        OutputRecord::of(&record, self.topic.as_str(), 1, self.clock.now())
    }

    /// Records an action of which this program alone knows what comes.
    ///
    /// # Errors
    /// The log does not take it.
    pub(crate) fn write(&self, record: impl Into<AuditRecord>) -> Result<(), CommandFailure> {
        self.log.append(&[self.record(record)])?;
        Ok(())
    }

    /// The effect of such an action: it was done, or failed for this reason.
    pub(crate) fn effect(&self, order_id: &str, subject: &str, failure: Option<&str>) -> OrderEffect {
        let mut effect = OrderEffect {
            order_id: order_id.to_owned(),
            stage: OrderEffect::BY_SENDER.to_owned(),
            taken_at: self.clock.now(),
            commands: 1,
            ..OrderEffect::default()
        };
        if let Some(failure) = failure {
            effect.refuse(failure, &subject);
        }
        effect
    }

    /// Records that a port refused an action. Where there are too many in a day, the next record counts the others. A log that
    /// does not take it must not keep the caller from its answer.
    pub fn refuse(&self, word: &str, author: &Author, names: (Vec<String>, usize), why: &str) {
        if !self.admits_refusal() {
            return;
        }
        let (names, count) = (names.0, names.1 as i64);
        let order = AuditedOrder { names, count, refusal: Some(why.to_owned()), ..self.action(word, author) };
        if let Err(error) = self.write(order) {
            tracing::warn!(%error, "cannot record a refused command");
        }
    }

    fn admits_refusal(&self) -> bool {
        let now = self.clock.now();
        let mut refusals = self.lock();
        if now.saturating_since(refusals.since) >= DAY {
            (refusals.since, refusals.recorded) = (now, 0);
        }
        let is_admitted = refusals.recorded < MOST_REFUSALS_A_DAY;
        match is_admitted {
            true => refusals.recorded += 1,
            false => refusals.left_out += 1,
        }
        is_admitted
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Refusals> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
