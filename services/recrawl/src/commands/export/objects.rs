//! Numbered objects in object storage. Each is uploaded in parts while it is written, and is there when it is complete.
//!
//! A part is sent by a thread of its own while the next one is made, so that neither waits for the other. There is never a
//! second under way: that is the limit of memory, and the storage receives one part after the other.

use super::export_progress::{ExportProgress, taken_over};
use super::files::NumberedNames;
use crate::CommandFailure;
use crate::cursor::Cursor;
use crate::object_storage::{Bucket, NotDone};
use bytes::Bytes;
use object_store::multipart::PartId;
use page::Timestamp;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Smallest size of the parts. Storage takes 5 MiB and more, but for the last one.
const PART_BYTES: u64 = 8 << 20;
/// Most parts of an object, some below what storage takes: an object may become longer than it should.
const MOST_PARTS: u64 = 9_000;
/// Interval between reports of a long upload.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// The objects of an export in a bucket.
pub(super) struct NumberedObjects {
    bucket: Arc<Bucket>,
    names: NumberedNames,
    progress: ExportProgress,
    part_bytes: usize,
    open: Option<Upload>,
}

struct Upload {
    name: String,
    id: String,
    /// Those that have arrived.
    parts: Vec<PartId>,
    /// Bytes in these parts.
    bytes: u64,
    under_way: Option<PartUnderWay>,
    /// When its progress was last reported; its begin before the first report.
    told: Instant,
}

/// A part that is being sent.
struct PartUnderWay {
    thread: JoinHandle<Result<PartId, NotDone>>,
    bytes: u64,
}

impl PartUnderWay {
    /// Waits until the storage has answered.
    fn answer(self) -> Result<PartId, NotDone> {
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Upload {
    /// Begins to send a part. The one before it has arrived.
    fn send(&mut self, bucket: &Arc<Bucket>, bytes: Vec<u8>) -> std::io::Result<()> {
        let (bucket, name, id) = (Arc::clone(bucket), self.name.clone(), self.id.clone());
        let (number, count) = (self.parts.len(), bytes.len() as u64);
        let send = move || bucket.part(&name, &id, number, Bytes::from(bytes));
        let thread = std::thread::Builder::new().name("upload".to_owned()).spawn(send)?;
        self.under_way = Some(PartUnderWay { thread, bytes: count });
        Ok(())
    }

    /// Waits until all parts have arrived that were sent.
    fn arrive(&mut self) -> Result<(), NotDone> {
        let Some(under_way) = self.under_way.take() else { return Ok(()) };
        let bytes = under_way.bytes;
        self.parts.push(under_way.answer()?);
        self.bytes += bytes;
        Ok(())
    }

    /// A line about its progress, if the last one is long ago.
    fn tidings(&mut self, shown: &str, now: Instant) -> Option<String> {
        let is_due = now.duration_since(self.told) >= TELL_EVERY;
        is_due.then(|| {
            self.told = now;
            format!("{shown}: {} MiB are uploaded", self.bytes >> 20)
        })
    }
}

impl NumberedObjects {
    /// Opens a bucket. Existing objects are kept, and numbering continues after them.
    pub(super) fn open(
        bucket: Bucket,
        mut names: NumberedNames,
        max_bytes: u64,
        topic: &str,
    ) -> Result<Self, CommandFailure> {
        // Programs that read tables pass over names with an underscore.
        let name = format!("_{}{}.progress", names.prefix, names.ending);
        let progress = ExportProgress::read(&bucket, name, topic)?;
        names.next = progress.next();
        if !progress.is_known() {
            bucket.names()?.iter().for_each(|name| names.pass(name));
        }
        let from = match progress.cursor() {
            Some(cursor) => format!("after cursor {cursor}"),
            None => "from the beginning".to_owned(),
        };
        eprintln!("recrawl: exporting to {} {from}; progress is in {}", bucket.address(), progress.shown(&bucket));
        Ok(Self { bucket: Arc::new(bucket), names, progress, part_bytes: part_bytes(max_bytes), open: None })
    }

    /// Where to go on, and where that is written.
    pub(super) fn position(&self) -> (Option<Cursor>, String) {
        (self.progress.cursor(), self.progress.shown(&self.bucket))
    }

    /// Begins an object whose first record is of this time. Returns its name.
    pub(super) fn begin(&mut self, first: Timestamp) -> Result<String, CommandFailure> {
        let name = self.names.next(first);
        let id = self.bucket.begin(&name)?;
        let upload =
            Upload { name: name.clone(), id, parts: Vec::new(), bytes: 0, under_way: None, told: Instant::now() };
        let noted = self.progress.begun(&self.bucket, &name, &upload.id, self.names.next);
        self.open = Some(upload);
        noted?;
        Ok(name)
    }

    /// Sends what makes whole parts of the bytes that are held.
    pub(super) fn send_parts(&mut self, held: &mut Vec<u8>) -> Result<(), CommandFailure> {
        while held.len() >= self.part_bytes {
            let rest = held.split_off(self.part_bytes);
            self.send(std::mem::replace(held, rest))?;
        }
        Ok(())
    }

    /// Completes the open object with the rest. Returns how it is called, and its bytes.
    pub(super) fn complete(&mut self, mut held: Vec<u8>, cursor: &Cursor) -> Result<(String, u64), CommandFailure> {
        self.send_parts(&mut held)?;
        if !held.is_empty() {
            self.send(held)?;
        }
        self.arrive()?;
        self.progress.completes(&self.bucket, cursor)?;
        let Upload { name, id, parts, bytes, .. } = self.open.take().expect("an object is completed after it is begun");
        let shown = self.bucket.shown(&name);
        let complete = self.bucket.complete(&name, &id, parts);
        complete.map_err(|not_done| not_done.otherwise(taken_over(&shown)))?;
        self.progress.reached(&self.bucket, cursor)?;
        Ok((shown, bytes))
    }

    /// Notes that there is nothing to write before this position.
    pub(super) fn pass(&mut self, cursor: &Cursor) -> Result<(), CommandFailure> {
        self.progress.reached(&self.bucket, cursor)
    }

    fn send(&mut self, bytes: Vec<u8>) -> Result<(), CommandFailure> {
        self.arrive()?;
        let upload = self.open.as_mut().expect("an object has parts after it is begun");
        Ok(upload.send(&self.bucket, bytes)?)
    }

    fn arrive(&mut self) -> Result<(), CommandFailure> {
        let upload = self.open.as_mut().expect("parts arrive after an object is begun");
        let shown = self.bucket.shown(&upload.name);
        upload.arrive().map_err(|not_done| not_done.otherwise(taken_over(&shown)))?;
        if let Some(tidings) = upload.tidings(&shown, Instant::now()) {
            eprintln!("recrawl: {tidings}");
        }
        Ok(())
    }
}

impl Drop for NumberedObjects {
    /// An upload that failed is aborted, so that its parts are not kept. If that fails too, the next export does it.
    fn drop(&mut self) {
        let Some(Upload { name, id, under_way, .. }) = self.open.take() else { return };
        // Storage may keep a part that arrives behind the end of its upload.
        let _ = under_way.map(PartUnderWay::answer);
        if let Err(failure) = self.bucket.abort(&name, &id) {
            eprintln!("recrawl: {failure}; the next export aborts the upload");
        }
    }
}

/// The size of the parts of objects that may get so long.
fn part_bytes(max_bytes: u64) -> usize {
    usize::try_from(PART_BYTES.max(max_bytes.div_ceil(MOST_PARTS))).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_upload_is_told_of_now_and_then() {
        let begun = Instant::now();
        let (name, id) = ("a.jsonl".to_owned(), String::new());
        let mut upload = Upload { name, id, parts: Vec::new(), bytes: 40 << 20, under_way: None, told: begun };
        let mut at = |seconds: u64| upload.tidings("s3://b/a.jsonl", begun + Duration::from_secs(seconds));
        assert_eq!(at(9), None);
        assert_eq!(at(11).as_deref(), Some("s3://b/a.jsonl: 40 MiB are uploaded"));
        assert_eq!(at(20), None);
        assert!(at(21).is_some());
    }

    #[test]
    fn the_longest_object_has_no_more_parts_than_storage_takes() {
        assert_eq!(part_bytes(1 << 30), 8 << 20);
        for max_bytes in [1u64, 1 << 30, 1 << 40, 5 << 40] {
            assert!(max_bytes.div_ceil(part_bytes(max_bytes) as u64) <= MOST_PARTS, "{max_bytes}");
        }
    }
}
