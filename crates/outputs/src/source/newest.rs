//! The end of a topic.

use super::{DecodedRecord, FollowedTopic, decode};
use daemon::{CommandFailure, TopicReader};
use messages::Message;

/// The newest records that are wanted, the newest first.
pub fn newest<M: Message>(
    reader: &mut TopicReader,
    topic: &FollowedTopic<M>,
    limit: usize,
    is_wanted: impl Fn(&M) -> bool,
) -> Result<Vec<M>, CommandFailure> {
    let mut all = Vec::new();
    for partition in 0..reader.partitions() {
        all.extend(newest_of(reader, (partition, topic.batch), limit, &is_wanted)?);
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
    (partition, batch): (u32, usize),
    limit: usize,
    is_wanted: impl Fn(&M) -> bool,
) -> Result<Vec<M>, CommandFailure> {
    let bounds = reader.bounds(partition)?;
    let mut part = limit as u64;
    loop {
        let start = bounds.end.saturating_sub(part).max(bounds.start);
        let (mut found, mut next) = (Vec::new(), start);
        while next < bounds.end {
            let (records, after) = reader.read(partition, next, batch)?;
            if records.is_empty() {
                break;
            }
            next = after;
            found.extend(records.iter().filter_map(|record| match decode(record) {
                DecodedRecord::Message(message) => Some(message).filter(&is_wanted),
                DecodedRecord::Nothing => None,
                DecodedRecord::Awaits(why) => {
                    eprintln!("recrawl: record {partition}@{} is left out: {why}", record.offset);
                    None
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
