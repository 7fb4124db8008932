//! Where do the log and the state live when there is nothing but a disk?
//!
//! * [`EmbeddedBackend`]: topics, records and positions of the embedded log, in one RocksDB under `<data>/log`.
//!   [`open_log`] puts groups and transactions on top.
//! * [`RocksStores`]: the state of tasks, a RocksDB each under `<data>/<stage>/<partition>`, for both ways to run.
//!
//! Every commit is one RocksDB batch in a write-ahead log that is handed to the kernel but not synced: killing the
//! process loses nothing, and a power cut loses the youngest batches, each as a whole. Both can be opened
//! read-only beside the process that owns them.
//!
//! This crate alone names RocksDB. It never decides what to restore or when to commit, and never reads a clock.

mod backend;
mod layout;
mod maintain;
mod rocks;
mod store;

pub use crate::backend::EmbeddedBackend;
pub use crate::store::{RocksStores, StoreMemory};

use std::path::Path;
use stream::{InProcessLog, LogError};

/// Opens (or makes) the embedded log of a data directory, for this process alone.
pub fn open_log(data_dir: &Path) -> Result<InProcessLog<EmbeddedBackend>, LogError> {
    EmbeddedBackend::open(data_dir).map(InProcessLog::new)
}
