//! WARC files of limited size.

use super::files::{Finished, NumberedFiles, cannot};
use crate::CommandFailure;
use ::warc::{RecordId, WarcRecord};
use page::Timestamp;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Writes files to a directory, one at a time.
pub(super) struct WarcFiles {
    files: NumberedFiles,
    max_bytes: u64,
    /// Fields of every file's warcinfo record.
    about: Vec<(&'static str, String)>,
    open: Option<OpenFile>,
}

struct OpenFile {
    out: BufWriter<File>,
    name: String,
    info: RecordId,
    bytes: u64,
    records: u64,
}

impl WarcFiles {
    /// Opens a directory, creating it if necessary. Existing files are kept, and numbering continues after them.
    pub(super) fn open(
        directory: &Path,
        prefix: &str,
        max_bytes: u64,
        about: Vec<(&'static str, String)>,
    ) -> Result<Self, CommandFailure> {
        Ok(Self { files: NumberedFiles::open(directory, prefix, ".warc.gz")?, max_bytes, about, open: None })
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
        if open.records > 1 && open.bytes + packed.len() as u64 > self.max_bytes {
            return Ok(false);
        }
        let added = open.add(&packed, records.len());
        added.map_err(|error| cannot(&self.files.path_of_open(&open.name), &error))?;
        Ok(true)
    }

    /// Flushes the buffer to the operating system.
    pub(super) fn flush(&mut self) -> Result<(), CommandFailure> {
        let Some(open) = &mut self.open else { return Ok(()) };
        open.out.flush().map_err(|error| cannot(&self.files.path_of_open(&open.name), &error))
    }

    /// Completes the open file, if any.
    pub(super) fn finish(&mut self) -> Result<Option<Finished>, CommandFailure> {
        self.flush()?;
        let Some(open) = self.open.take() else { return Ok(None) };
        let file = self.files.complete(&open.name, open.out.get_ref())?;
        Ok(Some(Finished { file, bytes: open.bytes, records: open.records }))
    }

    fn begin(&mut self, first: &WarcRecord, now: Timestamp) -> Result<(), CommandFailure> {
        let (file, name) = self.files.begin(first.date())?;
        let about: Vec<_> = self.about.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let info = WarcRecord::warcinfo(&name, now, first.id(), &about);
        let mut open = OpenFile { out: BufWriter::new(file), name, info: info.id(), bytes: 0, records: 0 };
        let added = open.add(&info.pack(), 1);
        added.map_err(|error| cannot(&self.files.path_of_open(&open.name), &error))?;
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
