//! Options and memory limits of an embedded log's database.

use crate::families;
use crate::layout::RECORDS;
use crate::open_files;
use crate::rocks;
use rocksdb::{Cache, DBCompressionType, DBRecoveryMode, Options, WriteBufferManager};

/// Write buffer of the records. Records inside the loop are consumed and dropped before it fills up, so they never
/// reach a table.
pub(crate) const RECORD_BUFFER_BYTES: usize = 64 << 20;
/// Write buffer of one store of a stage, for all its partitions.
const STATE_BUFFER_BYTES: usize = 16 << 20;
/// Total of the write buffers of all families.
const ALL_BUFFERS_BYTES: usize = 160 << 20;
/// Block cache. It serves state lookups: readers of records mostly follow right behind the writers and hit the write
/// buffer.
const BLOCK_CACHE_BYTES: usize = 128 << 20;
/// Maximum write-ahead log to replay after a kill.
const WRITE_AHEAD_BYTES: u64 = 128 << 20;

/// Options of column families, with their shared memory.
pub(crate) struct FamilyOptions {
    cache: Cache,
    buffers: WriteBufferManager,
}

impl FamilyOptions {
    pub(crate) fn new() -> Self {
        let cache = Cache::new_lru_cache(BLOCK_CACHE_BYTES);
        Self { cache, buffers: WriteBufferManager::new_write_buffer_manager(ALL_BUFFERS_BYTES, false) }
    }

    pub(crate) fn of(&self, family: &str) -> Options {
        match family {
            families::DEFAULT => rocks::family_options(&self.cache, 1 << 20, false),
            RECORDS => {
                let mut options = rocks::family_options(&self.cache, RECORD_BUFFER_BYTES, false);
                // Compaction of topics leaves deletions behind; merge tables full of them early, for the readers.
                options.add_compact_on_deletion_collector_factory(10_000, 5_000, 0.5);
                options
            }
            _ => rocks::family_options(&self.cache, STATE_BUFFER_BYTES, true),
        }
    }

    /// Options of the database. Without `verify_wals`, missing write-ahead logs are ignored.
    pub(crate) fn database(&self, recovery: DBRecoveryMode, verify_wals: bool) -> Options {
        let mut options = rocks::database_options(recovery, verify_wals);
        options.set_max_total_wal_size(WRITE_AHEAD_BYTES);
        options.set_max_open_files(open_files::per_database(open_files::limit(), 1));
        // Records and state of one batch repeat the same addresses, schemas and field values: compressed, a batch of
        // looks that find nothing new is less than half as long. Bodies gain nothing and cost a tenth more CPU.
        options.set_wal_compression_type(DBCompressionType::Zstd);
        options.set_write_buffer_manager(&self.buffers);
        options
    }
}
