//! Files of a directory. A file has `.open` behind its name until it is complete.

use super::FileStore;
use daemon::CommandFailure;
use std::fs::{File, TryLockError};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The end of the name of a file that is not complete.
pub(super) const OPEN: &str = ".open";
/// The end of the name of a note or a companion while it is written.
const NEW: &str = ".new";
/// Bytes that are worth a write.
const WRITE_BYTES: usize = 64 << 10;

/// A directory, for one process at a time.
pub struct Directory {
    path: PathBuf,
    /// Held as long as the directory is used.
    lock: File,
    /// Mode of notes before the umask.
    mode: u32,
    open: Option<OpenFile>,
}

struct OpenFile {
    name: String,
    /// Created with the first bytes, which is after the progress has its name: a run that is killed leaves no unknown file.
    file: Option<File>,
    bytes: u64,
}

impl Directory {
    /// Opens a directory, creating it if necessary. `lock` names the file that one process may write: its lock lies
    /// beside it. `elsewhere` is the remedy if another process has it.
    ///
    /// # Errors
    /// The directory cannot be made or read, or another process has the lock.
    pub fn open(path: &Path, lock: &str, elsewhere: &str) -> Result<Self, CommandFailure> {
        Self::open_as(path, lock, elsewhere, 0o666)
    }

    /// The same, with notes that are for this user alone, as the files of a crawl are.
    ///
    /// # Errors
    /// Those of [`Directory::open`].
    pub fn open_private(path: &Path, lock: &str, elsewhere: &str) -> Result<Self, CommandFailure> {
        Self::open_as(path, lock, elsewhere, 0o600)
    }

    fn open_as(path: &Path, lock: &str, elsewhere: &str, mode: u32) -> Result<Self, CommandFailure> {
        std::fs::create_dir_all(path).map_err(|error| cannot(path, &error))?;
        // The file is replaced with each write, so the lock is on another file beside it.
        let beside = path.join(format!("{lock}.lock"));
        let lock_file = File::options().create(true).append(true).mode(mode).open(&beside);
        let lock_file = lock_file.map_err(|error| cannot(&beside, &error))?;
        lock_file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => CommandFailure::Input(format!(
                "{}: another recrawl writes there; stop that one, or {elsewhere}",
                path.join(lock).display()
            )),
            TryLockError::Error(error) => cannot(&beside, &error),
        })?;
        Ok(Self { path: path.to_owned(), lock: lock_file, mode, open: None })
    }

    /// Writes a file as a whole: whatever happens, either the old or the new content is there.
    fn write_whole(&self, name: &str, content: &[u8]) -> Result<(), CommandFailure> {
        let (path, new) = (self.path.join(name), self.path.join(format!("{name}{NEW}")));
        let write = || {
            let mut file = File::options().create(true).write(true).truncate(true).mode(self.mode).open(&new)?;
            file.write_all(content)?;
            file.sync_data()?;
            std::fs::rename(&new, &path)
        };
        write().map_err(|error| cannot(&path, &error))
    }

    /// Deletes a file, if it is there.
    fn delete(&self, name: &str) -> Result<(), CommandFailure> {
        let path = self.path.join(name);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(cannot(&path, &error)),
            _ => Ok(()),
        }
    }

    fn path_of_open(&self, name: &str) -> PathBuf {
        self.path.join(format!("{name}{OPEN}"))
    }
}

impl FileStore for Directory {
    fn address(&self) -> String {
        self.path.display().to_string()
    }

    fn shown(&self, name: &str) -> String {
        self.path.join(name).display().to_string()
    }

    fn names(&self) -> Result<Vec<String>, CommandFailure> {
        let entries = std::fs::read_dir(&self.path).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
        let entries = entries.map_err(|error| cannot(&self.path, &error))?;
        Ok(entries.iter().filter_map(|entry| entry.file_name().into_string().ok()).collect())
    }

    fn has(&self, name: &str) -> Result<bool, CommandFailure> {
        let path = self.path.join(name);
        path.try_exists().map_err(|error| cannot(&path, &error))
    }

    fn read_note(&mut self, name: &str) -> Result<Option<Vec<u8>>, CommandFailure> {
        let path = self.path.join(name);
        match std::fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(cannot(&path, &error)),
        }
    }

    fn write_note(&mut self, name: &str, text: &str) -> Result<(), CommandFailure> {
        self.write_whole(name, format!("{text}\n").as_bytes())
    }

    fn begin(&mut self, name: &str) -> Result<String, CommandFailure> {
        self.open = Some(OpenFile { name: name.to_owned(), file: None, bytes: 0 });
        Ok(String::new())
    }

    fn write(&mut self, ready: &mut Vec<u8>, is_last: bool) -> Result<(), CommandFailure> {
        if ready.is_empty() || (ready.len() < WRITE_BYTES && !is_last) {
            return Ok(());
        }
        let OpenFile { name, file, bytes } = self.open.as_mut().expect("a file is written after it is begun");
        let path = self.path.join(format!("{name}{OPEN}"));
        let file = match file {
            Some(file) => file,
            None => {
                let created = File::options().write(true).create_new(true).open(&path);
                file.insert(created.map_err(|error| cannot(&path, &error))?)
            }
        };
        file.write_all(ready).map_err(|error| cannot(&path, &error))?;
        *bytes += ready.len() as u64;
        ready.clear();
        Ok(())
    }

    fn arrive(&mut self, mut last: Vec<u8>) -> Result<u64, CommandFailure> {
        self.write(&mut last, true)?;
        let OpenFile { name, file, bytes } = self.open.as_ref().expect("a file is synced after it is begun");
        let synced = file.as_ref().map_or(Ok(()), File::sync_all);
        synced.map_err(|error| cannot(&self.path_of_open(name), &error))?;
        Ok(*bytes)
    }

    fn write_companion(&mut self, name: &str, content: Vec<u8>) -> Result<(), CommandFailure> {
        self.write_whole(name, &content)
    }

    fn read_back(&self, name: &str) -> Result<Option<Box<dyn BufRead>>, CommandFailure> {
        let path = self.path.join(name);
        let file = File::open(&path).map_err(|error| cannot(&path, &error))?;
        Ok(Some(Box::new(BufReader::new(file))))
    }

    fn retract(&mut self, name: &str) -> Result<(), CommandFailure> {
        self.delete(&format!("{name}{NEW}"))?;
        self.delete(name)
    }

    fn complete(&mut self) -> Result<(), CommandFailure> {
        let OpenFile { name, .. } = self.open.take().expect("a file is completed after it is begun");
        let (from, to) = (self.path_of_open(&name), self.path.join(name));
        let complete = std::fs::rename(&from, &to).and_then(|()| File::open(&self.path)?.sync_all());
        complete.map_err(|error| cannot(&from, &error))
    }

    fn abort(&mut self, name: &str, _upload: &str) -> Result<(), CommandFailure> {
        self.delete(&format!("{name}{OPEN}"))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // Not left to the end of the file: a process that is just being forked may have it open, too.
        let _ = self.lock.unlock();
    }
}

fn cannot(path: &Path, error: &std::io::Error) -> CommandFailure {
    CommandFailure::World(format!("{}: {error}", path.display()))
}
