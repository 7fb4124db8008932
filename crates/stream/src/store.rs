//! The interface to local state: one store per task, which holds only what the log has committed.

use page::Timestamp;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Called with each key and value until it breaks.
pub type Visit<'a> = &'a mut dyn FnMut(&[u8], &[u8]) -> ControlFlow<()>;

/// One stage × one partition: the unit of state, assignment and restore.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId {
    /// Stage name, such as `scheduler`.
    pub stage: String,
    pub partition: u32,
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.stage, self.partition)
    }
}

#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// The state on disk is damaged, or belongs to another log, task or version. If a changelog holds the state, it is
    /// set aside and refilled.
    #[error("{0}")]
    Damaged(String),
    /// The disk failed an operation. The stage stops with this message.
    #[error("{0}")]
    Failed(String),
}

/// One write: put, or delete when `value` is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreWrite {
    /// Index of the task's store, in the order of the topology.
    pub store: usize,
    /// Key, as [`crate::TableKey`] encodes it.
    pub key: Vec<u8>,
    /// New value; `None` deletes.
    pub value: Option<Vec<u8>>,
}

/// The writes of one task in one commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskWrites {
    pub task: TaskId,
    /// Names of its stores, in the order of the topology.
    pub stores: Arc<[String]>,
    /// Its writes, one per key.
    pub writes: Vec<StoreWrite>,
}

/// How much of its changelog a store holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreCheckpoint {
    /// Next changelog offset. `None`: the store holds nothing of its changelog.
    pub changelog_next: Option<u64>,
    /// The last time at which the store was known to hold its whole changelog. Once this is longer ago than tombstones
    /// are kept, the store may have missed a deletion that compaction has since removed.
    pub complete_as_of: Option<Timestamp>,
}

/// The next offset of a store whose changelog lacks what the store has: it was made anew under a running stage, or is being written
/// from the store. No process may go on from what is in it.
pub(crate) const CHANGELOG_LOST: u64 = u64::MAX;

/// Offsets that match the state of a task, written in the same batch as the state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// Next input offset that the state reflects. `None`: the state has never taken part in a commit.
    pub input_next: Option<u64>,
    /// One entry per store, in the order of the topology.
    pub stores: Vec<StoreCheckpoint>,
}

impl Checkpoint {
    /// The checkpoint of `stores` empty stores.
    pub fn empty(stores: usize) -> Self {
        Self { input_next: None, stores: vec![StoreCheckpoint::default(); stores] }
    }
}

/// The state of one task: key-value stores and their checkpoint.
pub trait StateStore: Send {
    fn get(&self, store: usize, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError>;

    /// Visits entries in key order from `from` on until the visitor breaks.
    fn scan(&self, store: usize, from: &[u8], visit: Visit<'_>) -> Result<(), StoreError>;

    /// The checkpoint on disk, one entry per store of the topology.
    fn checkpoint(&self) -> Result<Checkpoint, StoreError>;

    /// Applies writes and their checkpoint, all or nothing. Never called if the log itself keeps the state
    /// ([`crate::StateIn::Log`]).
    fn apply(&mut self, writes: &[StoreWrite], checkpoint: &Checkpoint) -> Result<(), StoreError>;

    /// Bytes that the stores take on disk, by an estimate; 0 for stores in memory.
    fn bytes_on_disk(&self) -> u64 {
        0
    }

    /// Empties one store and its part of the checkpoint, before a refill from its changelog.
    fn empty(&mut self, store: usize) -> Result<(), StoreError>;
}

/// The state of a task without stores: nothing is kept, so nothing is read.
pub(crate) struct NoStores;

impl StateStore for NoStores {
    fn get(&self, _: usize, _: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(None)
    }

    fn scan(&self, _: usize, _: &[u8], _: Visit<'_>) -> Result<(), StoreError> {
        Ok(())
    }

    fn checkpoint(&self) -> Result<Checkpoint, StoreError> {
        Ok(Checkpoint::empty(0))
    }

    fn apply(&mut self, _: &[StoreWrite], _: &Checkpoint) -> Result<(), StoreError> {
        Ok(())
    }

    fn empty(&mut self, _: usize) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Opens the state of tasks.
pub trait StoreProvider: Send + Sync {
    /// Opens (or creates) the stores of a task of the log with this id. Fails with [`StoreError::Damaged`] if they
    /// belong to another log or task, and with [`StoreError::Failed`] if another task, of this or another process,
    /// holds them.
    fn open(&self, log_id: &str, task: &TaskId, stores: &[&str]) -> Result<Box<dyn StateStore>, StoreError>;

    /// Renames the closed state of a task out of the way and returns the new name.
    fn set_aside(&self, task: &TaskId) -> Result<String, StoreError>;
}
