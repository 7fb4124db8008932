//! The seam to local state: one store per task, holding only what the log has committed.

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
    /// Partition number.
    pub partition: u32,
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.stage, self.partition)
    }
}

/// A failure of the local store.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// What is on disk is damaged, or belongs to another log, task or version. Where a changelog holds the state, it is
    /// set aside and refilled.
    #[error("{0}")]
    Damaged(String),
    /// The disk does not do what it is asked to. The stage stops and says so.
    #[error("{0}")]
    Failed(String),
}

/// One write: put, or delete when `value` is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreWrite {
    /// Which of the task's stores, by its place in the topology.
    pub store: usize,
    /// Key.
    pub key: Vec<u8>,
    /// New value; `None` deletes.
    pub value: Option<Vec<u8>>,
}

/// The writes of one task in one commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskWrites {
    /// The task.
    pub task: TaskId,
    /// Names of its stores, in the order of the topology.
    pub stores: Arc<[String]>,
    /// What it has written, one entry per key.
    pub writes: Vec<StoreWrite>,
}

/// How much of its changelog one store holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreCheckpoint {
    /// Next changelog offset. `None`: nothing of the changelog is held.
    pub changelog_next: Option<u64>,
    /// The last time at which the store was known to hold its whole changelog. A store that missed something since may
    /// have missed a deletion that is compacted away by now, once tombstones of that age are gone.
    pub complete_as_of: Option<Timestamp>,
}

/// Where a task's state stands: offsets that match what it holds. Written in the same batch as the state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// Next input offset that the state reflects. `None`: the state has never taken part in a commit.
    pub input_next: Option<u64>,
    /// By store, in the order of the topology.
    pub stores: Vec<StoreCheckpoint>,
}

impl Checkpoint {
    /// The checkpoint of this many stores that hold nothing.
    pub fn empty(stores: usize) -> Self {
        Self { input_next: None, stores: vec![StoreCheckpoint::default(); stores] }
    }
}

/// The state of one task: some key-value stores and their checkpoint.
pub trait StateStore: Send {
    /// The value of a key.
    fn get(&self, store: usize, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError>;

    /// Visits entries in key order from `from` on until the visitor breaks.
    fn scan(&self, store: usize, from: &[u8], visit: Visit<'_>) -> Result<(), StoreError>;

    /// Where the stores stand, one entry for each store of the topology.
    fn checkpoint(&self) -> Result<Checkpoint, StoreError>;

    /// Applies writes and the checkpoint that goes with them, all or nothing. Never called where the log itself keeps the
    /// state ([`crate::StateIn::Log`]).
    fn apply(&mut self, writes: &[StoreWrite], checkpoint: &Checkpoint) -> Result<(), StoreError>;

    /// Empties one store and forgets its part of the checkpoint, before it is filled anew from its changelog.
    fn empty(&mut self, store: usize) -> Result<(), StoreError>;
}

/// Opens the state of tasks.
pub trait StoreProvider: Send + Sync {
    /// Opens (or makes) the stores of a task of the log with this id. Fails with [`StoreError::Damaged`] when what is
    /// there belongs to another log or task, and with [`StoreError::Failed`] when another task of this or another process
    /// holds it.
    fn open(&self, log_id: &str, task: &TaskId, stores: &[&str]) -> Result<Box<dyn StateStore>, StoreError>;

    /// Moves the closed state of a task out of the way, keeping it under another name, which is returned.
    fn set_aside(&self, task: &TaskId) -> Result<String, StoreError>;
}
