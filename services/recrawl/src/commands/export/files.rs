//! Numbered files of a directory. A file has `.open` behind its name until it is complete.

use crate::CommandFailure;
use page::Timestamp;
use std::fs::File;
use std::path::{Path, PathBuf};

const OPEN: &str = ".open";

/// Names of files or objects: PREFIX-TIME-NUMBER and an ending.
#[derive(Debug)]
pub(super) struct NumberedNames {
    pub(super) prefix: String,
    /// `.warc.gz` …
    pub(super) ending: &'static str,
    /// Number of the next one.
    pub(super) next: u32,
}

impl NumberedNames {
    /// The next name. `first` is the time of the first record.
    pub(super) fn next(&mut self, first: Timestamp) -> String {
        let digits: String = first.to_string().chars().filter(char::is_ascii_digit).collect();
        let name = format!("{}-{digits}-{:05}{}", self.prefix, self.next, self.ending);
        self.next += 1;
        name
    }

    /// Numbering continues behind this name, if it is one of these.
    pub(super) fn pass(&mut self, name: &str) {
        if let Some(number) = self.number_of(name) {
            self.next = self.next.max(number + 1);
        }
    }

    fn number_of(&self, name: &str) -> Option<u32> {
        let name = name.strip_suffix(self.ending)?;
        let (_, number) = name.strip_prefix(&self.prefix)?.strip_prefix('-')?.split_once('-')?;
        number.parse().ok()
    }
}

/// The files of an export in a directory.
pub(super) struct NumberedFiles {
    directory: PathBuf,
    names: NumberedNames,
}

impl NumberedFiles {
    /// Opens a directory, creating it if necessary. Existing files are kept, and numbering continues after them.
    pub(super) fn open(directory: &Path, mut names: NumberedNames) -> Result<Self, CommandFailure> {
        std::fs::create_dir_all(directory).map_err(|error| cannot(directory, &error))?;
        for entry in std::fs::read_dir(directory).map_err(|error| cannot(directory, &error))? {
            let name = entry.map_err(|error| cannot(directory, &error))?.file_name();
            let Some(name) = name.to_str() else { continue };
            let complete = name.strip_suffix(OPEN).unwrap_or(name);
            names.pass(complete);
            if complete != name && names.number_of(complete).is_some() {
                let name = directory.join(name);
                eprintln!(
                    "recrawl: {} is incomplete: delete it, and continue with the cursor of the file before it",
                    name.display()
                );
            }
        }
        Ok(Self { directory: directory.to_owned(), names })
    }

    /// Begins a file whose first record is of this time. Returns it with its name when complete.
    pub(super) fn begin(&mut self, first: Timestamp) -> Result<(File, String), CommandFailure> {
        let name = self.names.next(first);
        let path = self.path_of_open(&name);
        let file = File::options().write(true).create_new(true).open(&path).map_err(|error| cannot(&path, &error))?;
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
}

pub(super) fn cannot(path: &Path, error: &std::io::Error) -> CommandFailure {
    CommandFailure::World(format!("{}: {error}", path.display()))
}
