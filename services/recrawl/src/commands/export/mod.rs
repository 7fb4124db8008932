//! `recrawl export`: exports fetch results for archives and other programs.

mod files;
mod jsonl;
mod warc;

use crate::CommandFailure;
use crate::follow::{FollowArguments, Subject, TopicFollower};
use crate::output::Format;
use crate::topic_reader::TopicReader;
use ::messages::{FetchResult, body, topics};
use clap::{Args, Subcommand};
use settings::Settings;

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
}

/// Exports the retained fetch results.
pub fn export(arguments: &ExportArguments, format: Format) -> Result<(), CommandFailure> {
    match &arguments.form {
        ExportFormat::Warc(arguments) => warc::warc(arguments, format),
        ExportFormat::Jsonl(arguments) => jsonl::jsonl(arguments),
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
