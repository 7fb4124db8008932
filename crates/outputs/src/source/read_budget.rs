//! A bound on what is read of a topic for one request.

use stream::InputRecord;

/// Records and bytes that may still be read.
#[derive(Clone, Copy, Debug)]
pub struct ReadBudget {
    records: usize,
    bytes: usize,
}

impl ReadBudget {
    /// The batch that exceeds it is the last.
    pub fn new(records: usize, bytes: usize) -> Self {
        Self { records, bytes }
    }

    pub(crate) fn spend(&mut self, records: &[InputRecord]) {
        self.records = self.records.saturating_sub(records.len());
        self.bytes = self.bytes.saturating_sub(records.iter().map(InputRecord::bytes).sum());
    }

    /// Whether no more may be read.
    pub fn is_spent(&self) -> bool {
        self.records == 0 || self.bytes == 0
    }
}
