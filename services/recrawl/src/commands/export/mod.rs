//! `recrawl export`: exports fetch results for archives and other programs.

mod files;
mod jsonl;
mod parquet;
mod parquet_file;
mod warc;
mod warc_files;

use self::files::Finished;
use crate::CommandFailure;
use crate::cursor::Cursor;
use crate::follow::{FollowArguments, Subject, TopicFollower};
use crate::output::{Format, told};
use crate::topic_reader::TopicReader;
use ::messages::{FetchResult, body, topics};
use clap::{Args, Subcommand};
use daemon::StopSignal;
use serde::Serialize;
use settings::Settings;
use std::io::Write;
use std::path::PathBuf;

/// Records read at a time per partition. Small, because they include bodies.
const BATCH: usize = 50;
/// Longest body that is unpacked. `fetch.max_body` cannot exceed it.
const MAX_BODY: usize = 1 << 30;

/// Arguments of `recrawl export`.
#[derive(Args, Debug)]
pub struct ExportArguments {
    #[command(subcommand)]
    form: ExportFormat,
}

#[derive(Subcommand, Debug)]
enum ExportFormat {
    /// Writes WARC files with requests, responses and revisits, one gzip member per record. Prints a line for each
    /// completed file.
    Warc(warc::WarcArguments),
    /// Writes a line of JSON for every fetch, whatever its outcome.
    Jsonl(jsonl::JsonlArguments),
    /// Writes Parquet files with a row for every fetch, whatever its outcome. Prints a line for each completed file.
    Parquet(parquet::ParquetArguments),
}

/// Where files go, and how long they get.
#[derive(Args, Debug)]
struct FilesArguments {
    /// Directory for the files. Created if necessary.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Prefix of the file names: PREFIX-TIME-NUMBER.
    #[arg(long, default_value = "recrawl", value_parser = prefix)]
    prefix: String,
    /// Longest file. A file with a single fetch may be longer.
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 30)]
    max_file_bytes: u64,
}

fn prefix(text: &str) -> Result<String, String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '.';
    if !text.is_empty() && text.chars().all(is_plain) {
        return Ok(text.to_owned());
    }
    Err("give letters, digits, dots and underscores, such as my_crawl".to_owned())
}

/// A completed file, as it is told.
#[derive(Debug, Serialize)]
struct FileLine {
    file: String,
    bytes: u64,
    records: u64,
    /// Cursor that resumes after everything in this file and the earlier ones.
    cursor: String,
}

impl FileLine {
    fn new(complete: &Finished, cursor: &Cursor) -> Self {
        let Finished { file, bytes, records } = complete;
        Self { file: file.display().to_string(), bytes: *bytes, records: *records, cursor: cursor.to_string() }
    }

    /// Prints it.
    fn tell(&self, format: Format, stop: &StopSignal) -> Result<(), CommandFailure> {
        let Self { file, bytes, records, cursor } = self;
        let line = match format {
            Format::Text => format!("{file}  {bytes} bytes  {records} records  cursor {cursor}"),
            _ => serde_json::to_string(self).map_err(|error| CommandFailure::World(error.to_string()))?,
        };
        told(writeln!(std::io::stdout(), "{line}"), stop)
    }
}

/// Exports the retained fetch results.
pub fn export(arguments: &ExportArguments, format: Format) -> Result<(), CommandFailure> {
    match &arguments.form {
        ExportFormat::Warc(arguments) => warc::warc(arguments, format),
        ExportFormat::Jsonl(arguments) => jsonl::jsonl(arguments),
        ExportFormat::Parquet(arguments) => parquet::parquet(arguments, format),
    }
}

fn follower(settings: &Settings, arguments: &FollowArguments) -> Result<TopicFollower<FetchResult>, CommandFailure> {
    let subject = Subject {
        retention: "log.retention_results",
        batch: BATCH,
        moment: |result: &FetchResult| result.look.fetched_at,
    };
    let reader = TopicReader::open(settings, topics::FETCH_RESULTS, "recrawl-export")?;
    TopicFollower::open(reader, subject, &arguments.start())
}

/// The unpacked body of a result, if it has one. A body that does not unpack is reported and treated as absent.
fn unpacked(result: &FetchResult) -> Option<Vec<u8>> {
    match body::unpack(result.body.as_deref()?, MAX_BODY) {
        Ok(body) => Some(body.into_owned()),
        Err(error) => {
            eprintln!("recrawl: body of {} at {}: {error}", result.look.url, result.look.fetched_at);
            None
        }
    }
}
