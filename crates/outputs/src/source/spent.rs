//! A bound on what is read of a topic for one request.

use stream::InputRecord;

/// The rest that may be read.
#[derive(Clone, Copy, Debug)]
pub struct Spent {
    records: usize,
    bytes: usize,
}

impl Spent {
    /// So many records and bytes may be read. The batch that goes beyond is the last.
    pub fn of(records: usize, bytes: usize) -> Self {
        Self { records, bytes }
    }

    pub(crate) fn add(&mut self, records: &[InputRecord]) {
        self.records = self.records.saturating_sub(records.len());
        self.bytes = self.bytes.saturating_sub(records.iter().map(InputRecord::bytes).sum());
    }

    /// Whether no more may be read.
    pub fn is_over(&self) -> bool {
        self.records == 0 || self.bytes == 0
    }
}
