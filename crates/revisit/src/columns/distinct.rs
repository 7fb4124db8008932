//! Rows that many pages share, each held once and found by its contents.

use crate::rows::Rows;
use hashbrown::HashTable;

/// Distinct rows by number. The number of one that is removed is given to the next new one.
#[derive(Clone, Debug)]
pub(super) struct Distinct<R> {
    pub(super) rows: Rows<R>,
    /// The numbers alone: the rows are compared where they are.
    numbers: HashTable<u32>,
    vacant: Vec<u32>,
}

impl<R> Default for Distinct<R> {
    fn default() -> Self {
        Self { rows: Rows::default(), numbers: HashTable::default(), vacant: Vec::new() }
    }
}

/// A row that knows the hash of what distinguishes it from others.
pub(super) trait DistinctRow {
    fn hash(&self) -> u64;
}

impl<R: DistinctRow> Distinct<R> {
    /// The number of a row, by its hash and a comparison.
    pub(super) fn find(&self, hash: u64, is_it: impl Fn(&R) -> bool) -> Option<u32> {
        self.numbers.find(hash, |number| is_it(&self.rows[*number as usize])).copied()
    }

    /// Adds a row that is not held, and returns its number.
    pub(super) fn add(&mut self, row: R) -> u32 {
        let hash = row.hash();
        let number = self.rows.put(self.vacant.pop(), row);
        self.numbers.insert_unique(hash, number, |other| self.rows[*other as usize].hash());
        number
    }

    /// Removes a row. Its number stays unused until it is given to a new row.
    pub(super) fn remove(&mut self, number: u32) {
        let found = self.numbers.find_entry(self.rows[number as usize].hash(), |other| *other == number);
        if let Ok(entry) = found {
            entry.remove();
            self.vacant.push(number);
        }
    }
}
