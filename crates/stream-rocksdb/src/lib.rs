//! Where do the log and the state live when there is nothing but a disk?
//!
//! * [`EmbeddedBackend`] and [`EmbeddedStores`]: topics, records, positions and the state of all tasks of an embedded
//!   crawl, in one RocksDB under `<data>/log`. A commit is one batch. [`open_log`] puts groups and transactions on top.
//! * [`RocksStores`]: the state of tasks beside a log that keeps it in changelogs, a RocksDB each under
//!   `<data>/<stage>/<partition>`.
//! * [`check`]: reads everything there is and says what is wrong.
//!
//! Every batch goes into a write-ahead log that is handed to the kernel but not synced: killing the process loses nothing,
//! and a power cut loses the youngest batches, each as a whole, unless [`EmbeddedBackend::sync`] is called now and then.
//! Databases can be opened read-only beside the process that owns them.
//!
//! Damage is never silent. Each column family says whose it is; a file beside each database says how far it had come. What
//! was lost at the end is found out by comparing, and offsets never begin again where they were.
//!
//! This crate alone names RocksDB. It never decides what to restore or when to commit, and reads a clock only to name what
//! it sets aside.

mod backend;
pub mod check;
mod checkpoint;
mod directory;
mod embedded_stores;
mod families;
mod fields;
mod high_water;
mod incarnation;
mod known;
mod layout;
mod log_backend;
mod maintain;
mod options;
mod rocks;
mod sealed;
mod store;
mod table;

pub use crate::backend::EmbeddedBackend;
pub use crate::embedded_stores::EmbeddedStores;
pub use crate::incarnation::{Jump, Opened};
pub use crate::store::{RocksStores, StoreMemory};

use std::path::Path;
use stream::{InProcessLog, LogError};

/// Opens (or makes) the embedded log of a data directory, for this process alone.
pub fn open_log(data_dir: &Path) -> Result<InProcessLog<EmbeddedBackend>, LogError> {
    EmbeddedBackend::open(data_dir).map(InProcessLog::new)
}

/// Whether a data directory holds an embedded log, or what is left of one.
pub fn has_log(data_dir: &Path) -> bool {
    directory::Paths::new(data_dir).any()
}
