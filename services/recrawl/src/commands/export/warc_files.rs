//! WARC files of limited size.

use super::Limits;
use super::destination::{Destination, Finished, Output};
use crate::CommandFailure;
use crate::cursor::Cursor;
use ::warc::{RecordId, WarcRecord};
use page::Timestamp;
use std::io::{BufWriter, Write};
use std::time::Instant;

pub(super) const ENDING: &str = ".warc.gz";

/// Writes files, one at a time.
pub(super) struct WarcFiles<'a> {
    files: Destination,
    limits: &'a Limits,
    /// Fields of every file's warcinfo record.
    about: Vec<(&'static str, String)>,
    open: Option<OpenFile>,
}

struct OpenFile {
    out: BufWriter<Output>,
    name: String,
    begun: Instant,
    info: RecordId,
    bytes: u64,
    records: u64,
}

impl<'a> WarcFiles<'a> {
    pub(super) fn new(files: Destination, limits: &'a Limits, about: Vec<(&'static str, String)>) -> Self {
        Self { files, limits, about, open: None }
    }

    /// Whether the open file must be completed, because it was begun so long ago.
    pub(super) fn is_over(&self) -> bool {
        self.open.as_ref().is_some_and(|open| self.limits.is_over(open.begun))
    }

    /// Adds records that belong together to the open file, or to a new file if none is open. Returns `false` if the
    /// open file has no room: the caller must complete it first.
    pub(super) fn write(&mut self, records: &[WarcRecord], now: Timestamp) -> Result<bool, CommandFailure> {
        let Some(first) = records.first() else { return Ok(true) };
        if self.open.is_none() {
            self.begin(first, now)?;
        }
        let open = self.open.as_mut().expect("begun above");
        let packed: Vec<u8> =
            records.iter().flat_map(|record| record.clone().with("WARC-Warcinfo-ID", open.info).pack()).collect();
        // The first record is the warcinfo.
        if open.records > 1 && open.bytes + packed.len() as u64 > self.limits.max_file_bytes {
            return Ok(false);
        }
        let added = open.add(&packed, records.len());
        added.map_err(|error| self.files.cannot(&open.name, &error))?;
        self.files.send_parts(open.out.get_mut())?;
        Ok(true)
    }

    /// Flushes the buffer to the operating system.
    pub(super) fn flush(&mut self) -> Result<(), CommandFailure> {
        let Some(open) = &mut self.open else { return Ok(()) };
        open.out.flush().map_err(|error| self.files.cannot(&open.name, &error))
    }

    /// Completes the open file, if any. Everything before this position is then in complete files, or not wanted.
    pub(super) fn finish(&mut self, cursor: &Cursor) -> Result<Option<Finished>, CommandFailure> {
        self.flush()?;
        let Some(OpenFile { out, name, records, .. }) = self.open.take() else {
            return self.files.pass(cursor).map(|()| None);
        };
        let out = out.into_inner().map_err(|error| self.files.cannot(&name, error.error()))?;
        self.files.complete(&name, out, records, cursor).map(Some)
    }

    fn begin(&mut self, first: &WarcRecord, now: Timestamp) -> Result<(), CommandFailure> {
        let (file, name) = self.files.begin(first.date())?;
        let about: Vec<_> = self.about.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let info = WarcRecord::warcinfo(&name, now, first.id(), &about);
        let out = BufWriter::new(file);
        let mut open = OpenFile { out, name, begun: Instant::now(), info: info.id(), bytes: 0, records: 0 };
        let added = open.add(&info.pack(), 1);
        added.map_err(|error| self.files.cannot(&open.name, &error))?;
        self.open = Some(open);
        Ok(())
    }
}

impl OpenFile {
    fn add(&mut self, packed: &[u8], records: usize) -> std::io::Result<()> {
        self.out.write_all(packed)?;
        self.bytes += packed.len() as u64;
        self.records += records as u64;
        Ok(())
    }
}
