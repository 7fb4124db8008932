//! Records that a stage could not process.

use crate::impl_message;
use page::Timestamp;
use serde::{Deserialize, Serialize};

/// A record that a stage could not process, set aside with the reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeadLetter {
    /// The stage that failed.
    pub stage: String,
    /// Topic of the record.
    pub topic: String,
    /// Partition of the record.
    pub partition: i32,
    /// Offset of the record.
    pub offset: i64,
    /// Key of the record.
    #[serde(with = "serde_bytes")]
    pub key: Vec<u8>,
    /// Value of the record. Absent for a tombstone.
    #[serde(with = "serde_bytes")]
    pub value: Option<Vec<u8>>,
    /// Why the record could not be processed.
    pub reason: String,
    /// When it was set aside.
    pub set_aside_at: Timestamp,
}

impl_message!(DeadLetter, "DeadLetter", include_str!("../../../schemas/DeadLetter.avsc"));
