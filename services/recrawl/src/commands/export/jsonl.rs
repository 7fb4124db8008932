//! `recrawl export jsonl`: writes every fetch as a line of JSON.

use super::destination::{Destination, StorageArguments};
use super::jsonl_objects::{JsonlObjects, LineCounts};
use super::{Limits, MAX_FILE_BYTES, PREFIX, follower, prefix, topic, unpacked};
use crate::CommandFailure;
use crate::cursor::Cursor;
use crate::follow::{FollowArguments, Followed, Take};
use crate::output::{Format, told};
use ::messages::{FetchOutcome, FetchResult, Hop};
use base64::prelude::{BASE64_STANDARD, Engine};
use clap::Args;
use daemon::StopSignal;
use document::ContentKind;
use serde::Serialize;
use settings::Settings;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// Arguments of `recrawl export jsonl`.
#[derive(Args, Debug)]
pub(super) struct JsonlArguments {
    #[command(flatten)]
    follow: FollowArguments,
    /// File to append to. Defaults to stdout.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    storage: StorageArguments,
    /// Prefix of the file names in object storage: PREFIX-TIME-NUMBER.
    #[arg(long, default_value = PREFIX, value_parser = prefix, requires = "to")]
    prefix: String,
    /// Longest file in object storage. A file with a single fetch may be longer.
    #[arg(long, value_name = "BYTES", default_value_t = MAX_FILE_BYTES, requires = "to")]
    max_file_bytes: u64,
    /// Completes a file in object storage after so long, even if it is short.
    #[arg(long, value_name = "DURATION", requires = "to")]
    max_file_age: Option<humantime::Duration>,
    /// Omits the bodies.
    #[arg(long)]
    pub(super) no_body: bool,
}

impl JsonlArguments {
    /// When a file in object storage is complete.
    fn limits(&self) -> Limits {
        let Self { prefix, max_file_bytes, max_file_age, .. } = self;
        Limits { prefix: prefix.clone(), max_file_bytes: *max_file_bytes, max_file_age: *max_file_age }
    }
}

/// A fetch as it is written for other programs.
#[derive(Debug, Serialize)]
pub(super) struct ExportLine {
    /// Cursor that resumes after this fetch.
    pub(super) cursor: String,
    pub(super) url: String,
    pub(super) page_id: String,
    pub(super) attempt: i64,
    pub(super) fetched_at: String,
    pub(super) outcome: FetchOutcome,
    pub(super) status: Option<u16>,
    pub(super) final_url: Option<String>,
    pub(super) hops: Vec<Hop>,
    /// Headers of the last response, in order and with names as received. Null if they were not recorded.
    pub(super) headers: Option<Vec<(String, String)>>,
    pub(super) protocol: Option<String>,
    pub(super) address: Option<String>,
    pub(super) content_type: Option<String>,
    pub(super) content_digest: Option<String>,
    /// Null if there is none, if it is omitted, or if it equals that of the previous fetch (`same_content`).
    pub(super) body: Option<String>,
    pub(super) body_form: Option<BodyForm>,
    pub(super) charset: Option<&'static str>,
    pub(super) body_length: i64,
    pub(super) truncated: bool,
    pub(super) wire_bytes: i64,
    pub(super) latency_ms: i32,
    pub(super) retry_after_s: Option<i64>,
    pub(super) detail: Option<String>,
}

/// Encoding of a body in the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum BodyForm {
    /// Decoded from its charset.
    Text,
    /// Raw bytes, for a body that is not text or does not decode without loss.
    Base64,
}

/// Writes the fetch results as lines.
pub(super) fn jsonl(arguments: &JsonlArguments, format: Format) -> Result<(), CommandFailure> {
    let stop = StopSignal::on_signals()?;
    let settings = arguments.follow.settings()?;
    if arguments.storage.is_given() {
        return to_storage(arguments, &settings, format, &stop);
    }
    let mut results = follower(&settings, &arguments.follow.start())?;
    let out: Box<dyn Write> = match &arguments.out {
        None => Box::new(std::io::stdout().lock()),
        Some(path) => {
            let file = File::options().append(true).create(true).open(path);
            Box::new(file.map_err(|error| CommandFailure::World(format!("{}: {error}", path.display())))?)
        }
    };
    let cursor = results.cursor().clone();
    let mut writer = Writer { out: BufWriter::new(out), arguments, stop: &stop, lines: 0, cursor };
    let done = arguments.follow.each(&mut results, &stop, &mut writer);
    let done = done.and_then(|()| writer.rest());
    eprintln!("recrawl: {} results; cursor {}", writer.lines, writer.cursor);
    done
}

/// Writes them to object storage.
fn to_storage(
    arguments: &JsonlArguments,
    settings: &Settings,
    format: Format,
    stop: &StopSignal,
) -> Result<(), CommandFailure> {
    let limits = arguments.limits();
    let files = Destination::open(&arguments.storage, None, (&limits, ".jsonl"), &topic(settings))?;
    let mut results = follower(settings, &files.start(&arguments.follow)?)?;
    let cursor = results.cursor().clone();
    let mut objects = JsonlObjects {
        follow: &arguments.follow,
        no_body: arguments.no_body,
        files,
        limits,
        format,
        stop,
        complete_to: cursor.clone(),
        cursor,
        open: None,
        done: LineCounts::default(),
    };
    let done = arguments.follow.each(&mut results, stop, &mut objects);
    let done = done.and_then(|()| objects.complete());
    objects.sum_up();
    done
}

struct Writer<'a> {
    out: BufWriter<Box<dyn Write>>,
    arguments: &'a JsonlArguments,
    stop: &'a StopSignal,
    lines: u64,
    cursor: Cursor,
}

impl Take<FetchResult> for Writer<'_> {
    fn take(&mut self, record: Followed<FetchResult>) -> Result<bool, CommandFailure> {
        let Followed { message: result, cursor, .. } = record;
        let is_wanted = self.arguments.follow.wants(result.look.fetched_at);
        if is_wanted {
            let line = line_as_text(result, self.arguments.no_body, &cursor);
            told(writeln!(self.out, "{line}"), self.stop)?;
            self.lines += 1;
        }
        self.cursor = cursor;
        Ok(is_wanted)
    }

    fn rest(&mut self) -> Result<(), CommandFailure> {
        told(self.out.flush(), self.stop)
    }
}

/// The line of a result, with or without its body.
pub(super) fn line_as_text(result: FetchResult, no_body: bool, cursor: &Cursor) -> String {
    let body = if no_body { None } else { unpacked(&result) };
    serde_json::to_string(&line(result, body.as_deref(), cursor)).expect("texts, numbers and lists of them are JSON")
}

/// The line of a result with this body.
pub(super) fn line(result: FetchResult, bytes: Option<&[u8]>, cursor: &Cursor) -> ExportLine {
    // The last exchange belongs to the result, unless it got no response.
    let answer = result.exchanges.last().filter(|_| result.look.status.is_some());
    let (body, body_form, charset) = match bytes.map(|bytes| body(bytes, result.content_type.as_deref())) {
        Some((body, form, charset)) => (Some(body), Some(form), charset),
        None => (None, None, None),
    };
    ExportLine {
        cursor: cursor.to_string(),
        url: result.look.url.to_string(),
        page_id: result.look.page_id.to_string(),
        attempt: result.look.attempt,
        fetched_at: result.look.fetched_at.to_string(),
        outcome: result.look.outcome,
        status: result.look.status,
        final_url: result.look.final_url.as_ref().map(ToString::to_string),
        headers: answer.map(|answer| ::warc::header_lines(&answer.response_head)),
        protocol: answer.map(|answer| answer.protocol.clone()),
        address: answer.and_then(|answer| answer.address.clone()),
        hops: result.hops,
        content_type: result.content_type,
        content_digest: result.look.validators.content_digest.map(|digest| digest.to_string()),
        body,
        body_form,
        charset,
        body_length: result.look.body_length,
        truncated: result.truncated,
        wire_bytes: result.look.wire_bytes,
        latency_ms: result.look.latency_ms,
        retry_after_s: result.look.retry_after_s,
        detail: result.detail,
    }
}

/// Encodes a body for a line, as text only if nothing is lost.
fn body(bytes: &[u8], content_type: Option<&str>) -> (String, BodyForm, Option<&'static str>) {
    if ContentKind::of(content_type, bytes) != ContentKind::Opaque {
        let decoded = document::decode(bytes, content_type);
        if !decoded.text.contains(char::REPLACEMENT_CHARACTER) {
            return (decoded.text.into_owned(), BodyForm::Text, Some(decoded.charset));
        }
    }
    (BASE64_STANDARD.encode(bytes), BodyForm::Base64, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_text_if_nothing_is_lost_by_it() {
        let check = |bytes: &[u8], content_type, expected: (&str, BodyForm, Option<&'static str>)| {
            let (text, form, charset) = body(bytes, Some(content_type));
            assert_eq!((text.as_str(), form, charset), expected);
        };
        let latin = "text/plain; charset=windows-1252";
        check(b"caf\xe9", latin, ("café", BodyForm::Text, Some("windows-1252")));
        check("{\"é\": 1}".as_bytes(), "application/json", ("{\"é\": 1}", BodyForm::Text, Some("UTF-8")));
        check(b"caf\xe9", "text/plain; charset=utf-8", ("Y2Fm6Q==", BodyForm::Base64, None));
        check(b"\x89PNG", "image/png", ("iVBORw==", BodyForm::Base64, None));
    }
}
