//! `recrawl export`: exports fetch results for archives and other programs.

mod destination;
mod export_progress;
mod files;
mod jsonl;
mod jsonl_objects;
mod objects;
mod parquet;
mod parquet_file;
mod warc;
mod warc_files;

use self::destination::{Destination, Finished, StorageArguments};
use crate::CommandFailure;
use crate::cursor::Cursor;
use crate::follow::{Start, Subject, TopicFollower};
use crate::output::{Format, told};
use crate::topic_reader::TopicReader;
use ::messages::{FetchResult, body, topics};
use clap::{Args, Subcommand};
use daemon::StopSignal;
use serde::Serialize;
use settings::Settings;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use topology::LogNames;

/// Records read at a time per partition. Small, because they include bodies.
const BATCH: usize = 50;
/// Defaults of the names and sizes of files.
const PREFIX: &str = "recrawl";
const MAX_FILE_BYTES: u64 = 1 << 30;
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
    /// Writes a line of JSON for every fetch, whatever its outcome. With --to, prints a line for each completed file.
    Jsonl(jsonl::JsonlArguments),
    /// Writes Parquet files with a row for every fetch, whatever its outcome. Prints a line for each completed file.
    Parquet(parquet::ParquetArguments),
}

/// Where files go, and how long they get.
#[derive(Args, Debug)]
struct FilesArguments {
    /// Directory for the files. Created if necessary.
    #[arg(long, value_name = "DIR", required_unless_present = "to")]
    out: Option<PathBuf>,
    #[command(flatten)]
    storage: StorageArguments,
    #[command(flatten)]
    limits: Limits,
}

/// How files are called, and when one is complete.
#[derive(Args, Debug)]
struct Limits {
    /// Prefix of the file names: PREFIX-TIME-NUMBER.
    #[arg(long, default_value = PREFIX, value_parser = prefix)]
    prefix: String,
    /// Longest file. A file with a single fetch may be longer.
    #[arg(long, value_name = "BYTES", default_value_t = MAX_FILE_BYTES)]
    max_file_bytes: u64,
    /// Completes a file after so long, even if it is short. By default it may stay open for as long as --follow waits.
    #[arg(long, value_name = "DURATION")]
    max_file_age: Option<humantime::Duration>,
}

impl Limits {
    /// Whether a file that was begun then has been open for long enough.
    fn is_over(&self, begun: Instant) -> bool {
        self.max_file_age.is_some_and(|age| begun.elapsed() >= Duration::from(age))
    }
}

impl FilesArguments {
    fn open(&self, ending: &'static str, settings: &Settings) -> Result<Destination, CommandFailure> {
        Destination::open(&self.storage, self.out.as_deref(), (&self.limits, ending), &topic(settings))
    }
}

/// The topic of the fetch results, with its prefix.
fn topic(settings: &Settings) -> String {
    LogNames::new(settings).topic(topics::FETCH_RESULTS)
}

fn prefix(text: &str) -> Result<String, String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '.';
    if !text.is_empty() && text.chars().all(is_plain) {
        return Ok(text.to_owned());
    }
    Err("give letters, digits, dots and underscores, such as my_crawl".to_owned())
}

/// A completed file, as it is reported.
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
        Self { file: file.clone(), bytes: *bytes, records: *records, cursor: cursor.to_string() }
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
        ExportFormat::Jsonl(arguments) => jsonl::jsonl(arguments, format),
        ExportFormat::Parquet(arguments) => parquet::parquet(arguments, format),
    }
}

fn follower(settings: &Settings, start: &Start) -> Result<TopicFollower<FetchResult>, CommandFailure> {
    let subject = Subject {
        retention: "log.retention_results",
        batch: BATCH,
        moment: |result: &FetchResult| result.look.fetched_at,
    };
    let reader = TopicReader::open(settings, topics::FETCH_RESULTS, "recrawl-export")?;
    TopicFollower::open(reader, subject, start)
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
