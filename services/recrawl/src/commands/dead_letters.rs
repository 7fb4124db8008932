//! Lists records that a stage set aside because it could not process them, with the reason, and replays them.

mod replay;

use crate::CommandFailure;
use crate::commands::SettingsArguments;
use clap::Args;
use daemon::TopicReader;
use messages::{DeadLetter, Encoded, topics};
use outputs::stdout::{Format, answer, answers};
use serde::Serialize;
use std::path::PathBuf;
use stream::InputRecord;

/// Records read at a time.
const BATCH: usize = 1_000;

/// Arguments of the list of records that were set aside, and of their replay.
#[derive(Args, Debug)]
pub struct DeadLettersArguments {
    #[command(flatten)]
    settings: SettingsArguments,
    /// State directory of a `recrawl run`, which may be running.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Returns each record once to the stage that set it aside. Use it when the stage can process them now. An embedded
    /// crawl must not be running.
    #[arg(long)]
    replay: bool,
}

#[derive(Serialize)]
struct DeadLetterRow {
    set_aside_at: String,
    stage: String,
    topic: String,
    partition: i32,
    offset: i64,
    key: String,
    value_bytes: usize,
    reason: String,
}

/// Lists the retained records that were set aside.
pub fn dead_letters(arguments: &DeadLettersArguments, format: Format) -> Result<(), CommandFailure> {
    let data = arguments.data.as_ref().map(|path| path.display().to_string());
    let settings = arguments.settings.load(&[("crawl.data", data)])?;
    if arguments.replay {
        return answer(format, &replay::replay(&settings)?, replay::text);
    }
    let mut reader = TopicReader::open(&settings, topics::DEAD_LETTERS, "recrawl-dead-letters")?;
    let mut rows = Vec::new();
    for partition in 0..reader.partitions() {
        let mut next = reader.bounds(partition)?.start;
        loop {
            let (records, after) = reader.read(partition, next, BATCH)?;
            if records.is_empty() {
                break;
            }
            next = after;
            rows.extend(records.iter().map(row));
        }
    }
    answers(format, &rows, |row| {
        format!(
            "{}  {}  {}-{}@{}  {} bytes: {}",
            row.set_aside_at, row.stage, row.topic, row.partition, row.offset, row.value_bytes, row.reason
        )
    })
}

fn row(record: &InputRecord) -> DeadLetterRow {
    match record.value.as_deref().map(DeadLetter::decode) {
        Some(Ok(letter)) => DeadLetterRow {
            set_aside_at: letter.set_aside_at.to_string(),
            stage: letter.stage,
            topic: letter.topic,
            partition: letter.partition,
            offset: letter.offset,
            key: String::from_utf8_lossy(&letter.key).into_owned(),
            value_bytes: letter.value.map_or(0, |value| value.len()),
            reason: letter.reason,
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
