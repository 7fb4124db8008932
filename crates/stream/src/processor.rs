//! What a stage writes: a processor, and the context it works through.

use crate::overlay::Overlay;
use crate::partitioner::partition_for;
use crate::record::{InputRecord, OutputRecord, TopicPartition};
use crate::store::{StateStore, StoreError, TaskId, Visit};
use page::Timestamp;
use std::sync::Arc;

/// One of a stage's output topics, by its place in [`crate::StageSpec::outputs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputId(pub usize);

/// One of a stage's stores, by its place in [`crate::StageSpec::stores`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreId(pub usize);

/// Why a record could not be processed, and so what happens to it.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ProcessError {
    /// The record itself is at fault: what it staged is taken back and it goes to the dead letters with this reason.
    #[error("{0}")]
    SetAside(String),
    /// We are at fault: the stage stops, nothing of the batch is committed.
    #[error("{0}")]
    Stop(String),
}

impl From<StoreError> for ProcessError {
    fn from(error: StoreError) -> Self {
        ProcessError::Stop(error.to_string())
    }
}

/// The work of a stage on one partition. Synchronous and deterministic; it may keep what it derives from its stores in
/// memory. After a lost transaction it is dropped and made anew, and [`Processor::restored`] runs again.
pub trait Processor: Send {
    /// The stores hold the committed state; derive from it what is kept in memory.
    fn restored(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let _ = context;
        Ok(())
    }

    /// One input record, exactly once as far as committed effects go.
    fn process(&mut self, record: &InputRecord, context: &mut Context<'_>) -> Result<(), ProcessError>;

    /// Time has passed: called between batches, about every [`crate::StageSpec::punctuate_every`].
    fn punctuate(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let _ = context;
        Ok(())
    }

    /// The batch is complete and about to be committed: the place to write down, once, what its records have changed in
    /// memory. Called after them and after punctuate, also when a batch held nothing for this task.
    fn flush(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let _ = context;
        Ok(())
    }

    /// A record of the stage's broadcast topic, which every partition hears; at least once, the latest per key wins.
    fn broadcast(&mut self, record: &InputRecord, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let (_, _) = (record, context);
        Ok(())
    }

    /// Figures for `/status` and `/metrics`, by name.
    fn figures(&self, now: Timestamp) -> Vec<(&'static str, f64)> {
        let _ = now;
        Vec::new()
    }
}

/// An output topic with its number of partitions.
#[derive(Clone, Debug)]
pub(crate) struct OutputTopic {
    pub(crate) name: Arc<str>,
    pub(crate) partitions: u32,
}

/// What a processor sees of the world: the time, its stores, its outputs.
pub struct Context<'a> {
    pub(crate) now: Timestamp,
    pub(crate) task: &'a TaskId,
    pub(crate) store: &'a dyn StateStore,
    pub(crate) overlay: &'a mut Overlay,
    pub(crate) topics: &'a [OutputTopic],
    pub(crate) outputs: &'a mut Vec<OutputRecord>,
    /// Input topic and offset of the record being processed; `None` in punctuate and flush.
    pub(crate) origin: Option<(&'a str, u64)>,
    pub(crate) emitted: u32,
}

impl Context<'_> {
    /// The time; it does not move while one record is processed.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// The task at work.
    pub fn task(&self) -> &TaskId {
        self.task
    }

    /// The value of a key, writes of this batch included.
    pub fn get(&self, store: StoreId, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.overlay.get(self.store, store.0, key)
    }

    /// Sets a key.
    pub fn put(&mut self, store: StoreId, key: impl Into<Vec<u8>>, value: Vec<u8>) {
        self.overlay.write(store.0, key.into(), Some(value));
    }

    /// Deletes a key.
    pub fn delete(&mut self, store: StoreId, key: impl Into<Vec<u8>>) {
        self.overlay.write(store.0, key.into(), None);
    }

    /// Visits entries in key order from `from` on until the visitor breaks.
    pub fn scan(&self, store: StoreId, from: &[u8], visit: Visit<'_>) -> Result<(), StoreError> {
        self.overlay.scan(self.store, store.0, from, visit)
    }

    /// Sends a record; it becomes visible when the batch commits. The key decides the partition.
    pub fn emit(&mut self, output: OutputId, key: impl Into<Vec<u8>>, value: Vec<u8>) {
        self.emit_value(output, key.into(), Some(value));
    }

    /// Sends a tombstone to a compacted output.
    pub fn emit_tombstone(&mut self, output: OutputId, key: impl Into<Vec<u8>>) {
        self.emit_value(output, key.into(), None);
    }

    fn emit_value(&mut self, output: OutputId, key: Vec<u8>, value: Option<Vec<u8>>) {
        let topic = &self.topics[output.0];
        let to = TopicPartition { topic: topic.name.clone(), partition: partition_for(&key, topic.partitions) };
        self.outputs.push(OutputRecord { to, timestamp: self.now, key, value });
        self.emitted += 1;
    }

    /// A name for the next output that is the same whenever this input is processed again: topic, partition, offset
    /// and index. Consumers outside the log drop repeats by it. `None` in punctuate and flush, where there is no
    /// input.
    pub fn output_id(&self) -> Option<String> {
        self.origin.map(|(topic, offset)| format!("{topic}-{}-{offset}-{}", self.task.partition, self.emitted))
    }
}
