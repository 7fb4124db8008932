//! The links of a page as a set of hashes.

use chance::splitmix64;
use document::text_hash;
use mirrors::{Sketch, Threshold};

/// The most links kept per page.
pub(crate) const MAX_LINKS: usize = 4_096;

/// The hashes of the distinct link targets of a page, ascending (Section E7). Of more than 4,096, the smallest are
/// kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkSet(Vec<u64>);

impl LinkSet {
    /// Builds the set from links, in any order and with repetitions.
    pub fn of<'l>(links: impl IntoIterator<Item = &'l str>) -> Self {
        Self::from_hashes(links.into_iter().map(|link| splitmix64(text_hash(link.as_bytes()))).collect())
    }

    /// Builds the set from evenly spread hashes.
    pub fn from_hashes(mut hashes: Vec<u64>) -> Self {
        hashes.sort_unstable();
        hashes.dedup();
        hashes.truncate(MAX_LINKS);
        Self(hashes)
    }

    /// The hashes, ascending.
    pub fn hashes(&self) -> &[u64] {
        &self.0
    }

    /// The number of distinct targets: the out-degree of the page.
    pub fn degree(&self) -> usize {
        self.0.len()
    }

    /// The sketch that bands are cut from.
    pub fn sketch(&self) -> Sketch {
        Sketch::of(self.0.iter().copied())
    }

    /// Whether two pages are mirrors of each other.
    pub fn resembles(&self, other: &Self, threshold: Threshold) -> bool {
        let (ours, theirs) = (self.hashes(), other.hashes());
        let needed = threshold.least_common(ours.len() + theirs.len());
        let (Some(spare), Some(their_spare)) = (ours.len().checked_sub(needed), theirs.len().checked_sub(needed))
        else {
            return false;
        };
        let (mut i, mut j, mut common) = (0, 0, 0);
        while i < ours.len() && j < theirs.len() {
            let (a, b) = (ours[i], theirs[j]);
            common += usize::from(a == b);
            i += usize::from(a <= b);
            j += usize::from(b <= a);
            // Too many links that only one of them has. Unrelated pages fail here after a few steps.
            if i > common + spare || j > common + their_spare {
                return false;
            }
        }
        common >= needed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pages_are_mirrors_from_the_threshold_on(
            a in proptest::collection::vec(0u64..12, 1..40), b in proptest::collection::vec(0u64..12, 1..40),
            numerator in 1u32..=10,
        ) {
            let (ours, theirs) = (LinkSet::from_hashes(a), LinkSet::from_hashes(b));
            let threshold = Threshold::at_least(numerator, 10).unwrap();
            let common = ours.hashes().iter().filter(|hash| theirs.hashes().contains(hash)).count();
            let union = ours.degree() + theirs.degree() - common;
            let expected = common * 10 >= numerator as usize * union;
            prop_assert_eq!(ours.resembles(&theirs, threshold), expected);
            prop_assert_eq!(theirs.resembles(&ours, threshold), expected);
        }
    }
}
