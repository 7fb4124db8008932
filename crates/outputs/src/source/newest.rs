//! The end of a topic.

use super::{Cursor, DecodedRecord, FollowedTopic, decode};
use daemon::{CommandFailure, TopicReader};
use messages::Message;
use stream::partitioner::partition_for;

/// The newest record with a key that is wanted and comes before a cursor. Only the partition of the key is read.
///
/// # Errors
/// Those of the log; the cursor is that of another crawl.
pub fn newest_with_key<M: Message>(
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
    Ok(newest_of(reader, (partition, end, topic.batch), 1, &is_wanted)?.pop())
}

/// The newest records that are wanted, the newest first.
pub fn newest<M: Message>(
    reader: &mut TopicReader,
    topic: &FollowedTopic<M>,
    limit: usize,
    is_wanted: impl Fn(&M) -> bool,
) -> Result<Vec<M>, CommandFailure> {
    let mut all = Vec::new();
    for partition in 0..reader.partitions() {
        all.extend(newest_of(reader, (partition, None, topic.batch), limit, &is_wanted)?);
    }
    // Equal times keep their order, so the same records make the same answer.
    all.sort_by_key(|message| std::cmp::Reverse((topic.moment)(message)));
    all.truncate(limit);
    Ok(all)
}

/// The last such records of a partition. Offsets have gaps, and not all records are wanted, so the part that is read
/// grows until there are enough.
fn newest_of<M: Message>(
    reader: &mut TopicReader,
    (partition, end, batch): (u32, Option<u64>, usize),
    limit: usize,
    is_wanted: impl Fn(&M) -> bool,
) -> Result<Vec<M>, CommandFailure> {
    let bounds = reader.bounds(partition)?;
    let last = end.unwrap_or(u64::MAX).min(bounds.end);
    let mut part = limit as u64;
    loop {
        let start = last.saturating_sub(part).max(bounds.start);
        let (mut found, mut next) = (Vec::new(), start);
        while next < last {
            let (records, after) = reader.read(partition, next, batch)?;
            if records.is_empty() {
                break;
            }
            next = after;
            found.extend(records.iter().filter(|record| record.offset < last).filter_map(|record| {
                match decode(record) {
                    DecodedRecord::Message(message) => Some(message).filter(&is_wanted),
                    DecodedRecord::Nothing => None,
                    DecodedRecord::Awaits(why) => {
                        eprintln!("recrawl: record {partition}@{} is left out: {why}", record.offset);
                        None
                    }
                }
            }));
        }
        if found.len() >= limit || start == bounds.start {
            let surplus = found.len().saturating_sub(limit);
            return Ok(found.split_off(surplus));
        }
        part = part.saturating_mul(4);
    }
}
