//! The file in which a stage notes the record it is at after a crash. The system keeps it when the process dies.

use page::{DAY, Timestamp};
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::Path;
use std::time::Duration;
use stream::{CrashNotes, Crashes, RecordMark, StageSpec, StageWork};
use tracing::warn;

/// A slot: number of crashes, or 0 if it is free; when the last process began with the record; the record's mark.
const SLOT_BYTES: usize = 12 + RecordMark::BYTES;
/// Most suspects, which bounds the file. The one whose crash is longest ago makes room.
const MOST_SUSPECTS: usize = 64;
/// How long a suspect is remembered. The next process that starts after that forgets it.
const REMEMBERED_FOR: Duration = Duration::from_secs(30 * DAY.as_secs());
/// Most processes of a stage that share a directory.
const MOST_FILES: u32 = 1_000;

#[derive(Clone, Copy)]
struct Suspect {
    mark: RecordMark,
    crashes: Crashes,
}

impl Suspect {
    fn bytes(self) -> [u8; SLOT_BYTES] {
        let mut bytes = [0; SLOT_BYTES];
        bytes[..4].copy_from_slice(&self.crashes.count.to_le_bytes());
        bytes[4..12].copy_from_slice(&self.crashes.last.as_micros().to_le_bytes());
        bytes[12..].copy_from_slice(&self.mark.0);
        bytes
    }

    /// `None` if the slot is free.
    fn read(slot: &[u8]) -> Option<Self> {
        let (count, rest) = slot.split_first_chunk()?;
        let (last, mark) = rest.split_first_chunk()?;
        let last = Timestamp::from_micros(i64::from_le_bytes(*last));
        let crashes = Crashes { count: u32::from_le_bytes(*count), last };
        (crashes.count > 0).then_some(Self { mark: RecordMark(mark.try_into().ok()?), crashes })
    }
}

/// The notes of one stage of this process, in `STAGE-at-record-N` of its data directory. The first slot has the record that
/// it is at, the others the suspects. The file is emptied by an end in order, unless there are suspects.
pub struct CrashFile {
    /// Locked by the process that uses it.
    file: File,
    are_taken: bool,
    at: Option<Suspect>,
    /// Oldest crash first.
    suspects: Vec<Suspect>,
    has_failed: bool,
}

impl CrashFile {
    /// The notes of a stage: the first file in the directory that no other process uses. `None` for a stage with work in
    /// flight, which notes its requests itself.
    pub fn of(stage: &StageSpec, directory: &Path, now: Timestamp) -> io::Result<Option<Box<dyn CrashNotes>>> {
        match stage.work {
            StageWork::Processors(_) => Ok(Some(Box::new(Self::open(directory, &stage.name, now)?))),
            StageWork::InFlight(..) => Ok(None),
        }
    }

    fn open(directory: &Path, stage: &str, now: Timestamp) -> io::Result<Self> {
        Self::open_in(directory, stage, now).map_err(|error| {
            let place = directory.display();
            let why = format!("crawl.data: cannot note in {place} which record the stage {stage} is at: {error}");
            io::Error::new(error.kind(), why)
        })
    }

    fn open_in(directory: &Path, stage: &str, now: Timestamp) -> io::Result<Self> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        for number in 0..MOST_FILES {
            let path = directory.join(format!("{stage}-at-record-{number}"));
            let file = File::options().read(true).write(true).create(true).truncate(false).open(&path)?;
            match file.try_lock() {
                Ok(()) => return Ok(Self::read(file, &fs::read(path)?, now)),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Err(io::Error::other(format!("{MOST_FILES} processes use it")))
    }

    fn read(file: File, bytes: &[u8], now: Timestamp) -> Self {
        let mut slots = bytes.chunks_exact(SLOT_BYTES).take(1 + MOST_SUSPECTS).map(Suspect::read);
        let at_the_crash = slots.next().flatten();
        let mut suspects: Vec<_> = slots.flatten().collect();
        if let Some(new) = at_the_crash {
            suspects.retain(|suspect| suspect.mark != new.mark);
            suspects.push(new);
            suspects.drain(..suspects.len().saturating_sub(MOST_SUSPECTS));
        }
        suspects.retain(|suspect| now.saturating_since(suspect.crashes.last) <= REMEMBERED_FOR);
        let mut notes = Self { file, are_taken: !bytes.is_empty(), at: None, suspects, has_failed: false };
        let written = notes.write_all();
        notes.check(written);
        notes
    }

    /// Writes all slots. Until it is closed, the file has the first.
    fn write_all(&self) -> io::Result<()> {
        let slots: Vec<u8> =
            [0; SLOT_BYTES].into_iter().chain(self.suspects.iter().flat_map(|suspect| suspect.bytes())).collect();
        self.file.write_all_at(&slots, 0)?;
        self.file.set_len(slots.len() as u64)
    }

    /// A safety net must not stop the crawl that it is for, on a full disk for instance.
    fn check(&mut self, written: io::Result<()>) {
        if let Err(error) = written
            && !std::mem::replace(&mut self.has_failed, true)
        {
            warn!(%error, "cannot note the record that a stage is at; one that ends the process will not be found");
        }
    }
}

impl CrashNotes for CrashFile {
    fn are_taken(&self) -> bool {
        self.are_taken
    }

    fn crashes_at(&self, mark: RecordMark) -> Option<Crashes> {
        self.suspects.iter().find(|suspect| suspect.mark == mark).map(|suspect| suspect.crashes)
    }

    fn begin(&mut self, mark: RecordMark, now: Timestamp) {
        let count = self.crashes_at(mark).map_or(0, |crashes| crashes.count) + 1;
        let at = Suspect { mark, crashes: Crashes { count, last: now } };
        self.at = Some(at);
        let written = self.file.write_all_at(&at.bytes(), 0);
        self.check(written);
    }

    fn end(&mut self) {
        let Some(at) = self.at.take() else { return };
        let before = self.suspects.len();
        self.suspects.retain(|suspect| suspect.mark != at.mark);
        let is_cleared = self.suspects.len() < before;
        let written = if is_cleared { self.write_all() } else { self.file.write_all_at(&[0; SLOT_BYTES], 0) };
        self.check(written);
    }

    fn close(&mut self) {
        if self.suspects.is_empty() {
            let closed = self.file.set_len(0);
            self.check(closed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(1_700_000_000);

    fn mark(number: u8) -> RecordMark {
        RecordMark([number; RecordMark::BYTES])
    }

    fn open(directory: &Path) -> CrashFile {
        CrashFile::open(directory, "detector", NOW).unwrap()
    }

    fn count(notes: &CrashFile, number: u8) -> u32 {
        notes.crashes_at(mark(number)).map_or(0, |crashes| crashes.count)
    }

    #[test]
    fn a_record_counts_the_processes_that_ended_at_it_until_one_is_done_with_it() {
        let directory = tempfile::tempdir().unwrap();
        assert!(!open(directory.path()).are_taken(), "the first process");
        for crashes in 0..3 {
            let mut notes = open(directory.path());
            assert!(notes.are_taken(), "the last one was not closed");
            assert_eq!(count(&notes, 7), crashes);
            notes.begin(mark(6), NOW);
            notes.end();
            notes.begin(mark(7), NOW);
        }
        // Another record ends the next process; the first is remembered.
        let mut notes = open(directory.path());
        assert_eq!(notes.crashes_at(mark(7)), Some(Crashes { count: 3, last: NOW }));
        assert_eq!(count(&notes, 6), 0);
        notes.begin(mark(8), NOW);
        drop(notes);
        let mut notes = open(directory.path());
        assert_eq!((count(&notes, 7), count(&notes, 8)), (3, 1));
        notes.begin(mark(8), NOW);
        notes.end();
        notes.close();
        drop(notes);
        let mut notes = open(directory.path());
        assert!(notes.are_taken(), "an end in order forgets no suspect");
        assert_eq!((count(&notes, 7), count(&notes, 8)), (3, 0));
        notes.begin(mark(7), NOW);
        notes.end();
        notes.close();
        drop(notes);
        assert!(!open(directory.path()).are_taken(), "nothing is left to be suspected");
    }

    #[test]
    fn a_suspect_is_forgotten_after_a_month() {
        let directory = tempfile::tempdir().unwrap();
        open(directory.path()).begin(mark(1), NOW);
        let later = |time| CrashFile::open(directory.path(), "detector", time).unwrap();
        assert_eq!(count(&later(NOW + REMEMBERED_FOR), 1), 1);
        let mut notes = later(NOW + REMEMBERED_FOR + DAY);
        assert_eq!(count(&notes, 1), 0);
        notes.close();
        drop(notes);
        assert!(!open(directory.path()).are_taken());
    }

    #[test]
    fn the_file_is_bounded_and_each_process_has_its_own() {
        let directory = tempfile::tempdir().unwrap();
        for number in 0..100 {
            open(directory.path()).begin(mark(number), NOW);
        }
        let notes = open(directory.path());
        assert_eq!([35, 36, 99].map(|number| count(&notes, number)), [0, 1, 1]);
        let longest = ((1 + MOST_SUSPECTS) * SLOT_BYTES) as u64;
        assert_eq!(fs::metadata(directory.path().join("detector-at-record-0")).unwrap().len(), longest);
        assert!(!open(directory.path()).are_taken(), "a second process beside it");
    }
}
