//! The forms in which records are written.

pub mod feed;
pub mod lines;
pub mod mail;
pub mod parquet;
pub mod template;
pub mod wacz;
pub mod warc;

use crate::source::TopicRecord;
use daemon::CommandFailure;
use std::io::BufRead;

/// Encodes records into files, one file at a time.
pub trait FileEncoder {
    /// A record of the topic.
    type Message;
    /// A record in the form of the file.
    type Entry;
    /// A file that is being written.
    type File;

    /// The end of the names of files, such as `.jsonl`.
    const ENDING: &'static str;

    /// The end of the name of what goes with each file, such as its index. It takes the place of the file's own.
    const COMPANION: Option<&'static str> = None;

    /// Makes what goes with a file that was written before.
    ///
    /// # Errors
    /// The file cannot be read to its end.
    fn companion_of(_name: &str, _file: &mut dyn BufRead) -> std::io::Result<Vec<u8>> {
        Ok(Vec::new())
    }

    /// Encodes a record. `None`: there is nothing to write of it.
    fn encode(&mut self, record: TopicRecord<Self::Message>) -> Option<Self::Entry>;

    /// Notes a record that is not wanted.
    fn skip(&mut self, _record: &TopicRecord<Self::Message>) {}

    fn begin(&mut self, name: &str, first: &Self::Entry) -> Result<Self::File, CommandFailure>;

    /// Adds an entry, or gives it back if the file would get longer than `max_bytes`. A file takes its first entry always.
    fn add(
        &mut self,
        file: &mut Self::File,
        entry: Self::Entry,
        max_bytes: u64,
    ) -> Result<Option<Self::Entry>, CommandFailure>;

    /// The bytes that are ready to be written. The writer removes them.
    fn ready<'file>(&self, file: &'file mut Self::File) -> &'file mut Vec<u8>;

    /// Ends a file.
    fn finish(&mut self, file: Self::File) -> Result<EndOfFile, CommandFailure>;

    /// Describes the content of complete files, such as "12 changes". `noun` is the word for its records.
    fn summary(&self, records: u64, noun: &str) -> String {
        format!("{records} {noun}")
    }
}

/// The end of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct EndOfFile {
    /// Its last bytes.
    pub last: Vec<u8>,
    /// How many records it has.
    pub records: u64,
    /// Its companion, if there is a [`FileEncoder::COMPANION`].
    pub companion: Option<Vec<u8>>,
}
