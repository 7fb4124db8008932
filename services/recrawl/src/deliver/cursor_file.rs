//! How far changes were delivered, in a file that survives kills and power cuts.

use crate::CommandFailure;
use crate::cursor::Cursor;
use serde::{Deserialize, Serialize};
use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The cursor of a receiver. While it exists, no other process uses the same file.
pub(super) struct CursorFile {
    path: PathBuf,
    topic: String,
    cursor: Option<Cursor>,
    lock: File,
}

#[derive(Debug, Serialize, Deserialize)]
struct Content {
    /// Topic with its prefix: a cursor means nothing elsewhere.
    topic: String,
    cursor: String,
}

impl CursorFile {
    /// Opens the file of a receiver of this topic. It need not exist yet.
    pub(super) fn open(path: &Path, topic: String) -> Result<Self, CommandFailure> {
        let shown = path.display();
        let world = |error: std::io::Error| CommandFailure::World(format!("cursor file {shown}: {error}"));
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory).map_err(world)?;
        }
        // The file itself is replaced with each change, so the lock is on one beside it.
        let lock = File::options().create(true).append(true).open(beside(path, "lock")).map_err(world)?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => CommandFailure::Input(format!(
                "cursor file {shown}: another recrawl delivers with it; stop that one, or give this one its own --cursor-file"
            )),
            TryLockError::Error(error) => world(error),
        })?;
        let cursor = match std::fs::read_to_string(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(world(error)),
            Ok(text) => Some(read(&text, &topic).map_err(|problem| {
                CommandFailure::Input(format!("cursor file {shown}: {problem}; delete it to begin again"))
            })?),
        };
        Ok(Self { path: path.to_owned(), topic, cursor, lock })
    }

    /// The position after the last change that is done.
    pub(super) fn cursor(&self) -> Option<&Cursor> {
        self.cursor.as_ref()
    }

    pub(super) fn name(&self) -> std::path::Display<'_> {
        self.path.display()
    }

    /// Notes that everything before this position is done. Either the old or the new position is in the file, whatever
    /// happens meanwhile.
    pub(super) fn write(&mut self, cursor: Cursor) -> Result<(), CommandFailure> {
        let content = Content { topic: self.topic.clone(), cursor: cursor.to_string() };
        let text = serde_json::to_string(&content).expect("two texts are JSON");
        self.replace(&text).map_err(|error| {
            CommandFailure::World(format!(
                "cursor file {}: {error}; the last change will be delivered again",
                self.name()
            ))
        })?;
        self.cursor = Some(cursor);
        Ok(())
    }

    fn replace(&self, text: &str) -> std::io::Result<()> {
        let new = beside(&self.path, "new");
        let mut file = File::create(&new)?;
        writeln!(file, "{text}")?;
        file.sync_data()?;
        std::fs::rename(&new, &self.path)
    }
}

impl Drop for CursorFile {
    fn drop(&mut self) {
        // Not left to the end of the file: a process that is just being forked may have it open, too.
        let _ = self.lock.unlock();
    }
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    PathBuf::from(name)
}

fn read(text: &str, topic: &str) -> Result<Cursor, String> {
    let content: Content = serde_json::from_str(text).map_err(|error| format!("it is not a cursor file ({error})"))?;
    if content.topic != topic {
        return Err(format!("it is of topic {}, but this crawl's is {topic}", content.topic));
    }
    content.cursor.parse()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(opened: Result<CursorFile, CommandFailure>) -> String {
        match opened {
            Err(failure) => failure.to_string(),
            Ok(_) => panic!("it was opened"),
        }
    }

    #[test]
    fn a_cursor_is_read_back_and_belongs_to_one_process_and_one_topic() {
        let directory = tempfile::tempdir().expect("there is room for a test");
        let path = directory.path().join("deep/webhook.cursor");
        let mut file = CursorFile::open(&path, "changes".to_owned()).expect("it can be made");
        assert_eq!(file.cursor(), None);
        assert!(problem(CursorFile::open(&path, "changes".to_owned())).contains("another recrawl delivers with it"));
        for cursor in ["0.1", "3.1"] {
            file.write(cursor.parse().expect("a cursor")).expect("there is room");
        }
        drop(file);
        let again = CursorFile::open(&path, "changes".to_owned()).expect("it is free again");
        assert_eq!(again.cursor().map(ToString::to_string).as_deref(), Some("3.1"));
        drop(again);
        let other = problem(CursorFile::open(&path, "other.changes".to_owned()));
        assert!(other.contains("it is of topic changes, but this crawl's is other.changes"), "{other}");
        std::fs::write(&path, "3.1").expect("it can be written");
        assert!(problem(CursorFile::open(&path, "changes".to_owned())).contains("is not a cursor file"));
    }
}
