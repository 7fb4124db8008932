//! What every database here has in common: threads, options, and what an operator is told when one fails.

use rocksdb::{BlockBasedOptions, Cache, DB, DBCompressionType, Env, ErrorKind, LogLevel, Options};
use std::fmt::Display;
use std::path::Path;
use std::sync::Once;

/// Flushes and compactions of all databases of the process share these threads.
const BACKGROUND_THREADS: i32 = 2;
/// A writer may drop a file between our listing and our opening of it; looking again finds the newer list.
const READ_ONLY_ATTEMPTS: u32 = 8;

/// Options of a database as a whole. The environment, and with it the threads, is RocksDB's one of the process.
pub(crate) fn database_options() -> Options {
    static THREADS: Once = Once::new();
    THREADS.call_once(|| {
        if let Ok(mut environment) = Env::new() {
            environment.set_background_threads(BACKGROUND_THREADS);
            environment.set_high_priority_background_threads(1);
        }
    });
    let mut options = Options::default();
    options.create_if_missing(true);
    options.create_missing_column_families(true);
    options.set_log_level(LogLevel::Warn);
    options.set_keep_log_file_num(2);
    options.set_max_log_file_size(1 << 20);
    options.set_stats_dump_period_sec(0);
    options
}

/// Options of one column family. Filters stay with the open files rather than in the cache, where data would push
/// them out.
pub(crate) fn family_options(cache: &Cache, write_buffer_bytes: usize, point_reads: bool) -> Options {
    let mut table = BlockBasedOptions::default();
    table.set_block_cache(cache);
    table.set_block_size(16 << 10);
    table.set_format_version(6);
    if point_reads {
        table.set_bloom_filter(10.0, false);
    }
    let mut options = Options::default();
    options.set_block_based_table_factory(&table);
    options.set_compression_type(DBCompressionType::Lz4);
    options.set_write_buffer_size(write_buffer_bytes);
    options
}

/// Opens a database that another process may be writing to, as it stands now.
pub(crate) fn open_read_only(path: &Path, families: &[&str]) -> Result<DB, rocksdb::Error> {
    let mut attempt = 1;
    loop {
        match DB::open_cf_for_read_only(&Options::default(), path, families, false) {
            Err(error) if attempt < READ_ONLY_ATTEMPTS && error.kind() == ErrorKind::IOError => attempt += 1,
            opened => return opened,
        }
    }
}

/// Whether a failure to open means that somebody else has the database open.
pub(crate) fn is_locked(error: &rocksdb::Error) -> bool {
    let message: &str = error.as_ref();
    // The first is said within one process, the second between processes.
    message.contains("lock hold by current process") || message.contains("While lock file")
}

/// What went wrong with a thing on disk and what to do, for an operator. `refill` says how to get over damage.
pub(crate) fn explain(thing: &str, path: &Path, error: &rocksdb::Error, refill: &str) -> String {
    match error.kind() {
        ErrorKind::Corruption => damaged(thing, path, error, refill),
        _ => unusable(thing, path, error),
    }
}

/// The disk does not do what it is asked to.
pub(crate) fn unusable(thing: &str, path: &Path, error: &dyn Display) -> String {
    let path = path.display();
    format!("{thing} {path} cannot be used: {error}; check that its disk is there, writable and not full")
}

/// What the disk holds makes no sense.
pub(crate) fn damaged(thing: &str, path: &Path, what: &dyn Display, refill: &str) -> String {
    format!("{thing} {} is damaged: {what}; {refill}", path.display())
}
