//! How far an output has come, noted beside what it writes.
//!
//! A job has no disk that outlives it, and neither a directory nor a bucket changes two files at once. So the position
//! behind a file is noted before the file is completed. A later run ends what was left open: if the file exists, it was
//! complete and the position counts; if not, what it had is written again. So each record is in the files once, whenever a
//! run is killed.

use crate::sink::FileStore;
use crate::source::Cursor;
use daemon::CommandFailure;
use serde::{Deserialize, Serialize};

pub struct Progress {
    /// Name of the note.
    name: String,
    is_known: bool,
    content: Content,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Content {
    /// Topic with its prefix: a cursor means nothing elsewhere.
    topic: String,
    /// Position after everything that is complete. Null: nothing is complete.
    cursor: Option<String>,
    /// Number of the next file.
    #[serde(default)]
    next: u32,
    #[serde(default)]
    open: Option<OpenFile>,
    /// The digests of a receiver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    digest: Option<DigestNote>,
}

/// How far the digests of a receiver came. Times are microseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DigestNote {
    /// When the last one was due; at first, when the time of the first one began.
    pub last: i64,
    /// One that is being sent, or was when its run was killed.
    #[serde(default)]
    pub sending: Option<DueDigest>,
}

/// A digest that is due.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DueDigest {
    /// When it was due.
    pub due: i64,
    /// The position up to which it goes.
    pub until: String,
}

/// A file that is being written, or was when its run was killed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct OpenFile {
    file: String,
    /// Id of its upload. Empty in a directory.
    upload: String,
    /// Position after the records of the file. Null until all of it is written.
    cursor: Option<String>,
    /// Name of what goes with it, such as its index. It is there before the file is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    companion: Option<String>,
}

impl Progress {
    /// Reads the note of this name, and ends a file that a run before this one has left open. `elsewhere` is the remedy if
    /// the note is not of this output, such as "give another --to".
    ///
    /// # Errors
    /// The note cannot be read, or belongs to another topic.
    pub fn read(store: &mut dyn FileStore, name: String, topic: &str, elsewhere: &str) -> Result<Self, CommandFailure> {
        let empty = Content { topic: topic.to_owned(), cursor: None, next: 0, open: None, digest: None };
        let Some(bytes) = store.read_note(&name)? else {
            return Ok(Self { name, is_known: false, content: empty });
        };
        let shown = store.shown(&name);
        let wrong = |problem: String| {
            CommandFailure::Input(format!("{shown}: {problem}; {elsewhere}, or delete it to begin again"))
        };
        let content: Content =
            serde_json::from_slice(&bytes).map_err(|error| wrong(format!("it is not a progress file ({error})")))?;
        if content.topic != topic {
            return Err(wrong(format!("it is of topic {}, but this crawl's is {topic}", content.topic)));
        }
        let mut progress = Self { name, is_known: true, content };
        progress.end_what_was_left(store)?;
        if let Some(Err(problem)) = progress.content.cursor.as_deref().map(str::parse::<Cursor>) {
            return Err(wrong(problem));
        }
        Ok(progress)
    }

    /// Whether a run has written here before.
    pub fn is_known(&self) -> bool {
        self.is_known
    }

    /// Where the progress is, for people.
    pub fn shown(&self, store: &dyn FileStore) -> String {
        store.shown(&self.name)
    }

    pub fn next(&self) -> u32 {
        self.content.next
    }

    /// Position after everything that is complete.
    pub fn cursor(&self) -> Option<Cursor> {
        self.content.cursor.as_deref().and_then(|cursor| cursor.parse().ok())
    }

    /// Where a run goes on, for people.
    pub fn continues(&self) -> String {
        match &self.content.cursor {
            Some(cursor) => format!("after cursor {cursor}"),
            None => "from the beginning".to_owned(),
        }
    }

    /// A file has been begun. `next` is the number of the one behind it.
    pub fn begun(
        &mut self,
        store: &mut dyn FileStore,
        file: &str,
        upload: &str,
        next: u32,
    ) -> Result<(), CommandFailure> {
        let open = OpenFile { file: file.to_owned(), upload: upload.to_owned(), cursor: None, companion: None };
        self.write(store, Content { next, open: Some(open), ..self.content.clone() })
    }

    /// The open file has everything before this position, and is to be completed. `companion` is the name of what goes with it.
    pub fn completes(
        &mut self,
        store: &mut dyn FileStore,
        cursor: &Cursor,
        companion: Option<&str>,
    ) -> Result<(), CommandFailure> {
        let (cursor, companion) = (Some(cursor.to_string()), companion.map(str::to_owned));
        let open = self.content.open.clone().map(|open| OpenFile { cursor, companion, ..open });
        self.write(store, Content { open, ..self.content.clone() })
    }

    /// Everything before this position is complete, or is not wanted.
    pub fn reached(&mut self, store: &mut dyn FileStore, cursor: &Cursor) -> Result<(), CommandFailure> {
        let content = Content { cursor: Some(cursor.to_string()), open: None, ..self.content.clone() };
        if content == self.content { Ok(()) } else { self.write(store, content) }
    }

    /// How far the digests of a receiver came, if it has such.
    pub fn digest(&self) -> Option<DigestNote> {
        self.content.digest.clone()
    }

    /// Notes how far digests came, and what they have, if that is more.
    pub fn note_digest(
        &mut self,
        store: &mut dyn FileStore,
        cursor: Option<&Cursor>,
        note: DigestNote,
    ) -> Result<(), CommandFailure> {
        let cursor = cursor.map(Cursor::to_string).or_else(|| self.content.cursor.clone());
        self.write(store, Content { cursor, digest: Some(note), ..self.content.clone() })
    }

    /// A receiver gets no digests any more: one that was being sent is not continued.
    pub fn end_digests(&mut self, store: &mut dyn FileStore) -> Result<(), CommandFailure> {
        if self.content.digest.is_none() {
            return Ok(());
        }
        self.write(store, Content { digest: None, ..self.content.clone() })
    }

    fn end_what_was_left(&mut self, store: &mut dyn FileStore) -> Result<(), CommandFailure> {
        let Some(open) = self.content.open.take() else { return Ok(()) };
        let shown = store.shown(&open.file);
        // After this it is decided: what was aborted does not become complete any more.
        store.abort(&open.file, &open.upload)?;
        match open.cursor {
            Some(cursor) if store.has(&open.file)? => {
                eprintln!("recrawl: {shown} is complete; the export before this one did not come to note it");
                self.content.cursor = Some(cursor);
            }
            _ => {
                if let Some(companion) = open.companion {
                    store.retract(&companion)?;
                }
                eprintln!(
                    "recrawl: {shown} was not completed by the export before this one: what it had is exported again"
                );
            }
        }
        self.write(store, self.content.clone())
    }

    fn write(&mut self, store: &mut dyn FileStore, content: Content) -> Result<(), CommandFailure> {
        store.write_note(&self.name, &serde_json::to_string(&content).expect("texts and numbers are JSON"))?;
        self.content = content;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::Directory;

    const ELSEWHERE: &str = "give another --cursor-file";

    fn read(store: &mut Directory, topic: &str) -> Result<Progress, String> {
        let progress = Progress::read(store, "webhook.cursor".to_owned(), topic, ELSEWHERE);
        progress.map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_cursor_is_read_back_and_belongs_to_one_process_and_one_topic() {
        let directory = tempfile::tempdir().expect("there is room for a test");
        let path = directory.path().join("deep");
        let open = || Directory::open(&path, "webhook.cursor", ELSEWHERE);
        let mut store = open().expect("it can be made");
        let mut progress = read(&mut store, "changes").expect("no progress is noted yet");
        assert_eq!(progress.cursor(), None);
        let taken = open().err().expect("it is in use").to_string();
        assert!(taken.contains("another recrawl writes there"), "{taken}");
        for cursor in ["0.1", "3.1"] {
            progress.reached(&mut store, &cursor.parse().expect("a cursor")).expect("there is room");
        }
        drop(store);
        let mut store = open().expect("it is free again");
        let again = read(&mut store, "changes").expect("it was written");
        assert_eq!(again.cursor().map(|cursor| cursor.to_string()).as_deref(), Some("3.1"));
        let other = read(&mut store, "other.changes").err().expect("it is of another topic");
        assert!(other.contains("it is of topic changes, but this crawl's is other.changes"), "{other}");
        std::fs::write(path.join("webhook.cursor"), "3.1").expect("it can be written");
        let bad = read(&mut store, "changes").err().expect("it is no progress");
        assert!(bad.contains("is not a progress file") && bad.contains(ELSEWHERE), "{bad}");
    }

    #[test]
    fn the_note_of_a_digest_ends_with_digests_and_the_position_stays() {
        let directory = tempfile::tempdir().expect("there is room for a test");
        let mut store = Directory::open(directory.path(), "a.cursor", ELSEWHERE).expect("it can be made");
        let mut progress = read(&mut store, "changes").expect("no progress is noted yet");
        let cursor: Cursor = "7".parse().expect("a cursor");
        let sending = Some(DueDigest { due: 2, until: "9".to_owned() });
        progress.note_digest(&mut store, Some(&cursor), DigestNote { last: 1, sending }).expect("there is room");
        assert!(progress.digest().is_some());
        progress.end_digests(&mut store).expect("there is room");
        let again = read(&mut store, "changes").expect("it was written");
        assert_eq!((again.digest(), again.cursor()), (None, Some(cursor)));
    }

    #[test]
    fn a_file_that_was_left_open_is_written_again_and_one_that_is_there_is_not() {
        let directory = tempfile::tempdir().expect("there is room for a test");
        let cursor: Cursor = "7".parse().expect("a cursor");
        for (is_completed, expected) in [(false, None), (true, Some(cursor.clone()))] {
            let path = directory.path().join(is_completed.to_string());
            let mut store = Directory::open(&path, "webhook.cursor", ELSEWHERE).expect("it can be made");
            let mut progress = read(&mut store, "changes").expect("no progress is noted yet");
            let upload = store.begin("a.jsonl").expect("there is room");
            // A run that is killed here leaves no file without a note.
            drop(store);
            assert!(!path.join("a.jsonl.open").exists());
            let mut store = Directory::open(&path, "webhook.cursor", ELSEWHERE).expect("it is free again");
            assert_eq!(store.begin("a.jsonl").expect("it is begun again"), upload);
            progress.begun(&mut store, "a.jsonl", &upload, 1).expect("there is room");
            store.write(&mut b"{}\n".to_vec(), true).expect("there is room");
            progress.completes(&mut store, &cursor, Some("a.cdxj")).expect("there is room");
            store.write_companion("a.cdxj", b"index".to_vec()).expect("there is room");
            if is_completed {
                store.complete().expect("there is room");
            }
            // It is killed here.
            drop(store);
            let mut store = Directory::open(&path, "webhook.cursor", ELSEWHERE).expect("it is free again");
            let progress = read(&mut store, "changes").expect("it was written");
            assert_eq!((progress.cursor(), progress.next()), (expected, 1));
            assert_eq!(store.has("a.jsonl").expect("it can be read"), is_completed);
            assert_eq!(path.join("a.cdxj").exists(), is_completed, "an index has its file");
            assert!(!path.join("a.jsonl.open").exists(), "what was left is deleted");
        }
    }
}
