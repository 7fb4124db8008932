//! How far an export to object storage has come, in an object beside those that it writes.
//!
//! A job has no disk that outlives it, and storage cannot change two objects at once. So the progress is written before
//! an object is completed, with the id of its upload. A later export aborts that upload; if the object exists, it was complete.

use crate::CommandFailure;
use crate::cursor::Cursor;
use crate::object_storage::{Bucket, NotDone, Version};
use serde::{Deserialize, Serialize};

/// The progress of one export, and the version under which it was last seen.
pub(super) struct ExportProgress {
    /// Name of the object.
    name: String,
    version: Option<Version>,
    content: Content,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Content {
    /// Topic with its prefix: a cursor means nothing elsewhere.
    topic: String,
    /// Position after everything that is in complete objects. Null: nothing is complete.
    cursor: Option<String>,
    /// Number of the next object.
    next: u32,
    open: Option<OpenUpload>,
}

/// An upload that is under way, or was when its export was killed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct OpenUpload {
    object: String,
    upload: String,
    /// Position after what the object has. Null until all of it is sent.
    cursor: Option<String>,
}

impl ExportProgress {
    /// Reads the progress, and ends an upload that an export before this one has left.
    pub(super) fn read(bucket: &Bucket, name: String, topic: &str) -> Result<Self, CommandFailure> {
        let empty = Content { topic: topic.to_owned(), cursor: None, next: 0, open: None };
        let Some((bytes, version)) = bucket.read(&name)? else {
            return Ok(Self { name, version: None, content: empty });
        };
        let wrong = |problem: String| {
            CommandFailure::Input(format!(
                "{}: {problem}; give another --to or --prefix, or delete it to export everything again",
                bucket.shown(&name)
            ))
        };
        let content: Content = serde_json::from_slice(&bytes)
            .map_err(|error| wrong(format!("it is not the progress of an export ({error})")))?;
        if content.topic != topic {
            return Err(wrong(format!("it is of topic {}, but this crawl's is {topic}", content.topic)));
        }
        let mut progress = Self { name, version: Some(version), content };
        progress.end_what_was_left(bucket)?;
        if let Some(Err(problem)) = progress.content.cursor.as_deref().map(str::parse::<Cursor>) {
            return Err(CommandFailure::Input(format!("{}: {problem}", bucket.shown(&progress.name))));
        }
        Ok(progress)
    }

    /// Whether an export has written here before.
    pub(super) fn is_known(&self) -> bool {
        self.version.is_some()
    }

    /// Where the progress is, for people.
    pub(super) fn shown(&self, bucket: &Bucket) -> String {
        bucket.shown(&self.name)
    }

    /// Number of the next object.
    pub(super) fn next(&self) -> u32 {
        self.content.next
    }

    /// Position after everything that is in complete objects.
    pub(super) fn cursor(&self) -> Option<Cursor> {
        self.content.cursor.as_deref().and_then(|cursor| cursor.parse().ok())
    }

    /// An upload has begun. `next` is the number of the object behind it.
    pub(super) fn begun(
        &mut self,
        bucket: &Bucket,
        object: &str,
        upload: &str,
        next: u32,
    ) -> Result<(), CommandFailure> {
        let open = OpenUpload { object: object.to_owned(), upload: upload.to_owned(), cursor: None };
        self.write(bucket, Content { next, open: Some(open), ..self.content.clone() })
    }

    /// The open upload has everything before this position, and is to be completed.
    pub(super) fn completes(&mut self, bucket: &Bucket, cursor: &Cursor) -> Result<(), CommandFailure> {
        let open = self.content.open.clone();
        let open = open.map(|open| OpenUpload { cursor: Some(cursor.to_string()), ..open });
        self.write(bucket, Content { open, ..self.content.clone() })
    }

    /// Everything before this position is in complete objects, or is not wanted.
    pub(super) fn reached(&mut self, bucket: &Bucket, cursor: &Cursor) -> Result<(), CommandFailure> {
        let content = Content { cursor: Some(cursor.to_string()), open: None, ..self.content.clone() };
        if content == self.content { Ok(()) } else { self.write(bucket, content) }
    }

    fn end_what_was_left(&mut self, bucket: &Bucket) -> Result<(), CommandFailure> {
        let Some(open) = self.content.open.take() else { return Ok(()) };
        let shown = bucket.shown(&open.object);
        // After this it is decided: an upload that was aborted does not become an object any more.
        bucket.abort(&open.object, &open.upload)?;
        match open.cursor {
            Some(cursor) if bucket.has(&open.object)? => {
                eprintln!("recrawl: {shown} is complete; the export before this one did not come to note it");
                self.content.cursor = Some(cursor);
            }
            _ => eprintln!(
                "recrawl: {shown} was not completed by the export before this one: what it had is exported again"
            ),
        }
        self.write(bucket, self.content.clone())
    }

    fn write(&mut self, bucket: &Bucket, content: Content) -> Result<(), CommandFailure> {
        let text = serde_json::to_string(&content).expect("texts and numbers are JSON");
        let version = match bucket.replace(&self.name, &text, self.version.as_ref()) {
            // A write that was tried again finds its own first try, if only the answer was lost.
            Err(NotDone::Changed) => match bucket.read(&self.name)? {
                Some((bytes, version)) if bytes == text.as_bytes() => Ok(version),
                _ => Err(NotDone::Changed),
            },
            done => done,
        };
        let shown = self.shown(bucket);
        self.version = Some(version.map_err(|not_done| not_done.otherwise(taken_over(&shown)))?);
        self.content = content;
        Ok(())
    }
}

/// The message when another export writes to the same place.
pub(super) fn taken_over(shown: &str) -> String {
    format!("{shown}: another export writes there; stop one of them, or give each its own --to or --prefix")
}
