//! Records that a stage set aside because it could not process them.

mod replay;

pub use self::replay::{ReplayCounts, Replayed, replay};

use daemon::{CommandFailure, TopicReader};
use messages::{DeadLetter, Encoded, topics};
use serde::Serialize;
use settings::Settings;
use stream::{InputRecord, OffsetBounds};

/// A record that was set aside, with the reason.
#[derive(Serialize)]
pub struct DeadLetterRow {
    pub set_aside_at: String,
    pub stage: String,
    pub topic: String,
    pub partition: i32,
    pub offset: i64,
    pub key: String,
    pub value_bytes: usize,
    pub reason: String,
}

/// The retained records that were set aside.
///
/// # Errors
/// The settings name no crawl, or its log does not answer.
pub fn list(settings: &Settings) -> Result<Vec<DeadLetterRow>, CommandFailure> {
    let mut reader = TopicReader::open(settings, topics::DEAD_LETTERS, "recrawl-dead-letters")?;
    let mut rows = Vec::new();
    reader.read_all(|record| {
        rows.push(row(record));
        Ok(())
    })?;
    Ok(rows)
}

/// The last such records of each partition, the newest first, and no more than this number in all.
///
/// # Errors
/// The log does not answer.
pub fn newest(reader: &mut TopicReader, at_most: usize) -> Result<Vec<DeadLetterRow>, CommandFailure> {
    let mut rows = Vec::new();
    for partition in 0..reader.partitions() {
        let OffsetBounds { start, end } = reader.bounds(partition)?;
        let mut next = end.saturating_sub(at_most as u64).max(start);
        while next < end {
            // A record may have megabytes.
            let (records, after) = reader.read(partition, next, 1)?;
            if records.is_empty() {
                break;
            }
            rows.extend(records.iter().map(row));
            next = after;
        }
    }
    rows.sort_by(|one, other| other.set_aside_at.cmp(&one.set_aside_at));
    rows.truncate(at_most);
    Ok(rows)
}

fn row(record: &InputRecord) -> DeadLetterRow {
    match record.value.as_deref().map(DeadLetter::decode) {
        Some(Ok(dead_letter)) => DeadLetterRow {
            set_aside_at: dead_letter.set_aside_at.to_string(),
            stage: dead_letter.stage,
            topic: dead_letter.topic,
            partition: dead_letter.partition,
            offset: dead_letter.offset,
            key: String::from_utf8_lossy(&dead_letter.key).into_owned(),
            value_bytes: dead_letter.value.map_or(0, |value| value.len()),
            reason: dead_letter.reason,
        },
        // Written by another program, or by a version whose schema is missing. Show it nevertheless.
        other => DeadLetterRow {
            set_aside_at: record.timestamp.to_string(),
            stage: "unknown".to_owned(),
            topic: topics::DEAD_LETTERS.name().to_string(),
            partition: record.partition as i32,
            offset: record.offset as i64,
            key: String::from_utf8_lossy(&record.key).into_owned(),
            value_bytes: record.value.as_ref().map_or(0, |value| value.len()),
            reason: match other {
                Some(Err(error)) => format!("cannot read this record as a dead letter: {error}"),
                _ => "this record is not a dead letter of recrawl".to_owned(),
            },
        },
    }
}
