//! Finds mirrors by comparing only pages that share a band of their sketches: the method that scales.

use super::Finding;
use super::banding::Banding;
use super::degree::DegreeBounds;
use super::groups::DisjointSets;
use super::link_set::LinkSet;
use mirrors::Threshold;
use std::collections::HashMap;

/// Compares each page with the earlier pages that share a key with it, unless they are already in its group.
pub fn banded(pages: &[LinkSet], bounds: DegreeBounds, threshold: Threshold, banding: Banding) -> Finding {
    let mut finding = Finding { groups: DisjointSets::new(pages.len()), comparisons: 0 };
    let mut buckets = Chains::default();
    for (page, links) in pages.iter().enumerate().filter(|(_, links)| bounds.admits(links.degree())) {
        for candidate in buckets.insert(page, &banding.keys(&links.sketch())) {
            if !finding.groups.are_joined(page, candidate) {
                finding.comparisons += 1;
                if links.resembles(&pages[candidate], threshold) {
                    finding.groups.join(page, candidate);
                }
            }
        }
    }
    finding
}

/// Buckets as chains: the last entry per key, and per entry the previous one with the same key. Most buckets hold one
/// page, so they need no allocation.
#[derive(Default)]
struct Chains {
    last: HashMap<u64, usize>,
    entries: Vec<ChainEntry>,
}

struct ChainEntry {
    page: usize,
    previous: Option<usize>,
}

impl Chains {
    /// Enters a page under its keys. Returns the pages already entered under any of them, ascending and without
    /// repetitions.
    fn insert(&mut self, page: usize, keys: &[u64]) -> Vec<usize> {
        let mut candidates = Vec::new();
        for &key in keys {
            let previous = self.last.insert(key, self.entries.len());
            let mut next = previous;
            while let Some(ChainEntry { page, previous }) = next.map(|entry| &self.entries[entry]) {
                candidates.push(*page);
                next = *previous;
            }
            self.entries.push(ChainEntry { page, previous });
        }
        candidates.sort_unstable();
        candidates.dedup();
        candidates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_give_who_was_there_before() {
        let mut buckets = Chains::default();
        assert!(buckets.insert(4, &[1, 2]).is_empty());
        assert_eq!(buckets.insert(5, &[2, 3]), [4]);
        assert_eq!(buckets.insert(6, &[3, 2]), [4, 5]);
        assert_eq!(buckets.insert(7, &[1]), [4]);
    }

    #[test]
    fn copies_take_one_comparison_each_and_pages_with_few_links_none() {
        let numbered = |range: std::ops::Range<u64>| LinkSet::from_hashes(range.map(chance::splitmix64).collect());
        let pages: Vec<LinkSet> = [0..20, 0..9, 0..20, 0..9, 0..20].map(numbered).into();
        let bounds = DegreeBounds { least: 10, greatest: 150 };
        let mut finding = banded(&pages, bounds, Threshold::default(), Banding::default());
        assert_eq!((finding.groups.members(), finding.comparisons), (vec![vec![0, 2, 4]], 2));
    }
}
