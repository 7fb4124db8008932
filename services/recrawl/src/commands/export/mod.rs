//! `recrawl export`: what was fetched, for archives and for other programs.

mod files;
mod jsonl;
mod warc;

use crate::Failure;
use crate::follow::{FollowArguments, Follower, Subject};
use crate::output::Format;
use ::messages::{FetchResult, body, topics};
use clap::{Args, Subcommand};
use settings::Settings;

/// Records read at a time, of each partition: they have bodies.
const BATCH: usize = 50;
/// No longer body is unpacked; `fetch.max_body` cannot be set above it.
const MAX_BODY: usize = 1 << 30;

/// Arguments of `recrawl export`.
#[derive(Args, Debug)]
pub struct ExportArguments {
    #[command(subcommand)]
    form: Form,
}

#[derive(Subcommand, Debug)]
enum Form {
    /// Writes WARC files: requests, responses and revisits, a gzip member each. Tells each file when it is complete.
    Warc(warc::WarcArguments),
    /// Writes a line of JSON for every fetch, whatever came of it.
    Jsonl(jsonl::JsonlArguments),
}

/// Exports what is kept of the fetch results.
pub fn export(arguments: &ExportArguments, format: Format) -> Result<(), Failure> {
    match &arguments.form {
        Form::Warc(arguments) => warc::warc(arguments, format),
        Form::Jsonl(arguments) => jsonl::jsonl(arguments),
    }
}

fn follower(settings: &Settings, arguments: &FollowArguments) -> Result<Follower<FetchResult>, Failure> {
    let subject = Subject {
        topic: topics::FETCH_RESULTS.spec(),
        retention: "log.retention_results",
        client: "recrawl-export",
        batch: BATCH,
        moment: |result: &FetchResult| result.look.fetched_at,
    };
    Follower::open(settings, subject, arguments)
}

/// The body of a result, if it travelled. One that does not unpack is named and counts as none.
fn unpacked(result: &FetchResult) -> Option<Vec<u8>> {
    match body::decompress(result.body.as_deref()?, MAX_BODY) {
        Ok(body) => Some(body),
        Err(error) => {
            eprintln!("recrawl: body of {} at {}: {error}", result.look.url, result.look.fetched_at);
            None
        }
    }
}
