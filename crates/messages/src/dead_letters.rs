//! Records that a stage could not process.

use crate::impl_message;
use page::Timestamp;
use serde::{Deserialize, Serialize};

/// A record that a stage could not process, set aside with the reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeadLetter {
    /// The stage that failed.
    pub stage: String,
    pub topic: String,
    pub partition: i32,
    pub offset: i64,
    #[serde(with = "serde_bytes")]
    pub key: Vec<u8>,
    /// Value of the record. Absent for a tombstone.
    #[serde(with = "serde_bytes")]
    pub value: Option<Vec<u8>>,
    pub reason: String,
    pub set_aside_at: Timestamp,
}

impl_message!(DeadLetter, "DeadLetter", include_str!("../../../schemas/DeadLetter.avsc"));
