//! What are the topics, groups and stores of the stages called here, and which topics must exist?
//!
//! The catalogue ([`messages::topics`]) says what topics there are; the settings say what stands before their names, how
//! many partitions they have and how long they keep. This crate puts the two together, for both logs and all stages.
//!
//! It never talks to a log.

use messages::schemas::SchemaRecord;
use messages::topics::{self, CATALOGUE, TopicSpec};
use messages::{Message, topics::Cleanup as Forgetting};
use settings::Settings;
use std::time::Duration;
use stream::{Cleanup, Clock, DeadLetter, DeadLetters, RunnerSettings, SchemaTopic, StoreSpec, TopicConfig};

/// Names as they stand on the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    topic_prefix: String,
    group_prefix: String,
}

impl Names {
    /// The prefixes that the settings ask for.
    pub fn new(settings: &Settings) -> Self {
        Self { topic_prefix: settings.kafka.topic_prefix.clone(), group_prefix: settings.kafka.group_prefix.clone() }
    }

    /// A topic's full name.
    pub fn topic(&self, name: &str) -> String {
        format!("{}{name}", self.topic_prefix)
    }

    /// The consumer group of a stage.
    pub fn group(&self, stage: &str) -> String {
        format!("{}{stage}", self.group_prefix)
    }

    /// Stores of a stage, each with its changelog topic.
    pub fn stores(&self, stage: &str, stores: &[&str]) -> Vec<StoreSpec> {
        let named = |store: &&str| StoreSpec {
            name: (*store).to_owned(),
            changelog: self.topic(&topics::changelog(stage, store)),
            is_public: false,
        };
        stores.iter().map(named).collect()
    }

    /// Where every stage puts what it cannot work on.
    pub fn dead_letters(&self) -> DeadLetters {
        DeadLetters { topic: self.topic(topics::DEAD_LETTERS), encode: encode_dead_letter }
    }
}

fn encode_dead_letter(letter: &DeadLetter<'_>) -> Vec<u8> {
    messages::DeadLetter {
        stage: letter.stage.to_owned(),
        topic: letter.topic.to_owned(),
        partition: letter.record.partition as i32,
        offset: letter.record.offset as i64,
        key: letter.record.key.clone(),
        value: letter.record.value.clone(),
        reason: letter.reason.to_owned(),
        set_aside_at: letter.set_aside_at,
    }
    .encode()
}

/// Where schemas travel: those of all messages, and of the records in the stage's stores.
pub fn schema_topic(names: &Names, state: Vec<SchemaRecord>) -> Option<SchemaTopic> {
    let own = [messages::schemas::of_messages(), state].concat();
    Some(SchemaTopic { topic: names.topic(topics::SCHEMAS), own })
}

/// How a stage batches that is to hear of passing time this often.
pub fn runner_settings(settings: &Settings, punctuate_every: Duration, clock: &dyn Clock) -> RunnerSettings {
    let log = &settings.log;
    let batch_bytes = usize::try_from(log.batch_bytes).unwrap_or(usize::MAX);
    RunnerSettings::new(log.batch_records, batch_bytes, log.batch_interval, punctuate_every, clock)
}

/// The stages of the loop with their input topics, in the order of a page's way round.
pub const STAGES: [(&str, &str); 5] = [
    ("scheduler", topics::SCHEDULER_EVENTS),
    ("fetcher", topics::FETCH_REQUESTS),
    ("detector", topics::FETCH_RESULTS),
    ("estimator", topics::PAGE_OBSERVATIONS),
    ("matcher", topics::PAGE_BANDS),
];

/// All topics as they should exist, with this many partitions for those of the loop.
pub fn topic_configs(settings: &Settings, loop_partitions: u32) -> Vec<TopicConfig> {
    let names = Names::new(settings);
    let config = |topic: &TopicSpec| TopicConfig {
        name: names.topic(topic.name).into(),
        partitions: topic.partition_count(loop_partitions),
        cleanup: match topic.cleanup {
            Forgetting::Compact => Cleanup::Compact,
            Forgetting::Delete { retention_days } => {
                let days = Duration::from_secs(u64::from(retention_days) * 86_400);
                let kept = match topic.name {
                    topics::PAGE_CHANGES => Some(settings.log.retention_changes),
                    topics::DEAD_LETTERS => Some(settings.log.retention_dead_letters),
                    topics::FETCH_RESULTS => settings.log.retention_results,
                    _ => None,
                };
                // Inside the loop a record is of no more use once it was read.
                Cleanup::Delete { retention: kept.unwrap_or(days), consumed: kept.is_none() }
            }
        },
        max_message_bytes: topic.max_message_bytes,
    };
    CATALOGUE.iter().map(config).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_input_topic_of_a_stage_is_in_the_catalogue() {
        let names = Names::new(&Settings::default());
        let known: Vec<_> = topic_configs(&Settings::default(), 4).into_iter().map(|topic| topic.name).collect();
        let is_known = |name: &str| known.iter().any(|topic| &**topic == name);
        assert!(STAGES.iter().all(|(_, input)| is_known(&names.topic(input))));
        assert!(is_known(&names.dead_letters().topic));
    }

    #[test]
    fn results_go_once_they_are_read_unless_they_are_to_be_kept() {
        let mut settings = Settings::default();
        let cleanup = |settings: &Settings| {
            let name = Names::new(settings).topic(topics::FETCH_RESULTS);
            topic_configs(settings, 4).into_iter().find(|topic| *topic.name == *name).unwrap().cleanup
        };
        let days = |days: u64| Duration::from_secs(days * 86_400);
        assert_eq!(cleanup(&settings), Cleanup::Delete { retention: days(3), consumed: true });
        settings.log.retention_results = Some(days(30));
        assert_eq!(cleanup(&settings), Cleanup::Delete { retention: days(30), consumed: false });
    }
}
