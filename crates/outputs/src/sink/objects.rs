//! Objects of a bucket. Each is uploaded in parts while it is written, and is there when it is complete.
//!
//! A part is sent by a thread of its own while the next one is made, so that neither waits for the other. There is never a
//! second under way: that is the limit of memory, and the storage receives one part after the other.

use super::FileStore;
use super::bucket::{Bucket, NotDone, Version};
use bytes::Bytes;
use daemon::CommandFailure;
use object_store::multipart::PartId;
use std::io::BufRead;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Smallest size of the parts. Storage takes 5 MiB and more, but for the last one.
const PART_BYTES: u64 = 8 << 20;
/// Most parts of an object, some below what storage takes: an object may become longer than it should.
const MOST_PARTS: u64 = 9_000;
/// Interval between reports of a long upload.
const REPORT_EVERY: Duration = Duration::from_secs(10);

/// The objects of a bucket, for one process at a time: the later takes over.
pub(super) struct Objects {
    bucket: Arc<Bucket>,
    /// The version under which the note was last seen.
    note: Option<Version>,
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
    reported: Instant,
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
    fn report(&mut self, shown: &str, now: Instant) -> Option<String> {
        let is_due = now.duration_since(self.reported) >= REPORT_EVERY;
        is_due.then(|| {
            self.reported = now;
            format!("{shown}: {} MiB are uploaded", self.bytes >> 20)
        })
    }
}

impl Objects {
    /// The objects of a bucket, which may get so long.
    pub(super) fn new(bucket: Bucket, max_bytes: u64) -> Self {
        Self { bucket: Arc::new(bucket), note: None, part_bytes: part_bytes(max_bytes), open: None }
    }

    fn send(&mut self, bytes: Vec<u8>) -> Result<(), CommandFailure> {
        self.wait_for_part()?;
        let upload = self.open.as_mut().expect("an object has parts after it is begun");
        Ok(upload.send(&self.bucket, bytes)?)
    }

    /// Waits for the part that is under way.
    fn wait_for_part(&mut self) -> Result<(), CommandFailure> {
        let upload = self.open.as_mut().expect("parts arrive after an object is begun");
        let shown = self.bucket.shown(&upload.name);
        upload.arrive().map_err(|not_done| not_done.otherwise(taken_over(&shown)))?;
        if let Some(report) = upload.report(&shown, Instant::now()) {
            eprintln!("recrawl: {report}");
        }
        Ok(())
    }
}

impl FileStore for Objects {
    fn address(&self) -> String {
        self.bucket.address().to_string()
    }

    fn shown(&self, name: &str) -> String {
        self.bucket.shown(name)
    }

    fn names(&self) -> Result<Vec<String>, CommandFailure> {
        self.bucket.names()
    }

    fn has(&self, name: &str) -> Result<bool, CommandFailure> {
        self.bucket.has(name)
    }

    fn read_note(&mut self, name: &str) -> Result<Option<Vec<u8>>, CommandFailure> {
        let Some((bytes, version)) = self.bucket.read(name)? else { return Ok(None) };
        self.note = Some(version);
        Ok(Some(bytes.to_vec()))
    }

    fn write_note(&mut self, name: &str, text: &str) -> Result<(), CommandFailure> {
        let version = match self.bucket.replace(name, text, self.note.as_ref()) {
            // A write that was tried again finds its own first try, if only the answer was lost.
            Err(NotDone::Changed) => match self.bucket.read(name)? {
                Some((bytes, version)) if bytes == text.as_bytes() => Ok(version),
                _ => Err(NotDone::Changed),
            },
            done => done,
        };
        let shown = self.bucket.shown(name);
        self.note = Some(version.map_err(|not_done| not_done.otherwise(taken_over(&shown)))?);
        Ok(())
    }

    fn begin(&mut self, name: &str) -> Result<String, CommandFailure> {
        let id = self.bucket.begin(name)?;
        let (name, parts, reported) = (name.to_owned(), Vec::new(), Instant::now());
        self.open = Some(Upload { name, id: id.clone(), parts, bytes: 0, under_way: None, reported });
        Ok(id)
    }

    /// Sends whole parts. The rest makes no part yet, even if it is the last for now.
    fn write(&mut self, ready: &mut Vec<u8>, _is_last: bool) -> Result<(), CommandFailure> {
        while ready.len() >= self.part_bytes {
            let rest = ready.split_off(self.part_bytes);
            self.send(std::mem::replace(ready, rest))?;
        }
        Ok(())
    }

    fn arrive(&mut self, mut last: Vec<u8>) -> Result<u64, CommandFailure> {
        self.write(&mut last, true)?;
        if !last.is_empty() {
            self.send(last)?;
        }
        self.wait_for_part()?;
        Ok(self.open.as_ref().map_or(0, |upload| upload.bytes))
    }

    fn write_companion(&mut self, name: &str, content: Vec<u8>) -> Result<(), CommandFailure> {
        self.bucket.put(name, content)
    }

    /// An object would come over the network.
    fn read_back(&self, _name: &str) -> Result<Option<Box<dyn BufRead>>, CommandFailure> {
        Ok(None)
    }

    /// Empties it, for which no right to delete is needed.
    fn retract(&mut self, name: &str) -> Result<(), CommandFailure> {
        if self.bucket.has(name)? { self.bucket.put(name, Vec::new()) } else { Ok(()) }
    }

    fn complete(&mut self) -> Result<(), CommandFailure> {
        let Upload { name, id, parts, .. } = self.open.take().expect("an object is completed after it is begun");
        let complete = self.bucket.complete(&name, &id, parts);
        complete.map_err(|not_done| not_done.otherwise(taken_over(&self.bucket.shown(&name))))
    }

    fn abort(&mut self, name: &str, upload: &str) -> Result<(), CommandFailure> {
        self.bucket.abort(name, upload)
    }
}

/// The message when another export writes to the same place.
fn taken_over(shown: &str) -> String {
    format!("{shown}: another export writes there; stop one of them, or give each its own --to or --prefix")
}

impl Drop for Objects {
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
    fn a_long_upload_is_reported_now_and_then() {
        let begun = Instant::now();
        let (name, id) = ("a.jsonl".to_owned(), String::new());
        let mut upload = Upload { name, id, parts: Vec::new(), bytes: 40 << 20, under_way: None, reported: begun };
        let mut at = |seconds: u64| upload.report("s3://b/a.jsonl", begun + Duration::from_secs(seconds));
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
