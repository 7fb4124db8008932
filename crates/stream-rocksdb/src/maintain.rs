//! Retention by age and by consumption, and compaction of the embedded log.
//!
//! Compaction is a cleaner that runs now and then, like Kafka's. The alternative, an index of latest offsets updated by
//! every write, would cost each changelog record a random read (some 4 µs) and two more writes (1 to 2 µs each) inside
//! the commit. The cleaner reads a partition once at least half of it is dirty. So a record is read sequentially about
//! three times in its life and deleted once: some 3 µs measured, outside the commit. In return a log may be twice as
//! large as necessary.

use crate::backend::EmbeddedBackend;
use crate::layout::{LogKey, Mark, PartitionId};
use page::Timestamp;
use rocksdb::WriteBatch;
use std::collections::HashMap;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;
use stream::protocol::TOMBSTONES_KEPT;
use stream::{Cleanup, LogError};
use tracing::debug;

/// Memory for the keys of one pass of the cleaner. Further keys are left to the next pass.
const CLEANER_BYTES: usize = 64 << 20;
/// Overhead of a key in the cleaner's map, in bytes.
const CLEANER_KEY_OVERHEAD: usize = 48;
/// Deletions per batch, so that commits can run in between.
const DELETIONS_AT_ONCE: usize = 4_096;

/// Runs one round over all partitions.
pub(crate) fn maintain(log: &EmbeddedBackend, now: Timestamp) -> Result<(), LogError> {
    let _alone = log.maintenance.lock().unwrap_or_else(PoisonError::into_inner);
    log.unmaintained_bytes.store(0, Ordering::Relaxed);
    for (id, topic) in log.topics_by_id() {
        for partition in 0..topic.partitions {
            let partition_id = PartitionId { topic: id, partition };
            let Some(held) = log.partition(&topic.name, partition) else { continue };
            let mark = held.mark;
            let after = match topic.cleanup {
                Cleanup::Compact => {
                    let dirty = held.given(mark.cleaned_to, mark.end);
                    compact(log, partition_id, mark, dirty, now)?
                }
                Cleanup::Delete { retention, consumed } => expire(log, partition_id, mark, now, retention, consumed)?,
                Cleanup::Transient { retention } => expire_stored(log, partition_id, mark, now, retention)?,
            };
            if after != mark {
                debug!(topic = &*topic.name, partition, start = after.start, kept = after.kept, "log trimmed");
                log.set_mark(&topic.name, partition, after);
            }
        }
    }
    Ok(())
}

/// Drops records from the front: those too old, and those consumed by every group.
fn expire(
    log: &EmbeddedBackend,
    partition_id: PartitionId,
    mark: Mark,
    now: Timestamp,
    retention: Duration,
    consumed: bool,
) -> Result<Mark, LogError> {
    let consumed_to = if consumed { log.slowest_position(partition_id).unwrap_or(0) } else { 0 };
    let mut start = consumed_to.clamp(mark.start, mark.end);
    let mut all_old = true;
    log.visit(partition_id, start, mark.end, false, |offset, record| {
        all_old = now.saturating_since(record.timestamp) > retention;
        start = offset;
        Ok(all_old)
    })?;
    if all_old {
        start = mark.end;
    }
    if start == mark.start {
        return Ok(mark);
    }
    let after = Mark { start, ..mark };
    let (from, to) = (LogKey::Record(partition_id, mark.start).encode(), LogKey::Record(partition_id, start).encode());
    let mut batch = WriteBatch::default();
    let records = log.records()?;
    batch.delete_range_cf(&records, &from, &to);
    batch.put(LogKey::Mark(partition_id).encode(), after.encode());
    log.write_batch(batch)?;
    // Deletes whole table files at once, without waiting for a RocksDB compaction. This range includes its end.
    let last = LogKey::Record(partition_id, start - 1).encode();
    log.database.delete_file_in_range_cf(&records, &from, &last).map_err(|error| log.fault(&error))?;
    Ok(after)
}

/// Drops the stored records of a transient topic like others. Those in memory go as soon as they are consumed.
fn expire_stored(
    log: &EmbeddedBackend,
    partition_id: PartitionId,
    mark: Mark,
    now: Timestamp,
    retention: Duration,
) -> Result<Mark, LogError> {
    let (first_held, stored_to) = {
        let transient = log.transient();
        (transient.first(partition_id).unwrap_or(u64::MAX), transient.stored_to(partition_id))
    };
    if mark.start < stored_to {
        let stored = Mark { end: mark.end.min(first_held), ..mark };
        let after = expire(log, partition_id, stored, now, retention, true)?;
        return Ok(Mark { end: mark.end, ..after });
    }
    let start = log.slowest_position(partition_id).unwrap_or(0).clamp(mark.start, mark.end);
    Ok(Mark { start, ..mark })
}

/// Keeps the last record of every key, as far as the keys of the dirty part fit into memory. `dirty` is the number of
/// offsets assigned above `cleaned_to`; nothing there was ever dropped.
fn compact(
    log: &EmbeddedBackend,
    partition_id: PartitionId,
    mark: Mark,
    dirty: u64,
    now: Timestamp,
) -> Result<Mark, LogError> {
    if dirty == 0 || dirty < mark.kept {
        return Ok(mark);
    }
    let mut latest: HashMap<Box<[u8]>, u64> = HashMap::new();
    let mut bytes = 0;
    let mut cleaned_to = mark.end;
    log.visit(partition_id, mark.cleaned_to, mark.end, false, |offset, record| {
        match latest.get_mut(record.key) {
            Some(last) => *last = offset,
            None => {
                bytes += record.key.len() + CLEANER_KEY_OVERHEAD;
                latest.insert(record.key.into(), offset);
            }
        }
        if bytes > CLEANER_BYTES {
            cleaned_to = offset + 1;
        }
        Ok(bytes <= CLEANER_BYTES)
    })?;
    // A tombstone is dropped some days after the pass that dropped the values before it. If its own timestamp decided,
    // it might be dropped in that same pass, and a reader half-way through would keep a value whose deletion it never
    // sees.
    let horizon_passed = now.saturating_since(mark.horizon_at) >= TOMBSTONES_KEPT;
    let forgotten_below = if horizon_passed { mark.horizon } else { 0 };
    let records = log.records()?;
    let mut batch = WriteBatch::default();
    let mut kept = 0;
    log.visit(partition_id, mark.start, cleaned_to, false, |offset, record| {
        let replaced = latest.get(record.key).is_some_and(|last| *last > offset);
        if replaced || (record.value.is_none() && offset < forgotten_below) {
            batch.delete_cf(&records, LogKey::Record(partition_id, offset).encode());
            if batch.len() >= DELETIONS_AT_ONCE {
                log.write_batch(std::mem::take(&mut batch))?;
            }
        } else {
            kept += 1;
        }
        Ok(true)
    })?;
    let (horizon, horizon_at) =
        if horizon_passed || mark.horizon == 0 { (cleaned_to, now) } else { (mark.horizon, mark.horizon_at) };
    let after = Mark { cleaned_to, kept, horizon, horizon_at, ..mark };
    batch.put(LogKey::Mark(partition_id).encode(), after.encode());
    log.write_batch(batch)?;
    Ok(after)
}
