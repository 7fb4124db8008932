//! Stores the log and the state on a local disk.
//!
//! * [`EmbeddedBackend`] and [`EmbeddedStores`]: topics, records, positions and the state of all tasks of an embedded
//!   crawl, in one RocksDB under `<data>/log`. A commit is one batch. [`open_log`] adds groups and transactions.
//! * [`RocksStores`]: task state beside a log that keeps it in changelogs, with one RocksDB per task under
//!   `<data>/<stage>/<partition>`.
//! * [`check`]: reads a whole data directory and reports problems.
//!
//! Every batch is written to a write-ahead log without a sync. Killing the process loses only records of transient
//! topics, which are held in memory; the input they were made from is then processed again. A power cut loses the
//! latest batches, each as a whole, unless [`EmbeddedBackend::sync`] is called now and then. Databases can be opened
//! read-only beside the process that owns them.
//!
//! Damage is never silent. Each column family records its owner; a file beside each database records its high-water
//! mark. A comparison reveals writes lost at the end, and offsets are never reused.
//!
//! This crate alone uses RocksDB. It never decides what to restore or when to commit, and reads a clock only to name
//! state it sets aside.

mod backend;
mod backup;
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
mod open_files;
mod options;
mod rocks;
mod sealed;
mod store;
mod table;
mod transient;

pub use crate::backend::EmbeddedBackend;
pub use crate::backup::make_new_log;
pub use crate::embedded_stores::EmbeddedStores;
pub use crate::incarnation::{Jump, Opened};
pub use crate::open_files::remedy as remedy_for_files;
pub use crate::store::{RocksStores, StoreMemory};

use std::path::Path;
use stream::{InProcessLog, LogError};

/// Opens (or creates) the embedded log of a data directory, for this process alone.
pub fn open_log(data_dir: &Path) -> Result<InProcessLog<EmbeddedBackend>, LogError> {
    EmbeddedBackend::open(data_dir).map(InProcessLog::new)
}

/// Whether a data directory holds an embedded log, or traces of one.
pub fn has_log(data_dir: &Path) -> bool {
    directory::Paths::new(data_dir).any()
}
