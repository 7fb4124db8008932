//! Records, and the topics and partitions they live in.

use crate::partitioner::partition_for;
use crate::process_error::ProcessError;
use crate::trace::TraceContext;
use bytes::Bytes;
use page::Timestamp;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use wire::{Encoded, Keyed, Topic};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicPartition {
    /// Full topic name, prefix included.
    pub topic: Arc<str>,
    /// Partition number, counted from 0.
    pub partition: u32,
}

impl TopicPartition {
    pub fn new(topic: impl Into<Arc<str>>, partition: u32) -> Self {
        Self { topic: topic.into(), partition }
    }
}

impl fmt::Display for TopicPartition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.topic, self.partition)
    }
}

/// A record as read from a log. It does not name its topic; the reader knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputRecord {
    /// Partition it was read from.
    pub partition: u32,
    /// Offset in the partition.
    pub offset: u64,
    /// Time of creation, set by the producer.
    pub timestamp: Timestamp,
    /// Record key; it decides the partition.
    pub key: Vec<u8>,
    /// Record value, shared by its copies; `None` is a tombstone: in a compacted topic the key is deleted.
    pub value: Option<Bytes>,
    /// The trace that it belongs to, if any. In a box, because few records have one.
    pub trace: Option<Box<TraceContext>>,
}

impl InputRecord {
    /// Decodes the message in a record of this topic. A record of a newer version waits for its schema; any other
    /// record that does not decode, such as a tombstone, is to be set aside.
    pub fn read<M: Encoded>(&self, topic: Topic<M>) -> Result<M, ProcessError> {
        let tombstone = || {
            ProcessError::SetAside(format!(
                "found a record without a value (tombstone); {} carries values only",
                topic.name()
            ))
        };
        let value = self.value.as_deref().ok_or_else(tombstone)?;
        Ok(M::decode(value)?)
    }

    /// Size of key and value.
    pub fn bytes(&self) -> usize {
        self.key.len() + self.value.as_ref().map_or(0, Bytes::len)
    }
}

/// A record to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputRecord {
    /// Destination.
    pub to: TopicPartition,
    /// Time of creation.
    pub timestamp: Timestamp,
    /// Record key; it decides the partition.
    pub key: Vec<u8>,
    /// Record value; `None` is a tombstone.
    pub value: Option<Bytes>,
    /// The trace that it belongs to, if any. It does not count towards the record's size.
    pub trace: Option<Box<TraceContext>>,
}

impl OutputRecord {
    /// A message, addressed to the partition of its key. `topic` is the full name, `partitions` the topic's partition
    /// count.
    pub fn of<M: Keyed>(message: &M, topic: impl Into<Arc<str>>, partitions: u32, timestamp: Timestamp) -> Self {
        let key = message.key();
        let to = TopicPartition::new(topic, partition_for(&key, partitions));
        Self { to, timestamp, key, value: Some(message.encode().into()), trace: None }
    }

    /// Size of key and value.
    pub fn bytes(&self) -> usize {
        self.key.len() + self.value.as_ref().map_or(0, Bytes::len)
    }
}

/// When a topic drops records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cleanup {
    /// Keep the last value of every key.
    Compact,
    /// Drop records older than `retention`. If `consumed` is set (topics inside the loop), the embedded log also drops
    /// what every group has consumed; Kafka knows only the age.
    Delete {
        /// Age at which a record may be dropped.
        retention: Duration,
        /// Whether a record consumed by every group may be dropped before that age.
        consumed: bool,
    },
    /// Drop what every group has consumed, as above. The embedded log keeps the rest in memory: a killed process loses
    /// records that no group had consumed. For topics whose lost records will be made again.
    Transient {
        /// Age at which Kafka may drop a record.
        retention: Duration,
    },
}

impl Cleanup {
    /// Whether the embedded log drops a record that every group has consumed.
    pub fn drops_consumed(self) -> bool {
        match self {
            Self::Compact => false,
            Self::Delete { consumed, .. } => consumed,
            Self::Transient { .. } => true,
        }
    }
}

/// A topic as it should exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicConfig {
    /// Full name, prefix included.
    pub name: Arc<str>,
    /// Number of partitions; never changed afterwards, because keys would move.
    pub partitions: u32,
    /// When it drops records.
    pub cleanup: Cleanup,
    /// Largest record, in bytes.
    pub max_message_bytes: u32,
}

/// Range of offsets held by a partition: from `start` up to, but not including, `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OffsetBounds {
    /// First offset that may still be read.
    pub start: u64,
    /// Offset the next record will get.
    pub end: u64,
}
