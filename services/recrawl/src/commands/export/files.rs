//! WARC files of limited size. A file is named `….open` until it is complete.

use crate::CommandFailure;
use ::warc::{RecordId, WarcRecord};
use page::Timestamp;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

const COMPLETE: &str = ".warc.gz";
const OPEN: &str = ".warc.gz.open";

/// Writes files to a directory, one at a time.
pub(super) struct WarcFiles {
    directory: PathBuf,
    prefix: String,
    max_bytes: u64,
    /// Fields of every file's warcinfo record.
    about: Vec<(&'static str, String)>,
    /// Number of the next file.
    serial: u32,
    open: Option<OpenFile>,
}

struct OpenFile {
    out: BufWriter<File>,
    /// File name without the ending.
    name: String,
    info: RecordId,
    bytes: u64,
    records: u64,
}

/// A completed file.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) file: PathBuf,
    pub(super) bytes: u64,
    pub(super) records: u64,
}

impl WarcFiles {
    /// Opens a directory, creating it if necessary. Existing files are kept, and numbering continues after them.
    pub(super) fn open(
        directory: &Path,
        prefix: &str,
        max_bytes: u64,
        about: Vec<(&'static str, String)>,
    ) -> Result<Self, CommandFailure> {
        std::fs::create_dir_all(directory).map_err(|error| cannot(directory, &error))?;
        let mut serial = 0;
        for entry in std::fs::read_dir(directory).map_err(|error| cannot(directory, &error))? {
            let name = entry.map_err(|error| cannot(directory, &error))?.file_name();
            let Some(number) = name.to_str().and_then(|name| number_of(name, prefix)) else { continue };
            serial = serial.max(number + 1);
            if name.to_string_lossy().ends_with(OPEN) {
                let name = directory.join(name);
                eprintln!(
                    "recrawl: {} is incomplete: delete it, and continue with the cursor of the file before it",
                    name.display()
                );
            }
        }
        let prefix = prefix.to_owned();
        Ok(Self { directory: directory.to_owned(), prefix, max_bytes, about, serial, open: None })
    }

    /// Adds records that belong together to the open file, or to a new file if none is open. Returns `false` if the
    /// open file has no room: the caller must complete it first.
    pub(super) fn write(&mut self, records: &[WarcRecord], now: Timestamp) -> Result<bool, CommandFailure> {
        let Some(first) = records.first() else { return Ok(true) };
        if self.open.is_none() {
            self.begin(first, now)?;
        }
        let path = self.path(OPEN);
        let open = self.open.as_mut().expect("begun above");
        let packed: Vec<u8> =
            records.iter().flat_map(|record| record.clone().with("WARC-Warcinfo-ID", open.info).pack()).collect();
        // The first record is the warcinfo.
        if open.records > 1 && open.bytes + packed.len() as u64 > self.max_bytes {
            return Ok(false);
        }
        open.add(&packed, records.len()).map_err(|error| cannot(&path, &error))?;
        Ok(true)
    }

    /// Flushes the buffer to the operating system.
    pub(super) fn flush(&mut self) -> Result<(), CommandFailure> {
        let path = self.path(OPEN);
        self.open.as_mut().map_or(Ok(()), |open| open.out.flush()).map_err(|error| cannot(&path, &error))
    }

    /// Completes the open file, if any. The file is synced before it is renamed.
    pub(super) fn finish(&mut self) -> Result<Option<Finished>, CommandFailure> {
        let (from, to) = (self.path(OPEN), self.path(COMPLETE));
        let Some(mut open) = self.open.take() else { return Ok(None) };
        let on_disk = open.out.flush().and_then(|()| open.out.get_ref().sync_all());
        let complete = on_disk.and_then(|()| std::fs::rename(&from, &to));
        complete.and_then(|()| File::open(&self.directory)?.sync_all()).map_err(|error| cannot(&from, &error))?;
        Ok(Some(Finished { file: to, bytes: open.bytes, records: open.records }))
    }

    fn begin(&mut self, first: &WarcRecord, now: Timestamp) -> Result<(), CommandFailure> {
        let digits: String = first.date().to_string().chars().filter(char::is_ascii_digit).collect();
        let name = format!("{}-{digits}-{:05}", self.prefix, self.serial);
        let about: Vec<_> = self.about.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let info = WarcRecord::warcinfo(&format!("{name}{COMPLETE}"), now, first.id(), &about);
        let path = self.directory.join(format!("{name}{OPEN}"));
        let file = File::options().write(true).create_new(true).open(&path);
        let out = BufWriter::new(file.map_err(|error| cannot(&path, &error))?);
        let mut open = OpenFile { out, name, info: info.id(), bytes: 0, records: 0 };
        open.add(&info.pack(), 1).map_err(|error| cannot(&path, &error))?;
        self.serial += 1;
        self.open = Some(open);
        Ok(())
    }

    /// Path of the open file with this ending.
    fn path(&self, ending: &str) -> PathBuf {
        let name = self.open.as_ref().map_or("", |open| open.name.as_str());
        self.directory.join(format!("{name}{ending}"))
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

/// The number in the name of a file with this prefix.
fn number_of(name: &str, prefix: &str) -> Option<u32> {
    let name = name.strip_suffix(COMPLETE).or_else(|| name.strip_suffix(OPEN))?;
    let (_, number) = name.strip_prefix(prefix)?.strip_prefix('-')?.split_once('-')?;
    number.parse().ok()
}

fn cannot(path: &Path, error: &std::io::Error) -> CommandFailure {
    CommandFailure::World(format!("{}: {error}", path.display()))
}
