//! The end of a topic.

use super::{Cursor, DecodedRecord, FollowedTopic, PageRecord, Removals, decode};
use daemon::{CommandFailure, TopicReader};
use page::Timestamp;
use stream::partitioner::partition_for;

/// The end of a topic, the newest first.
pub struct Newest<M> {
    pub records: Vec<M>,
    /// Records that are left out because their pages were forgotten since, with the time of that.
    pub forgotten: Vec<(M, Timestamp)>,
}

/// The newest record with a key that is wanted and comes before a cursor. Only the partition of the key is read.
///
/// # Errors
/// Those of the log; the cursor is that of another crawl.
pub fn newest_with_key<M: PageRecord>(
    reader: &mut TopicReader,
    topic: &FollowedTopic<M>,
    key: &[u8],
    until: Option<&Cursor>,
    is_wanted: impl Fn(&M) -> bool,
) -> Result<Option<M>, CommandFailure> {
    let partitions = reader.partitions();
    if let Some(Cursor(ends)) = until.filter(|until| until.0.len() != partitions as usize) {
        return Err(CommandFailure::Input(format!(
            "the cursor has {} partitions, but this crawl has {partitions}; is it from another crawl?",
            ends.len()
        )));
    }
    let partition = partition_for(key, partitions.max(1));
    let end = until.and_then(|until| until.0.get(partition as usize).copied());
    Ok(newest_of(reader, (partition, end, topic.batch), 1, &is_wanted)?.records.pop())
}

/// The newest records that are wanted.
pub fn newest<M: PageRecord>(
    reader: &mut TopicReader,
    topic: &FollowedTopic<M>,
    limit: usize,
    is_wanted: impl Fn(&M) -> bool,
) -> Result<Newest<M>, CommandFailure> {
    let mut all = Newest { records: Vec::new(), forgotten: Vec::new() };
    for partition in 0..reader.partitions() {
        let found = newest_of(reader, (partition, None, topic.batch), limit, &is_wanted)?;
        all.records.extend(found.records);
        all.forgotten.extend(found.forgotten);
    }
    // Equal times keep their order, so the same records make the same answer.
    all.records.sort_by_key(|message| std::cmp::Reverse((topic.moment)(message)));
    all.forgotten.sort_by_key(|(message, _)| std::cmp::Reverse((topic.moment)(message)));
    all.records.truncate(limit);
    all.forgotten.truncate(limit);
    Ok(all)
}

/// The last such records of a partition. Offsets have gaps, and not all records are wanted, so the part that is read
/// grows until there are enough.
fn newest_of<M: PageRecord>(
    reader: &mut TopicReader,
    (partition, end, batch): (u32, Option<u64>, usize),
    limit: usize,
    is_wanted: impl Fn(&M) -> bool,
) -> Result<Newest<M>, CommandFailure> {
    let bounds = reader.bounds(partition)?;
    let last = end.unwrap_or(u64::MAX).min(bounds.end);
    let mut part = limit as u64;
    loop {
        let start = last.saturating_sub(part).max(bounds.start);
        let (mut found, mut removals, mut next) = (Vec::new(), Removals::default(), start);
        // Also behind the last one: a page may be forgotten there.
        while next < bounds.end {
            let (records, after) = reader.read(partition, next, batch)?;
            if records.is_empty() {
                break;
            }
            next = after;
            for record in &records {
                match decode(record) {
                    DecodedRecord::Message(message) => {
                        removals.note(record, Some(&message));
                        if record.offset < last && is_wanted(&message) {
                            found.push((record.offset, message));
                        }
                    }
                    DecodedRecord::Nothing => removals.note::<M>(record, None),
                    DecodedRecord::Awaits(why) => {
                        eprintln!("recrawl: record {partition}@{} is left out: {why}", record.offset);
                    }
                }
            }
        }
        let mut newest = Newest { records: Vec::new(), forgotten: Vec::new() };
        for (offset, message) in found {
            match removals.hiding(offset, &message).map(|removal| removal.removed_at) {
                Some(removed_at) => newest.forgotten.push((message, removed_at)),
                None => newest.records.push(message),
            }
        }
        if newest.records.len() >= limit || start == bounds.start {
            newest.records.drain(..newest.records.len().saturating_sub(limit));
            newest.forgotten.drain(..newest.forgotten.len().saturating_sub(limit));
            return Ok(newest);
        }
        part = part.saturating_mul(4);
    }
}
