//! A driver for tests: stages over a log in memory, one step at a time, with a clock set by hand.

use crate::health::{StageStatus, Stopped};
use crate::inprocess::InProcessLog;
use crate::log::{Log, LogError};
use crate::memory::{MemoryBackend, MemoryStores};
use crate::record::{InputRecord, OutputRecord, TopicConfig, TopicPartition};
use crate::runner::{Clock, Stage, StageRunner, Step};
use crate::spec::{RunnerSettings, StageSpec};
use messages::topics::Key;
use messages::{DecodeError, Encoded, Keyed};
use page::Timestamp;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// A clock that moves only when told to.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock standing at a moment.
    pub fn at(start: Timestamp) -> Arc<Self> {
        Arc::new(Self(AtomicI64::new(start.as_micros())))
    }

    /// Lets time pass.
    pub fn advance(&self, duration: Duration) {
        self.0.fetch_add(duration.as_micros() as i64, Ordering::SeqCst);
    }

    /// Sets the clock back, as an operator or a time server may.
    pub fn set_back(&self, duration: Duration) {
        self.0.fetch_sub(duration.as_micros() as i64, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> Duration {
        Duration::from_micros(self.0.load(Ordering::SeqCst).max(0) as u64)
    }

    /// Waiting moves the clock, so that a test never sleeps.
    fn pause(&self, duration: Duration) {
        self.advance(duration);
    }
}

/// A log, stores and a clock, all in memory, and the stages that run on them.
pub struct TestDriver {
    /// The log.
    pub log: InProcessLog<MemoryBackend>,
    /// The stores; they outlive restarts of the stages.
    pub stores: MemoryStores,
    /// The clock.
    pub clock: Arc<ManualClock>,
    stages: Vec<StageRunner>,
}

impl TestDriver {
    /// A driver with these topics, its clock at the given moment.
    pub fn new(topics: &[TopicConfig], start: Timestamp) -> Self {
        let log = InProcessLog::new(MemoryBackend::default());
        log.create_topics(topics).expect("a log in memory can make topics");
        Self { log, stores: MemoryStores::default(), clock: ManualClock::at(start), stages: Vec::new() }
    }

    /// Adds an instance of a stage. A second of the same stage and instance name fences the first.
    pub fn add(&mut self, spec: StageSpec, instance: &str) {
        let settings = RunnerSettings {
            batch_records: 100,
            batch_bytes: usize::MAX,
            batch_interval: Duration::ZERO,
            poll_timeout: Duration::ZERO,
        };
        let log: Arc<dyn Log> = Arc::new(self.log.clone());
        let stores = Arc::new(self.stores.clone());
        self.stages.push(StageRunner::new(spec, instance, log, stores, self.clock.clone(), settings));
    }

    /// Kills a stage as a crash would: nothing is flushed or handed over. Counted in the order they were added.
    pub fn kill(&mut self, stage: usize) {
        drop(self.stages.remove(stage));
    }

    /// Ends a stage as a signal would: it finishes what is under way and leaves its group.
    pub fn leave(&mut self, stage: usize, patience: Duration) {
        self.stages.remove(stage).leave(patience);
    }

    /// One step of one stage.
    pub fn step(&mut self, stage: usize) -> Result<Step, Stopped> {
        self.stages[stage].step()
    }

    /// Steps all stages in turn until none has anything to do.
    ///
    /// # Panics
    /// When they are still busy after 100,000 rounds.
    pub fn run_until_idle(&mut self) -> Result<(), Stopped> {
        for _ in 0..100_000 {
            let mut idle = true;
            for stage in &mut self.stages {
                idle &= stage.step()? == Step::Idle;
            }
            if idle {
                return Ok(());
            }
        }
        panic!("the stages are still busy after 100,000 rounds");
    }

    /// What a stage tells of itself: its figures, as of its last step.
    pub fn status(&self, stage: usize) -> StageStatus {
        self.stages[stage].status().lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts a record into a topic, partitioned by its key.
    pub fn send(&self, topic: &str, key: &[u8], value: Vec<u8>) -> Result<(), LogError> {
        let partitions = self.log.topic(topic)?.map_or(1, |topic| topic.partitions);
        let to = TopicPartition::new(topic, crate::partitioner::partition_for(key, partitions));
        let record = OutputRecord { to, timestamp: self.clock.now(), key: key.to_vec(), value: Some(value) };
        self.log.append(&[record]).map(|_| ())
    }

    /// Everything a topic holds, partition by partition.
    pub fn contents(&self, topic: &str) -> Result<Vec<InputRecord>, LogError> {
        let mut reader = self.log.reader()?;
        let mut all = Vec::new();
        for partition in 0..self.log.topic(topic)?.map_or(0, |topic| topic.partitions) {
            all.extend(reader.read(&TopicPartition::new(topic, partition), 0, usize::MAX)?.0);
        }
        Ok(all)
    }
}

/// A record of a test that is no message: whatever key, whatever value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawRecord {
    /// Key.
    pub key: Vec<u8>,
    /// Value.
    pub value: Vec<u8>,
}

impl RawRecord {
    /// A record of this key and value.
    pub fn new(key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) -> Self {
        Self { key: key.into(), value: value.into() }
    }
}

impl Encoded for RawRecord {
    fn encode_into(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.value);
    }

    /// The key is not part of the value.
    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        Ok(Self::new([], bytes))
    }
}

impl Keyed for RawRecord {
    const KEY: Key = Key::Original;

    fn key(&self) -> Vec<u8> {
        self.key.clone()
    }
}
