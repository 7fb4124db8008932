//! Names the topics, groups and stores of the stages, and lists the topics that must exist.
//!
//! The stages declare what they read, keep and write ([`StageTopology`]). The settings give the name prefixes, the
//! number of partitions and the retention. This crate combines the two, for both logs and all stages.
//!
//! It never talks to a log.

use messages::Encoded;
use messages::schemas::SchemaRecord;
use messages::topics::{self, CleanupPolicy, TopicSpec};
use settings::Settings;
use std::time::Duration;
use stream::{
    Cleanup, Clock, DeadLetters, FailedRecord, NamedTopic, RunnerSettings, SchemaTopic, StageSpec, StageTopology,
    StageWork, StatefulStage, StoreSpec, TableSpec, TopicConfig,
};

/// Most input records in one transaction of a stage.
pub const BATCH_RECORDS: usize = 1_000;
/// Bytes after which a transaction takes no further records, so that a backlog of large bodies fits into memory.
const BATCH_BYTES: usize = 32 << 20;

/// Names on the log, with their prefixes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogNames {
    topic_prefix: String,
    group_prefix: String,
}

impl LogNames {
    pub fn new(settings: &Settings) -> Self {
        Self { topic_prefix: settings.kafka.topic_prefix.clone(), group_prefix: settings.kafka.group_prefix.clone() }
    }

    /// Full name of a topic.
    pub fn topic(&self, topic: impl Into<TopicSpec>) -> String {
        format!("{}{}", self.topic_prefix, topic.into().name)
    }

    /// Consumer group of a stage.
    pub fn group(&self, stage: &str) -> String {
        format!("{}{stage}", self.group_prefix)
    }

    /// A stage under these names. It punctuates about every `punctuate_every`, on the clock of the web.
    pub fn stage(&self, topology: &StageTopology, punctuate_every: Duration, work: StageWork) -> StageSpec {
        let StatefulStage { name, group, input, stores } = self.stateful_stage(topology);
        let named = |topic: &TopicSpec| NamedTopic { name: topic.name, topic: self.topic(*topic) };
        StageSpec {
            name,
            group,
            input,
            outputs: topology.outputs.iter().map(named).collect(),
            stores,
            broadcasts: topology.broadcasts.iter().map(named).collect(),
            dead_letters: self.dead_letters(),
            schemas: Some(self.schemas(topology.state_schemas())),
            punctuate_every,
            begins_traces: topology.begins_traces,
            subject: None,
            stand_in: None,
            work,
        }
    }

    /// The names of a stage, its input and its state.
    pub fn stateful_stage(&self, topology: &StageTopology) -> StatefulStage {
        let stage = topology.name;
        let store = |table: &TableSpec| StoreSpec {
            name: table.name,
            changelog: self.topic(table.changelog(stage)),
            is_public: table.published_as.is_some(),
        };
        StatefulStage {
            name: stage.to_owned(),
            group: self.group(stage),
            input: self.topic(topology.input).into(),
            stores: topology.tables.iter().map(store).collect(),
        }
    }

    /// The topic of schemas for a program that writes messages, and state of these schemas.
    pub fn schemas(&self, of_state: Vec<SchemaRecord>) -> SchemaTopic {
        let own = [messages::schemas::of_messages(), of_state].concat();
        SchemaTopic { topic: self.topic(topics::SCHEMAS), own, registered: Vec::new() }
    }

    /// Destination of records that a stage cannot process.
    pub fn dead_letters(&self) -> DeadLetters {
        DeadLetters { topic: self.topic(topics::DEAD_LETTERS), encode: encode_dead_letter }
    }
}

fn encode_dead_letter(dead_letter: &FailedRecord<'_>) -> Vec<u8> {
    messages::DeadLetter {
        stage: dead_letter.stage.to_owned(),
        topic: dead_letter.topic.to_owned(),
        partition: dead_letter.record.partition as i32,
        offset: dead_letter.record.offset as i64,
        key: dead_letter.record.key.clone(),
        value: dead_letter.record.value.clone().map(Vec::from),
        reason: dead_letter.reason.to_owned(),
        set_aside_at: dead_letter.set_aside_at,
    }
    .encode()
}

/// Longest wait before a smaller batch is taken, if none is set.
const BATCH_INTERVAL: Duration = Duration::from_millis(100);
/// The same over Kafka. A transaction costs a broker about a millisecond for each partition that it touches, however few records it
/// has.
const BATCH_INTERVAL_OVER_KAFKA: Duration = Duration::from_millis(500);

/// Longest wait before a smaller batch is taken over Kafka.
pub fn batch_interval_over_kafka(settings: &Settings) -> Duration {
    settings.log.batch_interval.unwrap_or(BATCH_INTERVAL_OVER_KAFKA)
}

/// Batching of a stage that punctuates every `punctuate_every`.
pub fn runner_settings(settings: &Settings, punctuate_every: Duration, clock: &dyn Clock) -> RunnerSettings {
    let interval = settings.log.batch_interval.unwrap_or(BATCH_INTERVAL);
    RunnerSettings::new(BATCH_RECORDS, BATCH_BYTES, interval, punctuate_every, clock)
}

/// All topics these stages need, each once: inputs and outputs, then the shared topics, then the changelogs.
pub fn catalogue(stages: &[StageTopology]) -> Vec<TopicSpec> {
    let inputs = stages.iter().map(|stage| stage.input);
    let outputs = stages.iter().flat_map(|stage| stage.outputs.iter().chain(&stage.broadcasts).copied());
    let changelogs = stages.iter().flat_map(StageTopology::changelogs);
    let shared = [topics::SCHEMAS, topics::CLOCK_CHECKS, topics::DEAD_LETTERS.spec()];
    let mut catalogue: Vec<TopicSpec> = Vec::new();
    for topic in inputs.chain(outputs).chain(shared).chain(changelogs) {
        if !catalogue.iter().any(|known| known.name == topic.name) {
            catalogue.push(topic);
        }
    }
    catalogue
}

/// Configurations of the [`catalogue`], with `loop_partitions` partitions for the topics of the loop.
pub fn topic_configs(settings: &Settings, stages: &[StageTopology], loop_partitions: u32) -> Vec<TopicConfig> {
    let names = LogNames::new(settings);
    let config = |topic: TopicSpec| TopicConfig {
        name: names.topic(topic).into(),
        partitions: topic.partition_count(loop_partitions),
        cleanup: match topic.cleanup {
            CleanupPolicy::Compact => Cleanup::Compact,
            CleanupPolicy::Delete { retention_days } => {
                let days = Duration::from_secs(u64::from(retention_days) * 86_400);
                match kept(settings, topic) {
                    Some(retention) => Cleanup::Delete { retention, consumed: false },
                    // A lost result is fetched again when the lease of its request ends.
                    None if topic.name == topics::FETCH_RESULTS.name() => Cleanup::Transient { retention: days },
                    // Inside the loop a record is of no use once it was read.
                    None => Cleanup::Delete { retention: days, consumed: true },
                }
            }
        },
        max_message_bytes: topic.max_message_bytes,
    };
    catalogue(stages).into_iter().map(config).collect()
}

/// Configured retention of records that were read; `None` for topics without one.
fn kept(settings: &Settings, topic: TopicSpec) -> Option<Duration> {
    let of = |other: TopicSpec| topic.name == other.name;
    if of(topics::PAGE_CHANGES.spec()) {
        Some(settings.log.retention_changes)
    } else if of(topics::AUDIT.spec()) {
        Some(settings.log.retention_audit)
    } else if of(topics::DEAD_LETTERS.spec()) {
        Some(settings.log.retention_dead_letters)
    } else if of(topics::FETCH_RESULTS.spec()) {
        settings.log.retention_results
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stream::Table;

    const PAGES: Table<Vec<u8>, Vec<u8>> = Table::new("pages");

    /// A stage that reads results and keeps data about pages.
    fn stage() -> StageTopology {
        let stage = StageTopology::new("reader", topics::FETCH_RESULTS).keeps(PAGES);
        stage.writes(topics::SCHEDULER_EVENTS).writes(topics::PAGE_CHANGES)
    }

    #[test]
    fn a_stage_needs_its_ends_its_changelogs_and_what_all_share_each_once() {
        let again = StageTopology::new("again", topics::SCHEDULER_EVENTS).writes(topics::FETCH_RESULTS);
        let names: Vec<_> = catalogue(&[stage(), again]).iter().map(|topic| topic.name.to_string()).collect();
        let expected = [
            "fetch-results",
            "scheduler-events",
            "page-changes",
            "schemas",
            "clock-checks",
            "dead-letters",
            "reader-pages-changelog",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_stage_is_named_by_the_settings() {
        let mut settings = Settings::default();
        settings.kafka.topic_prefix = "t.".to_owned();
        settings.kafka.group_prefix = "g-".to_owned();
        let work = StageWork::Processors(Box::new(|_| unreachable!("nothing runs here")));
        let spec = LogNames::new(&settings).stage(&stage(), Duration::from_secs(1), work);
        assert_eq!((spec.group.as_str(), &*spec.input), ("g-reader", "t.fetch-results"));
        assert_eq!(spec.stores[0].changelog, "t.reader-pages-changelog");
        assert_eq!(spec.outputs[1].topic, "t.page-changes");
        assert_eq!(spec.dead_letters.topic, "t.dead-letters");
    }

    #[test]
    fn results_go_once_they_are_read_unless_they_are_to_be_kept() {
        let mut settings = Settings::default();
        let cleanup = |settings: &Settings| {
            let name = LogNames::new(settings).topic(topics::FETCH_RESULTS);
            let configs = topic_configs(settings, &[stage()], 4);
            configs.into_iter().find(|topic| *topic.name == *name).unwrap().cleanup
        };
        let days = |days: u64| Duration::from_secs(days * 86_400);
        assert_eq!(cleanup(&settings), Cleanup::Transient { retention: days(3) });
        settings.log.retention_results = Some(days(30));
        assert_eq!(cleanup(&settings), Cleanup::Delete { retention: days(30), consumed: false });
    }
}
