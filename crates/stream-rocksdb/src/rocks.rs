//! Common to all databases: threads, options and error messages for the operator.

use crate::open_files;
use rocksdb::{
    BlockBasedOptions, Cache, DBCompressionType, DBRecoveryMode, DBWithThreadMode, Env, ErrorKind, FlushOptions,
    LogLevel, MultiThreaded, Options, WriteOptions,
};
use std::fmt::Display;
use std::path::Path;
use std::sync::Once;
use std::time::Duration;

/// A database whose column families may change while it is in use.
pub(crate) type Database = DBWithThreadMode<MultiThreaded>;

/// Threads for flushes and compactions, shared by all databases of the process.
const BACKGROUND_THREADS: i32 = 2;
/// How long what was deleted stays in tables at most, while the database is open. RocksDB then compacts the table of the
/// deletion with those below it, also if nothing is written any more.
const DELETED_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How often write buffers become tables, also if they are not full: RocksDB looks at no time there, and write-ahead logs last
/// as long.
pub(crate) const FLUSH_EVERY: Duration = Duration::from_secs(24 * 60 * 60);
/// A writer may drop a file between our listing it and opening it; a retry reads the newer list.
const READ_ONLY_ATTEMPTS: u32 = 8;
/// Options of a database as a whole. With `verify_wals`, each write-ahead log names its predecessor, and a missing one
/// is an error. The environment, and with it the threads, is RocksDB's default one, shared by the process.
pub(crate) fn database_options(recovery: DBRecoveryMode, verify_wals: bool) -> Options {
    static THREADS: Once = Once::new();
    THREADS.call_once(|| {
        if let Ok(mut environment) = Env::new() {
            environment.set_background_threads(BACKGROUND_THREADS);
            environment.set_high_priority_background_threads(1);
        }
    });
    // The crate has no methods for these. Without preallocation a new database takes the space of its contents, not
    // that of a write buffer for its first write-ahead log.
    let further = format!("allow_fallocate=false;track_and_verify_wals={verify_wals}");
    let further = Options::default().get_options_from_string(further);
    let mut options = further.expect("the linked RocksDB knows these options");
    options.set_wal_recovery_mode(recovery);
    options.set_track_and_verify_wals_in_manifest(verify_wals);
    options.set_paranoid_checks(true);
    options.set_log_level(LogLevel::Warn);
    options.set_keep_log_file_num(2);
    options.set_max_log_file_size(1 << 20);
    options.set_stats_dump_period_sec(0);
    options
}

/// Options of one column family. Filters stay with the open files instead of in the cache, where data would evict them.
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
    options.set_ttl(DELETED_FOR.as_secs());
    options
}

/// Makes tables of the write buffers of these families. Write-ahead logs whose content is in tables are deleted.
pub(crate) fn flush<'name>(
    database: &Database,
    families: impl IntoIterator<Item = &'name str>,
    waits: bool,
) -> Result<(), rocksdb::Error> {
    let families: Vec<_> = families.into_iter().filter_map(|name| database.cf_handle(name)).collect();
    let mut options = FlushOptions::default();
    options.set_wait(waits);
    database.flush_cfs_opt(&families.iter().collect::<Vec<_>>(), &options)
}

/// Options of a write that survives a power cut.
pub(crate) fn durable() -> WriteOptions {
    let mut options = WriteOptions::default();
    options.set_sync(true);
    options
}

/// Opens the current contents of a database with all its families. Another process may be writing to it, opening it or
/// closing it: its write-ahead log may end in half a record, which [`DBRecoveryMode::PointInTime`] skips, files may vanish
/// while they are listed, and families may be added, as they are when a crawl starts. The view then opens anew. A file still
/// missing after several attempts is an error.
pub(crate) fn open_read_only(path: &Path, recovery: DBRecoveryMode) -> Result<(Database, Vec<String>), rocksdb::Error> {
    let mut options = Options::default();
    options.set_wal_recovery_mode(recovery);
    // If this is off, RocksDB (11.8, `DBImpl::Recover`) records that write-ahead logs are no longer tracked. A view
    // cannot record anything, and the process would crash.
    options.set_track_and_verify_wals_in_manifest(true);
    let open = || {
        let families = Database::list_cf(&options, path)?;
        Database::open_cf_for_read_only(&options, path, &families, false).map(|database| (database, families))
    };
    undisturbed(path, open)
}

/// Opens a view until no file was deleted meanwhile.
fn undisturbed<T>(path: &Path, mut open: impl FnMut() -> Result<T, rocksdb::Error>) -> Result<T, rocksdb::Error> {
    let mut attempt = 1;
    loop {
        let before = manifest_position(path);
        let opened = open();
        if before != manifest_position(path) {
            continue;
        }
        match opened {
            Err(error) if attempt < READ_ONLY_ATTEMPTS && may_be_gone(&error) => attempt += 1,
            result => return result,
        }
    }
}

/// Name and length of the current manifest; `None` if they cannot be read. RocksDB appends to the manifest, or begins another,
/// before it deletes a file. If both are the same before and after an opening, no file that it needed was deleted. RocksDB
/// does not notice that the current write-ahead log was deleted, and reports a table that was deleted as corruption.
fn manifest_position(path: &Path) -> Option<(String, u64)> {
    let manifest = std::fs::read_to_string(path.join("CURRENT")).ok()?;
    let length = std::fs::metadata(path.join(manifest.trim_end())).ok()?.len();
    Some((manifest, length))
}

/// Whether a file was missing, or a write-ahead log that the database names.
fn may_be_gone(error: &rocksdb::Error) -> bool {
    let message: &str = error.as_ref();
    error.kind() == ErrorKind::IOError || ["Missing WAL", "No such file"].iter().any(|what| message.contains(what))
}

/// Whether opening failed because another opener holds the lock.
pub(crate) fn is_locked(error: &rocksdb::Error) -> bool {
    let message: &str = error.as_ref();
    // The first message is used within one process, the second between processes.
    message.contains("lock hold by current process") || message.contains("While lock file")
}

/// Whether a write failed because the disk is full. It changed nothing, and RocksDB takes writes again some seconds after 64 MiB
/// are free, the size of a write buffer.
pub(crate) fn is_out_of_space(error: &rocksdb::Error) -> bool {
    let message: &str = error.as_ref();
    error.kind() == ErrorKind::IOError && message.contains("No space left on device")
}

/// Whether the data on disk is at fault, not the disk. A missing file that the database names is damage, too.
pub(crate) fn is_damage(error: &rocksdb::Error) -> bool {
    let message: &str = error.as_ref();
    match error.kind() {
        ErrorKind::IOError => message.contains("No such file"),
        ErrorKind::Busy
        | ErrorKind::TimedOut
        | ErrorKind::Aborted
        | ErrorKind::TryAgain
        | ErrorKind::ShutdownInProgress => false,
        _ => true,
    }
}

/// Describes a failure on disk for an operator, with advice. `refill` is the advice in case of damage.
pub(crate) fn explain(thing: &str, path: &Path, error: &rocksdb::Error, refill: &str) -> String {
    if is_damage(error) { damaged(thing, path, error, refill) } else { unusable(thing, path, error) }
}

/// Message for a failed disk operation.
pub(crate) fn unusable(thing: &str, path: &Path, error: &dyn Display) -> String {
    let (path, error) = (path.display(), error.to_string());
    let remedy = match open_files::limit() {
        Some(limit) if error.contains("Too many open files") => open_files::remedy(limit),
        _ => "check that its disk is mounted, writable and not full".to_owned(),
    };
    format!("{thing} {path} cannot be used: {error}; {remedy}")
}

/// Message for damaged data on disk.
pub(crate) fn damaged(thing: &str, path: &Path, what: &dyn Display, refill: &str) -> String {
    format!("{thing} {} is damaged: {what}; {refill}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    #[test]
    fn a_view_has_the_families_that_its_records_name() {
        let directory = TempDir::new().unwrap();
        let mut options = database_options(DBRecoveryMode::PointInTime, true);
        options.create_if_missing(true);
        let database = Database::open(&options, directory.path()).unwrap();
        let named = || (0..100).map(|number| format!("family-{number:02}"));
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for name in named() {
                    database.create_cf(&name, &Options::default()).unwrap();
                    database.put("newest", name).unwrap();
                }
            });
            while !writer.is_finished() {
                let (view, _) = open_read_only(directory.path(), DBRecoveryMode::PointInTime).unwrap();
                let newest = view.get("newest").unwrap().map(|name| String::from_utf8(name).unwrap());
                assert!(newest.iter().all(|name| view.cf_handle(name).is_some()), "{newest:?}");
            }
        });
    }

    #[test]
    fn a_view_opens_anew_when_its_database_was_closed_opened_or_flushed_meanwhile() {
        let directory = TempDir::new().unwrap();
        let mut options = database_options(DBRecoveryMode::PointInTime, true);
        options.create_if_missing(true);
        let mut written = Some(Database::open(&options, directory.path()).unwrap());
        for flushes in [false, true] {
            written.as_ref().unwrap().put("key", "1").unwrap();
            let mut openings = 0;
            let view = || {
                openings += 1;
                if openings == 1 && flushes {
                    written.as_ref().unwrap().flush().unwrap();
                } else if openings == 1 {
                    // Opening moves what the write-ahead log holds into files, and deletes it.
                    drop(written.take());
                    written = Some(Database::open(&options, directory.path()).unwrap());
                }
                Ok(openings)
            };
            assert_eq!(undisturbed(directory.path(), view), Ok(2), "{flushes}");
        }
    }

    #[test]
    fn a_view_opens_while_the_database_names_write_ahead_logs_and_misses_none() {
        let directory = TempDir::new().unwrap();
        let mut options = database_options(DBRecoveryMode::PointInTime, true);
        options.create_if_missing(true);
        options.create_missing_column_families(true);
        let database = Database::open_cf(&options, directory.path(), ["default", "one", "other"]).unwrap();
        database.put_cf(&database.cf_handle("other").unwrap(), "a", "1").unwrap();
        // Flushing one family starts a new write-ahead log; the old one holds the unflushed data of the other family.
        let one = database.cf_handle("one").unwrap();
        database.put_cf(&one, "b", "2").unwrap();
        database.flush_cf(&one).unwrap();
        database.put_cf_opt(&one, "c", "3", &durable()).unwrap();

        let open = || open_read_only(directory.path(), DBRecoveryMode::PointInTime);
        let (view, families) = open().unwrap();
        assert_eq!(families, ["default", "one", "other"]);
        let held = |family: &str, key: &str| view.get_cf(&view.cf_handle(family).unwrap(), key).unwrap();
        assert_eq!([held("other", "a"), held("one", "b"), held("one", "c")].map(Option::unwrap), [b"1", b"2", b"3"]);
        drop(view);

        drop(one);
        drop(database);
        let logs = || {
            let files = std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path());
            let mut logs: Vec<_> = files.filter(|path| path.extension() == Some("log".as_ref())).collect();
            logs.sort();
            logs
        };
        assert!(logs().len() > 1, "the old log went: this test shows nothing");
        std::fs::remove_file(&logs()[0]).unwrap();
        let error = open().map(|_| ()).unwrap_err();
        assert!(is_damage(&error), "{error}");
    }
}
