//! The invariants: those that a running stage checks, and those that take a view of everything at once.

use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use stream::invariants::ensure;
pub(super) use stream::invariants::{
    BrokenInvariant, every_input_counted_once, positions_never_go_back, progress_not_ahead_of_position,
};
use stream::position::{PROGRESS_KEY, note};
use stream::{InputRecord, Position};

/// Every finished input of a group has its result: `settled` are the offsets finished according to the committed
/// position, `done` those with a visible result. Retention may have dropped those in `lost` first.
pub(super) fn no_output_lost(
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
pub(super) fn store_equals_changelog(
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
pub(super) fn memory_equals_store<K: Ord + Debug, V: PartialEq + Debug>(
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
pub(super) fn no_foreign_write<M: PartialEq + Debug>(
    partition: u32,
    writer: &M,
    owner: Option<&M>,
) -> Result<(), BrokenInvariant> {
    ensure("no_foreign_write", owner == Some(writer), || {
        format!("{writer:?} wrote as the task of partition {partition}, which belongs to {owner:?}")
    })
}

/// An offset that the committed position marks as finished is not started again while the position stands.
pub(super) fn no_finished_request_is_repeated(
    committed: Option<&Position>,
    offset: u64,
) -> Result<(), BrokenInvariant> {
    let finished = committed.is_some_and(|at| offset < at.next || at.finished().contains(&offset));
    ensure("no_finished_request_is_repeated", !finished, || {
        format!("offset {offset} was committed as finished and is begun again: {committed:?}")
    })
}

/// While there is work and most calls succeed, every partition makes progress. `waited_seconds` is the time since its
/// last progress.
pub(super) fn no_partition_stands_still(
    partition: u32,
    backlog: u64,
    waited_seconds: u64,
) -> Result<(), BrokenInvariant> {
    const LONGEST_SECONDS: u64 = 60;
    ensure("no_partition_stands_still", backlog == 0 || waited_seconds <= LONGEST_SECONDS, || {
        format!("partition {partition} has {backlog} records waiting and did nothing for {waited_seconds} s")
    })
}

#[test]
fn each_invariant_distinguishes_a_kept_promise_from_a_broken_one() {
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
    let changelog = [record(b"a", Some(b"1")), record(b"b", Some(b"2")), record(b"b", None), record(b"", Some(b"x"))];
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
fn a_request_that_was_committed_as_finished_is_not_begun_again() {
    let before = Position { next: 3, note: note(3, [5, 6]) };
    assert!(no_finished_request_is_repeated(Some(&before), 4).is_ok());
    assert!(no_finished_request_is_repeated(Some(&before), 6).is_err());
    assert!(no_finished_request_is_repeated(Some(&before), 2).is_err());
    assert!(no_finished_request_is_repeated(None, 2).is_ok());
}
