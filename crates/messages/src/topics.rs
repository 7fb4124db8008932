//! The topics, as data. `schemas/README.md` shows this catalogue to people; a test keeps the two equal.

/// What stands in front of every topic name unless the operator says otherwise.
pub const DEFAULT_PREFIX: &str = "recrawl.";

/// Scheduler to fetcher.
pub const FETCH_REQUESTS: &str = "fetch-requests";
/// Fetcher to detector.
pub const FETCH_RESULTS: &str = "fetch-results";
/// Detector to estimator.
pub const PAGE_OBSERVATIONS: &str = "page-observations";
/// Detector to matcher.
pub const PAGE_BANDS: &str = "page-bands";
/// All that reaches the scheduler.
pub const SCHEDULER_EVENTS: &str = "scheduler-events";
/// The product.
pub const PAGE_CHANGES: &str = "page-changes";
/// The kept copies: also the changelog of the detector's store of them.
pub const PAGE_CONTENTS: &str = "page-contents";
/// Between scheduler partitions.
pub const DEMAND: &str = "demand";
/// The schemas of all records, for readers of other versions.
pub const SCHEMAS: &str = "schemas";
/// What could not be worked on.
pub const DEAD_LETTERS: &str = "dead-letters";

/// One topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopicSpec {
    /// Its name without the prefix.
    pub name: &'static str,
    /// What a record's key is.
    pub key: Key,
    /// Names of the record types it carries. Empty for changelogs, whose records are private to their service, and for the
    /// schemas themselves.
    pub messages: &'static [&'static str],
    /// The services that write to it.
    pub producers: &'static [&'static str],
    /// The services that read it; empty when only readers outside do.
    pub consumers: &'static [&'static str],
    /// What happens to old records.
    pub cleanup: Cleanup,
    /// The largest record, key and framing included (`max.message.bytes`).
    pub max_message_bytes: u32,
    /// How many partitions it has.
    pub partitions: Partitions,
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
    /// The name on the broker.
    pub fn full_name(&self, prefix: &str) -> String {
        format!("{prefix}{}", self.name)
    }

    /// The number of partitions, given that of the loop.
    pub fn partition_count(&self, loop_partitions: u32) -> u32 {
        match self.partitions {
            Partitions::PerLoop => loop_partitions,
            Partitions::Fixed(count) => count,
        }
    }
}

/// The topic of that name, without prefix.
pub fn find(name: &str) -> Option<&'static TopicSpec> {
    CATALOGUE.iter().find(|topic| topic.name == name)
}

/// The name, without prefix, of the changelog of a service's store.
pub fn changelog(service: &str, store: &str) -> String {
    format!("{service}-{store}-changelog")
}

const MIB: u32 = 1 << 20;
/// A packed body and what goes with it. Bodies are cut by the fetcher well below.
const BODY_BYTES: u32 = 8 * MIB;

const STAGES: &[&str] = &["scheduler", "fetcher", "detector", "estimator", "matcher"];
const EVERYONE: &[&str] = &["scheduler", "fetcher", "detector", "estimator", "matcher", "recrawl"];

const fn in_loop(
    name: &'static str,
    messages: &'static [&'static str],
    producers: &'static [&'static str],
    consumers: &'static [&'static str],
) -> TopicSpec {
    let cleanup = Cleanup::Delete { retention_days: 7 };
    let (key, partitions) = (Key::Site, Partitions::PerLoop);
    TopicSpec { name, key, messages, producers, consumers, cleanup, max_message_bytes: MIB, partitions }
}

const fn changelog_of(service: &'static [&'static str], name: &'static str, key: Key) -> TopicSpec {
    TopicSpec {
        name,
        key,
        messages: &[],
        producers: service,
        consumers: service,
        cleanup: Cleanup::Compact,
        max_message_bytes: MIB,
        partitions: Partitions::PerLoop,
    }
}

/// All topics.
pub const CATALOGUE: &[TopicSpec] = &[
    in_loop(FETCH_REQUESTS, &["FetchRequest"], &["scheduler"], &["fetcher"]),
    TopicSpec {
        max_message_bytes: BODY_BYTES,
        // Bodies take nearly all of the disk. Three days outlast a weekend without a detector.
        cleanup: Cleanup::Delete { retention_days: 3 },
        ..in_loop(FETCH_RESULTS, &["FetchResult"], &["fetcher"], &["detector"])
    },
    in_loop(PAGE_OBSERVATIONS, &["PageObservation"], &["detector"], &["estimator"]),
    TopicSpec { key: Key::Band, ..in_loop(PAGE_BANDS, &["PageBand"], &["detector"], &["matcher"]) },
    in_loop(
        SCHEDULER_EVENTS,
        &["ChangeEstimate", "SweepForecast", "PageLinks", "Command", "ChangeHint", "MirrorLetter"],
        &["estimator", "detector", "matcher", "scheduler", "recrawl"],
        &["scheduler"],
    ),
    TopicSpec {
        key: Key::Page,
        cleanup: Cleanup::Delete { retention_days: 30 },
        ..in_loop(PAGE_CHANGES, &["PageChange"], &["detector"], &[])
    },
    TopicSpec {
        key: Key::Page,
        cleanup: Cleanup::Compact,
        max_message_bytes: BODY_BYTES,
        // What the detector reads again is its own store, after a loss.
        ..in_loop(PAGE_CONTENTS, &["PageContent"], &["detector"], &["detector"])
    },
    TopicSpec {
        key: Key::StagePartition,
        cleanup: Cleanup::Compact,
        partitions: Partitions::Fixed(1),
        ..in_loop(DEMAND, &["Demand"], &["scheduler"], &["scheduler"])
    },
    TopicSpec {
        key: Key::Fingerprint,
        cleanup: Cleanup::Compact,
        partitions: Partitions::Fixed(1),
        ..in_loop(SCHEMAS, &[], EVERYONE, EVERYONE)
    },
    TopicSpec {
        key: Key::Original,
        cleanup: Cleanup::Delete { retention_days: 30 },
        // The largest record of any topic, and why it is here.
        max_message_bytes: BODY_BYTES + MIB,
        partitions: Partitions::Fixed(1),
        ..in_loop(DEAD_LETTERS, &["DeadLetter"], STAGES, &["recrawl"])
    },
    changelog_of(&["scheduler"], "scheduler-pages-changelog", Key::Page),
    changelog_of(&["scheduler"], "scheduler-hosts-changelog", Key::Host),
    changelog_of(&["scheduler"], "scheduler-outlook-changelog", Key::Hash),
    changelog_of(&["detector"], "detector-pages-changelog", Key::Page),
    changelog_of(&["detector"], "detector-versions-changelog", Key::Page),
    changelog_of(&["detector"], "detector-hosts-changelog", Key::Host),
    changelog_of(&["estimator"], "estimator-pages-changelog", Key::Page),
    changelog_of(&["estimator"], "estimator-groups-changelog", Key::Group),
    changelog_of(&["estimator"], "estimator-sweeps-changelog", Key::Hash),
    changelog_of(&["matcher"], "matcher-bands-changelog", Key::Band),
];
