//! The simplest backend and store: everything in memory. For the test driver, and the yardstick of the conformance suite.

use crate::inprocess::{LogBackend, WriteBatch};
use crate::log::{ErrorKind, LogError};
use crate::record::{Bounds, Cleanup, InputRecord, TopicConfig, TopicPartition};
use crate::store::{Checkpoint, StateStore, StoreError, StoreProvider, StoreWrite, TaskId, Visit};
use page::Timestamp;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Debug)]
struct Partition {
    records: BTreeMap<u64, InputRecord>,
    bounds: Bounds,
}

#[derive(Debug, Default)]
struct Contents {
    topics: BTreeMap<Arc<str>, TopicConfig>,
    partitions: HashMap<TopicPartition, Partition>,
    committed: HashMap<(String, TopicPartition), u64>,
}

/// A log backend in memory.
#[derive(Debug, Default)]
pub struct MemoryBackend(Mutex<Contents>);

impl MemoryBackend {
    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LogBackend for MemoryBackend {
    fn topics(&self) -> Result<Vec<TopicConfig>, LogError> {
        Ok(self.contents().topics.values().cloned().collect())
    }

    fn create_topic(&self, topic: &TopicConfig) -> Result<(), LogError> {
        let mut contents = self.contents();
        for partition in 0..topic.partitions {
            let empty = Partition { records: BTreeMap::new(), bounds: Bounds::default() };
            contents.partitions.entry(TopicPartition::new(topic.name.clone(), partition)).or_insert(empty);
        }
        contents.topics.insert(topic.name.clone(), topic.clone());
        Ok(())
    }

    fn bounds(&self, partition: &TopicPartition) -> Result<Bounds, LogError> {
        let contents = self.contents();
        let found = contents.partitions.get(partition);
        found.map(|partition| partition.bounds).ok_or_else(|| unknown(partition))
    }

    fn read(&self, from: &TopicPartition, offset: u64, max_records: usize) -> Result<Vec<InputRecord>, LogError> {
        let contents = self.contents();
        let partition = contents.partitions.get(from).ok_or_else(|| unknown(from))?;
        Ok(partition.records.range(offset..).take(max_records).map(|(_, record)| record.clone()).collect())
    }

    fn write(&self, batch: WriteBatch<'_>) -> Result<(), LogError> {
        let mut contents = self.contents();
        for (offset, record) in batch.records {
            let partition = contents.partitions.get_mut(&record.to).ok_or_else(|| unknown(&record.to))?;
            partition.bounds.end = offset + 1;
            let stored = InputRecord {
                partition: record.to.partition,
                offset: *offset,
                timestamp: record.timestamp,
                key: record.key.clone(),
                value: record.value.clone(),
            };
            partition.records.insert(*offset, stored);
        }
        for (partition, next) in batch.positions {
            contents.committed.insert((batch.group.to_owned(), partition.clone()), *next);
        }
        Ok(())
    }

    fn committed(&self, group: &str, partition: &TopicPartition) -> Result<Option<u64>, LogError> {
        Ok(self.contents().committed.get(&(group.to_owned(), partition.clone())).copied())
    }

    fn maintain(&self, now: Timestamp) -> Result<(), LogError> {
        let mut contents = self.contents();
        let Contents { topics, partitions, committed } = &mut *contents;
        for (name, partition) in partitions.iter_mut() {
            let Some(topic) = topics.get(&name.topic) else { continue };
            match topic.cleanup {
                Cleanup::Compact => {
                    let mut seen = HashSet::new();
                    let keep: HashSet<u64> = partition
                        .records
                        .iter()
                        .rev()
                        .filter(|(_, r)| seen.insert(r.key.clone()))
                        .map(|(o, _)| *o)
                        .collect();
                    partition.records.retain(|offset, _| keep.contains(offset));
                }
                Cleanup::Delete { retention, consumed } => {
                    let everywhere = committed.iter().filter(|((_, tp), _)| tp == name).map(|(_, next)| *next).min();
                    partition.records.retain(|offset, record| {
                        let old = now.saturating_since(record.timestamp) > retention;
                        let done = consumed && everywhere.is_some_and(|next| *offset < next);
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
    LogError::new(ErrorKind::Stop, format!("there is no partition {partition}; create its topic first"))
}

/// A task's state in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    stores: Vec<BTreeMap<Vec<u8>, Vec<u8>>>,
    checkpoint: Checkpoint,
}

impl MemoryStore {
    /// A number of empty stores.
    pub fn new(stores: usize) -> Self {
        Self { stores: vec![BTreeMap::new(); stores], checkpoint: Checkpoint::default() }
    }
}

impl StateStore for MemoryStore {
    fn get(&self, store: usize, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.stores[store].get(key).cloned())
    }

    fn scan(&self, store: usize, from: &[u8], visit: Visit<'_>) -> Result<(), StoreError> {
        for (key, value) in self.stores[store].range(from.to_vec()..) {
            if visit(key, value).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn checkpoint(&self) -> Result<Checkpoint, StoreError> {
        Ok(self.checkpoint.clone())
    }

    fn apply(&mut self, writes: &[StoreWrite], checkpoint: &Checkpoint) -> Result<(), StoreError> {
        for write in writes {
            match &write.value {
                Some(value) => self.stores[write.store].insert(write.key.clone(), value.clone()),
                None => self.stores[write.store].remove(&write.key),
            };
        }
        self.checkpoint = checkpoint.clone();
        Ok(())
    }

    fn clear(&mut self) -> Result<(), StoreError> {
        *self = Self::new(self.stores.len());
        Ok(())
    }
}

/// Stores in memory that outlive their tasks, as a disk would. Clones share the same stores.
#[derive(Clone, Debug, Default)]
pub struct MemoryStores(Arc<Mutex<HashMap<TaskId, MemoryStore>>>);

impl MemoryStores {
    fn all(&self) -> MutexGuard<'_, HashMap<TaskId, MemoryStore>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The disk is lost.
    pub fn lose_everything(&self) {
        self.all().clear();
    }

    /// A copy of a task's state as it stands on "disk".
    pub fn snapshot(&self, task: &TaskId) -> Option<MemoryStore> {
        self.all().get(task).cloned()
    }

    /// Puts an older copy back, as a restored volume snapshot would.
    pub fn put_back(&self, task: &TaskId, store: MemoryStore) {
        self.all().insert(task.clone(), store);
    }
}

impl StoreProvider for MemoryStores {
    fn open(&self, task: &TaskId, stores: &[&str]) -> Result<Box<dyn StateStore>, StoreError> {
        self.all().entry(task.clone()).or_insert_with(|| MemoryStore::new(stores.len()));
        Ok(Box::new(SharedStore { task: task.clone(), stores: self.clone() }))
    }
}

struct SharedStore {
    task: TaskId,
    stores: MemoryStores,
}

impl SharedStore {
    fn with<T>(&self, work: impl FnOnce(&mut MemoryStore) -> T) -> Result<T, StoreError> {
        let mut all = self.stores.all();
        all.get_mut(&self.task)
            .map(work)
            .ok_or_else(|| StoreError(format!("the state of {} was lost while open", self.task)))
    }
}

impl StateStore for SharedStore {
    fn get(&self, store: usize, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.with(|inner| inner.get(store, key))?
    }

    fn scan(&self, store: usize, from: &[u8], visit: Visit<'_>) -> Result<(), StoreError> {
        self.with(|inner| inner.scan(store, from, visit))?
    }

    fn checkpoint(&self) -> Result<Checkpoint, StoreError> {
        self.with(|inner| inner.checkpoint())?
    }

    fn apply(&mut self, writes: &[StoreWrite], checkpoint: &Checkpoint) -> Result<(), StoreError> {
        self.with(|inner| inner.apply(writes, checkpoint))?
    }

    fn clear(&mut self) -> Result<(), StoreError> {
        self.with(|inner| inner.clear())?
    }
}
