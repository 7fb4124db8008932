//! State stores in memory: of a process, shared by its restarts, or inside the log.

use super::MemoryBackend;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use stream::{Checkpoint, StateStore, StoreCheckpoint, StoreError, StoreProvider, StoreWrite, TaskId, Visit};

/// State of one task in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    stores: Vec<BTreeMap<Vec<u8>, Vec<u8>>>,
    checkpoint: Checkpoint,
}

impl MemoryStore {
    /// `stores` empty stores.
    pub fn new(stores: usize) -> Self {
        Self { stores: vec![BTreeMap::new(); stores], checkpoint: Checkpoint::empty(stores) }
    }

    /// All entries of a store.
    pub fn entries(&self, store: usize) -> &BTreeMap<Vec<u8>, Vec<u8>> {
        &self.stores[store]
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

    fn empty(&mut self, store: usize) -> Result<(), StoreError> {
        self.stores[store].clear();
        self.checkpoint.stores[store] = StoreCheckpoint::default();
        Ok(())
    }
}

/// State of one task on the "disk", with its log.
#[derive(Clone, Debug)]
struct OnDisk {
    log_id: String,
    names: Vec<String>,
    store: MemoryStore,
}

impl OnDisk {
    fn new(log_id: &str, stores: &[&str]) -> Self {
        let names = stores.iter().map(|&name| name.to_owned()).collect();
        Self { log_id: log_id.to_owned(), names, store: MemoryStore::new(stores.len()) }
    }

    /// The same state for another list of stores: new stores are empty, stores not listed are dropped.
    fn with_stores(&self, stores: &[&str]) -> Self {
        let mut new = Self::new(&self.log_id, stores);
        new.store.checkpoint.input_next = self.store.checkpoint.input_next;
        for (place, name) in stores.iter().enumerate() {
            if let Some(before) = self.names.iter().position(|known| known == name) {
                new.store.stores[place] = self.store.stores[before].clone();
                new.store.checkpoint.stores[place] = self.store.checkpoint.stores[before];
            }
        }
        new
    }
}

/// Stores in memory that outlive their tasks, like a disk. Clones share the same stores.
#[derive(Clone, Debug, Default)]
pub struct MemoryStores(Arc<Mutex<HashMap<TaskId, OnDisk>>>);

impl MemoryStores {
    fn all(&self) -> MutexGuard<'_, HashMap<TaskId, OnDisk>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Deletes all stores, like the loss of a disk.
    pub fn lose_everything(&self) {
        self.all().clear();
    }

    /// Copies the state of a task on the "disk".
    pub fn snapshot(&self, task: &TaskId) -> Option<MemoryStore> {
        self.all().get(task).map(|on_disk| on_disk.store.clone())
    }

    /// Restores an older copy, like a volume snapshot.
    pub fn put_back(&self, task: &TaskId, store: MemoryStore) {
        if let Some(on_disk) = self.all().get_mut(task) {
            on_disk.store = store;
        }
    }
}

impl StoreProvider for MemoryStores {
    fn open(&self, log_id: &str, task: &TaskId, stores: &[&str]) -> Result<Box<dyn StateStore>, StoreError> {
        let mut all = self.all();
        let on_disk = all.entry(task.clone()).or_insert_with(|| OnDisk::new(log_id, stores));
        if on_disk.log_id != log_id {
            let other = &on_disk.log_id;
            return Err(StoreError::Damaged(format!("the state of {task} belongs to log {other}, not {log_id}")));
        }
        if on_disk.names != stores {
            *on_disk = on_disk.with_stores(stores);
        }
        Ok(Box::new(SharedStore { task: task.clone(), stores: self.clone() }))
    }

    fn set_aside(&self, task: &TaskId) -> Result<String, StoreError> {
        self.all().remove(task);
        Ok(format!("{task}.set-aside"))
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
            .map(|on_disk| work(&mut on_disk.store))
            .ok_or_else(|| StoreError::Failed(format!("the state of {} was lost while open", self.task)))
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

    fn empty(&mut self, store: usize) -> Result<(), StoreError> {
        self.with(|inner| inner.empty(store))?
    }
}

/// The stores of a [`MemoryBackend`] that keeps the state of tasks.
#[derive(Clone, Debug)]
pub struct MemoryLogStores(pub Arc<MemoryBackend>);

impl StoreProvider for MemoryLogStores {
    fn open(&self, _: &str, task: &TaskId, stores: &[&str]) -> Result<Box<dyn StateStore>, StoreError> {
        let stores = stores.iter().map(|&name| name.to_owned()).collect();
        Ok(Box::new(MemoryLogStore { backend: self.0.clone(), task: task.clone(), stores }))
    }

    fn set_aside(&self, task: &TaskId) -> Result<String, StoreError> {
        Err(StoreError::Failed(format!("the state of {task} is part of the log and cannot be refilled")))
    }
}

struct MemoryLogStore {
    backend: Arc<MemoryBackend>,
    task: TaskId,
    stores: Vec<String>,
}

impl MemoryLogStore {
    fn key(&self, store: usize) -> (TaskId, String) {
        (self.task.clone(), self.stores[store].clone())
    }
}

impl StateStore for MemoryLogStore {
    fn get(&self, store: usize, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.backend.contents().state.get(&self.key(store)).and_then(|entries| entries.get(key)).cloned())
    }

    fn scan(&self, store: usize, from: &[u8], visit: Visit<'_>) -> Result<(), StoreError> {
        let entries = self.backend.contents().state.get(&self.key(store)).cloned().unwrap_or_default();
        for (key, value) in entries.range(from.to_vec()..) {
            if visit(key, value).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn checkpoint(&self) -> Result<Checkpoint, StoreError> {
        Ok(Checkpoint::empty(self.stores.len()))
    }

    fn apply(&mut self, _: &[StoreWrite], _: &Checkpoint) -> Result<(), StoreError> {
        Err(StoreError::Failed(format!("the state of {} can only be written by commits", self.task)))
    }

    fn empty(&mut self, store: usize) -> Result<(), StoreError> {
        self.backend.contents().state.remove(&self.key(store));
        Ok(())
    }
}
