//! The processor of a stage, and the context it works through.

use crate::overlay::Overlay;
use crate::partitioner::partition_for;
use crate::process_error::ProcessError;
use crate::record::{InputRecord, OutputRecord, TopicPartition};
use crate::store::{StateStore, TaskId};
use crate::table::{Table, TableError, TableKey, place_of};
use crate::task_tables::TaskView;
use bytes::Bytes;
use metrics::Figure;
use page::Timestamp;
use std::sync::Arc;
use wire::{Encoded, Keyed, Topic, TopicName};

/// The work of a stage on one partition. Synchronous and deterministic. It may cache in memory what it derives from its
/// tables. After a lost transaction it is dropped and rebuilt, and [`Processor::restored`] runs again.
pub trait Processor: Send {
    /// Called when the tables hold the committed state: rebuild here what is kept in memory.
    fn restored(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let _ = context;
        Ok(())
    }

    /// Processes one input record; committed effects happen exactly once. [`InputRecord::read`] decodes it.
    fn process(&mut self, record: &InputRecord, context: &mut Context<'_>) -> Result<(), ProcessError>;

    /// Called between batches, about every [`crate::StageSpec::punctuate_every`].
    fn punctuate(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let _ = context;
        Ok(())
    }

    /// Called before a batch is committed, after its records and after punctuate, also for a batch without records of
    /// this task. Write here, once, what the records have changed in memory.
    fn flush(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let _ = context;
        Ok(())
    }

    /// Takes a record of a broadcast topic of the stage, which every partition reads. Delivered at least once; the latest
    /// per key wins. Those that are there come before the first record of the input.
    fn broadcast(
        &mut self,
        topic: TopicName,
        record: &InputRecord,
        context: &mut Context<'_>,
    ) -> Result<(), ProcessError> {
        let (_, _, _) = (topic, record, context);
        Ok(())
    }

    /// Figures for `/status` and `/metrics`, which are added up over the partitions.
    fn figures(&self) -> Vec<Figure> {
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
    /// A record addressed to the partition of its key.
    pub(crate) fn record(&self, key: Vec<u8>, value: impl Into<Bytes>, timestamp: Timestamp) -> OutputRecord {
        let to = TopicPartition { topic: self.name.clone(), partition: partition_for(&key, self.partitions) };
        OutputRecord { to, timestamp, key, value: Some(value.into()), trace: None }
    }

    /// Why the topic refuses a record of this size; `None` if it accepts it.
    pub(crate) fn refusal(&self, bytes: usize) -> Option<String> {
        let (topic, limit) = (&self.name, self.max_message_bytes);
        (bytes > limit as usize).then(|| format!("it produces a record of {bytes} bytes; topic {topic} allows {limit}"))
    }
}

/// The context of a processor: the time, its tables, its outputs.
pub struct Context<'a> {
    pub(crate) now: Timestamp,
    pub(crate) task: &'a TaskId,
    pub(crate) store: &'a dyn StateStore,
    pub(crate) overlay: &'a mut Overlay,
    pub(crate) topics: &'a Topics,
    pub(crate) outputs: &'a mut Vec<OutputRecord>,
    pub(crate) has_room: bool,
    /// Input topic and offset of the record being processed; `None` in punctuate and flush.
    pub(crate) origin: Option<(&'a str, u64)>,
    pub(crate) emitted: u32,
    /// Why a write staged by the current record cannot be committed.
    pub(crate) refusal: Option<String>,
}

/// The topics a stage writes to.
#[derive(Clone, Debug)]
pub(crate) struct Topics {
    pub(crate) outputs: Vec<(TopicName, OutputTopic)>,
    /// Table names.
    pub(crate) tables: Vec<&'static str>,
    /// Their changelogs.
    pub(crate) changelogs: Vec<OutputTopic>,
    pub(crate) dead_letters: OutputTopic,
}

impl Topics {
    /// The output topic of that name.
    ///
    /// # Panics
    /// If the stage has not declared it as an output, which is a bug in the program.
    pub(crate) fn output(&self, name: TopicName) -> &OutputTopic {
        let found = self.outputs.iter().find(|(output, _)| *output == name);
        &found.unwrap_or_else(|| panic!("the stage declares no output {name}")).1
    }
}

impl Context<'_> {
    /// Current time; constant while one record is processed.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Whether the disk has room for new work. Without it, begin none; finish what has begun.
    pub fn has_room(&self) -> bool {
        self.has_room
    }

    /// The task at work.
    pub fn task(&self) -> &TaskId {
        self.task
    }

    /// The value of a key, including writes of this batch.
    pub fn get<K: TableKey, V: Encoded>(&self, table: Table<K, V>, key: &K) -> Result<Option<V>, TableError> {
        let key = key.to_bytes();
        let value = self.overlay.get(self.store, self.place(table), key.as_ref())?;
        value.map(|value| table.value(key.as_ref(), &value)).transpose()
    }

    /// Sets a key. If the entry is larger than the changelog accepts, the input record is set aside.
    pub fn put<K: TableKey, V: Encoded>(&mut self, table: Table<K, V>, key: &K, value: &V) {
        let (place, key, value) = (self.place(table), key.to_bytes().as_ref().to_vec(), value.encode());
        self.refuse(self.topics.changelogs[place].refusal(key.len() + value.len()));
        self.overlay.write(place, key, Some(value));
    }

    /// Deletes a key.
    pub fn delete<K: TableKey, V: Encoded>(&mut self, table: Table<K, V>, key: &K) {
        self.overlay.write(self.place(table), key.to_bytes().as_ref().to_vec(), None);
    }

    /// Visits the entries whose keys begin with `prefix`, in their order, until the visitor fails.
    pub fn scan<K: TableKey, V: Encoded>(
        &self,
        table: Table<K, V>,
        prefix: &[u8],
        visit: &mut dyn FnMut(K, V) -> Result<(), ProcessError>,
    ) -> Result<(), ProcessError> {
        let place = self.place(table);
        table.scan(prefix, |_| true, visit, |each| self.overlay.scan(self.store, place, prefix, each))
    }

    /// The first `limit` entries whose keys are `from` or come after it.
    pub fn entries_from<K: TableKey, V: Encoded>(
        &self,
        table: Table<K, V>,
        from: &[u8],
        limit: usize,
    ) -> Result<Vec<(K, V)>, TableError> {
        TaskView::new(self.store, self.overlay, &self.topics.tables).entries_from(table, from, limit)
    }

    fn place<K, V>(&self, table: Table<K, V>) -> usize {
        place_of(&self.topics.tables, table.name())
    }

    /// Sends a message to the partition of its key; it becomes visible when the batch commits. If it is larger than its
    /// topic accepts, the input record is set aside.
    pub fn emit<M: Keyed>(&mut self, topic: Topic<M>, message: impl Into<M>) {
        let message = message.into();
        let value = message.encode();
        self.emit_encoded(topic, &message, value);
    }

    /// Sends a message in bytes that the readers of its topic distinguish from its usual encoding.
    pub fn emit_encoded<M: Keyed>(&mut self, topic: Topic<M>, message: &M, value: Vec<u8>) {
        let topic = self.topics.output(topic.name());
        let record = topic.record(message.key(), value, self.now);
        let refusal = topic.refusal(record.bytes());
        self.outputs.push(record);
        self.emitted += 1;
        self.refuse(refusal);
    }

    fn refuse(&mut self, refusal: Option<String>) {
        self.refusal = self.refusal.take().or(refusal);
    }

    /// An id for the next output, stable when the same input is processed again: topic, partition, offset and index.
    /// Consumers outside the log use it to drop duplicates. `None` in punctuate and flush, which have no input record.
    pub fn output_id(&self) -> Option<String> {
        self.origin.map(|(topic, offset)| format!("{topic}-{}-{offset}-{}", self.task.partition, self.emitted))
    }
}
