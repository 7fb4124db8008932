//! Finds mirrors by comparing pages with nearly as many links (seed 004, Section E7).

use super::Finding;
use super::degree::DegreeBounds;
use super::groups::DisjointSets;
use super::link_set::LinkSet;
use mirrors::Threshold;

/// Compares pages in order of degree, each with the earlier ones whose degree allows the resemblance. A page found to
/// be a mirror is not compared again, so mirrors of a mirror that do not resemble the first page are missed.
pub fn degree_bound(pages: &[LinkSet], bounds: DegreeBounds, threshold: Threshold) -> Finding {
    let mut order: Vec<usize> = (0..pages.len()).filter(|&page| bounds.admits(pages[page].degree())).collect();
    // Sorted by hashes within a degree, so that equal pages are neighbours and match at the first comparison.
    order.sort_by_key(|&page| (pages[page].degree(), pages[page].hashes()));
    let mut finding = Finding { groups: DisjointSets::new(pages.len()), comparisons: 0 };
    let mut originals: Vec<usize> = Vec::new();
    for page in order {
        let lowest = threshold.lowest_partner_degree(pages[page].degree());
        let first = originals.partition_point(|&original| pages[original].degree() < lowest);
        let found = originals[first..].iter().rev().find(|&&original| {
            finding.comparisons += 1;
            pages[page].resembles(&pages[original], threshold)
        });
        match found {
            Some(&original) => finding.groups.join(page, original),
            None => originals.push(page),
        }
    }
    finding
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mirrors_by_links::DegreeHistogram;
    use proptest::prelude::*;

    fn numbered(range: std::ops::Range<u64>) -> LinkSet {
        LinkSet::from_hashes(range.map(chance::splitmix64).collect())
    }

    #[test]
    fn copies_take_one_comparison_each_and_pages_with_few_links_none() {
        let pages: Vec<LinkSet> = [0..20, 0..20, 0..20, 0..9, 0..9].map(numbered).into();
        let bounds = DegreeBounds { least: 10, greatest: 150 };
        let mut finding = degree_bound(&pages, bounds, Threshold::default());
        assert_eq!((finding.groups.members(), finding.comparisons), (vec![vec![0, 1, 2]], 2));
    }

    proptest! {
        #[test]
        fn without_mirrors_the_comparisons_are_those_of_the_formula(
            degrees in proptest::collection::vec(8usize..40, 0..50),
        ) {
            let bounds = DegreeBounds { least: 10, greatest: 35 };
            let page = |(page, &degree): (usize, &usize)| numbered(page as u64 * 100..(page * 100 + degree) as u64);
            let pages: Vec<LinkSet> = degrees.iter().enumerate().map(page).collect();
            let mut finding = degree_bound(&pages, bounds, Threshold::default());
            let histogram: DegreeHistogram = degrees.into_iter().collect();
            prop_assert_eq!(finding.comparisons, histogram.comparisons(bounds, Threshold::default()));
            prop_assert!(finding.groups.members().is_empty());
        }

        #[test]
        fn every_mirror_of_a_single_page_is_found(starts in proptest::collection::vec(0u64..3, 1..12)) {
            let pages: Vec<LinkSet> = starts.iter().map(|&start| numbered(100 * start..100 * start + 30)).collect();
            let bounds = DegreeBounds { least: 10, greatest: 150 };
            let mut finding = degree_bound(&pages, bounds, Threshold::default());
            for (a, start) in starts.iter().enumerate() {
                for (b, other) in starts.iter().enumerate() {
                    prop_assert_eq!(finding.groups.are_joined(a, b), start == other);
                }
            }
        }
    }
}
