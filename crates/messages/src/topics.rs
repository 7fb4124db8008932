//! The topics that records travel on, each declared once with the type of its records.
//!
//! The catalogue of all topics follows from these and from the tables of the stages: `schemas/README.md` shows it.

use crate::schemas::SchemaRecord;
use crate::{
    DeadLetter, Demand, Encoded, FetchRequest, FetchResult, Keyed, PageBand, PageChange, PageContent, PageObservation,
    SchedulerEvent,
};
use std::fmt;
use std::marker::PhantomData;

/// What stands in front of every topic name unless the operator says otherwise.
pub const DEFAULT_PREFIX: &str = "recrawl.";

const MIB: u32 = 1 << 20;
/// A packed body and what goes with it. Bodies are cut by the fetcher well below.
const BODY_BYTES: u32 = 8 * MIB;

/// Scheduler to fetcher.
pub const FETCH_REQUESTS: Topic<FetchRequest> = Topic::new("fetch-requests");
/// Fetcher to detector. Bodies take nearly all of the disk: three days outlast a weekend without a detector.
pub const FETCH_RESULTS: Topic<FetchResult> =
    Topic::new("fetch-results").max_message_bytes(BODY_BYTES).retention_days(3);
/// Detector to estimator.
pub const PAGE_OBSERVATIONS: Topic<PageObservation> = Topic::new("page-observations");
/// Detector to matcher.
pub const PAGE_BANDS: Topic<PageBand> = Topic::new("page-bands");
/// All that reaches the scheduler.
pub const SCHEDULER_EVENTS: Topic<SchedulerEvent> = Topic::new("scheduler-events");
/// The product.
pub const PAGE_CHANGES: Topic<PageChange> = Topic::new("page-changes").retention_days(30);
/// The kept copies: also the changelog of the detector's table of them.
pub const PAGE_CONTENTS: Topic<PageContent> = Topic::new("page-contents").compacted().max_message_bytes(BODY_BYTES);
/// Between scheduler partitions.
pub const DEMAND: Topic<Demand> = Topic::new("demand").compacted().one_partition();
/// What could not be worked on: the largest record of any topic, and why it is here.
pub const DEAD_LETTERS: Topic<DeadLetter> =
    Topic::new("dead-letters").one_partition().max_message_bytes(BODY_BYTES + MIB).retention_days(30);
/// The schemas of all records, for readers of other versions. Its records are no messages: the value is the text.
pub const SCHEMAS: TopicSpec = TopicSpec {
    name: TopicName::Declared("schemas"),
    key: Key::Fingerprint,
    schemas: Vec::new,
    cleanup: Cleanup::Compact,
    max_message_bytes: MIB,
    partitions: Partitions::Fixed(1),
};

/// A topic that carries records of one type, or of one union of types.
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
    /// A topic of the loop: its records go after a week and take a MiB at the most.
    pub const fn new(name: &'static str) -> Self {
        let spec = TopicSpec {
            name: TopicName::Declared(name),
            key: M::KEY,
            schemas: M::schemas,
            cleanup: Cleanup::Delete { retention_days: 7 },
            max_message_bytes: MIB,
            partitions: Partitions::PerLoop,
        };
        Self { spec, of: PhantomData }
    }
}

impl<M> Topic<M> {
    const fn compacted(mut self) -> Self {
        self.spec.cleanup = Cleanup::Compact;
        self
    }

    const fn retention_days(mut self, retention_days: u32) -> Self {
        self.spec.cleanup = Cleanup::Delete { retention_days };
        self
    }

    const fn max_message_bytes(mut self, max_message_bytes: u32) -> Self {
        self.spec.max_message_bytes = max_message_bytes;
        self
    }

    const fn one_partition(mut self) -> Self {
        self.spec.partitions = Partitions::Fixed(1);
        self
    }

    /// The topic as data.
    pub const fn spec(self) -> TopicSpec {
        self.spec
    }

    /// Its name without the prefix.
    pub const fn name(self) -> TopicName {
        self.spec.name
    }
}

impl<M> From<Topic<M>> for TopicSpec {
    fn from(topic: Topic<M>) -> Self {
        topic.spec
    }
}

/// A topic as data.
#[derive(Clone, Copy, Debug)]
pub struct TopicSpec {
    /// Its name without the prefix.
    pub name: TopicName,
    /// What a record's key is.
    pub key: Key,
    /// The schemas of its records. Empty when they follow none.
    pub schemas: fn() -> Vec<SchemaRecord>,
    /// What happens to old records.
    pub cleanup: Cleanup,
    /// The largest record, key and framing included (`max.message.bytes`).
    pub max_message_bytes: u32,
    /// How many partitions it has.
    pub partitions: Partitions,
}

/// The name of a topic without the prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TopicName {
    /// Of a topic that records travel on.
    Declared(&'static str),
    /// Of the changelog that is private to a stage.
    Changelog {
        /// The stage.
        stage: &'static str,
        /// Its table.
        table: &'static str,
    },
}

impl fmt::Display for TopicName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TopicName::Declared(name) => f.write_str(name),
            TopicName::Changelog { stage, table } => write!(f, "{stage}-{table}-changelog"),
        }
    }
}

/// What a record's key is, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// The site key in UTF-8, so that everything of a site stays in one partition.
    Site,
    /// The 16 bytes of the page id.
    Page,
    /// The authority of a host in UTF-8.
    Host,
    /// A site in UTF-8, a zero byte, and the cell of its pages.
    Group,
    /// A band: one byte for its number, four for its value.
    Band,
    /// A letter for what it is (group, cell, site …), and the 8 bytes of its hash, the highest first.
    Hash,
    /// The speaking partition's number in decimal digits.
    StagePartition,
    /// The key of the record that was set aside.
    Original,
    /// The 8 bytes of a schema's fingerprint, as in the records written with it. The value is the schema's text, JSON
    /// without anything in front.
    Fingerprint,
}

/// What happens to old records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cleanup {
    /// The last record of each key stays.
    Compact,
    /// Records go when they are old.
    Delete {
        /// Days a record stays at least.
        retention_days: u32,
    },
}

/// How many partitions a topic has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partitions {
    /// As many as the other topics of the loop, so that one site stays in one place.
    PerLoop,
    /// So many, whatever the loop has.
    Fixed(u32),
}

impl TopicSpec {
    /// The changelog of a table whose values are of this type.
    pub const fn changelog<V: Encoded>(stage: &'static str, table: &'static str, key: Key) -> Self {
        Self {
            name: TopicName::Changelog { stage, table },
            key,
            schemas: V::schemas,
            cleanup: Cleanup::Compact,
            max_message_bytes: MIB,
            partitions: Partitions::PerLoop,
        }
    }

    /// The number of partitions, given that of the loop.
    pub fn partition_count(&self, loop_partitions: u32) -> u32 {
        match self.partitions {
            Partitions::PerLoop => loop_partitions,
            Partitions::Fixed(count) => count,
        }
    }
}
