//! Task state inside the database of the embedded log.

use crate::EmbeddedBackend;
use crate::layout::state_family;
use crate::table;
use std::sync::Arc;
use stream::{Checkpoint, LogError, StateStore, StoreError, StoreProvider, StoreWrite, TaskId, Visit};

/// The state of all tasks of an embedded log, written by its commits. It is never ahead of or behind the log. It exists
/// nowhere else, so damage cannot be repaired by a refill.
#[derive(Clone)]
pub struct EmbeddedStores(Arc<EmbeddedBackend>);

impl EmbeddedStores {
    /// The stores of a log, or of a view of one.
    pub fn new(log: Arc<EmbeddedBackend>) -> Self {
        Self(log)
    }

    /// Read-only access to a task's state, for tools; `None` if the stage was never started with these stores.
    pub fn view(&self, task: &TaskId, stores: &[&str]) -> Option<Box<dyn StateStore>> {
        let families: Vec<_> = stores.iter().map(|store| state_family(&task.stage, store)).collect();
        let there = families.iter().all(|name| self.0.has_family(name));
        there.then(|| self.store(task, families))
    }

    fn store(&self, task: &TaskId, families: Vec<String>) -> Box<dyn StateStore> {
        Box::new(EmbeddedStore { log: self.0.clone(), task: task.clone(), families })
    }
}

impl StoreProvider for EmbeddedStores {
    fn open(&self, log_id: &str, task: &TaskId, stores: &[&str]) -> Result<Box<dyn StateStore>, StoreError> {
        let own = self.0.log_id();
        if log_id != own {
            return Err(StoreError::Failed(format!(
                "the state of {task} belongs to log {own}, not {log_id}; every log has its own state"
            )));
        }
        self.0.prepare(&task.stage, stores).map_err(failed)?;
        Ok(self.store(task, stores.iter().map(|store| state_family(&task.stage, store)).collect()))
    }

    fn set_aside(&self, task: &TaskId) -> Result<String, StoreError> {
        Err(StoreError::Failed(format!(
            "the state of {task} exists only in the embedded log and cannot be refilled; {}",
            crate::directory::RESTORE
        )))
    }
}

struct EmbeddedStore {
    log: Arc<EmbeddedBackend>,
    task: TaskId,
    /// One family per store, in the order of the topology.
    families: Vec<String>,
}

impl EmbeddedStore {
    fn written_by_commits(&self) -> StoreError {
        StoreError::Failed(format!("the state of {} can only be written by commits of its log", self.task))
    }

    fn fault(&self, error: &rocksdb::Error) -> StoreError {
        failed(self.log.fault(error))
    }
}

fn failed(error: LogError) -> StoreError {
    StoreError::Failed(error.message)
}

impl StateStore for EmbeddedStore {
    fn get(&self, store: usize, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let family = self.log.family(&self.families[store]).map_err(failed)?;
        table::get(&self.log.database, &family, self.task.partition, key).map_err(|error| self.fault(&error))
    }

    fn scan(&self, store: usize, from: &[u8], visit: Visit<'_>) -> Result<(), StoreError> {
        let family = self.log.family(&self.families[store]).map_err(failed)?;
        table::scan(&self.log.database, &family, self.task.partition, from, visit).map_err(|error| self.fault(&error))
    }

    fn checkpoint(&self) -> Result<Checkpoint, StoreError> {
        Ok(Checkpoint::empty(self.families.len()))
    }

    fn apply(&mut self, _: &[StoreWrite], _: &Checkpoint) -> Result<(), StoreError> {
        Err(self.written_by_commits())
    }

    fn bytes_on_disk(&self) -> u64 {
        let families = self.families.iter().filter_map(|name| self.log.family(name).ok());
        families.map(|family| table::bytes_on_disk(&self.log.database, &family, self.task.partition)).sum()
    }

    fn empty(&mut self, _: usize) -> Result<(), StoreError> {
        Err(self.written_by_commits())
    }
}
