//! Committed position of a group on a partition, including work finished out of order.
//!
//! A stage with work in flight commits the offset of its oldest unanswered request. Later offsets that are already
//! answered are noted beside the offset, as run lengths, so that they are not processed again after a crash or a
//! rebalance.

use std::collections::BTreeSet;

/// Maximum length of a note, in bytes. Kafka accepts 4,096 (`offset.metadata.max.bytes`).
pub const MAX_NOTE_BYTES: usize = 4_000;

/// Key of the changelog record that stores the input position: the value is the next offset, eight bytes, big-endian.
/// No store uses an empty key.
pub const PROGRESS_KEY: &[u8] = b"";

/// A committed input position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Every record before this offset is finished.
    pub next: u64,
    /// Finished offsets after `next`, encoded by [`note`]; usually empty.
    pub note: String,
}

impl Position {
    /// A position without finished offsets after it.
    pub fn at(next: u64) -> Self {
        Self { next, note: String::new() }
    }

    /// Finished offsets after `next`. An unreadable note counts as empty: the work is repeated.
    pub fn finished(&self) -> BTreeSet<u64> {
        read_note(self.next, &self.note).unwrap_or_default()
    }
}

/// Encodes finished offsets at or after `next` as alternating lengths of gaps and runs: `2.3.1.1` means two unfinished
/// offsets, three finished, one unfinished, one finished. Offsets that do not fit are left out, from the end, and will
/// be processed again.
pub fn note(next: u64, finished: impl IntoIterator<Item = u64>) -> String {
    let mut note = String::new();
    let mut at = next;
    for (first, length) in runs(finished.into_iter().filter(|offset| *offset >= next)) {
        let separator = if note.is_empty() { "" } else { "." };
        let run = format!("{separator}{}.{length}", first - at);
        if note.len() + run.len() > MAX_NOTE_BYTES {
            break;
        }
        note.push_str(&run);
        at = first + length;
    }
    note
}

/// Runs of consecutive numbers as (first, length), from ascending numbers.
fn runs(offsets: impl Iterator<Item = u64>) -> Vec<(u64, u64)> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for offset in offsets {
        match runs.last_mut() {
            Some((first, length)) if *first + *length == offset => *length += 1,
            _ => runs.push((offset, 1)),
        }
    }
    runs
}

fn read_note(next: u64, note: &str) -> Option<BTreeSet<u64>> {
    let mut finished = BTreeSet::new();
    if note.is_empty() {
        return Some(finished);
    }
    let mut at = next;
    let mut numbers = note.split('.').map(str::parse::<u64>);
    while let Some(gap) = numbers.next() {
        let length = numbers.next()?.ok()?;
        at = at.checked_add(gap.ok()?)?;
        let end = at.checked_add(length)?;
        // A note of a few bytes must not make us hold more offsets than a process can have in flight.
        if finished.len() as u64 + length > 10_000_000 {
            return None;
        }
        finished.extend(at..end);
        at = end;
    }
    Some(finished)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_noted_is_read_back(next in 0_u64..1_000, finished in proptest::collection::btree_set(0_u64..2_000, 0..200)) {
            let note = note(next, finished.iter().copied());
            let expected: BTreeSet<u64> = finished.into_iter().filter(|offset| *offset >= next).collect();
            prop_assert_eq!(Position { next, note }.finished(), expected);
        }

        #[test]
        fn any_text_is_read_without_panic(next: u64, note in "[0-9.]{0,40}") {
            let _ = Position { next, note }.finished();
        }
    }

    #[test]
    fn a_note_stays_within_what_kafka_takes_and_leaves_out_the_last_offsets() {
        let finished: BTreeSet<u64> = (0..100_000).map(|number| number * 1_000).collect();
        let note = note(0, finished.iter().copied());
        assert!(note.len() <= MAX_NOTE_BYTES);
        let read = Position { next: 0, note }.finished();
        assert!(read.len() > 500 && read.iter().eq(finished.iter().take(read.len())));
    }
}
