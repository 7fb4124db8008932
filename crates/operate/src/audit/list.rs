//! The retained orders with what came of them.

use daemon::{CommandFailure, TopicReader};
use messages::{AuditRecord, AuditedOrder, Encoded, OrderEffect, RefusedCommands, topics};
use page::Timestamp;
use serde::Serialize;
use settings::Settings;
use std::collections::BTreeMap;

/// The action of an order of which only effects are retained.
const EXPIRED: &str = "expired";

/// An order with what came of it.
#[derive(Debug, Serialize)]
pub struct AuditRow {
    pub order_id: String,
    pub given_at: String,
    /// The key or token that the port verified.
    pub caller: Option<String>,
    /// User and machine, as the sender says.
    pub claimed_caller: Option<String>,
    /// The user of the login to Kafka, as the sender says.
    pub claimed_login: Option<String>,
    pub action: String,
    /// The first of the names.
    pub names: Vec<String>,
    pub count: i64,
    pub commands: i64,
    pub refusal: Option<String>,
    pub refusals_left_out: i64,
    pub effect: EffectRow,
}

/// The effect of an order.
#[derive(Debug, Default, Serialize)]
pub struct EffectRow {
    /// Commands that are carried out or refused.
    pub commands: i64,
    /// Commands that no partition has taken yet.
    pub awaited: i64,
    pub pages: i64,
    pub hosts: i64,
    pub unchanged: i64,
    pub refused: Vec<RefusedCommands>,
    /// When the last command was taken.
    pub taken_at: Option<String>,
}

/// The retained orders of a crawl, the first given first.
///
/// # Errors
/// The settings name no crawl, or its log does not answer.
pub fn list(settings: &Settings) -> Result<Vec<AuditRow>, CommandFailure> {
    read(&mut TopicReader::open(settings, topics::AUDIT, "recrawl-audit")?)
}

/// The orders that a reader of the topic finds, the first given first.
///
/// # Errors
/// The log does not answer, or a record cannot be decoded.
pub fn read(reader: &mut TopicReader) -> Result<Vec<AuditRow>, CommandFailure> {
    let mut orders = Orders::default();
    reader.read_all(|record| {
        let failed =
            |error| CommandFailure::World(format!("record {} of {}: {error}", record.offset, topics::AUDIT.name()));
        orders.take(AuditRecord::decode(record.value.as_deref().unwrap_or_default()).map_err(failed)?);
        Ok(())
    })?;
    Ok(orders.rows())
}

/// Orders by their id, with the effects so far.
#[derive(Default)]
struct Orders(BTreeMap<String, (Option<AuditedOrder>, OrderEffect)>);

impl Orders {
    fn take(&mut self, record: AuditRecord) {
        match record {
            AuditRecord::Order(order) => {
                let known = self.0.entry(order.order_id.clone()).or_default();
                known.0 = Some(order);
            }
            AuditRecord::Effect(effect) => add(&mut self.0.entry(effect.order_id.clone()).or_default().1, effect),
        }
    }

    fn rows(self) -> Vec<AuditRow> {
        let mut rows: Vec<(Timestamp, AuditRow)> =
            self.0.into_iter().map(|(order_id, (order, effect))| row(order_id, order, effect)).collect();
        rows.sort_by_key(|(given_at, _)| *given_at);
        rows.into_iter().map(|(_, row)| row).collect()
    }
}

fn add(sum: &mut OrderEffect, effect: OrderEffect) {
    sum.taken_at = sum.taken_at.max(effect.taken_at);
    sum.commands += effect.commands;
    sum.pages += effect.pages;
    sum.hosts += effect.hosts;
    sum.unchanged += effect.unchanged;
    for refused in effect.refused {
        match sum.refused.iter_mut().find(|known| known.reason == refused.reason) {
            Some(known) => known.commands += refused.commands,
            None => sum.refused.push(refused),
        }
    }
}

fn row(order_id: String, order: Option<AuditedOrder>, effect: OrderEffect) -> (Timestamp, AuditRow) {
    let expired = || AuditedOrder { given_at: effect.taken_at, action: EXPIRED.to_owned(), ..AuditedOrder::default() };
    let order = order.unwrap_or_else(expired);
    let effect = EffectRow {
        commands: effect.commands,
        awaited: (order.commands - effect.commands).max(0),
        pages: effect.pages,
        hosts: effect.hosts,
        unchanged: effect.unchanged,
        refused: effect.refused,
        taken_at: (effect.commands > 0 || effect.pages > 0).then(|| effect.taken_at.to_string()),
    };
    let row = AuditRow {
        order_id,
        given_at: order.given_at.to_string(),
        caller: order.caller,
        claimed_caller: order.claimed_caller,
        claimed_login: order.claimed_login,
        action: order.action,
        names: order.names,
        count: order.count,
        commands: order.commands,
        refusal: order.refusal,
        refusals_left_out: order.refusals_left_out,
        effect,
    };
    (order.given_at, row)
}
