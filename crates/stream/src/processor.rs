//! What a stage writes: a processor, and the context it works through.

use crate::overlay::Overlay;
use crate::partitioner::partition_for;
use crate::record::{InputRecord, OutputRecord, TopicPartition};
use crate::store::{StateStore, StoreError, TaskId, Visit};
use messages::DecodeError;
use page::Timestamp;
use std::fmt::Display;
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
    /// The record is of a newer version whose schema has not arrived here yet: the batch waits until it has.
    #[error("{0}")]
    Await(String),
    /// The task's state on disk is damaged. It is set aside and refilled where a changelog holds it.
    #[error("{0}")]
    Damaged(String),
    /// We are at fault: the stage stops, nothing of the batch is committed.
    #[error("{0}")]
    Stop(String),
}

impl ProcessError {
    /// A value in a store cannot be read: `what` names it. One of a newer version waits for its schema; anything else is
    /// damage.
    pub fn unreadable_state(what: impl Display, error: &DecodeError) -> Self {
        let message = format!("{what} in the state store: {error}");
        match error {
            DecodeError::UnknownSchema { .. } => ProcessError::Await(message),
            _ => ProcessError::Damaged(message),
        }
    }
}

/// A record cannot be read. One of a newer version waits for its schema.
impl From<DecodeError> for ProcessError {
    fn from(error: DecodeError) -> Self {
        match error {
            DecodeError::UnknownSchema { .. } => ProcessError::Await(error.to_string()),
            _ => ProcessError::SetAside(error.to_string()),
        }
    }
}

impl From<StoreError> for ProcessError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Damaged(what) => ProcessError::Damaged(what),
            StoreError::Failed(why) => ProcessError::Stop(why),
        }
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

/// A topic that a stage writes to.
#[derive(Clone, Debug)]
pub(crate) struct OutputTopic {
    pub(crate) name: Arc<str>,
    pub(crate) partitions: u32,
    pub(crate) max_message_bytes: u32,
}

impl OutputTopic {
    /// The record that goes to the partition of its key.
    pub(crate) fn record(&self, key: Vec<u8>, value: Option<Vec<u8>>, timestamp: Timestamp) -> OutputRecord {
        let to = TopicPartition { topic: self.name.clone(), partition: partition_for(&key, self.partitions) };
        OutputRecord { to, timestamp, key, value }
    }

    /// What is wrong with a record of this size; `None` when the topic takes it.
    pub(crate) fn refusal(&self, bytes: usize) -> Option<String> {
        let (topic, limit) = (&self.name, self.max_message_bytes);
        (bytes > limit as usize).then(|| format!("it makes a record of {bytes} bytes; topic {topic} takes {limit}"))
    }
}

/// What a processor sees of the world: the time, its stores, its outputs.
pub struct Context<'a> {
    pub(crate) now: Timestamp,
    pub(crate) task: &'a TaskId,
    pub(crate) store: &'a dyn StateStore,
    pub(crate) overlay: &'a mut Overlay,
    pub(crate) topics: &'a Topics,
    pub(crate) outputs: &'a mut Vec<OutputRecord>,
    /// Input topic and offset of the record being processed; `None` in punctuate and flush.
    pub(crate) origin: Option<(&'a str, u64)>,
    pub(crate) emitted: u32,
    /// Why something staged by the record being processed cannot be written.
    pub(crate) refusal: Option<String>,
}

/// The topics a stage writes to.
#[derive(Clone, Debug)]
pub(crate) struct Topics {
    /// By place in [`crate::StageSpec::outputs`].
    pub(crate) outputs: Vec<OutputTopic>,
    /// Changelogs, by place in [`crate::StageSpec::stores`].
    pub(crate) changelogs: Vec<OutputTopic>,
    pub(crate) dead_letters: OutputTopic,
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

    /// Sets a key. A value that is larger than the changelog takes sets the input record aside.
    pub fn put(&mut self, store: StoreId, key: impl Into<Vec<u8>>, value: Vec<u8>) {
        let key = key.into();
        self.refuse(self.topics.changelogs[store.0].refusal(key.len() + value.len()));
        self.overlay.write(store.0, key, Some(value));
    }

    /// Deletes a key.
    pub fn delete(&mut self, store: StoreId, key: impl Into<Vec<u8>>) {
        self.overlay.write(store.0, key.into(), None);
    }

    /// Visits entries in key order from `from` on until the visitor breaks.
    pub fn scan(&self, store: StoreId, from: &[u8], visit: Visit<'_>) -> Result<(), StoreError> {
        self.overlay.scan(self.store, store.0, from, visit)
    }

    /// Sends a record; it becomes visible when the batch commits. The key decides the partition. A record that is larger
    /// than its topic takes sets the input record aside.
    pub fn emit(&mut self, output: OutputId, key: impl Into<Vec<u8>>, value: Vec<u8>) {
        self.emit_value(output, key.into(), Some(value));
    }

    /// Sends a tombstone to a compacted output.
    pub fn emit_tombstone(&mut self, output: OutputId, key: impl Into<Vec<u8>>) {
        self.emit_value(output, key.into(), None);
    }

    fn emit_value(&mut self, output: OutputId, key: Vec<u8>, value: Option<Vec<u8>>) {
        let topic = &self.topics.outputs[output.0];
        let record = topic.record(key, value, self.now);
        let refusal = topic.refusal(record.bytes());
        self.outputs.push(record);
        self.emitted += 1;
        self.refuse(refusal);
    }

    fn refuse(&mut self, refusal: Option<String>) {
        self.refusal = self.refusal.take().or(refusal);
    }

    /// The most bytes, key and value, that a record of an output may have.
    pub fn max_message_bytes(&self, output: OutputId) -> usize {
        self.topics.outputs[output.0].max_message_bytes as usize
    }

    /// A name for the next output that is the same whenever this input is processed again: topic, partition, offset
    /// and index. Consumers outside the log drop repeats by it. `None` in punctuate and flush, where there is no
    /// input.
    pub fn output_id(&self) -> Option<String> {
        self.origin.map(|(topic, offset)| format!("{topic}-{}-{offset}-{}", self.task.partition, self.emitted))
    }
}
