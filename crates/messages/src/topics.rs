//! The topics, each declared once with its record type.
//!
//! These declarations and the tables of the stages give the catalogue of all topics in `schemas/README.md`.

use crate::schema_record::SchemaRecord;
use crate::{
    Answer, DeadLetter, Demand, DetectorEvent, Encoded, EstimatorEvent, FetchRequest, HostStop, Keyed, PageBand,
    PageChange, PageContent, RankTotals, RankerEvent, SchedulerEvent, TopicOrder,
};
use std::fmt;
use std::marker::PhantomData;

pub use crate::keys::KeyKind;

const MIB: u32 = 1 << 20;
/// Limit for a packed body with its metadata. The fetcher's limit on bodies is well below.
const BODY_BYTES: u32 = 8 * MIB;

/// Scheduler to fetcher.
pub const FETCH_REQUESTS: Topic<FetchRequest> = Topic::new("fetch-requests");
/// Fetcher to detector, and pages to be forgotten. Bodies take nearly all the disk space. Three days of retention outlast a weekend without a
/// detector.
pub const FETCH_RESULTS: Topic<DetectorEvent> =
    Topic::new("fetch-results").max_message_bytes(BODY_BYTES).retention_days(3);
/// Detector to estimator, and pages to be forgotten.
pub const PAGE_OBSERVATIONS: Topic<EstimatorEvent> = Topic::new("page-observations");
/// Detector to matcher.
pub const PAGE_BANDS: Topic<PageBand> = Topic::new("page-bands");
/// All input of the scheduler.
pub const SCHEDULER_EVENTS: Topic<SchedulerEvent> = Topic::new("scheduler-events");
/// All input of the ranker. A page may have thousands of links.
pub const RANKER_EVENTS: Topic<RankerEvent> = Topic::new("ranker-events").max_message_bytes(4 * MIB);
/// Ranker partition to all others.
pub const RANK_TOTALS: Topic<RankTotals> = Topic::new("rank-totals").compacted().one_partition();
/// Operator to every detector partition. A topic's file may have 2,000 words in each of 32 languages.
pub const TOPIC_ORDERS: Topic<TopicOrder> =
    Topic::new("topic-orders").compacted().one_partition().max_message_bytes(4 * MIB);
/// Every stage to the operator who asked. An answer may hold the copy of a page.
pub const ANSWERS: Topic<Answer> =
    Topic::new("answers").one_partition().max_message_bytes(BODY_BYTES).retention_days(1);
/// The product: page changes.
pub const PAGE_CHANGES: Topic<PageChange> = Topic::new("page-changes").retention_days(30);
/// The stored copies. Also the changelog of the detector's table of copies.
pub const PAGE_CONTENTS: Topic<PageContent> = Topic::new("page-contents").compacted().max_message_bytes(BODY_BYTES);
/// Scheduler partition to all others.
pub const DEMAND: Topic<Demand> = Topic::new("demand").compacted().one_partition();
/// Scheduler to every fetcher.
pub const HOST_STOPS: Topic<HostStop> = Topic::new("host-stops").compacted().one_partition();
/// Records that could not be processed: the largest record of any topic, plus the reason.
pub const DEAD_LETTERS: Topic<DeadLetter> =
    Topic::new("dead-letters").one_partition().max_message_bytes(BODY_BYTES + MIB).retention_days(30);
/// The schemas of all records, for readers of other versions. The values are not messages but the schema texts.
pub const SCHEMAS: TopicSpec = TopicSpec {
    name: TopicName::Declared("schemas"),
    key: KeyKind::Fingerprint,
    schemas: Vec::new,
    cleanup: CleanupPolicy::Compact,
    max_message_bytes: MIB,
    partitions: Partitions::Fixed(1),
};

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
    const fn compacted(mut self) -> Self {
        self.spec.cleanup = CleanupPolicy::Compact;
        self
    }

    const fn retention_days(mut self, retention_days: u32) -> Self {
        self.spec.cleanup = CleanupPolicy::Delete { retention_days };
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
    /// Kind of the record keys.
    pub key: KeyKind,
    /// Schemas of the records. Empty if they have none.
    pub schemas: fn() -> Vec<SchemaRecord>,
    /// Treatment of old records.
    pub cleanup: CleanupPolicy,
    /// Largest record including key and framing (`max.message.bytes`).
    pub max_message_bytes: u32,
    /// Number of partitions.
    pub partitions: Partitions,
}

/// Name of a topic without prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TopicName {
    /// A topic between stages or to the outside.
    Declared(&'static str),
    /// A changelog, private to its stage.
    Changelog {
        /// Name of the stage.
        stage: &'static str,
        /// Name of the table.
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

/// Treatment of old records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CleanupPolicy {
    /// Keeps the last record per key.
    Compact,
    /// Deletes old records.
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
