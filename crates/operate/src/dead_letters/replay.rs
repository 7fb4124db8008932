//! Returns records that were set aside to the stages that set them aside.
//!
//! Every stage may write to the topic of these records, also one that somebody has taken over, and a replay has the rights of
//! the operator. So a record goes to the input of the stage that set it aside, whatever topic is named with it. And one that
//! would be an operator's command is returned only if the operator asks for commands.
//!
//! A consumer group of its own commits the replayed offsets in the same transaction. So no record is replayed twice,
//! however often this runs or is killed. Records that are set aside while it runs are left to the next replay: a stage
//! that still cannot process a returned record would otherwise keep the replay busy for ever.

use crate::{AuditWriter, Author};
use daemon::{CommandFailure, WebClock};
use messages::{AuditedOrder, Command, DeadLetter, Encoded, OrderEffect, topics};
use serde::Serialize;
use settings::Settings;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use stream::partitioner::partition_for;
use stream::schemas::SchemaReader;
use stream::{
    Backlog, Commit, Event, InputRecord, Log, MemberSpec, OffsetBounds, OutputRecord, PollLimits, Position,
    StageTopology, TopicPartition,
};
use topology::LogNames;

/// Most records replayed in one transaction.
const BATCH: PollLimits = PollLimits { records: 500, bytes: 16 << 20 };
/// Longest wait for an available record.
const PATIENCE: Duration = Duration::from_millis(200);

/// Result of a replay.
#[derive(Debug, Default, Serialize)]
pub struct ReplayCounts {
    /// Number of records that were returned.
    pub replayed: u64,
    /// Number of records that are no [`DeadLetter`], or whose topic is not the input of their stage.
    pub left_out: u64,
    /// Number of records that this replay is not for: commands, or with [`Replayed::Commands`] all others.
    pub withheld: u64,
}

/// The records that a replay is for. Each kind is returned once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replayed {
    /// All but commands.
    Records,
    /// Commands of operators.
    Commands,
}

impl Replayed {
    /// The name of the group that notes what was returned.
    fn group(self) -> &'static str {
        match self {
            Self::Records => "replay",
            Self::Commands => "replay-commands",
        }
    }

    /// The words by which the record of orders has it.
    fn words(self) -> &'static str {
        match self {
            Self::Records => "dead-letters --replay",
            Self::Commands => "dead-letters --replay --commands",
        }
    }
}

/// The result for a record that was set aside.
enum Fate {
    Returned(OutputRecord),
    LeftOut,
    Withheld,
}

/// The inputs of all stages, by the stage's name.
type Inputs = BTreeMap<&'static str, String>;

/// Returns each retained record of a kind once to the stage that set it aside. `topologies` are those of all stages.
///
/// # Errors
/// The log does not answer, another replay is running, or the embedded loop runs.
pub fn replay(
    settings: &Settings,
    topologies: &[StageTopology],
    what: Replayed,
) -> Result<ReplayCounts, CommandFailure> {
    let names = LogNames::new(settings);
    let log: Arc<dyn Log> = match (&settings.crawl.data, &settings.kafka.brokers) {
        (Some(data), _) => {
            let log = stream_rocksdb::open_log(data)?;
            log.create_topics(&topology::topic_configs(settings, topologies, settings.log.partitions))?;
            Arc::new(log)
        }
        (None, Some(_)) => Arc::new(daemon::connect(settings, "recrawl-dead-letters")?),
        (None, None) => {
            return Err(CommandFailure::Input(
                "no crawl given: give --data DIR, or --config with kafka.brokers".into(),
            ));
        }
    };
    let inputs = topologies.iter().map(|stage| (stage.name, names.topic(stage.input))).collect();
    let audit = AuditWriter::new(log.clone(), &names, Arc::new(WebClock::new(&settings.clock)))?;
    give_back(&*log, &names, &inputs, what, (&audit, &Author::of_process(settings)))
}

fn give_back(
    log: &dyn Log,
    names: &LogNames,
    inputs: &Inputs,
    what: Replayed,
    (audit, author): (&AuditWriter, &Author),
) -> Result<ReplayCounts, CommandFailure> {
    let mut order: Option<AuditedOrder> = None;
    let (group, input) = (names.group(what.group()), names.topic(topics::DEAD_LETTERS));
    let mut replayed = ReplayCounts::default();
    let spec = MemberSpec { group: group.clone(), input: input.clone(), transactional_id: group.clone() };
    let mut member = log.join(&spec)?;
    let mut reader = log.reader()?;
    let schemas = names.topic(topics::SCHEMAS);
    if log.topic(&schemas)?.is_some() {
        SchemaReader::new(&schemas).learn(|place, from, max_records| reader.read(place, from, max_records))?;
    }
    // The end of each partition at the start, and the partitions from which records beyond that end have come.
    let (mut ends, mut passed) = (BTreeMap::new(), BTreeSet::new());
    loop {
        let mut commit = Commit::default();
        for event in member.poll(BATCH, PATIENCE)? {
            match event {
                Event::Assigned(partitions) => {
                    let committed = member.committed(&partitions)?;
                    for partition in partitions {
                        let bounds = reader.bounds(&[TopicPartition::new(input.as_str(), partition)])?;
                        let OffsetBounds { start, end } = bounds.into_iter().next().unwrap_or_default();
                        let from = committed.get(&partition).map_or(start, |position| position.next.max(start));
                        member.start(partition, from)?;
                        ends.insert(partition, end);
                    }
                }
                Event::Revoked(_) => {
                    return Err(CommandFailure::World("another replay is running; wait until it ends".into()));
                }
                Event::Record(record) if ends.get(&record.partition).is_none_or(|end| record.offset >= *end) => {
                    passed.insert(record.partition);
                }
                Event::Record(record) => {
                    commit.tasks.insert(record.partition);
                    commit.positions.insert(record.partition, Position::at(record.offset + 1));
                    match fate(log, &record, inputs, what)? {
                        Fate::Returned(original) => commit.outputs.push(original),
                        Fate::LeftOut => replayed.left_out += 1,
                        Fate::Withheld => replayed.withheld += 1,
                    }
                }
            }
        }
        let is_done = |of: &Backlog| of.records == 0 || passed.contains(&of.partition);
        if commit.is_empty() && !ends.is_empty() && log.backlog(&group, &input)?.iter().all(is_done) {
            return Ok(replayed);
        }
        let returned = commit.outputs.len();
        replayed.replayed += returned as u64;
        if returned > 0 {
            let is_first = order.is_none();
            let order = order.get_or_insert_with(|| audit.action(what.words(), author));
            if is_first {
                commit.outputs.push(audit.record(order.clone()));
            }
            let effect = audit.effect(&order.order_id, "", None);
            commit.outputs.push(audit.record(OrderEffect { commands: returned as i64, ..effect }));
        }
        member.commit(&commit)?;
    }
}

/// The record as it was before it was set aside, if it is to be returned.
fn fate(log: &dyn Log, record: &InputRecord, inputs: &Inputs, what: Replayed) -> Result<Fate, CommandFailure> {
    let dead_letter = match record.value.as_deref().map(DeadLetter::decode) {
        Some(Ok(dead_letter)) => dead_letter,
        // Fail instead of skipping it for good: a later replay may be able to decode it.
        Some(Err(error)) if error.is_temporary() => return Err(CommandFailure::World(error.to_string())),
        _ => return Ok(Fate::LeftOut),
    };
    let is_its_input = inputs.get(dead_letter.stage.as_str()).is_some_and(|input| *input == dead_letter.topic);
    let topic = if is_its_input { log.topic(&dead_letter.topic)? } else { None };
    let Some(topic) = topic else { return Ok(Fate::LeftOut) };
    let kind = if may_be_command(&dead_letter) { Replayed::Commands } else { Replayed::Records };
    if kind != what {
        return Ok(Fate::Withheld);
    }
    let partition = partition_for(&dead_letter.key, topic.partitions);
    let to = TopicPartition::new(dead_letter.topic.as_str(), partition);
    Ok(Fate::Returned(OutputRecord {
        to,
        timestamp: record.timestamp,
        key: dead_letter.key,
        value: dead_letter.value.map(Into::into),
        trace: record.trace.clone(),
    }))
}

/// Whether a stage could read a record as a command, now or when it knows further schemas.
fn may_be_command(dead_letter: &DeadLetter) -> bool {
    match dead_letter.value.as_deref().map(Command::decode) {
        Some(Ok(_)) => true,
        Some(Err(error)) => error.is_temporary(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use messages::{AuditRecord, CommandKind};
    use page::{CanonicalUrl, Timestamp};
    use stream::{Cleanup, InProcessLog, TopicConfig};
    use stream_testing::{ManualClock, MemoryBackend};

    const NOW: Timestamp = Timestamp::from_secs(1_700_000_000);

    struct SetAside {
        log: Arc<InProcessLog<MemoryBackend>>,
        audit: AuditWriter,
        names: LogNames,
        inputs: Inputs,
    }

    impl SetAside {
        /// A log with two stages, of which the second takes commands.
        fn new() -> Self {
            let names = LogNames::new(&Settings::default());
            let log = Arc::new(InProcessLog::new(MemoryBackend::default()));
            let inputs = BTreeMap::from([
                ("detector", names.topic(topics::FETCH_RESULTS)),
                ("scheduler", names.topic(topics::SCHEDULER_EVENTS)),
            ]);
            let all = inputs
                .values()
                .cloned()
                .chain([topics::DEAD_LETTERS.spec(), topics::AUDIT.spec()].map(|it| names.topic(it)));
            let config = |name: String| TopicConfig {
                name: name.into(),
                partitions: 1,
                cleanup: Cleanup::Compact,
                max_message_bytes: 1 << 20,
            };
            log.create_topics(&all.map(config).collect::<Vec<_>>()).unwrap();
            let audit = AuditWriter::new(log.clone(), &names, ManualClock::at(NOW)).unwrap();
            Self { log, audit, names, inputs }
        }

        fn write(&self, stage: &str, topic: &str, value: &[u8]) {
            let dead_letter = DeadLetter {
                stage: stage.to_owned(),
                topic: topic.to_owned(),
                partition: 0,
                offset: 0,
                key: b"a.test".to_vec(),
                value: Some(value.to_vec()),
                reason: "it cannot be read".to_owned(),
                set_aside_at: NOW,
            };
            let record = OutputRecord {
                to: TopicPartition::new(self.names.topic(topics::DEAD_LETTERS), 0),
                timestamp: NOW,
                key: dead_letter.key.clone(),
                value: Some(dead_letter.encode().into()),
                trace: None,
            };
            self.log.append(&[record]).unwrap();
        }

        /// Records replayed, left out, and withheld.
        fn replay(&self, what: Replayed) -> (u64, u64, u64) {
            let by = (&self.audit, &Author::default());
            let counts = give_back(&*self.log, &self.names, &self.inputs, what, by).unwrap();
            (counts.replayed, counts.left_out, counts.withheld)
        }

        fn records(&self, stage: &str) -> u64 {
            let place = TopicPartition::new(self.inputs[stage].as_str(), 0);
            let bounds = self.log.reader().unwrap().bounds(&[place]).unwrap()[0];
            bounds.end - bounds.start
        }
    }

    fn command() -> Vec<u8> {
        let url = CanonicalUrl::parse("http://a.test/").unwrap();
        Command { url: Some(url), ..Command::new(CommandKind::Forget, NOW) }.encode()
    }

    #[test]
    fn a_record_returns_to_the_input_of_its_stage_and_nowhere_else() {
        let set_aside = SetAside::new();
        let topic = |stage: &str| set_aside.inputs[stage].clone();
        set_aside.write("detector", &topic("detector"), b"not avro");
        set_aside.write("detector", &topic("scheduler"), b"not avro");
        set_aside.write("detector", &set_aside.names.topic(topics::DEAD_LETTERS), b"not avro");
        set_aside.write("no-such-stage", &topic("detector"), b"not avro");
        assert_eq!(set_aside.replay(Replayed::Records), (1, 3, 0));
        assert_eq!(set_aside.replay(Replayed::Records), (0, 0, 0));
        assert_eq!((set_aside.records("detector"), set_aside.records("scheduler")), (1, 0));
    }

    #[test]
    fn commands_are_returned_only_if_the_operator_asks_for_them_and_once() {
        let set_aside = SetAside::new();
        let topic = set_aside.inputs["scheduler"].clone();
        set_aside.write("scheduler", &topic, &command());
        set_aside.write("scheduler", &topic, b"not avro");
        assert_eq!(set_aside.replay(Replayed::Records), (1, 0, 1));
        assert_eq!(set_aside.replay(Replayed::Commands), (1, 0, 1));
        assert_eq!((set_aside.replay(Replayed::Records), set_aside.replay(Replayed::Commands)), ((0, 0, 0), (0, 0, 0)));
        assert_eq!(set_aside.records("scheduler"), 2);
        let audit = TopicPartition::new(set_aside.names.topic(topics::AUDIT), 0);
        let (records, _) = set_aside.log.reader().unwrap().read(&audit, 0, 100).unwrap();
        let read = |record: &InputRecord| AuditRecord::decode(record.value.as_deref().unwrap()).unwrap();
        let recorded = records.iter().map(read).map(|record| match record {
            AuditRecord::Order(order) => order.action,
            AuditRecord::Effect(effect) => effect.commands.to_string(),
        });
        let expected = ["dead-letters --replay", "1", "dead-letters --replay --commands", "1"];
        assert_eq!(recorded.collect::<Vec<_>>(), expected, "each replay that returned something");
    }

    #[test]
    fn records_that_are_set_aside_during_a_replay_are_left_to_the_next_one() {
        let mut set_aside = SetAside::new();
        // A stage that sets aside again what is returned to it, at once.
        let own = set_aside.names.topic(topics::DEAD_LETTERS);
        set_aside.inputs.insert("detector", own.clone());
        set_aside.write("detector", &own, b"not avro");
        assert_eq!(set_aside.replay(Replayed::Records), (1, 0, 0));
        assert_eq!(set_aside.replay(Replayed::Records), (0, 1, 0));
    }
}
