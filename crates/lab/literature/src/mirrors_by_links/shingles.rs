//! Shingles over links: the windows of w links in page order (Broder et al. 1997), of which a page keeps a few.
//!
//! Gibson, Kleinberg & Raghavan (1998) keep 2 shingles of 5 links a page, Reddy & Kitsuregawa (2001) 3 of 4 links.

use super::Finding;
use super::degree::DegreeBounds;
use super::groups::DisjointSets;
use super::link_set::LinkSet;
use chance::splitmix64;
use std::collections::HashMap;
use std::num::NonZeroUsize;

/// The different windows of `width` links, given in page order and with repetitions. Fewer links are one shingle; no
/// links have none. A shingle of one link is the link.
pub fn link_shingles(links: &[u64], width: NonZeroUsize) -> LinkSet {
    if links.is_empty() || width.get() == 1 {
        return LinkSet::from_hashes(links.to_vec());
    }
    let hash = |window: &[u64]| window.iter().fold(0, |hash, link| splitmix64(hash ^ link));
    LinkSet::from_hashes(links.windows(width.get().min(links.len())).map(hash).collect())
}

/// Joins pages whose `kept` smallest shingles are the same. It takes no comparison of sets: each page is looked up once.
/// Pages of resemblance r agree in all with a probability of about r to the power of `kept`.
pub fn sampled(pages: &[LinkSet], bounds: DegreeBounds, kept: NonZeroUsize) -> Finding {
    let mut finding = Finding { groups: DisjointSets::new(pages.len()), comparisons: 0 };
    let mut first_with: HashMap<&[u64], usize> = HashMap::new();
    for (page, shingles) in pages.iter().enumerate().filter(|(_, shingles)| bounds.admits(shingles.degree())) {
        let sample = &shingles.hashes()[..kept.get().min(shingles.degree())];
        finding.groups.join(page, *first_with.entry(sample).or_insert(page));
    }
    finding
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIVE: NonZeroUsize = NonZeroUsize::new(5).unwrap();
    const TWO: NonZeroUsize = NonZeroUsize::new(2).unwrap();

    #[test]
    fn a_rose_is_a_rose_is_a_rose() {
        let [a, rose, is] = [1, 2, 3].map(splitmix64);
        let text = [a, rose, is, a, rose, is, a, rose];
        let set = |width| link_shingles(&text, NonZeroUsize::new(width).unwrap());
        assert_eq!([1, 4, 8, 9].map(|width| set(width).degree()), [3, 3, 1, 1]);
        assert_ne!(link_shingles(&[a, rose], TWO), link_shingles(&[rose, a], TWO), "the order counts");
        assert_eq!(link_shingles(&[], TWO).degree(), 0);
    }

    /// The samples of 1,000 pairs of pages with 40 links agree as often as the resemblance of their shingles says.
    #[test]
    fn two_shingles_of_five_links_join_alike_pages_and_no_others() {
        let page = |first: u64, changed: Option<u64>| {
            let links: Vec<u64> = (first..first + 40)
                .map(|link| splitmix64(if Some(link - first) == changed { link ^ 1 << 50 } else { link }))
                .collect();
            link_shingles(&links, FIVE)
        };
        let bounds = DegreeBounds { least: 1, greatest: 150 };
        let joined = |changed: Option<u64>| {
            let pairs = (0..1_000u64).filter(|pair| {
                let pages = [page(pair << 20, None), page(pair << 20, changed), page(pair << 20 | 1 << 19, None)];
                let groups = sampled(&pages, bounds, TWO).groups.members();
                assert!(groups.iter().all(|group| group == &[0, 1]), "another page is joined");
                !groups.is_empty()
            });
            pairs.count()
        };
        assert_eq!(joined(None), 1_000);
        // One link in the middle is in five windows of 36: 31 of 41 shingles are common.
        let (expected, found) = ((31.0_f64 / 41.0).powi(2) * 1_000.0, joined(Some(20)) as f64);
        assert!((found - expected).abs() < 60.0, "{found} beside {expected}");
        // The first link is in one window: 35 of 37.
        let (expected, found) = ((35.0_f64 / 37.0).powi(2) * 1_000.0, joined(Some(0)) as f64);
        assert!((found - expected).abs() < 40.0, "{found} beside {expected}");
    }
}
