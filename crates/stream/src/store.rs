//! The seam to local state: one store per task, holding only what the log has committed.

use page::Timestamp;
use std::fmt;
use std::ops::ControlFlow;

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

/// A failure of the local store. It is ours, never the web's, so the stage stops and says so.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct StoreError(pub String);

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

/// Where a store stands: offsets that match what it holds. Written in the same batch as the state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// Next input offset. `None`: the store has never taken part in a commit.
    pub input_next: Option<u64>,
    /// Next changelog offset by store. `None`: nothing of this store's changelog is held.
    pub changelog_next: Vec<Option<u64>>,
    /// When it was written. A store older than a changelog keeps tombstones must be refilled from nothing, because
    /// deletions may have been compacted away.
    pub written_at: Option<Timestamp>,
}

/// The state of one task: some key-value stores and their checkpoint.
pub trait StateStore: Send {
    /// The value of a key.
    fn get(&self, store: usize, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError>;

    /// Visits entries in key order from `from` on until the visitor breaks.
    fn scan(&self, store: usize, from: &[u8], visit: Visit<'_>) -> Result<(), StoreError>;

    /// Where the store stands.
    fn checkpoint(&self) -> Result<Checkpoint, StoreError>;

    /// Applies writes and the checkpoint that goes with them, all or nothing.
    fn apply(&mut self, writes: &[StoreWrite], checkpoint: &Checkpoint) -> Result<(), StoreError>;

    /// Empties every store and forgets the checkpoint.
    fn clear(&mut self) -> Result<(), StoreError>;
}

/// Opens the state of tasks.
pub trait StoreProvider: Send + Sync {
    /// Opens (or makes) the store of a task. Fails when another task of this or another process holds it.
    fn open(&self, task: &TaskId, stores: &[&str]) -> Result<Box<dyn StateStore>, StoreError>;
}
