//! Records of orders for audits: who gave them, when, what they ask for, and what came of them.

use crate::{impl_message, message_union};
use page::Timestamp;
use serde::{Deserialize, Serialize};
use wire::{KeyKind, Keyed};

/// An order of an operator. It is written in the transaction of its first command, so no command goes without it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditedOrder {
    /// Random; commands and effects name it. Also the record key.
    pub order_id: String,
    pub given_at: Timestamp,
    /// The key or token that the port verified. `None`: the order was written to the log directly.
    pub caller: Option<String>,
    /// User and machine, `user@machine`, as the sender says. It is not verified.
    pub claimed_caller: Option<String>,
    /// The user of the login to Kafka, as the sender says.
    pub claimed_login: Option<String>,
    /// The word of the command.
    pub action: String,
    /// The first pages, hosts or other things that it is about.
    pub names: Vec<String>,
    /// Number of all that it is about.
    pub count: i64,
    /// Number of commands that it consists of. Each has an effect in some partition of the scheduler.
    pub commands: i64,
    /// Why a port refused it.
    pub refusal: Option<String>,
    /// Refused orders before it that were not recorded.
    pub refusals_left_out: i64,
}

impl AuditedOrder {
    /// Most names in one record.
    pub const MOST_NAMES: usize = 100;
}

/// The effect of some commands of an order: those in one transaction of one partition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderEffect {
    /// The order. Also the record key.
    pub order_id: String,
    /// The stage, or [`Self::BY_SENDER`].
    pub stage: String,
    pub partition: i32,
    pub taken_at: Timestamp,
    /// Commands that are carried out or refused.
    pub commands: i64,
    /// Pages that were added, changed or forgotten.
    pub pages: i64,
    /// Hosts that were changed.
    pub hosts: i64,
    /// Commands that left all as it was.
    pub unchanged: i64,
    pub refused: Vec<RefusedCommands>,
}

impl OrderEffect {
    /// The stage of effects that the program with the order notes itself.
    pub const BY_SENDER: &str = "recrawl";

    /// Counts a command that was refused.
    pub fn refuse(&mut self, reason: &str, subject: &dyn std::fmt::Display) {
        match self.refused.iter_mut().find(|refused| refused.reason == reason) {
            Some(refused) => refused.commands += 1,
            None => {
                let (reason, first) = (reason.to_owned(), subject.to_string());
                self.refused.push(RefusedCommands { reason, commands: 1, first });
            }
        }
    }
}

/// Commands that were refused for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedCommands {
    pub reason: String,
    pub commands: i64,
    /// The page or host of the first.
    pub first: String,
}

message_union! {
    /// A record of the topic of audits.
    #[derive(Clone, Debug, PartialEq)]
    pub enum AuditRecord {
        Order(AuditedOrder),
        Effect(OrderEffect),
    }
}

impl Keyed for AuditRecord {
    const KEY: KeyKind = KeyKind::Name;

    fn key(&self) -> Vec<u8> {
        match self {
            Self::Order(order) => order.key(),
            Self::Effect(effect) => effect.key(),
        }
    }
}

impl_message!(AuditedOrder, "AuditedOrder", include_str!("../../../schemas/AuditedOrder.avsc"));
impl_message!(OrderEffect, "OrderEffect", include_str!("../../../schemas/OrderEffect.avsc"));
