//! Watch rules that operators save while a crawl runs.

use crate::impl_message;
use page::Timestamp;
use serde::{Deserialize, Serialize};

/// All rules that operators have saved. The set with the highest number counts, above the rules of the settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleSet {
    /// From 1.
    pub number: i64,
    /// The rules as TOML, in tables `[[rules]]`.
    pub text: String,
    pub saved_at: Timestamp,
    /// The key or token that saved it, if it is known.
    pub saved_by: Option<String>,
}

impl RuleSet {
    /// Sets that are kept on the compacted topic.
    pub const KEPT: i64 = 20;

    /// The record key: a new set takes the place of one that is no longer kept.
    pub(crate) fn slot(&self) -> String {
        format!("{:02}", self.number.rem_euclid(Self::KEPT))
    }
}

impl_message!(RuleSet, "RuleSet", include_str!("../../../schemas/RuleSet.avsc"));
