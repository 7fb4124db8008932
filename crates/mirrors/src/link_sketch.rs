//! The links of a page as a sketch (Yang; Section E7): a mirror has the links of the page that it copies.
//!
//! Links within the page's host count by path and query, so that a copy under another host name has the same set. Links
//! to other hosts count as they are.
//!
//! A page has tens of links where a text has hundreds of shingles. One permutation would leave most of its bins empty,
//! and its error would be that of tens of values; so each of the 128 slots has a permutation of its own:
//! m_j = min over x of splitmix64(x ⊕ splitmix64(j)) (Broder 1997; Section E3).

use crate::packed_sketch::{PACKED_BYTES, PackedSketch};
use crate::sketch::SKETCH_SLOTS;
use crate::threshold::Threshold;
use chance::splitmix64;
use document::{PageText, text_hash, with_encoded_query};
use page::{CanonicalUrl, UrlRules};
use std::collections::BTreeSet;

/// D_min: with fewer links, the shared menu alone would make unrelated pages mirrors.
pub const LEAST_LINKS: usize = 10;
/// D_max: the most links of a page that is compared by them. It bounds the work at a page, 128 hashes a link; few pages
/// have more.
pub const MOST_LINKS: usize = 1_000;

/// The number that stands for a link on a page of this host. `link` is absolute; `host` is an authority, as in
/// `example.org:8080`.
pub fn link_key(host: &str, link: &str) -> u64 {
    splitmix64(text_hash(within_host(host, link).unwrap_or(link).as_bytes()))
}

/// Path and query of a link within the host.
fn within_host<'l>(host: &str, link: &'l str) -> Option<&'l str> {
    let link = link.strip_prefix("https://").or_else(|| link.strip_prefix("http://"))?;
    match link.strip_prefix(host)? {
        "" => Some("/"),
        path => path.starts_with(['/', '?', '#']).then_some(path),
    }
}

/// The sketch of the links of a page, with their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkSketch {
    /// The out-degree: the number of different links.
    pub(crate) links: u16,
    pub(crate) slots: PackedSketch,
}

impl LinkSketch {
    pub(crate) const BYTES: usize = 2 + PACKED_BYTES;

    /// The sketch of the links of a page that was read at this address. The rules say which addresses are one page.
    /// Links to the page itself do not count.
    pub fn of_page(page: &PageText, address: &CanonicalUrl, urls: &UrlRules) -> Option<Self> {
        if page.truncated || page.links.len() < LEAST_LINKS {
            return None;
        }
        let base = page.base.as_deref().and_then(|base| address.join(base).ok());
        let base = base.as_ref().unwrap_or(address);
        let host = address.host();
        let targets = page
            .links
            .iter()
            .filter_map(|link| base.join(&with_encoded_query(link.href, page.charset)).ok().map(|url| urls.apply(url)));
        Self::of(targets.filter(|url| url != address).map(|url| link_key(host.as_str(), url.as_str())))
    }

    /// The sketch of links ([`link_key`]), in any order and with repetitions; `None` for fewer than [`LEAST_LINKS`] or
    /// more than [`MOST_LINKS`] different ones.
    pub fn of(links: impl IntoIterator<Item = u64>) -> Option<Self> {
        let mut keys = BTreeSet::new();
        for key in links {
            keys.insert(key);
            if keys.len() > MOST_LINKS {
                return None;
            }
        }
        if keys.len() < LEAST_LINKS {
            return None;
        }
        let minima = minima(&keys);
        Some(Self { links: keys.len() as u16, slots: PackedSketch::of(&minima.map(|minimum| minimum as u8)) })
    }

    /// The number of different links.
    pub fn degree(&self) -> usize {
        self.links.into()
    }

    /// The estimated resemblance of two sets of links, with a standard deviation of about 0.03 at 0.9.
    pub fn resemblance(&self, other: &Self) -> f64 {
        self.slots.resemblance(&other.slots)
    }

    /// Whether the degrees n and m allow the resemblance α: |n − m| ≤ min(n, m) (1 − α) / α, which is n ≥ α m for
    /// n ≤ m (the theorem of the paper).
    pub fn degrees_allow(&self, other: &Self, threshold: Threshold) -> bool {
        let (few, many) = (self.degree().min(other.degree()), self.degree().max(other.degree()));
        few >= threshold.lowest_partner_degree(many)
    }
}

/// The smallest value of each permutation.
fn minima(keys: &BTreeSet<u64>) -> [u64; SKETCH_SLOTS] {
    std::array::from_fn(|slot| {
        let permutation = splitmix64(slot as u64);
        keys.iter().map(|key| splitmix64(key ^ permutation)).min().unwrap_or(u64::MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn keys(numbers: std::ops::Range<u64>) -> BTreeSet<u64> {
        numbers.map(splitmix64).collect()
    }

    fn sketch(numbers: std::ops::Range<u64>) -> LinkSketch {
        LinkSketch::of(numbers.map(splitmix64)).unwrap()
    }

    #[test]
    fn values_and_estimate_are_those_of_section_e3() {
        let (a, c) = (minima(&keys(0..100)), minima(&keys(50..150)));
        assert_eq!(
            a[..4],
            [0x00b3_9813_db88_c9df, 0x0100_4a48_08e6_1e4b, 0x0143_9804_21f1_882e, 0x0334_cfe4_f04a_1d36]
        );
        assert_eq!(
            c[..4],
            [0x00b3_9813_db88_c9df, 0x0211_dfe4_04d9_f6ba, 0x0143_9804_21f1_882e, 0x009f_45c1_6add_4b78]
        );
        let equal = a.iter().zip(&c).filter(|(a, c)| a == c).count();
        assert_eq!(equal as f64 / SKETCH_SLOTS as f64, 0.359375);
    }

    #[test]
    fn links_within_the_host_count_by_path_and_query() {
        let same = |host: &str, link: &str, other: &str, theirs: &str| link_key(host, link) == link_key(other, theirs);
        assert!(same("a.example", "https://a.example/x?y=1", "b.example:8080", "http://b.example:8080/x?y=1"));
        assert!(same("a.example", "https://a.example", "b.example", "https://b.example/"));
        assert!(!same("a.example", "https://a.example/x?y=1", "b.example", "https://b.example/x?y=2"));
        // A copy that links back to the original's host has other links.
        assert!(!same("a.example", "https://a.example/x", "b.example", "https://a.example/x"));
        assert!(same("a.example", "https://c.example/x", "b.example", "https://c.example/x"));
        assert!(!same("a.example", "https://a.example.org/x", "b.example", "https://b.example.org/x"));
        assert!(!same("a.example", "https://a.example:8080/x", "b.example", "https://b.example:8080/x"));
    }

    #[test]
    fn pages_with_few_or_very_many_links_have_no_sketch() {
        let of = |count: u64| LinkSketch::of((0..count).chain(0..count).map(splitmix64)).map(|sketch| sketch.degree());
        assert_eq!([of(9), of(10), of(1_000), of(1_001)], [None, Some(10), Some(1_000), None]);
    }

    #[test]
    fn degrees_are_refused_as_the_theorem_says() {
        // Table of Section E7: a page with 150 links is compared with those of 135 and more for 0.9, 136 above 0.9.
        let page = sketch(0..150);
        let check = |threshold: Threshold, lowest: u64| {
            assert!(
                page.degrees_allow(&sketch(0..lowest), threshold) && sketch(0..lowest).degrees_allow(&page, threshold)
            );
            assert!(!page.degrees_allow(&sketch(0..lowest - 1), threshold));
        };
        check(Threshold::at_least(9, 10).unwrap(), 135);
        check(Threshold::above(9, 10).unwrap(), 136);
        check(Threshold::at_least(8, 10).unwrap(), 120);
    }

    #[test]
    fn few_links_are_estimated_as_well_as_many() {
        // 18 links of 22 in common: 20 each.
        let squares = (0..300u64).map(|trial| {
            let first = trial << 20;
            (sketch(first..first + 20).resemblance(&sketch(first + 2..first + 22)) - 18.0 / 22.0).powi(2)
        });
        let error = (squares.sum::<f64>() / 300.0).sqrt();
        let expected = crate::sketch::tests::sketch_deviation(18.0 / 22.0, SKETCH_SLOTS, 4);
        assert!((error / expected - 1.0).abs() < 0.25, "{error} beside {expected}");
    }

    proptest! {
        #[test]
        fn no_pair_above_the_threshold_is_refused(common in 10u64..80, ours in 0u64..40, theirs in 0u64..40) {
            let threshold = Threshold::at_least(9, 10).unwrap();
            let (a, b) = (sketch(0..common + ours), sketch(ours..common + ours + theirs));
            if common * 10 >= (common + ours + theirs) * 9 {
                prop_assert!(a.degrees_allow(&b, threshold));
            }
        }
    }
}
