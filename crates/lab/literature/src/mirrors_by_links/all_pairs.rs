//! Finds mirrors by comparing every page with every other: n (n − 1) / 2 comparisons, the measure of the other methods.

use super::Finding;
use super::degree::DegreeBounds;
use super::groups::DisjointSets;
use super::link_set::LinkSet;
use mirrors::Threshold;

/// Compares all pairs of pages that have as many links as the bounds say.
pub fn all_pairs(pages: &[LinkSet], bounds: DegreeBounds, threshold: Threshold) -> Finding {
    let admitted: Vec<usize> = (0..pages.len()).filter(|&page| bounds.admits(pages[page].degree())).collect();
    let mut finding = Finding { groups: DisjointSets::new(pages.len()), comparisons: 0 };
    for (index, &page) in admitted.iter().enumerate() {
        for &other in &admitted[..index] {
            finding.comparisons += 1;
            if pages[page].resembles(&pages[other], threshold) {
                finding.groups.join(page, other);
            }
        }
    }
    finding
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_is_compared_and_mirrors_of_mirrors_are_joined() {
        // Each resembles its neighbours by 19/21 and the one after them by 18/22.
        let pages: Vec<LinkSet> =
            [0..20, 1..21, 2..22].map(|range: std::ops::Range<u64>| LinkSet::from_hashes(range.collect())).into();
        let bounds = DegreeBounds { least: 10, greatest: 150 };
        let mut finding = all_pairs(&pages, bounds, Threshold::default());
        assert_eq!((finding.groups.members(), finding.comparisons), (vec![vec![0, 1, 2]], 3));
    }
}
