//! Records on stdout.

use crate::source::{Cursor, RecordSink, TopicRecord};
use crate::stdout::{Out, written_or_stop};
use daemon::{CommandFailure, StopSignal};
use std::io::{Result, Write};

/// Prints records. A closed pipe ends the stream.
pub struct Printer<'a, M, F> {
    out: Out,
    wants: &'a dyn Fn(&M) -> bool,
    print: F,
    stop: &'a StopSignal,
    printed: u64,
    /// Position after the last record that was printed or skipped.
    cursor: Cursor,
}

impl<'a, M, F: FnMut(TopicRecord<M>, &mut Out) -> Result<()>> Printer<'a, M, F> {
    /// Prints the records that `wants` selects, from this position on.
    pub fn new(cursor: &Cursor, wants: &'a dyn Fn(&M) -> bool, print: F, stop: &'a StopSignal) -> Self {
        Self { out: Out::stdout(), wants, print, stop, printed: 0, cursor: cursor.clone() }
    }

    pub fn printed(&self) -> u64 {
        self.printed
    }

    /// Position after the last record that was printed or skipped.
    pub fn cursor(&self) -> &Cursor {
        &self.cursor
    }
}

impl<M, F: FnMut(TopicRecord<M>, &mut Out) -> Result<()>> RecordSink<M> for Printer<'_, M, F> {
    fn take(&mut self, record: TopicRecord<M>) -> std::result::Result<bool, CommandFailure> {
        let cursor = record.cursor.clone();
        let is_wanted = (self.wants)(&record.message);
        if is_wanted {
            written_or_stop((self.print)(record, &mut self.out), self.stop)?;
            self.printed += 1;
        }
        self.cursor = cursor;
        Ok(is_wanted)
    }

    fn rest(&mut self) -> std::result::Result<(), CommandFailure> {
        written_or_stop(self.out.flush(), self.stop)
    }
}
