//! `recrawl export parquet`: writes every fetch as a row.

use super::destination::{Destination, Output};
use super::jsonl::line;
use super::parquet_file::{ParquetFile, Row};
use super::{FileLine, FilesArguments, follower, unpacked};
use crate::CommandFailure;
use crate::cursor::Cursor;
use crate::follow::{FollowArguments, Followed, Take};
use crate::output::Format;
use ::messages::FetchResult;
use clap::Args;
use daemon::StopSignal;
use document::ContentKind;
use page::Timestamp;
use std::time::Instant;

/// Bytes of the rows that make a row group. Several times as much is in memory while one is written.
const GROUP_BYTES: u64 = 32 << 20;

/// Arguments of `recrawl export parquet`.
#[derive(Args, Debug)]
pub(super) struct ParquetArguments {
    #[command(flatten)]
    follow: FollowArguments,
    #[command(flatten)]
    files: FilesArguments,
    /// Omits the bodies.
    #[arg(long)]
    no_body: bool,
}

/// Writes the fetch results to files.
pub(super) fn parquet(arguments: &ParquetArguments, format: Format) -> Result<(), CommandFailure> {
    let stop = StopSignal::on_signals()?;
    let settings = arguments.follow.settings()?;
    let files = arguments.files.open(".parquet", &settings)?;
    let mut results = follower(&settings, &files.start(&arguments.follow)?)?;
    let cursor = results.cursor().clone();
    let complete_to = cursor.clone();
    let mut writer =
        Writer { arguments, files, open: None, format, stop: &stop, cursor, complete_to, rows: 0, count: 0, bytes: 0 };
    let done = arguments.follow.each(&mut results, &stop, &mut writer);
    let done = done.and_then(|()| writer.complete());
    let Writer { rows, count, bytes, complete_to, .. } = writer;
    eprintln!("recrawl: {rows} results in {count} files of {bytes} bytes; cursor {complete_to}");
    done
}

struct Writer<'a> {
    arguments: &'a ParquetArguments,
    files: Destination,
    open: Option<OpenFile>,
    format: Format,
    stop: &'a StopSignal,
    /// Position after the last result that was taken or skipped.
    cursor: Cursor,
    /// Position up to which files are complete. A failed export resumes here.
    complete_to: Cursor,
    rows: u64,
    count: u64,
    bytes: u64,
}

struct OpenFile {
    name: String,
    file: ParquetFile<Output>,
    begun: Instant,
}

impl Take<FetchResult> for Writer<'_> {
    fn take(&mut self, record: Followed<FetchResult>) -> Result<bool, CommandFailure> {
        let Followed { message: result, cursor, .. } = record;
        self.complete_if_over()?;
        let is_wanted = self.arguments.follow.wants(result.look.fetched_at);
        if is_wanted {
            let fetched_at = result.look.fetched_at;
            let body = if self.arguments.no_body { None } else { unpacked(&result) };
            let mut line = line(result, None, &cursor);
            line.charset = body.as_deref().and_then(|body| charset(body, line.content_type.as_deref()));
            self.add(Row::new(line, fetched_at, body), fetched_at)?;
        }
        self.cursor = cursor;
        Ok(is_wanted)
    }

    /// A file without its end cannot be read, so there is nothing to flush.
    fn rest(&mut self) -> Result<(), CommandFailure> {
        self.complete_if_over()
    }
}

impl Writer<'_> {
    fn add(&mut self, row: Row, fetched_at: Timestamp) -> Result<(), CommandFailure> {
        let limit = self.arguments.files.limits.max_file_bytes;
        if self.open.as_ref().is_some_and(|OpenFile { file, .. }| file.rows() > 0 && file.bytes() + row.bytes > limit) {
            self.complete()?;
        }
        if self.open.is_none() {
            let (out, name) = self.files.begin(fetched_at)?;
            self.open = Some(OpenFile { name, file: ParquetFile::begin(out).map_err(failed)?, begun: Instant::now() });
        }
        let OpenFile { file, .. } = self.open.as_mut().expect("begun above");
        file.add(row, GROUP_BYTES.min(limit)).map_err(failed)?;
        self.files.send_parts(file.out())
    }

    fn complete_if_over(&mut self) -> Result<(), CommandFailure> {
        let limits = &self.arguments.files.limits;
        if self.open.as_ref().is_some_and(|open| limits.is_over(open.begun)) { self.complete() } else { Ok(()) }
    }

    /// Completes the open file, if any, and reports it.
    fn complete(&mut self) -> Result<(), CommandFailure> {
        let open = self.open.take();
        let Some(OpenFile { name, file, .. }) = open else {
            self.files.pass(&self.cursor)?;
            self.complete_to = self.cursor.clone();
            return Ok(());
        };
        let (out, records) = file.finish().map_err(failed)?;
        let finished = self.files.complete(&name, out, records, &self.cursor)?;
        (self.rows, self.count, self.bytes) = (self.rows + records, self.count + 1, self.bytes + finished.bytes);
        self.complete_to = self.cursor.clone();
        FileLine::new(&finished, &self.cursor).tell(self.format, self.stop)
    }
}

/// The charset of a body that is text.
fn charset(body: &[u8], content_type: Option<&str>) -> Option<&'static str> {
    let is_text = ContentKind::of(content_type, body) != ContentKind::Opaque;
    is_text.then(|| document::decode(body, content_type).charset)
}

fn failed(error: parquet::errors::ParquetError) -> CommandFailure {
    CommandFailure::World(format!("the Parquet file: {error}"))
}
