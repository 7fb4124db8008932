//! The sites that a site links to, and those that link to it, in bounded sketches.

use crate::shape::{Signal, SpamShape};
use chance::splitmix64;
use document::text_hash;

/// The most sites of a sketch.
pub const SKETCHED_SITES: usize = 64;

/// Fewer exchanges of links than this are those of any two friends. Wu & Davison (2005) take three pages for a sign;
/// whole sites have more.
const LEAST_EXCHANGED: usize = 5;

/// The number that stands for a site in a sketch.
pub fn site_hash(site: &str) -> u64 {
    splitmix64(text_hash(site.as_bytes()))
}

/// A set of sites: those with the smallest hashes, [`SKETCHED_SITES`] at most (a bottom-k sketch, Cohen & Kaplan 2007).
/// As all sketches keep the same part of the range of hashes, two of them can be compared over what both hold in full.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteSketch {
    /// Ascending.
    hashes: Vec<u64>,
}

impl SiteSketch {
    /// The sketch of hashes as they were kept. Those that do not fit are left out.
    pub fn of(hashes: impl IntoIterator<Item = u64>) -> Self {
        let mut sketch = Self::default();
        hashes.into_iter().for_each(|hash| _ = sketch.add(hash));
        sketch
    }

    /// Adds a site. Returns whether the sketch has changed.
    pub fn add(&mut self, hash: u64) -> bool {
        let Err(place) = self.hashes.binary_search(&hash) else { return false };
        if place >= SKETCHED_SITES {
            return false;
        }
        self.hashes.insert(place, hash);
        self.hashes.truncate(SKETCHED_SITES);
        true
    }

    /// The hashes that are kept, ascending.
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// The largest hash up to which the sketch holds all sites.
    fn horizon(&self) -> u64 {
        match self.hashes.len() < SKETCHED_SITES {
            true => u64::MAX,
            false => self.hashes.last().copied().unwrap_or(u64::MAX),
        }
    }

    /// Numbers of sites of `self` that can be compared, and of those among them that `other` has, too.
    pub(crate) fn compared(&self, other: &Self) -> (usize, usize) {
        let horizon = self.horizon().min(other.horizon());
        let own = self.hashes.iter().take_while(|hash| **hash <= horizon);
        own.fold((0, 0), |(own, both), hash| (own + 1, both + usize::from(other.contains(*hash))))
    }

    pub(crate) fn contains(&self, hash: u64) -> bool {
        self.hashes.binary_search(&hash).is_ok()
    }
}

/// The neighbours of a site. Links within the site do not count: they are nepotism (Davison 2000).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteLinks {
    /// Sites that its pages link to.
    pub linked: SiteSketch,
    /// Sites whose pages link to it.
    pub linking: SiteSketch,
}

impl SiteLinks {
    /// The share of the linking sites that are linked back, and how many these are in the sketches.
    pub(crate) fn exchanged(&self) -> (f64, usize) {
        let (linking, both) = self.linking.compared(&self.linked);
        (both as f64 / linking.max(1) as f64, both)
    }

    /// The judgement of the site by its own neighbours. A site that few exchange links with is not judged.
    pub fn shape(&self) -> SpamShape {
        let mut shape = SpamShape::default();
        let (share, both) = self.exchanged();
        if both >= LEAST_EXCHANGED {
            shape.add(Signal::LinkExchange, share, 1.0);
        }
        shape
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sites(numbers: std::ops::Range<u64>) -> SiteSketch {
        SiteSketch::of(numbers.map(|number| site_hash(&number.to_string())))
    }

    #[test]
    fn a_site_that_lives_on_exchange_is_known_and_one_that_others_link_is_not() {
        let exchanging = SiteLinks { linked: sites(0..20), linking: sites(1..21) };
        assert!(exchanging.shape().is_spam(), "{:?}", exchanging.shape());
        let linked_by_many = SiteLinks { linked: sites(0..20), linking: sites(10..60) };
        assert_eq!(linked_by_many.shape(), SpamShape::default());
        let friends = SiteLinks { linked: sites(0..4), linking: sites(0..4) };
        assert_eq!(friends.shape(), SpamShape::default(), "too few");
    }

    #[test]
    fn large_sites_are_compared_over_what_both_sketches_hold() {
        let giant = SiteLinks { linked: sites(0..3_000), linking: sites(1_000..101_000) };
        assert!(giant.exchanged().0 < 0.1, "2 % are linked back: {}", giant.exchanged().0);
        let farm = SiteLinks { linked: sites(0..3_000), linking: sites(300..3_000) };
        assert!(farm.exchanged().0 == 1.0 && farm.exchanged().1 > 40, "{:?}", farm.exchanged());
    }

    proptest! {
        #[test]
        fn a_sketch_is_that_of_the_set_in_any_order(mut hashes: Vec<u64>) {
            let sketch = SiteSketch::of(hashes.iter().copied());
            hashes.reverse();
            hashes.extend_from_within(..);
            prop_assert_eq!(&SiteSketch::of(hashes), &sketch);
            prop_assert!(sketch.hashes().len() <= SKETCHED_SITES && sketch.hashes().is_sorted());
            prop_assert_eq!(&SiteSketch::of(sketch.hashes().iter().copied()), &sketch);
        }
    }
}
