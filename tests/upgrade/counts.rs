//! Counting what is found.

use std::collections::{BTreeMap, BTreeSet};

/// How often each of them occurs.
pub(crate) fn count<T: Ord>(things: impl IntoIterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    things.into_iter().for_each(|thing| *counts.entry(thing).or_default() += 1);
    counts
}

/// Whether none of them occurs twice.
pub(crate) fn are_distinct<T: Ord>(things: impl IntoIterator<Item = T>) -> bool {
    let mut seen = BTreeSet::new();
    things.into_iter().all(|thing| seen.insert(thing))
}
