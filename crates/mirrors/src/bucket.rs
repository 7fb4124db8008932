//! Banding for pages that come one after the other: which are candidates, and what to write.
//!
//! The buckets live in a store of the caller's: under the key of a band ([`Banding::keys`](crate::Banding::keys)) the
//! pages that have it, 16 bytes each, in order of arrival. No value means no page.

use thiserror::Error;

/// A page's id.
pub type PageKey = [u8; 16];

/// The most pages of a bucket. What is found in more pages than this is a template, not a mirror; the first pages stand
/// for the others.
pub const MAX_BUCKET_PAGES: usize = 64;

/// A bucket's value is no sequence of page ids.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("bucket {key:016x} of mirrors has {length} bytes, which is no number of page ids; build the index again")]
pub struct BadBucket {
    /// The bucket's key.
    pub key: u64,
    /// The length of its value.
    pub length: usize,
}

/// What follows from a new version of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The other pages that share a bucket with it, each once, ascending: to be compared in full.
    pub candidates: Vec<PageKey>,
    /// Buckets and their new values; none for a bucket that is to be deleted.
    pub writes: Vec<(u64, Option<Vec<u8>>)>,
}

/// Moves a page from the buckets of its last version to those of its new one: `before` and `now` are their keys, none for
/// a page not yet there or no longer to be found. `read` gives the value of a bucket.
pub fn place<E: From<BadBucket>>(
    page: PageKey,
    before: &[u64],
    now: &[u64],
    mut read: impl FnMut(u64) -> Result<Option<Vec<u8>>, E>,
) -> Result<Placement, E> {
    let mut placement = Placement::default();
    for &key in before.iter().filter(|key| !now.contains(key)) {
        let mut pages = decode(key, read(key)?)?;
        let length = pages.len();
        pages.retain(|other| *other != page);
        if pages.len() < length {
            placement.writes.push((key, (!pages.is_empty()).then(|| pages.concat())));
        }
    }
    for &key in now {
        let mut pages = decode(key, read(key)?)?;
        placement.candidates.extend(pages.iter().filter(|other| **other != page));
        if pages.len() < MAX_BUCKET_PAGES && !pages.contains(&page) {
            pages.push(page);
            placement.writes.push((key, Some(pages.concat())));
        }
    }
    placement.candidates.sort_unstable();
    placement.candidates.dedup();
    Ok(placement)
}

fn decode(key: u64, value: Option<Vec<u8>>) -> Result<Vec<PageKey>, BadBucket> {
    let value = value.unwrap_or_default();
    match value.as_chunks() {
        (pages, []) => Ok(pages.to_vec()),
        _ => Err(BadBucket { key, length: value.len() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    #[derive(Default)]
    struct Store(BTreeMap<u64, Vec<u8>>);

    impl Store {
        fn place(&mut self, page: u8, before: &[u64], now: &[u64]) -> Vec<u8> {
            let read = |key| Ok::<_, BadBucket>(self.0.get(&key).cloned());
            let placement = place([page; 16], before, now, read).unwrap();
            for (key, value) in placement.writes {
                match value {
                    Some(value) => self.0.insert(key, value),
                    None => self.0.remove(&key),
                };
            }
            placement.candidates.iter().map(|candidate| candidate[0]).collect()
        }
    }

    #[test]
    fn pages_find_who_shares_a_bucket_and_leave_those_they_no_longer_have() {
        let mut store = Store::default();
        assert!(store.place(1, &[], &[10, 20]).is_empty());
        assert_eq!(store.place(2, &[], &[20, 30]), [1]);
        assert_eq!(store.place(1, &[10, 20], &[10, 30]), [2]);
        assert_eq!(store.place(3, &[], &[20, 30, 10]), [1, 2]);
        assert!(store.place(3, &[20, 30, 10], &[]).is_empty());
        assert!(store.place(1, &[10, 30], &[]).is_empty());
        assert_eq!(store.0, BTreeMap::from([(20, vec![2; 16]), (30, vec![2; 16])]));
    }

    #[test]
    fn a_full_bucket_still_gives_candidates() {
        let mut store = Store::default();
        let candidates = (0..100).map(|page| store.place(page, &[], &[7]).len());
        assert_eq!(candidates.collect::<Vec<_>>(), (0..100).map(|page: usize| page.min(64)).collect::<Vec<_>>());
    }

    #[test]
    fn a_value_that_is_no_bucket_is_an_error() {
        let bad = place([0; 16], &[], &[5], |_| Ok::<_, BadBucket>(Some(vec![0; 17])));
        assert_eq!(bad, Err(BadBucket { key: 5, length: 17 }));
    }

    proptest! {
        #[test]
        fn buckets_hold_the_last_version_of_every_page(
            versions in proptest::collection::vec((0u8..8, proptest::collection::btree_set(0u64..6, 0..4)), 0..40),
        ) {
            let mut store = Store::default();
            let mut last: BTreeMap<u8, BTreeSet<u64>> = BTreeMap::new();
            for (page, now) in versions {
                let before: Vec<u64> = last.insert(page, now.clone()).unwrap_or_default().into_iter().collect();
                let found = store.place(page, &before, &now.iter().copied().collect::<Vec<_>>());
                let sharing = |(other, keys): (&u8, &BTreeSet<u64>)| (*other != page && !keys.is_disjoint(&now)).then_some(*other);
                prop_assert_eq!(found, last.iter().filter_map(sharing).collect::<Vec<_>>());
            }
            let keys: BTreeSet<u64> = last.values().flatten().copied().collect();
            prop_assert_eq!(store.0.keys().copied().collect::<BTreeSet<_>>(), keys);
        }
    }
}
