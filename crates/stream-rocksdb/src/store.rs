//! Task state on disk, beside a log that keeps it in changelogs.

use crate::checkpoint::{self, CHECKPOINT};
use crate::families::{self, Owner};
use crate::high_water::{HighWater, Since};
use crate::rocks::{self, Database};
use crate::{open_files, sealed, table};
use page::Timestamp;
use rocksdb::{BoundColumnFamily, Cache, DBRecoveryMode, Options, WriteBatch, WriteBufferManager};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use stream::{Checkpoint, StateStore, StoreCheckpoint, StoreError, StoreProvider, StoreWrite, TaskId, Visit};
use tracing::{info, warn};

/// Write buffer of one store. Small, because a process may have hundreds of stores.
const WRITE_BUFFER_BYTES: usize = 4 << 20;
/// Allocation unit of a write buffer; RocksDB's default would fill the shared budget with empty buffers.
const ARENA_BLOCK_BYTES: usize = 64 << 10;
/// Maximum write-ahead log to replay after a kill, per task.
const WRITE_AHEAD_BYTES: u64 = 32 << 20;
/// File of the [`HighWater`] mark, beside those of the database. It is created last; without it the database is not
/// trusted.
pub(crate) const HIGH_WATER: &str = "recrawl.high-water";

/// Memory shared by the stores of all tasks of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreMemory {
    /// Cache of uncompressed blocks, in bytes.
    pub block_cache_bytes: usize,
    /// Total of all write buffers, in bytes.
    pub write_buffer_bytes: usize,
}

impl StoreMemory {
    /// Two thirds of `bytes` as cache, one third as write buffers.
    pub fn of(bytes: usize) -> Self {
        Self { block_cache_bytes: bytes - bytes / 3, write_buffer_bytes: bytes / 3 }
    }
}

impl Default for StoreMemory {
    /// 128 MiB of cache, 64 MiB of write buffers.
    fn default() -> Self {
        Self::of(192 << 20)
    }
}

/// Task state under one data directory, each task in `<data>/<stage>/<partition>`.
pub struct RocksStores {
    data_dir: PathBuf,
    cache: Cache,
    write_buffers: WriteBufferManager,
    /// `max_open_files` of each store.
    open_files: i32,
}

impl RocksStores {
    /// The stores of a data directory. Opens and creates nothing yet.
    pub fn new(data_dir: &Path, memory: StoreMemory) -> Self {
        Self {
            data_dir: data_dir.to_owned(),
            cache: Cache::new_lru_cache(memory.block_cache_bytes),
            write_buffers: WriteBufferManager::new_write_buffer_manager(memory.write_buffer_bytes, false),
            open_files: open_files::per_database(open_files::limit(), 1),
        }
    }

    /// Prepares for so many stores at once, which share the files that the process may open. Warns if they may not suffice.
    pub fn for_tasks(mut self, tasks: u64) -> Self {
        let limit = open_files::limit();
        self.open_files = open_files::per_database(limit, tasks);
        if let Some(warning) = open_files::warning(limit, tasks) {
            warn!("{warning}");
        }
        self
    }

    /// A read-only view of a task's current state, for tools; another process may be writing to it. Writes fail. The
    /// caller names the stores; a missing one is an error.
    pub fn open_read_only(&self, task: &TaskId, stores: &[&str]) -> Result<Box<dyn StateStore>, StoreError> {
        let path = self.path(task);
        if !path.join("CURRENT").exists() {
            let path = path.display();
            return Err(StoreError::Failed(format!("no state of {task} at {path}; check the data directory")));
        }
        let (database, found) =
            rocks::open_read_only(&path, DBRecoveryMode::PointInTime).map_err(|error| explain(&path, &error))?;
        if let Some(missing) = stores.iter().find(|store| !found.iter().any(|name| name == *store)) {
            return Err(StoreError::Failed(format!("the state of {task} has no store {missing}")));
        }
        let log = families::log_id(&database).map_err(|error| explain(&path, &error))?.unwrap_or_default();
        let owner = Owner { log, task: Some(task.clone()) };
        Ok(Box::new(RocksStore::new(database, path, owner, BTreeSet::new(), stores, None)))
    }

    fn path(&self, task: &TaskId) -> PathBuf {
        self.data_dir.join(&task.stage).join(task.partition.to_string())
    }

    fn database_options(&self) -> Options {
        // Writes lost at the end in a power cut are restored from the changelog.
        let mut options = rocks::database_options(DBRecoveryMode::PointInTime, true);
        options.set_write_buffer_manager(&self.write_buffers);
        options.set_max_total_wal_size(WRITE_AHEAD_BYTES);
        options.set_max_open_files(self.open_files);
        options
    }

    fn family_options(&self) -> Options {
        let mut options = rocks::family_options(&self.cache, WRITE_BUFFER_BYTES, true);
        options.set_arena_block_size(ARENA_BLOCK_BYTES);
        options
    }

    /// Opens the database of a task, after checking the file beside it.
    fn open_existing(&self, path: &Path, owner: &Owner) -> Result<(Database, BTreeSet<String>), StoreError> {
        let noted = HighWater::read(&path.join(HIGH_WATER)).map_err(|error| unusable(path, &error))?;
        let noted = noted.ok_or_else(|| damaged(path, &format!("its file {HIGH_WATER} is missing or damaged")))?;
        match noted.compare(path).map_err(|error| unusable(path, &error))? {
            Since::Damaged(what) => return Err(damaged(path, &what)),
            Since::Earlier => return Err(damaged(path, "its file CURRENT is older than the rest")),
            Since::Continued | Since::Later => {}
        }
        let opened = families::open(path, &self.database_options(), |_| self.family_options());
        let (database, _) = opened.map_err(|error| explain(path, &error))?;
        let verified = families::verify(&database, owner).map_err(|error| explain(path, &error))?;
        Ok((database, verified.map_err(|what| damaged(path, &what))?))
    }
}

impl StoreProvider for RocksStores {
    fn open(&self, log_id: &str, task: &TaskId, stores: &[&str]) -> Result<Box<dyn StateStore>, StoreError> {
        let path = self.path(task);
        sealed::create_private_directory(&path).map_err(|error| unusable(&path, &error))?;
        let owner = Owner { log: log_id.to_owned(), task: Some(task.clone()) };
        let (database, mut listed) = if is_empty(&path).map_err(|error| unusable(&path, &error))? {
            let options = self.database_options();
            let created = families::create(&path, options, self.family_options(), |_| Ok(owner.clone()));
            (created.map_err(|error| explain(&path, &error))?, BTreeSet::new())
        } else {
            self.open_existing(&path, &owner)?
        };
        let fault = |error: rocksdb::Error| explain(&path, &error);
        for name in listed.iter().filter(|name| !stores.contains(&name.as_str())).cloned().collect::<Vec<_>>() {
            info!(%task, store = name, "dropping a store that the stage no longer declares");
            families::remove(&database, &mut listed, &name, WriteBatch::default()).map_err(fault)?;
        }
        for name in stores {
            if !listed.contains(*name) {
                families::add(&database, &mut listed, &owner, name, &self.family_options()).map_err(fault)?;
            }
        }
        let mut store = RocksStore::new(database, path.clone(), owner, listed, stores, Some(self.family_options()));
        store.note_high_water().map_err(|error| unusable(&path, &error))?;
        Ok(Box::new(store))
    }

    fn set_aside(&self, task: &TaskId) -> Result<String, StoreError> {
        let path = self.path(task);
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX)).to_string();
        // To the second, without the colons that some file systems refuse.
        let name = format!("{}.set-aside-{}Z", task.partition, now[..19].replace(':', "-"));
        let names = std::iter::once(name.clone()).chain((2..).map(|number| format!("{name}-{number}")));
        for name in names {
            let aside = path.with_file_name(name);
            if !aside.exists() {
                fs::rename(&path, &aside).map_err(|error| unusable(&path, &error))?;
                return Ok(aside.display().to_string());
            }
        }
        unreachable!("there is always an unused number")
    }
}

fn is_empty(directory: &Path) -> io::Result<bool> {
    Ok(fs::read_dir(directory)?.next().is_none())
}

fn explain(path: &Path, error: &rocksdb::Error) -> StoreError {
    if rocks::is_locked(error) {
        let path = path.display();
        return StoreError::Failed(format!(
            "state directory {path} is locked by another task; is an old process still running?"
        ));
    }
    let message = rocks::explain("state directory", path, error, REFILL);
    if rocks::is_damage(error) { StoreError::Damaged(message) } else { StoreError::Failed(message) }
}

fn damaged(path: &Path, what: &str) -> StoreError {
    StoreError::Damaged(rocks::damaged("state directory", path, &what, REFILL))
}

fn unusable(path: &Path, error: &io::Error) -> StoreError {
    StoreError::Failed(rocks::unusable("state directory", path, error))
}

const REFILL: &str = "its content is refilled from the changelog";

struct RocksStore {
    database: Database,
    path: PathBuf,
    owner: Owner,
    /// Column families except the default one.
    listed: BTreeSet<String>,
    /// Names of the stores, in the order of the topology.
    stores: Vec<String>,
    /// Options of a store's column family; `None` in a view.
    family: Option<Options>,
    high_water: Option<HighWater>,
    /// When its write buffers last became tables because it was time.
    flushed_at: Instant,
}

impl RocksStore {
    fn new(
        database: Database,
        path: PathBuf,
        owner: Owner,
        listed: BTreeSet<String>,
        stores: &[&str],
        family: Option<Options>,
    ) -> Self {
        let stores = stores.iter().map(|&name| name.to_owned()).collect();
        Self { database, path, owner, listed, stores, family, high_water: None, flushed_at: Instant::now() }
    }

    fn family(&self, store: usize) -> Result<Arc<BoundColumnFamily<'_>>, StoreError> {
        let name = &self.stores[store];
        self.database.cf_handle(name).ok_or_else(|| damaged(&self.path, &format!("column family {name} is missing")))
    }

    fn partition(&self) -> u32 {
        self.owner.task.as_ref().map_or(0, |task| task.partition)
    }

    fn fault(&self, error: &rocksdb::Error) -> StoreError {
        explain(&self.path, error)
    }

    fn options_for_writing(&self) -> Result<&Options, StoreError> {
        self.family
            .as_ref()
            .ok_or_else(|| StoreError::Failed(format!("state directory {} is open read-only", self.path.display())))
    }

    /// Writes the mark when the manifest has changed, which happens when a write buffer becomes a table.
    fn note_high_water(&mut self) -> io::Result<()> {
        let before = self.high_water.as_ref();
        let mut noted = HighWater::of(&self.database, &self.path, None, false, before)?;
        // The checkpoint says how far the contents are.
        noted.sequence = 0;
        if self.high_water.as_ref() != Some(&noted) {
            sealed::write(&self.path.join(HIGH_WATER), &noted.lines(), true)?;
            self.high_water = Some(noted);
        }
        Ok(())
    }
}

impl Drop for RocksStore {
    fn drop(&mut self) {
        if self.family.is_some()
            && let Err(error) = self.note_high_water()
        {
            warn!(state = %self.path.display(), %error, "was not closed cleanly; it may be refilled when it is opened \
                                                         again");
        }
    }
}

impl StateStore for RocksStore {
    fn get(&self, store: usize, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        table::get(&self.database, &self.family(store)?, self.partition(), key).map_err(|error| self.fault(&error))
    }

    fn scan(&self, store: usize, from: &[u8], visit: Visit<'_>) -> Result<(), StoreError> {
        let family = self.family(store)?;
        table::scan(&self.database, &family, self.partition(), from, visit).map_err(|error| self.fault(&error))
    }

    fn checkpoint(&self) -> Result<Checkpoint, StoreError> {
        let Some(bytes) = self.database.get(CHECKPOINT).map_err(|error| self.fault(&error))? else {
            return Ok(Checkpoint::empty(self.stores.len()));
        };
        checkpoint::decode(&bytes, &self.stores).ok_or_else(|| damaged(&self.path, "its checkpoint is unreadable"))
    }

    fn apply(&mut self, writes: &[StoreWrite], checkpoint: &Checkpoint) -> Result<(), StoreError> {
        self.options_for_writing()?;
        let mut batch = WriteBatch::default();
        let families = (0..self.stores.len()).map(|store| self.family(store)).collect::<Result<Vec<_>, _>>()?;
        for write in writes {
            let key = table::key(self.partition(), &write.key);
            match &write.value {
                Some(value) => batch.put_cf(&families[write.store], key, value),
                None => batch.delete_cf(&families[write.store], key),
            }
        }
        batch.put(CHECKPOINT, checkpoint::encode(checkpoint, &self.stores));
        drop(families);
        self.database.write(batch).map_err(|error| self.fault(&error))?;
        if self.flushed_at.elapsed() >= rocks::FLUSH_EVERY {
            self.flushed_at = Instant::now();
            let all = self.listed.iter().map(String::as_str).chain([families::DEFAULT]);
            rocks::flush(&self.database, all, false).map_err(|error| self.fault(&error))?;
        }
        self.note_high_water().map_err(|error| unusable(&self.path, &error))
    }

    fn bytes_on_disk(&self) -> u64 {
        let families = (0..self.stores.len()).filter_map(|store| self.family(store).ok());
        families.map(|family| table::bytes_on_disk(&self.database, &family, self.partition())).sum()
    }

    fn empty(&mut self, store: usize) -> Result<(), StoreError> {
        let options = self.options_for_writing()?.clone();
        let mut checkpoint = self.checkpoint()?;
        checkpoint.stores[store] = StoreCheckpoint::default();
        let name = self.stores[store].clone();
        let mut batch = WriteBatch::default();
        batch.put(CHECKPOINT, checkpoint::encode(&checkpoint, &self.stores));
        // Unlike a deletion of the whole range, dropping the family frees the space and does not slow later reads.
        let Self { database, listed, owner, path, .. } = self;
        let emptied = families::remove(database, listed, &name, batch)
            .and_then(|()| families::add(database, listed, owner, &name, &options));
        emptied.map_err(|error| explain(path, &error))
    }
}
