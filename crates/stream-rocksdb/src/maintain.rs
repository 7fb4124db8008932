//! How the embedded log forgets: retention by age and by consumption, and compaction.
//!
//! Compaction is a cleaner that runs now and then, as Kafka's does, rather than an index of latest offsets kept up to
//! date by every write. The index would cost each changelog record a random read (some 4 µs) and two more writes (1 to
//! 2 µs each), inside the commit. The cleaner reads a partition through once at least half of it is dirty, so that a
//! record is read in sequence about three times in its life and deleted once: some 3 µs measured, away from the commit. In
//! return a log is up to twice as large as it must be.

use crate::backend::EmbeddedBackend;
use crate::layout::{LogKey, Mark, Place};
use page::Timestamp;
use rocksdb::WriteBatch;
use std::collections::HashMap;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;
use stream::protocol::TOMBSTONES_KEPT;
use stream::{Cleanup, LogError};
use tracing::debug;

/// Memory for the keys of one pass of the cleaner. What does not fit is left to the next pass.
const CLEANER_BYTES: usize = 64 << 20;
/// What a key takes in the cleaner's map besides itself.
const CLEANER_KEY_OVERHEAD: usize = 48;
/// Deletions written at a time, so that commits get through in between.
const DELETIONS_AT_ONCE: usize = 4_096;

/// One round over all partitions.
pub(crate) fn maintain(log: &EmbeddedBackend, now: Timestamp) -> Result<(), LogError> {
    let _alone = log.maintenance.lock().unwrap_or_else(PoisonError::into_inner);
    log.unmaintained_bytes.store(0, Ordering::Relaxed);
    for (id, topic) in log.topics_by_id() {
        for partition in 0..topic.partitions {
            let place = Place { topic: id, partition };
            let Some(held) = log.partition(&topic.name, partition) else { continue };
            let mark = held.mark;
            let after = match topic.cleanup {
                Cleanup::Compact => {
                    let dirty = held.given(mark.cleaned_to, mark.end);
                    compact(log, place, mark, dirty, now)?
                }
                Cleanup::Delete { retention, consumed } => expire(log, place, mark, now, retention, consumed)?,
            };
            if after != mark {
                debug!(topic = &*topic.name, partition, start = after.start, kept = after.kept, "log trimmed");
                log.set_mark(&topic.name, partition, after);
            }
        }
    }
    Ok(())
}

/// Drops records from the front: those too old, and those every group has consumed.
fn expire(
    log: &EmbeddedBackend,
    place: Place,
    mark: Mark,
    now: Timestamp,
    retention: Duration,
    consumed: bool,
) -> Result<Mark, LogError> {
    let consumed_to = if consumed { log.slowest_position(place).unwrap_or(0) } else { 0 };
    let mut start = consumed_to.clamp(mark.start, mark.end);
    let mut all_old = true;
    log.visit(place, start, mark.end, false, |offset, record| {
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
    let (from, to) = (LogKey::Record(place, mark.start).encode(), LogKey::Record(place, start).encode());
    let mut batch = WriteBatch::default();
    let records = log.records()?;
    batch.delete_range_cf(&records, &from, &to);
    batch.put(LogKey::Mark(place).encode(), after.encode());
    log.write_batch(batch)?;
    // Whole tables go at once, without waiting for a compaction to come by. This range includes its end.
    let last = LogKey::Record(place, start - 1).encode();
    log.database.delete_file_in_range_cf(&records, &from, &last).map_err(|error| log.fault(&error))?;
    Ok(after)
}

/// Keeps the last record of every key, as far as the keys of the dirty part fit into memory.
/// `dirty` is the number of offsets given above `cleaned_to`; nothing there was ever dropped.
fn compact(log: &EmbeddedBackend, place: Place, mark: Mark, dirty: u64, now: Timestamp) -> Result<Mark, LogError> {
    if dirty == 0 || dirty < mark.kept {
        return Ok(mark);
    }
    let mut latest: HashMap<Box<[u8]>, u64> = HashMap::new();
    let mut bytes = 0;
    let mut cleaned_to = mark.end;
    log.visit(place, mark.cleaned_to, mark.end, false, |offset, record| {
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
    // A tombstone goes some days after the pass that dropped the values before it. Judged by its own timestamp it might go
    // in that same pass, and a reader half-way through would keep a value whose deletion it never sees.
    let horizon_passed = now.saturating_since(mark.horizon_at) >= TOMBSTONES_KEPT;
    let forgotten_below = if horizon_passed { mark.horizon } else { 0 };
    let records = log.records()?;
    let mut batch = WriteBatch::default();
    let mut kept = 0;
    log.visit(place, mark.start, cleaned_to, false, |offset, record| {
        let replaced = latest.get(record.key).is_some_and(|last| *last > offset);
        if replaced || (record.value.is_none() && offset < forgotten_below) {
            batch.delete_cf(&records, LogKey::Record(place, offset).encode());
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
    batch.put(LogKey::Mark(place).encode(), after.encode());
    log.write_batch(batch)?;
    Ok(after)
}
