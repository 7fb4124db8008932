//! A topic: its name, its record type, and how its records are kept.

use crate::Encoded;
use crate::key::{KeyKind, Keyed};
use crate::schema_record::SchemaRecord;
use std::fmt;
use std::marker::PhantomData;

const MIB: u32 = 1 << 20;

/// A topic with one record type, or one union of types.
pub struct Topic<M> {
    spec: TopicSpec,
    of: PhantomData<fn() -> M>,
}

impl<M> Clone for Topic<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Topic<M> {}

impl<M: Keyed> Topic<M> {
    /// A topic of the loop, with a week's retention and records of at most 1 MiB.
    pub const fn new(name: &'static str) -> Self {
        let spec = TopicSpec {
            name: TopicName::Declared(name),
            key: M::KEY,
            schemas: M::schemas,
            cleanup: CleanupPolicy::Delete { retention_days: 7 },
            max_message_bytes: MIB,
            partitions: Partitions::PerLoop,
        };
        Self { spec, of: PhantomData }
    }
}

impl<M> Topic<M> {
    /// With the last record per key only.
    pub const fn compacted(mut self) -> Self {
        self.spec.cleanup = CleanupPolicy::Compact;
        self
    }

    /// With records of this many days.
    pub const fn retention_days(mut self, retention_days: u32) -> Self {
        self.spec.cleanup = CleanupPolicy::Delete { retention_days };
        self
    }

    /// With records of at most this size, key and framing included.
    pub const fn max_message_bytes(mut self, max_message_bytes: u32) -> Self {
        self.spec.max_message_bytes = max_message_bytes;
        self
    }

    /// With a single partition.
    pub const fn one_partition(mut self) -> Self {
        self.spec.partitions = Partitions::Fixed(1);
        self
    }

    /// The untyped description of the topic.
    pub const fn spec(self) -> TopicSpec {
        self.spec
    }

    /// Name without prefix.
    pub const fn name(self) -> TopicName {
        self.spec.name
    }
}

impl<M> From<Topic<M>> for TopicSpec {
    fn from(topic: Topic<M>) -> Self {
        topic.spec
    }
}

/// Untyped description of a topic.
#[derive(Clone, Copy, Debug)]
pub struct TopicSpec {
    /// Name without prefix.
    pub name: TopicName,
    pub key: KeyKind,
    /// Schemas of the records. Empty if they have none.
    pub schemas: fn() -> Vec<SchemaRecord>,
    pub cleanup: CleanupPolicy,
    /// Largest record including key and framing (`max.message.bytes`).
    pub max_message_bytes: u32,
    pub partitions: Partitions,
}

/// Name of a topic without prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TopicName {
    /// A topic between stages or to the outside.
    Declared(&'static str),
    /// A changelog, private to its stage.
    Changelog { stage: &'static str, table: &'static str },
}

impl fmt::Display for TopicName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TopicName::Declared(name) => f.write_str(name),
            TopicName::Changelog { stage, table } => write!(f, "{stage}-{table}-changelog"),
        }
    }
}

/// Treatment of old records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CleanupPolicy {
    /// Keeps the last record per key.
    Compact,
    Delete {
        /// Least retention in days.
        retention_days: u32,
    },
}

/// Number of partitions of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partitions {
    /// The same number as the other topics of the loop, so that a site is in the same partition everywhere.
    PerLoop,
    /// A fixed number.
    Fixed(u32),
}

impl TopicSpec {
    /// The changelog of a table with values of this type.
    pub const fn changelog<V: Encoded>(stage: &'static str, table: &'static str, key: KeyKind) -> Self {
        Self {
            name: TopicName::Changelog { stage, table },
            key,
            schemas: V::schemas,
            cleanup: CleanupPolicy::Compact,
            max_message_bytes: MIB,
            partitions: Partitions::PerLoop,
        }
    }

    /// The number of partitions, given that of the loop's topics.
    pub fn partition_count(&self, loop_partitions: u32) -> u32 {
        match self.partitions {
            Partitions::PerLoop => loop_partitions,
            Partitions::Fixed(count) => count,
        }
    }
}
