//! A driver for tests and simulations: stages over a log in memory, one step at a time, on a manual clock.

use crate::manual_clock::ManualClock;
use crate::memory::{MemoryBackend, MemoryStores};
use page::Timestamp;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use stream::partitioner::partition_for;
use stream::{
    Clock as _, DiskRoom, InProcessLog, InputRecord, Log, LogError, OutputRecord, RunnerSettings, Stage, StageRunner,
    StageSpec, StageStatus, StepOutcome, Stopped, TopicConfig, TopicPartition, Tracing,
};

/// A log, stores and a clock, all in memory, and the stages that run on them.
pub struct TestDriver {
    /// Log shared by all stages.
    pub log: InProcessLog<MemoryBackend>,
    /// Stores; they outlive restarts of the stages.
    pub stores: MemoryStores,
    /// Clock shared by all stages.
    pub clock: Arc<ManualClock>,
    /// Room on the disk of all stages.
    pub room: DiskRoom,
    stages: Vec<StageRunner>,
}

impl TestDriver {
    /// A driver with these topics, its clock set to `start`.
    pub fn new(topics: &[TopicConfig], start: Timestamp) -> Self {
        let log = InProcessLog::new(MemoryBackend::default());
        log.create_topics(topics).expect("a log in memory can create topics");
        let (stores, clock) = (MemoryStores::default(), ManualClock::at(start));
        Self { log, stores, clock, room: DiskRoom::default(), stages: Vec::new() }
    }

    /// Adds an instance of a stage. A second one with the same stage and instance name fences the first.
    pub fn add(&mut self, spec: StageSpec, instance: &str) {
        let settings = RunnerSettings {
            batch_records: 100,
            batch_bytes: usize::MAX,
            batch_interval: Duration::ZERO,
            poll_timeout: Duration::ZERO,
        };
        let log: Arc<dyn Log> = Arc::new(self.log.clone());
        let stores = Arc::new(self.stores.clone());
        let stage = StageRunner::new(spec, instance, log, stores, self.clock.clone(), settings);
        self.stages.push(stage.within(self.room.clone()));
    }

    /// Adds an instance of a stage that takes part in traces.
    pub fn add_traced(&mut self, spec: StageSpec, instance: &str, tracing: Tracing) {
        self.add(spec, instance);
        let untraced = self.stages.pop();
        self.stages.extend(untraced.map(|stage| stage.traced(Some(tracing))));
    }

    /// Kills a stage as a crash would: nothing is flushed or handed over. `stage` is its index in the order of adding.
    pub fn kill(&mut self, stage: usize) {
        drop(self.stages.remove(stage));
    }

    /// Ends a stage as a signal would: it finishes work in flight and leaves its group.
    pub fn leave(&mut self, stage: usize, patience: Duration) {
        self.stages.remove(stage).leave(patience);
    }

    /// Runs one step of one stage.
    pub fn step(&mut self, stage: usize) -> Result<StepOutcome, Stopped> {
        self.stages[stage].step()
    }

    /// Steps all stages in turn until none has anything to do.
    ///
    /// # Panics
    /// If they are still busy after 100,000 rounds.
    pub fn run_until_idle(&mut self) -> Result<(), Stopped> {
        for _ in 0..100_000 {
            let mut idle = true;
            for stage in &mut self.stages {
                idle &= stage.step()? == StepOutcome::Idle;
            }
            if idle {
                return Ok(());
            }
        }
        panic!("the stages are still busy after 100,000 rounds");
    }

    /// Status of a stage as of its last step.
    pub fn status(&self, stage: usize) -> StageStatus {
        self.stages[stage].status().lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Appends a record to a topic, partitioned by its key.
    pub fn send(&self, topic: &str, key: &[u8], value: Vec<u8>) -> Result<(), LogError> {
        let partitions = self.log.topic(topic)?.map_or(1, |topic| topic.partitions);
        let to = TopicPartition::new(topic, partition_for(key, partitions));
        let record =
            OutputRecord { to, timestamp: self.clock.now(), key: key.to_vec(), value: Some(value.into()), trace: None };
        self.log.append(&[record]).map(|_| ())
    }

    /// All records of a topic, partition by partition.
    pub fn contents(&self, topic: &str) -> Result<Vec<InputRecord>, LogError> {
        let mut reader = self.log.reader()?;
        let mut all = Vec::new();
        for partition in 0..self.log.topic(topic)?.map_or(0, |topic| topic.partitions) {
            all.extend(reader.read(&TopicPartition::new(topic, partition), 0, usize::MAX)?.0);
        }
        Ok(all)
    }
}
