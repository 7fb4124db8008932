//! Numbered files of a directory. A file has `.open` behind its name until it is complete.

use crate::CommandFailure;
use page::Timestamp;
use std::fs::File;
use std::path::{Path, PathBuf};

const OPEN: &str = ".open";

/// Names the files of an export: PREFIX-TIME-NUMBER and an ending.
pub(super) struct NumberedFiles {
    directory: PathBuf,
    prefix: String,
    /// `.warc.gz` …
    ending: &'static str,
    /// Number of the next file.
    serial: u32,
}

/// A completed file.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) file: PathBuf,
    pub(super) bytes: u64,
    pub(super) records: u64,
}

impl NumberedFiles {
    /// Opens a directory, creating it if necessary. Existing files are kept, and numbering continues after them.
    pub(super) fn open(directory: &Path, prefix: &str, ending: &'static str) -> Result<Self, CommandFailure> {
        std::fs::create_dir_all(directory).map_err(|error| cannot(directory, &error))?;
        let mut files = Self { directory: directory.to_owned(), prefix: prefix.to_owned(), ending, serial: 0 };
        for entry in std::fs::read_dir(directory).map_err(|error| cannot(directory, &error))? {
            let name = entry.map_err(|error| cannot(directory, &error))?.file_name();
            let Some(number) = name.to_str().and_then(|name| files.number_of(name)) else { continue };
            files.serial = files.serial.max(number + 1);
            if name.to_string_lossy().ends_with(OPEN) {
                let name = directory.join(name);
                eprintln!(
                    "recrawl: {} is incomplete: delete it, and continue with the cursor of the file before it",
                    name.display()
                );
            }
        }
        Ok(files)
    }

    /// Begins a file whose first record is of this time. Returns it with its name when complete.
    pub(super) fn begin(&mut self, first: Timestamp) -> Result<(File, String), CommandFailure> {
        let digits: String = first.to_string().chars().filter(char::is_ascii_digit).collect();
        let name = format!("{}-{digits}-{:05}{}", self.prefix, self.serial, self.ending);
        let path = self.path_of_open(&name);
        let file = File::options().write(true).create_new(true).open(&path).map_err(|error| cannot(&path, &error))?;
        self.serial += 1;
        Ok((file, name))
    }

    /// Completes a file. It is synced before it gets its name.
    pub(super) fn complete(&self, name: &str, file: &File) -> Result<PathBuf, CommandFailure> {
        let (from, to) = (self.path_of_open(name), self.directory.join(name));
        let complete = file.sync_all().and_then(|()| std::fs::rename(&from, &to));
        complete.and_then(|()| File::open(&self.directory)?.sync_all()).map_err(|error| cannot(&from, &error))?;
        Ok(to)
    }

    /// Where a file is that is not complete.
    pub(super) fn path_of_open(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}{OPEN}"))
    }

    /// The number in the name of a file of this export.
    fn number_of(&self, name: &str) -> Option<u32> {
        let name = name.strip_suffix(OPEN).unwrap_or(name).strip_suffix(self.ending)?;
        let (_, number) = name.strip_prefix(&self.prefix)?.strip_prefix('-')?.split_once('-')?;
        number.parse().ok()
    }
}

pub(super) fn cannot(path: &Path, error: &std::io::Error) -> CommandFailure {
    CommandFailure::World(format!("{}: {error}", path.display()))
}
