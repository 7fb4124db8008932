//! Files of limited size and age, one at a time.

use super::companions::companion_name;
use super::{FileOptions, FileStore, NumberedNames};
use crate::encoder::{EndOfFile, FileEncoder};
use crate::progress::Progress;
use crate::source::{Cursor, FollowOptions, PageRecord, RecordSink, Start, TopicFollower, TopicRecord};
use crate::stdout::{Format, Out, written_or_stop};
use daemon::{CommandFailure, StopSignal};
use page::Timestamp;
use serde::Serialize;
use std::io::Write;
use std::time::Instant;

/// A directory or a bucket that is open for the files of one output.
pub struct OpenFiles<'a> {
    pub(super) store: Box<dyn FileStore>,
    pub(super) names: NumberedNames,
    pub(super) progress: Progress,
    pub(super) options: &'a FileOptions,
}

impl OpenFiles<'_> {
    /// Where reading begins.
    pub fn start(&self, follow: &FollowOptions) -> Result<Start, CommandFailure> {
        follow.resume(self.progress.cursor(), &self.progress.shown(&*self.store))
    }
}

/// Writes records into files, and reports each complete one on stdout.
pub struct FileSink<'a, E: FileEncoder> {
    files: OpenFiles<'a>,
    encoder: E,
    wants: &'a dyn Fn(&E::Message) -> bool,
    moment: fn(&E::Message) -> Timestamp,
    format: Format,
    stop: &'a StopSignal,
    open: Option<OpenFile<E::File>>,
    /// Position after the last record that was written or skipped.
    cursor: Cursor,
    /// Position up to which files are complete. A failed run resumes here.
    complete_to: Cursor,
    done: FileCounts,
}

struct OpenFile<F> {
    name: String,
    begun: Instant,
    file: F,
}

#[derive(Default)]
struct FileCounts {
    records: u64,
    files: u64,
    bytes: u64,
}

/// A completed file, as it is reported.
#[derive(Debug, Serialize)]
struct FileLine {
    file: String,
    bytes: u64,
    records: u64,
    /// Cursor that resumes after everything in this file and the earlier ones.
    cursor: String,
    /// Its companion, such as its index.
    #[serde(skip_serializing_if = "Option::is_none")]
    companion: Option<String>,
}

impl<'a, E: FileEncoder<Message: PageRecord>> FileSink<'a, E> {
    /// A sink for the records of a follower that `wants` selects.
    pub fn new(
        files: OpenFiles<'a>,
        encoder: E,
        follower: &TopicFollower<E::Message>,
        wants: &'a dyn Fn(&E::Message) -> bool,
        (format, stop): (Format, &'a StopSignal),
    ) -> Self {
        let cursor = follower.cursor().clone();
        Self {
            files,
            encoder,
            wants,
            moment: follower.moment(),
            format,
            stop,
            open: None,
            complete_to: cursor.clone(),
            cursor,
            done: FileCounts::default(),
        }
    }

    /// Writes everything that a follower has, and reports on stderr how much that was.
    ///
    /// # Errors
    /// The log, the directory or the bucket failed. What is in complete files is noted.
    pub fn write_all(
        mut self,
        follow: &FollowOptions,
        follower: &mut TopicFollower<E::Message>,
    ) -> Result<(), CommandFailure> {
        let done = follow.each(follower, self.stop, &mut self).and_then(|()| self.complete());
        let FileCounts { records, files, bytes } = self.done;
        let (summary, cursor) = (self.encoder.summary(records, follower.noun()), &self.complete_to);
        eprintln!("recrawl: {summary} in {files} files of {bytes} bytes; cursor {cursor}");
        done
    }

    fn add(&mut self, entry: E::Entry, moment: Timestamp) -> Result<(), CommandFailure> {
        let mut entry = Some(entry);
        while let Some(next) = entry.take() {
            if self.open.is_none() {
                self.open = Some(self.begin(&next, moment)?);
            }
            let OpenFile { file, .. } = self.open.as_mut().expect("begun above");
            entry = self.encoder.add(file, next, self.files.options.max_file_bytes)?;
            self.files.store.write(self.encoder.ready(file), false)?;
            if entry.is_some() {
                self.complete()?;
            }
        }
        Ok(())
    }

    fn begin(&mut self, first: &E::Entry, moment: Timestamp) -> Result<OpenFile<E::File>, CommandFailure> {
        let OpenFiles { store, names, progress, .. } = &mut self.files;
        let name = names.next(moment);
        let upload = store.begin(&name)?;
        progress.begun(&mut **store, &name, &upload, names.next)?;
        let file = self.encoder.begin(&name, first)?;
        Ok(OpenFile { name, begun: Instant::now(), file })
    }

    /// Completes the open file, if any, and reports it. Everything before the cursor is then in complete files, or is not
    /// wanted.
    fn complete(&mut self) -> Result<(), CommandFailure> {
        let OpenFiles { store, progress, .. } = &mut self.files;
        let Some(OpenFile { name, file, .. }) = self.open.take() else {
            progress.reached(&mut **store, &self.cursor)?;
            self.complete_to = self.cursor.clone();
            return Ok(());
        };
        let EndOfFile { last, records, companion } = self.encoder.finish(file)?;
        let bytes = store.arrive(last)?;
        let companion =
            E::COMPANION.zip(companion).map(|(ending, content)| (companion_name::<E>(&name, ending), content));
        let companion_name = companion.as_ref().map(|(name, _)| name.clone());
        progress.completes(&mut **store, &self.cursor, companion_name.as_deref())?;
        // Before the file, so that each complete file has its companion.
        if let Some((name, content)) = companion {
            store.write_companion(&name, content)?;
        }
        store.complete()?;
        progress.reached(&mut **store, &self.cursor)?;
        self.complete_to = self.cursor.clone();
        self.done.records += records;
        self.done.files += 1;
        self.done.bytes += bytes;
        let companion = companion_name.map(|name| store.shown(&name));
        let line = FileLine { file: store.shown(&name), bytes, records, cursor: self.cursor.to_string(), companion };
        let mut out = Out::stdout();
        written_or_stop(writeln!(out, "{}", line.text(self.format)).and_then(|()| out.flush()), self.stop)
    }

    fn complete_if_over(&mut self) -> Result<(), CommandFailure> {
        let is_over = self.open.as_ref().is_some_and(|open| self.files.options.is_over(open.begun));
        if is_over { self.complete() } else { Ok(()) }
    }
}

impl<E: FileEncoder<Message: PageRecord>> RecordSink<E::Message> for FileSink<'_, E> {
    fn take(&mut self, record: TopicRecord<E::Message>) -> Result<bool, CommandFailure> {
        self.complete_if_over()?;
        let (cursor, moment) = (record.cursor.clone(), (self.moment)(&record.message));
        let is_wanted = (self.wants)(&record.message);
        if is_wanted {
            if let Some(entry) = self.encoder.encode(record) {
                self.add(entry, moment)?;
            }
        } else {
            self.encoder.skip(&record);
        }
        self.cursor = cursor;
        Ok(is_wanted)
    }

    fn rest(&mut self) -> Result<(), CommandFailure> {
        self.complete_if_over()?;
        let Some(OpenFile { file, .. }) = &mut self.open else { return Ok(()) };
        self.files.store.write(self.encoder.ready(file), true)
    }
}

impl FileLine {
    fn text(&self, format: Format) -> String {
        let Self { file, bytes, records, cursor, .. } = self;
        match format {
            Format::Text => format!("{file}  {bytes} bytes  {records} records  cursor {cursor}"),
            Format::Json | Format::Jsonl => serde_json::to_string(self).expect("texts and numbers are JSON"),
        }
    }
}
