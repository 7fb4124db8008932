//! Options of the database of an embedded log, and the memory it may take.

use crate::families;
use crate::layout::RECORDS;
use crate::rocks;
use rocksdb::{Cache, DBCompressionType, DBRecoveryMode, Options, WriteBufferManager};

/// What passes through is consumed and dropped before so much has gathered, and then never reaches a table.
pub(crate) const RECORD_BUFFER_BYTES: usize = 64 << 20;
/// Write buffer of one store of a stage, all its partitions together.
const STATE_BUFFER_BYTES: usize = 16 << 20;
/// Write buffers of all families together.
const ALL_BUFFERS_BYTES: usize = 160 << 20;
/// Readers are mostly right behind the writers, in the write buffer. What is looked up is the state.
const BLOCK_CACHE_BYTES: usize = 128 << 20;
/// Write-ahead log to replay after a kill, at the most.
const WRITE_AHEAD_BYTES: u64 = 128 << 20;

/// Options of column families, with the memory they share.
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
                // Compaction of topics leaves deletions behind; tables full of them are merged away early, for
                // readers' sake.
                options.add_compact_on_deletion_collector_factory(10_000, 5_000, 0.5);
                options
            }
            _ => rocks::family_options(&self.cache, STATE_BUFFER_BYTES, true),
        }
    }

    /// Options of the database. Without `verify_wals`, missing write-ahead logs are passed over.
    pub(crate) fn database(&self, recovery: DBRecoveryMode, verify_wals: bool) -> Options {
        let mut options = rocks::database_options(recovery, verify_wals);
        options.set_max_total_wal_size(WRITE_AHEAD_BYTES);
        // Records and state of one batch repeat each other's addresses, schemas and field values: compressed, a batch of
        // looks that find nothing new is less than half as long. Bodies gain nothing and cost a tenth more CPU.
        options.set_wal_compression_type(DBCompressionType::Zstd);
        options.set_write_buffer_manager(&self.buffers);
        options
    }
}
