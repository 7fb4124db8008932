//! The simplest backend and store, all in memory: for the test driver, and as the reference of the conformance suite.

mod stores;

pub use self::stores::{MemoryLogStores, MemoryStore, MemoryStores};

use bytes::Bytes;
use page::Timestamp;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use stream::inprocess::{LogBackend, WriteBatch};
use stream::protocol::TOMBSTONES_KEPT;
use stream::{
    Cleanup, ErrorKind, InputRecord, LogError, OffsetBounds, PollLimits, Position, StateIn, TaskId, TaskWrites,
    TopicConfig, TopicPartition,
};

#[derive(Debug, Default)]
struct MemoryPartition {
    records: BTreeMap<u64, InputRecord>,
    bounds: OffsetBounds,
    /// Times at which tombstones may be dropped. As in Kafka, the time starts with the first compaction that meets a
    /// tombstone: that one removes the deleted values, so a reader that saw a value earlier still finds the tombstone
    /// for that long.
    tombstones: BTreeMap<u64, Timestamp>,
}

impl MemoryPartition {
    fn compact(&mut self, now: Timestamp) {
        let mut seen = HashSet::new();
        let newest_first = self.records.iter().rev();
        let keep: HashSet<u64> =
            newest_first.filter(|(_, record)| seen.insert(record.key.clone())).map(|(offset, _)| *offset).collect();
        let tombstones = &mut self.tombstones;
        self.records.retain(|offset, record| {
            let is_last = keep.contains(offset);
            is_last && (record.value.is_some() || *tombstones.entry(*offset).or_insert(now + TOMBSTONES_KEPT) > now)
        });
        tombstones.retain(|offset, _| self.records.contains_key(offset));
    }
}

#[derive(Debug, Default)]
struct MemoryContents {
    topics: BTreeMap<Arc<str>, TopicConfig>,
    partitions: HashMap<TopicPartition, MemoryPartition>,
    committed: HashMap<(String, TopicPartition), Position>,
    /// State of tasks by task and store, if the log keeps it.
    state: HashMap<(TaskId, String), BTreeMap<Vec<u8>, Vec<u8>>>,
    refuses_next_write: bool,
}

#[derive(Debug)]
pub struct MemoryBackend {
    contents: Mutex<MemoryContents>,
    state_in: StateIn,
    marks_commits: bool,
}

impl Default for MemoryBackend {
    /// A backend that leaves the state of tasks to changelogs.
    fn default() -> Self {
        Self { contents: Mutex::default(), state_in: StateIn::Changelogs, marks_commits: false }
    }
}

impl MemoryBackend {
    /// A backend that keeps the state of tasks itself, like the embedded log.
    pub fn with_state() -> Self {
        Self { state_in: StateIn::Log, ..Self::default() }
    }

    /// A backend that leaves one offset unused after the records of each transaction, like Kafka's markers.
    pub fn with_commit_markers() -> Self {
        Self { marks_commits: true, ..Self::default() }
    }

    /// The next write has no answer, and did not happen.
    pub fn refuse_next_write(&self) {
        self.contents().refuses_next_write = true;
    }

    /// Drops the positions of a group on a topic, as Kafka does after a long absence of the group.
    pub fn forget_group(&self, group: &str, topic: &str) {
        self.contents().committed.retain(|(name, place), _| name != group || &*place.topic != topic);
    }

    /// Drops the records of a partition before an offset, as retention does.
    pub fn drop_before(&self, partition: &TopicPartition, offset: u64) {
        if let Some(partition) = self.contents().partitions.get_mut(partition) {
            partition.records = partition.records.split_off(&offset);
            partition.bounds.start = partition.bounds.start.max(offset.min(partition.bounds.end));
        }
    }

    /// Empties a topic and begins its offsets anew, as somebody does who deletes and creates it.
    pub fn make_anew(&self, topic: &str) {
        for (_, partition) in self.contents().partitions.iter_mut().filter(|(place, _)| &*place.topic == topic) {
            *partition = Default::default();
        }
    }

    fn contents(&self) -> MutexGuard<'_, MemoryContents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryContents {
    fn apply(&mut self, writes: &TaskWrites) {
        for write in &writes.writes {
            let name = writes.stores[write.store].clone();
            let store = self.state.entry((writes.task.clone(), name)).or_default();
            match &write.value {
                Some(value) => store.insert(write.key.clone(), value.clone()),
                None => store.remove(&write.key),
            };
        }
    }
}

impl LogBackend for MemoryBackend {
    fn id(&self) -> Result<String, LogError> {
        Ok("memory".to_owned())
    }

    fn state_in(&self) -> StateIn {
        self.state_in
    }

    fn marks_commits(&self) -> bool {
        self.marks_commits
    }

    fn topics(&self) -> Result<Vec<TopicConfig>, LogError> {
        Ok(self.contents().topics.values().cloned().collect())
    }

    fn create_topic(&self, topic: &TopicConfig) -> Result<(), LogError> {
        let mut contents = self.contents();
        if let Some(existing) = contents.topics.get(&topic.name)
            && existing.partitions != topic.partitions
        {
            let message =
                format!("topic {} has {} partitions, not {}", topic.name, existing.partitions, topic.partitions);
            return Err(LogError::new(ErrorKind::Stop, message));
        }
        for partition in 0..topic.partitions {
            let empty = MemoryPartition::default();
            contents.partitions.entry(TopicPartition::new(topic.name.clone(), partition)).or_insert(empty);
        }
        contents.topics.insert(topic.name.clone(), topic.clone());
        Ok(())
    }

    fn bounds(&self, partition: &TopicPartition) -> Result<OffsetBounds, LogError> {
        let contents = self.contents();
        let found = contents.partitions.get(partition);
        found.map(|partition| partition.bounds).ok_or_else(|| unknown(partition))
    }

    fn read(&self, from: &TopicPartition, offset: u64, limits: PollLimits) -> Result<Vec<InputRecord>, LogError> {
        let contents = self.contents();
        let partition = contents.partitions.get(from).ok_or_else(|| unknown(from))?;
        let records = partition.records.range(offset..).map(|(_, record)| record);
        let count = limits.fitting(records.clone());
        Ok(records.take(count).cloned().collect())
    }

    fn count(&self, partition: &TopicPartition, from: u64) -> Result<u64, LogError> {
        let contents = self.contents();
        let found = contents.partitions.get(partition).ok_or_else(|| unknown(partition))?;
        Ok(found.records.range(from..).count() as u64)
    }

    fn write(&self, batch: WriteBatch<'_>) -> Result<(), LogError> {
        let mut contents = self.contents();
        if std::mem::take(&mut contents.refuses_next_write) {
            return Err(LogError::new(ErrorKind::Retry, "no answer"));
        }
        for (offset, record) in batch.records {
            let partition = contents.partitions.get_mut(&record.to).ok_or_else(|| unknown(&record.to))?;
            partition.bounds.end = offset + 1;
            let stored = InputRecord {
                partition: record.to.partition,
                offset: *offset,
                timestamp: record.timestamp,
                key: record.key.clone(),
                // A copy: this log keeps its records for ever, and a memory budget that the value holds must not be
                // held so long.
                value: record.value.as_deref().map(Bytes::copy_from_slice),
                trace: record.trace.clone(),
            };
            partition.records.insert(*offset, stored);
        }
        if self.marks_commits {
            let written: HashSet<&TopicPartition> = batch.records.iter().map(|(_, record)| &record.to).collect();
            for place in written {
                let partition = contents.partitions.get_mut(place).ok_or_else(|| unknown(place))?;
                partition.bounds.end += 1;
            }
        }
        for (partition, position) in batch.positions {
            contents.committed.insert((batch.group.to_owned(), partition.clone()), position.clone());
        }
        batch.state.iter().for_each(|writes| contents.apply(writes));
        Ok(())
    }

    fn committed(&self, group: &str, partition: &TopicPartition) -> Result<Option<Position>, LogError> {
        Ok(self.contents().committed.get(&(group.to_owned(), partition.clone())).cloned())
    }

    fn maintain(&self, now: Timestamp) -> Result<(), LogError> {
        let mut contents = self.contents();
        let MemoryContents { topics, partitions, committed, .. } = &mut *contents;
        for (name, partition) in partitions.iter_mut() {
            let Some(topic) = topics.get(&name.topic) else { continue };
            match topic.cleanup {
                Cleanup::Compact => partition.compact(now),
                Cleanup::Delete { retention, .. } | Cleanup::Transient { retention } => {
                    let everywhere = committed.iter().filter(|((_, tp), _)| tp == name).map(|(_, at)| at.next).min();
                    partition.records.retain(|offset, record| {
                        let old = now.saturating_since(record.timestamp) > retention;
                        let done = topic.cleanup.drops_consumed() && everywhere.is_some_and(|next| *offset < next);
                        !(old || done)
                    });
                    let first = partition.records.keys().next().copied();
                    partition.bounds.start = first.unwrap_or(partition.bounds.end);
                }
            }
        }
        Ok(())
    }
}

fn unknown(partition: &TopicPartition) -> LogError {
    LogError::new(ErrorKind::Stop, format!("partition {partition} does not exist; create its topic first"))
}
