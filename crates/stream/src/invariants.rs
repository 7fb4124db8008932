//! Invariants that hold despite all failures. Each is a pure function named after its invariant.
//!
//! The simulation and the tests call them. A running stage checks those in [`AT_RUN_TIME`] and counts violations.

use crate::position::PROGRESS_KEY;
use crate::position::Position;
use crate::record::InputRecord;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{invariant} is broken: {how}")]
pub struct BrokenInvariant {
    pub invariant: &'static str,
    /// The value found instead.
    pub how: String,
}

/// Invariants that a running stage checks: their inputs are at hand and cheap to compare.
pub const AT_RUN_TIME: [&str; 3] =
    ["every_input_counted_once", "positions_never_go_back", "progress_not_ahead_of_position"];

fn ensure(invariant: &'static str, holds: bool, how: impl FnOnce() -> String) -> Result<(), BrokenInvariant> {
    if holds { Ok(()) } else { Err(BrokenInvariant { invariant, how: how() }) }
}

/// The results of one input partition name the offsets they came from. Each input has at most one result, and results
/// come in the order of their inputs.
pub fn every_input_counted_once(offsets: impl IntoIterator<Item = u64>) -> Result<(), BrokenInvariant> {
    let mut last = None;
    for offset in offsets {
        ensure("every_input_counted_once", last.is_none_or(|last| last < offset), || {
            format!("the result of offset {offset} comes behind that of {}", last.unwrap_or_default())
        })?;
        last = Some(offset);
    }
    Ok(())
}

/// Every finished input of a group has its result: `settled` are the offsets finished according to the committed
/// position, `done` those with a visible result. Retention may have dropped those in `lost` first.
pub fn no_output_lost(
    settled: impl IntoIterator<Item = u64>,
    done: &BTreeSet<u64>,
    lost: impl Fn(u64) -> bool,
) -> Result<(), BrokenInvariant> {
    let missing = settled.into_iter().find(|offset| !done.contains(offset) && !lost(*offset));
    ensure("no_output_lost", missing.is_none(), || {
        format!("offset {} is behind the committed position and has no result", missing.unwrap_or_default())
    })
}

/// A store equals its changelog as readers see it: last values, without deleted keys.
pub fn store_equals_changelog(
    changelog: &[InputRecord],
    store: &BTreeMap<Vec<u8>, Vec<u8>>,
) -> Result<(), BrokenInvariant> {
    let mut replayed: BTreeMap<_, &[u8]> = BTreeMap::new();
    for InputRecord { key, value, .. } in changelog.iter().filter(|record| record.key != PROGRESS_KEY) {
        match value {
            Some(value) => replayed.insert(key, &value[..]),
            None => replayed.remove(key),
        };
    }
    let store: BTreeMap<_, &[u8]> = store.iter().map(|(key, value)| (key, &value[..])).collect();
    same_entries("store_equals_changelog", "changelog", &replayed, "store", &store)
}

/// A processor's memory equals what it would now derive from its store.
pub fn memory_equals_store<K: Ord + Debug, V: PartialEq + Debug>(
    memory: &BTreeMap<K, V>,
    store: &BTreeMap<K, V>,
) -> Result<(), BrokenInvariant> {
    let (memory, store) = (memory.iter().collect(), store.iter().collect());
    same_entries("memory_equals_store", "memory", &memory, "store", &store)
}

fn same_entries<K: Ord + Debug, V: PartialEq + Debug + ?Sized>(
    invariant: &'static str,
    one_name: &str,
    one: &BTreeMap<&K, &V>,
    other_name: &str,
    other: &BTreeMap<&K, &V>,
) -> Result<(), BrokenInvariant> {
    let keys: BTreeSet<_> = one.keys().chain(other.keys()).copied().collect();
    let different = keys.into_iter().find(|key| one.get(key) != other.get(key));
    ensure(invariant, different.is_none(), || {
        let (one, other) = (different.and_then(|key| one.get(key)), different.and_then(|key| other.get(key)));
        format!("{different:?} is {one:?} in the {one_name} and {other:?} in the {other_name}")
    })
}

/// Only the owner of a partition writes as its task. `owner` is the owner at the time of the commit.
pub fn no_foreign_write<M: PartialEq + Debug>(
    partition: u32,
    writer: &M,
    owner: Option<&M>,
) -> Result<(), BrokenInvariant> {
    ensure("no_foreign_write", owner == Some(writer), || {
        format!("{writer:?} wrote as the task of partition {partition}, which belongs to {owner:?}")
    })
}

/// A committed position only moves forward, and finished offsets stay finished. `before` is `None` for a group without
/// a commit, or whose positions were forgotten.
pub fn positions_never_go_back(before: Option<&Position>, after: &Position) -> Result<(), BrokenInvariant> {
    let Some(before) = before else { return Ok(()) };
    ensure("positions_never_go_back", before.next <= after.next, || {
        format!("the position went back from {} to {}", before.next, after.next)
    })?;
    let kept = after.finished();
    let undone = before.finished().into_iter().find(|offset| *offset >= after.next && !kept.contains(offset));
    ensure("positions_never_go_back", undone.is_none(), || {
        format!("offset {} was noted as finished and is not any more", undone.unwrap_or_default())
    })
}

/// The input offset in a task's changelog is never ahead of the group's position: both are committed together.
pub fn progress_not_ahead_of_position(
    progress: Option<u64>,
    committed: Option<&Position>,
) -> Result<(), BrokenInvariant> {
    let next = committed.map(|position| position.next);
    ensure("progress_not_ahead_of_position", progress <= next, || {
        format!("the state stands at {progress:?}, the group at {next:?}")
    })
}

/// An offset that the committed position marks as finished is not started again while the position stands.
pub fn no_finished_request_is_repeated(committed: Option<&Position>, offset: u64) -> Result<(), BrokenInvariant> {
    let finished = committed.is_some_and(|at| offset < at.next || at.finished().contains(&offset));
    ensure("no_finished_request_is_repeated", !finished, || {
        format!("offset {offset} was committed as finished and is begun again: {committed:?}")
    })
}

/// While there is work and most calls succeed, every partition makes progress. `waited_seconds` is the time since its
/// last progress.
pub fn no_partition_stands_still(partition: u32, backlog: u64, waited_seconds: u64) -> Result<(), BrokenInvariant> {
    const LONGEST_SECONDS: u64 = 60;
    ensure("no_partition_stands_still", backlog == 0 || waited_seconds <= LONGEST_SECONDS, || {
        format!("partition {partition} has {backlog} records waiting and did nothing for {waited_seconds} s")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    #[test]
    fn each_invariant_distinguishes_a_kept_promise_from_a_broken_one() {
        assert!(every_input_counted_once([1, 2, 5]).is_ok());
        assert!(every_input_counted_once([1, 2, 2]).is_err());
        let done = BTreeSet::from([0, 2]);
        assert!(no_output_lost(0..3, &done, |offset| offset == 1).is_ok());
        assert!(no_output_lost(0..3, &done, |_| false).is_err());
        let store = BTreeMap::from([(b"a".to_vec(), b"1".to_vec())]);
        let record = |key: &[u8], value: Option<&[u8]>| InputRecord {
            partition: 0,
            offset: 0,
            timestamp: page::Timestamp::MIN,
            key: key.to_vec(),
            value: value.map(Bytes::copy_from_slice),
            trace: None,
        };
        let changelog =
            [record(b"a", Some(b"1")), record(b"b", Some(b"2")), record(b"b", None), record(b"", Some(b"x"))];
        assert!(store_equals_changelog(&changelog, &store).is_ok());
        assert!(store_equals_changelog(&changelog[..2], &store).is_err());
        assert!(memory_equals_store(&store, &store).is_ok());
        assert!(memory_equals_store(&store, &BTreeMap::new()).is_err());
        assert!(no_foreign_write(0, &"one", Some(&"one")).is_ok());
        assert!(no_foreign_write(0, &"one", Some(&"other")).is_err() && no_foreign_write(0, &"one", None).is_err());
        assert!(no_partition_stands_still(0, 0, 1_000).is_ok());
        assert!(no_partition_stands_still(0, 1, 61).is_err());
    }

    #[test]
    fn positions_and_notes_only_move_on() {
        let position =
            |next, finished: &[u64]| Position { next, note: crate::position::note(next, finished.iter().copied()) };
        let before = position(3, &[5, 6]);
        assert!(positions_never_go_back(Some(&before), &position(4, &[5, 6])).is_ok());
        assert!(positions_never_go_back(Some(&before), &position(7, &[])).is_ok());
        assert!(positions_never_go_back(Some(&before), &position(2, &[5, 6])).is_err());
        assert!(positions_never_go_back(Some(&before), &position(3, &[5])).is_err());
        assert!(progress_not_ahead_of_position(Some(3), Some(&before)).is_ok());
        assert!(progress_not_ahead_of_position(Some(4), Some(&before)).is_err());
        assert!(no_finished_request_is_repeated(Some(&before), 4).is_ok());
        assert!(no_finished_request_is_repeated(Some(&before), 6).is_err());
        assert!(no_finished_request_is_repeated(Some(&before), 2).is_err());
        assert!(no_finished_request_is_repeated(None, 2).is_ok());
    }
}
