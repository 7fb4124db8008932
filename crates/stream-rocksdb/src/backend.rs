//! The embedded log, stored in RocksDB.

use crate::directory::{self, Opening, Paths, RESTORE, stop};
use crate::families::{self, Owner};
use crate::high_water::HighWater;
use crate::incarnation::{self, Opened};
use crate::known::{DatabaseReadError, Known, KnownPartition};
use crate::layout::{LogKey, Mark, PartitionId, RECORDS, StoredRecord, decode_offset, encode_position, state_family};
use crate::options::{FamilyOptions, RECORD_BUFFER_BYTES};
use crate::rocks::{self, Database};
use crate::sealed;
use crate::transient::TransientRecords;
use rocksdb::{BoundColumnFamily, DBRecoveryMode, ReadOptions, WriteBatch};
use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;
use stream::{ErrorKind, InputRecord, LogError, TopicConfig};
use tracing::{info, warn};

/// Records written before retention is due. An eighth of their write buffer: few deletions to step over for readers, and
/// little left to flush once it is full.
const MAINTAINED_BYTES: u64 = RECORD_BUFFER_BYTES as u64 / 8;
/// Most bytes of a batch of records that were held in memory, unless a single one is longer.
const STORED_AT_ONCE_BYTES: usize = 16 << 20;

/// The embedded log: topics, positions and the state of all tasks of one data directory, in one RocksDB.
pub struct EmbeddedBackend {
    pub(crate) database: Database,
    paths: Paths,
    owner: Owner,
    opened: Opened,
    /// Id of the machine's current boot.
    boot: Option<String>,
    pub(crate) incarnation: AtomicU32,
    known: RwLock<Known>,
    transient: Mutex<TransientRecords>,
    /// Column families except the default one. Locked while one is added or removed.
    families: Mutex<BTreeSet<String>>,
    /// The last mark written. Locked while one is written.
    high_water: Mutex<Option<HighWater>>,
    /// Locked during retention and compaction, so that two rounds never overlap.
    pub(crate) maintenance: Mutex<()>,
    /// Bytes of records written since the last round.
    pub(crate) unmaintained_bytes: AtomicU64,
    /// Whether a write found no room, and none has succeeded since.
    is_disk_full: AtomicBool,
    /// Present only in the owner; `None` in a view.
    owned: Option<Owned>,
}

struct Owned {
    options: FamilyOptions,
    /// Unlocked when dropped.
    _lock: File,
}

impl EmbeddedBackend {
    /// How often its owner makes tables of the write buffers.
    pub const FLUSH_EVERY: Duration = rocks::FLUSH_EVERY;

    /// Opens (or creates) the log of a data directory, for this process alone.
    pub fn open(data_dir: &Path) -> Result<Self, LogError> {
        Self::open_during(data_dir, directory::boot())
    }

    /// Like [`EmbeddedBackend::open`], with the id of the machine's current boot. A log left open by another boot may
    /// have lost its last writes.
    pub fn open_during(data_dir: &Path, boot: Option<String>) -> Result<Self, LogError> {
        let Opening { database, families, owner, opened, options, lock } = directory::open(data_dir, boot.as_deref())?;
        let owned = Some(Owned { options, _lock: lock });
        let log = Self::load(database, Paths::new(data_dir), owner, families, opened, boot, owned)?;
        log.note_high_water()?;
        Ok(log)
    }

    /// A read-only view of the log's current contents, for tools; another process may be writing to it. Writes fail.
    pub fn open_read_only(data_dir: &Path) -> Result<Self, LogError> {
        let paths = Paths::new(data_dir);
        if !paths.database.join("CURRENT").exists() {
            let path = paths.database.display();
            return Err(stop(format!("no log at {path}; check the data directory, or start recrawl run first")));
        }
        let fault = |error: rocksdb::Error| stop(rocks::explain("log", &paths.database, &error, RESTORE));
        let damaged = |what: String| stop(rocks::damaged("log", &paths.database, &what, RESTORE));
        let (database, _) = rocks::open_read_only(&paths.database, DBRecoveryMode::PointInTime).map_err(fault)?;
        let log = families::log_id(&database).map_err(fault)?;
        let owner = Owner { log: log.ok_or_else(|| damaged("the id of the log is missing".to_owned()))?, task: None };
        let families = families::verify(&database, &owner).map_err(fault)?.map_err(damaged)?;
        let incarnation = incarnation::latest(&database).map_err(fault)?;
        let opened = Opened { incarnation, jump: None };
        Self::load(database, paths, owner, families, opened, None, None)
    }

    fn load(
        database: Database,
        paths: Paths,
        owner: Owner,
        families: BTreeSet<String>,
        opened: Opened,
        boot: Option<String>,
        owned: Option<Owned>,
    ) -> Result<Self, LogError> {
        let log = Self {
            database,
            paths,
            owner,
            opened,
            boot,
            incarnation: AtomicU32::new(opened.incarnation),
            known: RwLock::default(),
            transient: Mutex::default(),
            families: Mutex::new(families),
            high_water: Mutex::default(),
            maintenance: Mutex::default(),
            unmaintained_bytes: AtomicU64::new(0),
            is_disk_full: AtomicBool::new(false),
            owned,
        };
        let known = Known::load(&log.database, &log.records()?, opened.incarnation);
        let known = known.map_err(|unreadable| match unreadable {
            DatabaseReadError::Failed(error) => log.fault(&error),
            DatabaseReadError::Nonsense(what) => log.damaged(&what),
        })?;
        for topic in known.topics.values().filter(|topic| topic.is_transient()) {
            topic
                .identified_partitions()
                .for_each(|(partition_id, partition)| log.transient().add(partition_id, partition.mark.end));
        }
        *log.known_mut() = known;
        Ok(log)
    }

    /// Result of opening the log.
    pub fn opened(&self) -> Opened {
        self.opened
    }

    /// Number of writes known to be missing since the log was created.
    pub fn missing_writes(&self) -> u64 {
        self.known().incarnations.values().map(|incarnation| incarnation.missing).sum()
    }

    /// Writes the high-water mark, so that a loss is noticed at the next open. Call it about once a second; it costs
    /// nothing if nothing was written since.
    pub fn note_high_water(&self) -> Result<(), LogError> {
        self.note(false)
    }

    /// Whether enough was written that retention should not wait for its turn. Records it drops while they are in the
    /// write buffer never reach a table.
    pub fn wants_maintenance(&self) -> bool {
        self.unmaintained_bytes.load(Ordering::Relaxed) >= MAINTAINED_BYTES
    }

    /// Makes everything committed so far survive a power cut.
    pub fn sync(&self) -> Result<(), LogError> {
        if self.is_disk_full.load(Ordering::Relaxed) {
            // RocksDB goes on with another write-ahead log, unless the one that found no room is synced before. A write that
            // succeeds shows that it has.
            self.write_batch(WriteBatch::default())?;
        }
        self.database.flush_wal(true).map_err(|error| self.fault(&error))
    }

    /// Makes tables of all write buffers. Call it every [`FLUSH_EVERY`](Self::FLUSH_EVERY): what was deleted leaves the disk
    /// when tables are compacted, and neither buffers nor their write-ahead logs are.
    pub fn flush(&self) -> Result<(), LogError> {
        let families = lock(&self.families).clone();
        let all = families.iter().map(String::as_str).chain([families::DEFAULT]);
        rocks::flush(&self.database, all, true).map_err(|error| self.fault(&error))
    }

    fn note(&self, clean: bool) -> Result<(), LogError> {
        let mut held = lock(&self.high_water);
        let noted = HighWater::of(&self.database, &self.paths.database, self.boot.as_deref(), clean, held.as_ref());
        let write = |noted: HighWater| -> std::io::Result<()> {
            if held.as_ref() != Some(&noted) {
                // Only two marks must be durable: the first, after which writes may be missing, and the last, after
                // which none is.
                let durable = clean || held.is_none();
                sealed::write(&self.paths.high_water, &noted.lines(), durable)?;
                *held = Some(noted);
            }
            Ok(())
        };
        noted.and_then(write).map_err(|error| stop(rocks::unusable("log", &self.paths.high_water, &error)))
    }

    pub(crate) fn log_id(&self) -> &str {
        &self.owner.log
    }

    pub(crate) fn records(&self) -> Result<Arc<BoundColumnFamily<'_>>, LogError> {
        self.family(RECORDS)
    }

    pub(crate) fn family(&self, name: &str) -> Result<Arc<BoundColumnFamily<'_>>, LogError> {
        let missing = || stop(format!("log {} has no column family {name}", self.paths.database.display()));
        self.database.cf_handle(name).ok_or_else(missing)
    }

    /// Column families except the default one. None is added or removed while they are held.
    pub(crate) fn families(&self) -> MutexGuard<'_, BTreeSet<String>> {
        lock(&self.families)
    }

    pub(crate) fn has_family(&self, name: &str) -> bool {
        lock(&self.families).contains(name)
    }

    /// Creates missing families for a stage's stores, and drops those of stores it no longer has.
    pub(crate) fn prepare(&self, stage: &str, stores: &[&str]) -> Result<(), LogError> {
        let Some(owned) = &self.owned else { return Ok(()) };
        let wanted: BTreeSet<String> = stores.iter().map(|store| state_family(stage, store)).collect();
        let mut families = lock(&self.families);
        let given_up = |name: &&String| name.starts_with(&state_family(stage, "")) && !wanted.contains(*name);
        for name in families.iter().filter(given_up).cloned().collect::<Vec<_>>() {
            info!(store = name, "dropping a store that the stage no longer declares");
            let removed = families::remove(&self.database, &mut families, &name, WriteBatch::default());
            removed.map_err(|error| self.fault(&error))?;
        }
        for name in wanted.difference(&families.clone()) {
            let added = families::add(&self.database, &mut families, &self.owner, name, &owned.options.of(name));
            added.map_err(|error| self.fault(&error))?;
        }
        Ok(())
    }

    pub(crate) fn known(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn known_mut(&self) -> RwLockWriteGuard<'_, Known> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn transient(&self) -> MutexGuard<'_, TransientRecords> {
        lock(&self.transient)
    }

    /// Stores all records held in memory, so that the log may be closed.
    fn store_all_held(&self) -> Result<(), LogError> {
        let (held, positions) = {
            let mut transient = self.transient();
            (transient.take(None), transient.matured(|_| u64::MAX))
        };
        self.store_held(held)?;
        let mut batch = WriteBatch::default();
        for matured in &positions {
            let (group, partition_id) = &matured.of;
            batch.put(LogKey::Position(*partition_id, group).encode(), encode_position(&matured.position));
        }
        if !batch.is_empty() {
            self.write_batch(batch)?;
        }
        Ok(())
    }

    /// Stores records that were held in memory, in several batches, because each is a copy. After a kill between them some
    /// records are stored whose input is not, and it is processed again.
    pub(crate) fn store_held(&self, held: Vec<(PartitionId, Arc<InputRecord>)>) -> Result<(), LogError> {
        if held.is_empty() {
            return Ok(());
        }
        let (records, mut batch) = (self.records()?, WriteBatch::default());
        let mut value = Vec::new();
        for (partition_id, record) in held {
            StoredRecord::of_input(&record).encode(&mut value);
            batch.put_cf(&records, LogKey::Record(partition_id, record.offset).encode(), &value);
            if batch.size_in_bytes() >= STORED_AT_ONCE_BYTES {
                self.write_batch(std::mem::take(&mut batch))?;
            }
        }
        if batch.is_empty() { Ok(()) } else { self.write_batch(batch) }
    }

    /// All topics, each with its id.
    pub(crate) fn topics_by_id(&self) -> Vec<(u32, TopicConfig)> {
        self.known().topics.values().map(|topic| (topic.id, topic.config.clone())).collect()
    }

    /// A copy of a known topic's partition.
    pub(crate) fn partition(&self, topic: &str, partition: u32) -> Option<KnownPartition> {
        self.known().topics.get(topic)?.partitions.get(partition as usize).cloned()
    }

    /// Updates a mark that was written. Keeps the end, which advances independently.
    pub(crate) fn set_mark(&self, topic: &str, partition: u32, mark: Mark) {
        if let Some(held) = self.known_mut().partition_mut(topic, partition) {
            held.mark = Mark { end: held.mark.end, ..mark };
        }
    }

    /// The slowest stored position on a partition among all groups that ever committed; `None` if none did.
    pub(crate) fn slowest_position(&self, partition_id: PartitionId) -> Option<u64> {
        let (known, transient) = (self.known(), self.transient());
        known.slowest_position(&transient, partition_id, None)
    }

    /// Visits stored records in order, from one offset up to, but not including, another, until the visitor returns
    /// `false`.
    pub(crate) fn visit(
        &self,
        partition_id: PartitionId,
        from: u64,
        to: u64,
        fill_cache: bool,
        mut visitor: impl FnMut(u64, StoredRecord<'_>) -> Result<bool, LogError>,
    ) -> Result<(), LogError> {
        if from >= to {
            return Ok(());
        }
        let mut options = ReadOptions::default();
        options.set_iterate_upper_bound(LogKey::Record(partition_id, to).encode());
        options.fill_cache(fill_cache);
        let mut iterator = self.database.raw_iterator_cf_opt(&self.records()?, options);
        iterator.seek(LogKey::Record(partition_id, from).encode());
        while let Some((key, value)) = iterator.item() {
            let offset = decode_offset(key);
            let (Some(offset), Some(record)) = (offset, StoredRecord::decode(value)) else {
                return Err(self.damaged(&format!("the record under {key:?} is unreadable")));
            };
            if !visitor(offset, record)? {
                break;
            }
            iterator.next();
        }
        iterator.status().map_err(|error| self.fault(&error))
    }

    pub(crate) fn write_batch(&self, batch: WriteBatch) -> Result<(), LogError> {
        if self.owned.is_none() {
            return Err(stop(format!("log {} is open read-only", self.paths.database.display())));
        }
        self.database.write(batch).map_err(|error| self.fault(&error))?;
        self.is_disk_full.store(false, Ordering::Relaxed);
        Ok(())
    }

    pub(crate) fn fault(&self, error: &rocksdb::Error) -> LogError {
        let message = rocks::explain("log", &self.paths.database, error, RESTORE);
        let is_full = rocks::is_out_of_space(error);
        self.is_disk_full.fetch_or(is_full, Ordering::Relaxed);
        LogError::new(if is_full { ErrorKind::Retry } else { ErrorKind::Stop }, message)
    }

    fn damaged(&self, what: &str) -> LogError {
        stop(rocks::damaged("log", &self.paths.database, &what, RESTORE))
    }
}

impl Drop for EmbeddedBackend {
    fn drop(&mut self) {
        if self.owned.is_some() {
            let closed = self.store_all_held().and_then(|()| self.sync()).and_then(|()| self.note(true));
            if let Err(error) = closed {
                warn!(%error, "the log was not closed cleanly; its offsets may jump ahead when it is opened again");
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_stays_in_write_buffers_and_deletions_have_a_time_limit_in_tables() {
        let directory = tempfile::tempdir().expect("there is room for a directory");
        let log = EmbeddedBackend::open(directory.path()).expect("it is new");
        let mut batch = WriteBatch::default();
        batch.put_cf(&log.records().expect("there are records"), b"key", b"a text of a page");
        log.write_batch(batch).expect("it is written");
        let buffered = || {
            let records = log.records().expect("there are records");
            let entries = "rocksdb.num-entries-active-mem-table";
            log.database.property_int_value_cf(&records, entries).expect("it is a property")
        };
        assert_eq!(buffered(), Some(1));
        log.flush().expect("it is written");
        assert_eq!(buffered(), Some(0));

        let files = std::fs::read_dir(&log.paths.database).expect("it is a directory");
        let names = files.map(|file| file.expect("it can be read").path());
        let options = names.filter(|path| path.display().to_string().contains("OPTIONS-"));
        let options = options.map(|path| std::fs::read_to_string(path).expect("it is a text")).max_by_key(String::len);
        let options = options.expect("RocksDB writes its options");
        let limits = options.lines().filter(|line| line.trim() == "ttl=604800").count();
        assert_eq!(limits, options.matches("[CFOptions ").count(), "{options}");
    }
}
