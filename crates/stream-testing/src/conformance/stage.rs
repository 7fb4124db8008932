//! A small stage that exercises a log: it counts, and its outputs reveal anything lost, repeated or forgotten. Also a
//! log that fails on demand.

use super::faulty_log::lock;
use super::ground::{CaseTopic, ConformanceFixture, Failed, ensure, same};
use crate::raw_record::RawRecord;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use stream::ProcessError;
use stream::StageStatus;
use stream::Table;
use stream::log::Log;
use stream::partitioner::partition_for;
use stream::processor::{Context, Processor};
use stream::store::{Checkpoint, StoreCheckpoint, StoreProvider, StoreWrite, TaskId};
use stream::{Cleanup, InputRecord};
use stream::{DeadLetters, NamedTopic, RunnerSettings, SchemaTopic, StageSpec, StageWork, StoreSpec};
use stream::{Stage as _, StageRunner, StepOutcome};
use wire::TopicName;

const COUNTS: Table<Vec<u8>, Vec<u8>> = Table::new("counts");
const PENDING: Table<Vec<u8>, Vec<u8>> = Table::new("pending");
const OUTPUT: wire::Topic<RawRecord> = wire::Topic::new("output");
const BROADCAST: TopicName = TopicName::Declared("broadcast");
/// Small, so that a few records take several commits.
const BATCH_RECORDS: usize = 7;

pub(super) const STORES: [&str; 2] = ["counts", "pending"];

/// The processor. For each record it emits `key → n-th of this key, m-th of this partition`; the second count is kept
/// in memory.
struct ConformanceCounter {
    seen: u64,
    attempts: Attempts,
}

/// Every attempt at a record, committed or not: partition, offset and id of its output.
type Attempts = Arc<Mutex<Vec<(u32, u64, String)>>>;

fn number(bytes: &[u8]) -> u64 {
    bytes.try_into().map(u64::from_be_bytes).unwrap_or_default()
}

impl Processor for ConformanceCounter {
    fn restored(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        // It adds, so it is right only for a new processor.
        context.scan(COUNTS, b"", &mut |_, count| {
            self.seen += number(&count);
            Ok(())
        })
    }

    fn process(&mut self, record: &InputRecord, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let value = record.value.as_deref().unwrap_or_default();
        let id = context.output_id().unwrap_or_default();
        lock(&self.attempts).push((record.partition, record.offset, id.clone()));
        let count = context.get(COUNTS, &record.key)?.as_deref().map_or(0, number) + 1;
        context.put(COUNTS, &record.key, &count.to_be_bytes().to_vec());
        context.emit(OUTPUT, RawRecord::new(record.key.clone(), format!("{count} {} {id}", self.seen + 1)));
        match value {
            b"bad" => return Err(ProcessError::SetAside("this one is bad".to_owned())),
            b"stop" => return Err(ProcessError::Stop("told to stop".to_owned())),
            b"later" => context.put(PENDING, &record.key, &b"tick".to_vec()),
            b"forget" => context.delete(COUNTS, &record.key),
            _ => {}
        }
        // A record set aside does not get here, so memory still equals the store.
        self.seen = if value == b"forget" { self.seen + 1 - count } else { self.seen + 1 };
        Ok(())
    }

    fn punctuate(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let mut pending = Vec::new();
        context.scan(PENDING, b"", &mut |key, _| {
            pending.push(key);
            Ok(())
        })?;
        for key in pending {
            context.delete(PENDING, &key);
            context.emit(OUTPUT, RawRecord::new(key, *b"tick"));
        }
        Ok(())
    }

    fn broadcast(&mut self, _: TopicName, record: &InputRecord, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let received = String::from_utf8_lossy(record.value.as_deref().unwrap_or_default()).into_owned();
        let partition = context.task().partition;
        context.emit(OUTPUT, RawRecord::new(record.key.clone(), format!("{received} received by {partition}")));
        Ok(())
    }
}

/// The stage with its topics.
pub(super) struct CountingStage {
    pub(super) input: CaseTopic,
    pub(super) output: CaseTopic,
    pub(super) dead_letters: CaseTopic,
    pub(super) broadcast: CaseTopic,
    /// Topic of schemas; `None` unless a case sets it.
    pub(super) schemas: Option<SchemaTopic>,
    attempts: Attempts,
    group: String,
    changelogs: [CaseTopic; 2],
}

impl CountingStage {
    pub(super) fn new(ground: &ConformanceFixture, partitions: u32) -> Result<Self, Failed> {
        let changelog = |store: &str| ground.topic_with(&format!("{store}-changelog"), partitions, Cleanup::Compact);
        Ok(Self {
            input: ground.topic("input", partitions)?,
            output: ground.topic("output", partitions)?,
            dead_letters: ground.topic("dead-letters", 1)?,
            broadcast: ground.topic_with("broadcast", 1, Cleanup::Compact)?,
            schemas: None,
            attempts: Attempts::default(),
            group: ground.name("group"),
            changelogs: [changelog(STORES[0])?, changelog(STORES[1])?],
        })
    }

    /// All attempts at records so far.
    pub(super) fn attempts(&self) -> Vec<(u32, u64, String)> {
        lock(&self.attempts).clone()
    }

    pub(super) fn task(&self, partition: u32) -> TaskId {
        TaskId { stage: "counting".to_owned(), partition }
    }

    pub(super) fn runner(
        &self,
        ground: &ConformanceFixture,
        log: &Arc<dyn Log>,
        stores: &Arc<dyn StoreProvider>,
        instance: &str,
    ) -> StageRunner {
        let attempts = self.attempts.clone();
        let spec = StageSpec {
            name: "counting".to_owned(),
            group: self.group.clone(),
            input: self.input.name.clone(),
            outputs: vec![NamedTopic { name: OUTPUT.name(), topic: self.output.name.to_string() }],
            stores: (STORES.iter().zip(&self.changelogs))
                .map(|(&name, changelog)| StoreSpec { name, changelog: changelog.name.to_string(), is_public: false })
                .collect(),
            broadcasts: vec![NamedTopic { name: BROADCAST, topic: self.broadcast.name.to_string() }],
            dead_letters: DeadLetters {
                topic: self.dead_letters.name.to_string(),
                encode: |dead_letter| format!("{}: {}", dead_letter.stage, dead_letter.reason).into_bytes(),
            },
            schemas: self.schemas.clone(),
            punctuate_every: Duration::ZERO,
            begins_traces: None,
            subject: None,
            stand_in: None,
            work: StageWork::Processors(Box::new(move |_| {
                Box::new(ConformanceCounter { seen: 0, attempts: attempts.clone() })
            })),
        };
        let settings = RunnerSettings {
            batch_records: BATCH_RECORDS,
            batch_bytes: usize::MAX,
            batch_interval: Duration::ZERO,
            poll_timeout: Duration::from_millis(20),
        };
        StageRunner::new(spec, instance, log.clone(), stores.clone(), ground.clock(), settings)
    }

    /// Appends `count` records to the input, over twelve keys.
    pub(super) fn send(&self, ground: &ConformanceFixture, count: u32) -> Result<(), Failed> {
        let records: Vec<_> =
            (0..count).map(|number| self.input.keyed(&format!("key {}", number % 12), "count")).collect();
        ground.append(&records)
    }

    /// Steps the runners in turn until they are idle and the output holds `outputs` records. Checks that the outputs
    /// count without gap or repetition.
    pub(super) fn drive(
        &self,
        ground: &ConformanceFixture,
        runners: &mut [StageRunner],
        outputs: usize,
    ) -> Result<(), Failed> {
        ground.wait(&format!("{outputs} outputs"), || {
            let mut idle = true;
            for runner in &mut *runners {
                idle &= runner.step()? == StepOutcome::Idle;
            }
            if !idle {
                return Ok(None);
            }
            let found = self.outputs(ground)?.iter().map(Vec::len).sum::<usize>();
            Ok((found >= outputs).then_some(()))
        })?;
        self.check_outputs(ground, outputs)
    }

    /// Values of the outputs by partition.
    pub(super) fn outputs(&self, ground: &ConformanceFixture) -> Result<Vec<Vec<InputRecord>>, Failed> {
        (0..self.output.partitions).map(|partition| ground.read(&self.output.at(partition), 0)).collect()
    }

    /// Checks that every count of every key was emitted once and in order, and so were the counts of each partition.
    pub(super) fn check_outputs(&self, ground: &ConformanceFixture, expected: usize) -> Result<(), Failed> {
        let partitions = self.outputs(ground)?;
        for (partition, records) in partitions.iter().enumerate() {
            let mut counts: BTreeMap<&[u8], u64> = BTreeMap::new();
            for (index, record) in records.iter().enumerate() {
                let text = String::from_utf8_lossy(record.value.as_deref().unwrap_or_default()).into_owned();
                let fields: Vec<_> = text.split(' ').collect();
                let count = counts.entry(&record.key).or_default();
                *count += 1;
                let expected = [count.to_string(), (index + 1).to_string()];
                let at = format!("output {index} of partition {partition}");
                ensure(fields.len() == 3 && fields[..2] == expected, || {
                    format!("{at} says {text:?} where {expected:?} is due: lost, repeated or forgotten work")
                })?;
            }
        }
        same("outputs", partitions.iter().map(Vec::len).sum(), expected)
    }
}

pub(super) fn status(runner: &StageRunner) -> StageStatus {
    lock(&runner.status()).clone()
}

/// Copies the current state of a task.
pub(super) fn copy_state(
    log: &dyn Log,
    task: &TaskId,
    from: &dyn StoreProvider,
    to: &dyn StoreProvider,
) -> Result<(), Failed> {
    let log_id = log.id()?;
    let from = from.open(&log_id, task, &STORES)?;
    let mut writes = Vec::new();
    for store in 0..STORES.len() {
        from.scan(store, b"", &mut |key, value| {
            writes.push(StoreWrite { store, key: key.to_vec(), value: Some(value.to_vec()) });
            ControlFlow::Continue(())
        })?;
    }
    to.open(&log_id, task, &STORES)?.apply(&writes, &from.checkpoint()?)?;
    Ok(())
}

/// Sets a task's checkpoint far ahead of the changelog that it writes to. The other one never had a record.
pub(super) fn put_ahead(
    log: &dyn Log,
    task: &TaskId,
    stores: &dyn StoreProvider,
    now: page::Timestamp,
) -> Result<(), Failed> {
    let write = StoreWrite { store: 0, key: b"nonsense".to_vec(), value: Some(999_u64.to_be_bytes().to_vec()) };
    let ahead = StoreCheckpoint { changelog_next: Some(1_000_000), complete_as_of: Some(now) };
    let unwritten = StoreCheckpoint { changelog_next: Some(0), ..ahead };
    let checkpoint = Checkpoint { input_next: Some(1_000_000), stores: vec![ahead, unwritten] };
    stores.open(&log.id()?, task, &STORES)?.apply(&[write], &checkpoint)?;
    Ok(())
}

/// A key that belongs to this partition.
pub(super) fn key_of(partition: u32, partitions: u32) -> String {
    (0..)
        .map(|number| format!("key {number}"))
        .find(|key| partition_for(key.as_bytes(), partitions) == partition)
        .expect("some key falls into every partition")
}
