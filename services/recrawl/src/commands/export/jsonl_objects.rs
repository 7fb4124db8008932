//! Lines of JSON in objects of limited size.

use super::destination::{Destination, Output};
use super::jsonl::line_as_text;
use super::{FileLine, Limits};
use crate::CommandFailure;
use crate::cursor::Cursor;
use crate::follow::{FollowArguments, Followed, Take};
use crate::output::Format;
use ::messages::FetchResult;
use daemon::StopSignal;
use std::io::Write;
use std::time::Instant;

/// Writes lines, one object at a time.
pub(super) struct JsonlObjects<'a> {
    pub(super) follow: &'a FollowArguments,
    pub(super) no_body: bool,
    pub(super) files: Destination,
    pub(super) limits: Limits,
    pub(super) format: Format,
    pub(super) stop: &'a StopSignal,
    /// Position after the last result that was taken or skipped.
    pub(super) cursor: Cursor,
    /// Position up to which objects are complete.
    pub(super) complete_to: Cursor,
    pub(super) open: Option<OpenObject>,
    pub(super) done: LineCounts,
}

pub(super) struct OpenObject {
    name: String,
    out: Output,
    begun: Instant,
    bytes: u64,
    lines: u64,
}

#[derive(Default)]
pub(super) struct LineCounts {
    lines: u64,
    objects: u64,
    bytes: u64,
}

impl Take<FetchResult> for JsonlObjects<'_> {
    fn take(&mut self, record: Followed<FetchResult>) -> Result<bool, CommandFailure> {
        let Followed { message: result, cursor, .. } = record;
        self.rest()?;
        let fetched_at = result.look.fetched_at;
        let is_wanted = self.follow.wants(fetched_at);
        if is_wanted {
            let line = line_as_text(result, self.no_body, &cursor) + "\n";
            let bytes = line.len() as u64;
            if self.open.as_ref().is_some_and(|open| open.bytes + bytes > self.limits.max_file_bytes) {
                self.complete()?;
            }
            if self.open.is_none() {
                let (out, name) = self.files.begin(fetched_at)?;
                self.open = Some(OpenObject { name, out, begun: Instant::now(), bytes: 0, lines: 0 });
            }
            let open = self.open.as_mut().expect("begun above");
            let written = open.out.write_all(line.as_bytes());
            written.map_err(|error| self.files.cannot(&open.name, &error))?;
            (open.bytes, open.lines) = (open.bytes + bytes, open.lines + 1);
            self.files.send_parts(&mut open.out)?;
        }
        self.cursor = cursor;
        Ok(is_wanted)
    }

    /// Completes an object that is open for long enough. There is nothing to flush: lines are seen with their object.
    fn rest(&mut self) -> Result<(), CommandFailure> {
        let is_over = self.open.as_ref().is_some_and(|open| self.limits.is_over(open.begun));
        if is_over { self.complete() } else { Ok(()) }
    }
}

impl JsonlObjects<'_> {
    /// Completes the open object, if any, and reports it.
    pub(super) fn complete(&mut self) -> Result<(), CommandFailure> {
        let Some(OpenObject { name, out, lines, .. }) = self.open.take() else {
            self.files.pass(&self.cursor)?;
            self.complete_to = self.cursor.clone();
            return Ok(());
        };
        let finished = self.files.complete(&name, out, lines, &self.cursor)?;
        self.complete_to = self.cursor.clone();
        let LineCounts { lines, objects, bytes } = &mut self.done;
        (*lines, *objects, *bytes) = (*lines + finished.records, *objects + 1, *bytes + finished.bytes);
        FileLine::new(&finished, &self.cursor).tell(self.format, self.stop)
    }

    pub(super) fn sum_up(&self) {
        let LineCounts { lines, objects, bytes } = self.done;
        eprintln!("recrawl: {lines} results in {objects} files of {bytes} bytes; cursor {}", self.complete_to);
    }
}
