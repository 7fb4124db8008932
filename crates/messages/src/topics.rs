//! The topics, each declared once with its record type.
//!
//! These declarations and the tables of the stages give the catalogue of all topics in `schemas/README.md`.

use crate::{
    Answer, AuditRecord, DeadLetter, Demand, DetectorEvent, EstimatorEvent, FetcherEvent, FocusOrder, HostStop,
    PageBand, PageChange, PageContent, RankTotals, RankerEvent, RuleSet, SchedulerEvent,
};

pub use wire::{CleanupPolicy, KeyKind, Partitions, Topic, TopicName, TopicSpec};

const MIB: u32 = 1 << 20;
/// The largest record of any topic. Some services take no more than 8 MiB, and 4 KiB of that may be the batch around it.
const LARGEST: u32 = 8 * MIB - 4 * 1_024;
/// Limit for a packed body with its metadata. The fetcher's limit on bodies is well below.
const BODY_BYTES: u32 = 7 * MIB + MIB / 2;

/// Scheduler to fetcher.
pub const FETCH_REQUESTS: Topic<FetcherEvent> = Topic::new("fetch-requests");
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
pub const FOCUS_ORDERS: Topic<FocusOrder> =
    Topic::new("focus-orders").compacted().one_partition().max_message_bytes(4 * MIB);
/// Operator to every scheduler and detector partition. A set has at most a thousand rules.
pub const RULE_SETS: Topic<RuleSet> = Topic::new("rule-sets").compacted().one_partition();
/// Every stage to the operator who asked. An answer may hold the copy of a page.
pub const ANSWERS: Topic<Answer> =
    Topic::new("answers").one_partition().max_message_bytes(BODY_BYTES).retention_days(1);
/// Commands and scheduler to `recrawl audit`: orders, with their authors and effects.
pub const AUDIT: Topic<AuditRecord> = Topic::new("audit").one_partition().retention_days(90);
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
    Topic::new("dead-letters").one_partition().max_message_bytes(LARGEST).retention_days(30);
/// The schemas of all records, for readers of other versions. The values are not messages but the schema texts.
pub const SCHEMAS: TopicSpec = TopicSpec {
    name: TopicName::Declared("schemas"),
    key: KeyKind::Fingerprint,
    schemas: Vec::new,
    cleanup: CleanupPolicy::Compact,
    max_message_bytes: MIB,
    partitions: Partitions::Fixed(1),
};

/// Empty records by which processes read the brokers' clock: brokers stamp them with their own time.
pub const CLOCK_CHECKS: TopicSpec = TopicSpec {
    name: TopicName::Declared("clock-checks"),
    key: KeyKind::None,
    schemas: Vec::new,
    cleanup: CleanupPolicy::Delete { retention_days: 1 },
    max_message_bytes: MIB,
    partitions: Partitions::Fixed(1),
};

/// Topics with the same number of partitions, so that a key leads to the same one everywhere. Changelogs follow the partitions of
/// their stage's input.
pub fn divided_alike() -> [TopicSpec; 8] {
    [
        FETCH_REQUESTS.spec(),
        FETCH_RESULTS.spec(),
        PAGE_OBSERVATIONS.spec(),
        PAGE_BANDS.spec(),
        SCHEDULER_EVENTS.spec(),
        RANKER_EVENTS.spec(),
        PAGE_CHANGES.spec(),
        PAGE_CONTENTS.spec(),
    ]
}
