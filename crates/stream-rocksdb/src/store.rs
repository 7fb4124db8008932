//! The state of tasks on disk.

use crate::layout::{CHECKPOINT, decode_checkpoint, encode_checkpoint};
use crate::rocks;
use rocksdb::{Cache, ColumnFamily, DB, Options, ReadOptions, WriteBatch, WriteBufferManager};
use std::path::{Path, PathBuf};
use stream::{Checkpoint, StateStore, StoreError, StoreProvider, StoreWrite, TaskId, Visit};
use tracing::info;

/// Write buffer of one store. Small, because a process may have hundreds of stores.
const WRITE_BUFFER_BYTES: usize = 4 << 20;
/// Memory a write buffer takes at a time; RocksDB's choice would fill the common budget with empty buffers.
const ARENA_BLOCK_BYTES: usize = 64 << 10;
/// Write-ahead log to replay after a kill, per task, at the most.
const WRITE_AHEAD_BYTES: u64 = 32 << 20;

/// Memory shared by the stores of all tasks of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreMemory {
    /// Cache of uncompressed blocks, in bytes.
    pub block_cache_bytes: usize,
    /// Write buffers, in bytes.
    pub write_buffer_bytes: usize,
}

impl Default for StoreMemory {
    /// 128 MiB of cache, 64 MiB of write buffers.
    fn default() -> Self {
        Self { block_cache_bytes: 128 << 20, write_buffer_bytes: 64 << 20 }
    }
}

/// The state of tasks under one data directory, each in `<data>/<stage>/<partition>`.
pub struct RocksStores {
    data_dir: PathBuf,
    cache: Cache,
    write_buffers: WriteBufferManager,
}

impl RocksStores {
    /// The stores of a data directory. Nothing is opened or made yet.
    pub fn new(data_dir: &Path, memory: StoreMemory) -> Self {
        Self {
            data_dir: data_dir.to_owned(),
            cache: Cache::new_lru_cache(memory.block_cache_bytes),
            write_buffers: WriteBufferManager::new_write_buffer_manager(memory.write_buffer_bytes, false),
        }
    }

    /// A view of a task's state as it stands now, for tools; another process may be writing to it. Writing through it
    /// fails. Which stores there must be is the caller's knowledge; a store that does not exist is an error.
    pub fn open_read_only(&self, task: &TaskId, stores: &[&str]) -> Result<Box<dyn StateStore>, StoreError> {
        let path = self.path(task);
        if !path.join("CURRENT").exists() {
            let path = path.display();
            return Err(StoreError(format!("there is no state of {task} at {path}; check the data directory")));
        }
        let families: Vec<_> = std::iter::once("default").chain(stores.iter().copied()).collect();
        let database = rocks::open_read_only(&path, &families).map_err(|error| explain(&path, &error))?;
        Ok(Box::new(RocksStore { database, path, stores: owned(stores), family: Options::default(), read_only: true }))
    }

    fn path(&self, task: &TaskId) -> PathBuf {
        self.data_dir.join(&task.stage).join(task.partition.to_string())
    }
}

impl StoreProvider for RocksStores {
    fn open(&self, task: &TaskId, stores: &[&str]) -> Result<Box<dyn StateStore>, StoreError> {
        let path = self.path(task);
        std::fs::create_dir_all(&path)
            .map_err(|error| StoreError(rocks::unusable("state directory", &path, &error)))?;
        let mut options = rocks::database_options();
        options.set_write_buffer_manager(&self.write_buffers);
        options.set_max_total_wal_size(WRITE_AHEAD_BYTES);
        let mut family = rocks::family_options(&self.cache, WRITE_BUFFER_BYTES, true);
        family.set_arena_block_size(ARENA_BLOCK_BYTES);
        // A database opens with all its families or not at all, those of stores since given up included.
        let on_disk = if path.join("CURRENT").exists() {
            DB::list_cf(&options, &path).map_err(|error| explain(&path, &error))?
        } else {
            Vec::new()
        };
        let given_up: Vec<_> =
            on_disk.iter().map(String::as_str).filter(|name| *name != "default" && !stores.contains(name)).collect();
        let families = std::iter::once("default").chain(stores.iter().copied()).chain(given_up.iter().copied());
        let families = families.map(|name| (name, family.clone()));
        let mut database = DB::open_cf_with_opts(&options, &path, families).map_err(|error| explain(&path, &error))?;
        for name in given_up {
            info!(%task, store = name, "dropping a store that the stage no longer has");
            database.drop_cf(name).map_err(|error| explain(&path, &error))?;
        }
        Ok(Box::new(RocksStore { database, path, stores: owned(stores), family, read_only: false }))
    }
}

fn owned(stores: &[&str]) -> Vec<String> {
    stores.iter().map(|&name| name.to_owned()).collect()
}

fn explain(path: &Path, error: &rocksdb::Error) -> StoreError {
    StoreError(if rocks::is_locked(error) {
        let path = path.display();
        format!("state directory {path} is locked by another task; is an old process still running?")
    } else {
        rocks::explain("state directory", path, error, REFILL)
    })
}

const REFILL: &str = "delete it and start again: it is refilled from the changelog";

struct RocksStore {
    database: DB,
    path: PathBuf,
    /// Names of the stores, in the order of the topology.
    stores: Vec<String>,
    /// Options of a store's column family.
    family: Options,
    read_only: bool,
}

impl RocksStore {
    fn family(&self, store: usize) -> &ColumnFamily {
        self.database.cf_handle(&self.stores[store]).expect("every store has its family from opening on")
    }

    fn fault(&self, error: &rocksdb::Error) -> StoreError {
        explain(&self.path, error)
    }

    fn refuse_when_read_only(&self) -> Result<(), StoreError> {
        if self.read_only {
            return Err(StoreError(format!("state directory {} was opened for reading only", self.path.display())));
        }
        Ok(())
    }
}

impl StateStore for RocksStore {
    fn get(&self, store: usize, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.database.get_cf(self.family(store), key).map_err(|error| self.fault(&error))
    }

    fn scan(&self, store: usize, from: &[u8], visit: Visit<'_>) -> Result<(), StoreError> {
        let mut iterator = self.database.raw_iterator_cf_opt(self.family(store), ReadOptions::default());
        iterator.seek(from);
        while let Some((key, value)) = iterator.item() {
            if visit(key, value).is_break() {
                break;
            }
            iterator.next();
        }
        iterator.status().map_err(|error| self.fault(&error))
    }

    fn checkpoint(&self) -> Result<Checkpoint, StoreError> {
        let Some(bytes) = self.database.get(CHECKPOINT).map_err(|error| self.fault(&error))? else {
            return Ok(Checkpoint::default());
        };
        decode_checkpoint(&bytes, &self.stores).ok_or_else(|| {
            StoreError(rocks::damaged("state directory", &self.path, &"its checkpoint is unreadable", REFILL))
        })
    }

    fn apply(&mut self, writes: &[StoreWrite], checkpoint: &Checkpoint) -> Result<(), StoreError> {
        self.refuse_when_read_only()?;
        let mut batch = WriteBatch::default();
        for write in writes {
            match &write.value {
                Some(value) => batch.put_cf(self.family(write.store), &write.key, value),
                None => batch.delete_cf(self.family(write.store), &write.key),
            }
        }
        batch.put(CHECKPOINT, encode_checkpoint(checkpoint, &self.stores));
        self.database.write(batch).map_err(|error| self.fault(&error))
    }

    fn clear(&mut self) -> Result<(), StoreError> {
        self.refuse_when_read_only()?;
        // The checkpoint first: should we die before the end, what is left is not believed.
        self.database.delete(CHECKPOINT).map_err(|error| self.fault(&error))?;
        for store in 0..self.stores.len() {
            let mut iterator = self.database.raw_iterator_cf(self.family(store));
            iterator.seek_to_first();
            let empty = !iterator.valid() && iterator.status().is_ok();
            drop(iterator);
            if !empty {
                // Unlike a deletion of the whole range, this gives the space back and costs later reads nothing.
                let name = self.stores[store].clone();
                self.database.drop_cf(&name).map_err(|error| self.fault(&error))?;
                self.database.create_cf(&name, &self.family).map_err(|error| self.fault(&error))?;
            }
        }
        Ok(())
    }
}
