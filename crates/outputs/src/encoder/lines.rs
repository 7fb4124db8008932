//! Lines of JSON.

use super::{EndOfFile, FileEncoder};
use crate::source::TopicRecord;
use daemon::CommandFailure;
use std::marker::PhantomData;

/// Makes a line of each record.
pub struct JsonLines<M, F> {
    line: F,
    message: PhantomData<M>,
}

impl<M, F: FnMut(TopicRecord<M>) -> String> JsonLines<M, F> {
    /// `line` makes the line of a record, without its end.
    pub fn new(line: F) -> Self {
        Self { line, message: PhantomData }
    }
}

/// Lines that are not written yet.
#[derive(Default)]
pub struct LinesFile {
    ready: Vec<u8>,
    bytes: u64,
    lines: u64,
}

impl<M, F: FnMut(TopicRecord<M>) -> String> FileEncoder for JsonLines<M, F> {
    type Message = M;
    type Entry = String;
    type File = LinesFile;

    const ENDING: &'static str = ".jsonl";

    fn encode(&mut self, record: TopicRecord<M>) -> Option<String> {
        Some((self.line)(record) + "\n")
    }

    fn begin(&mut self, _name: &str, _first: &String) -> Result<LinesFile, CommandFailure> {
        Ok(LinesFile::default())
    }

    fn add(&mut self, file: &mut LinesFile, line: String, max_bytes: u64) -> Result<Option<String>, CommandFailure> {
        if file.lines > 0 && file.bytes + line.len() as u64 > max_bytes {
            return Ok(Some(line));
        }
        file.ready.extend_from_slice(line.as_bytes());
        file.bytes += line.len() as u64;
        file.lines += 1;
        Ok(None)
    }

    fn ready<'file>(&self, file: &'file mut LinesFile) -> &'file mut Vec<u8> {
        &mut file.ready
    }

    fn finish(&mut self, file: LinesFile) -> Result<EndOfFile, CommandFailure> {
        Ok(EndOfFile { last: file.ready, records: file.lines, companion: None })
    }
}
