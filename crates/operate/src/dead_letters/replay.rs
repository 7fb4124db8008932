//! Returns records that were set aside to the topics they came from.
//!
//! A consumer group of its own commits the replayed offsets in the same transaction. So no record is replayed twice,
//! however often this runs or is killed. Records that are set aside while it runs are left to the next replay: a stage
//! that still cannot process a returned record would otherwise keep the replay busy for ever.

use daemon::CommandFailure;
use messages::{DeadLetter, Encoded, topics};
use serde::Serialize;
use settings::Settings;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use stream::partitioner::partition_for;
use stream::schemas::SchemaReader;
use stream::{
    Backlog, Commit, Event, InputRecord, Log, MemberSpec, OffsetBounds, OutputRecord, PollLimits, Position,
    TopicPartition,
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
    /// Number of records that are no [`DeadLetter`], or whose topic no longer exists.
    pub left_out: u64,
}

/// Returns each retained record once to the stage that set it aside.
///
/// # Errors
/// The log does not answer, another replay is running, or the embedded loop runs.
pub fn replay(settings: &Settings) -> Result<ReplayCounts, CommandFailure> {
    let names = LogNames::new(settings);
    let log: Arc<dyn Log> = match (&settings.crawl.data, &settings.kafka.brokers) {
        (Some(data), _) => Arc::new(stream_rocksdb::open_log(data)?),
        (None, Some(_)) => Arc::new(daemon::connect(settings, "recrawl-dead-letters")?),
        (None, None) => {
            return Err(CommandFailure::Input(
                "no crawl given: give --data DIR, or --config with kafka.brokers".into(),
            ));
        }
    };
    give_back(&*log, &names)
}

fn give_back(log: &dyn Log, names: &LogNames) -> Result<ReplayCounts, CommandFailure> {
    let (group, input) = (names.group("replay"), names.topic(topics::DEAD_LETTERS));
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
                    match original(log, &record)? {
                        Some(original) => commit.outputs.push(original),
                        None => replayed.left_out += 1,
                    }
                }
            }
        }
        let is_done = |of: &Backlog| of.records == 0 || passed.contains(&of.partition);
        if commit.is_empty() && !ends.is_empty() && log.backlog(&group, &input)?.iter().all(is_done) {
            return Ok(replayed);
        }
        replayed.replayed += commit.outputs.len() as u64;
        member.commit(&commit)?;
    }
}

/// The record as it was before it was set aside.
fn original(log: &dyn Log, record: &InputRecord) -> Result<Option<OutputRecord>, CommandFailure> {
    let dead_letter = match record.value.as_deref().map(DeadLetter::decode) {
        Some(Ok(dead_letter)) => dead_letter,
        // Fail instead of skipping it for good: a later replay may be able to decode it.
        Some(Err(error)) if error.is_temporary() => return Err(CommandFailure::World(error.to_string())),
        _ => return Ok(None),
    };
    let Some(topic) = log.topic(&dead_letter.topic)? else { return Ok(None) };
    let partition = partition_for(&dead_letter.key, topic.partitions);
    let to = TopicPartition::new(dead_letter.topic.as_str(), partition);
    Ok(Some(OutputRecord {
        to,
        timestamp: record.timestamp,
        key: dead_letter.key,
        value: dead_letter.value.map(Into::into),
        trace: record.trace.clone(),
    }))
}
