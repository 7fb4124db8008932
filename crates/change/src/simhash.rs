//! SimHash: 64 bits that differ the less, the smaller the angle between two weighted bags of terms (Section E4).
//!
//! Charikar, STOC 2002: bit i is the sign of the sum of the terms' weights, each taken with the sign of bit i of its hash,
//! here splitmix64(FNV-1a). A bit differs with probability θ/π. Manku, Jain & Das Sarma, WWW 2007: pages with at most
//! three different bits are near-duplicates. Coarser than a [`Sketch`](crate::Sketch), and no measure of small changes.

use crate::hash::{fnv1a64, splitmix64};

/// The most different bits of near-duplicates.
pub const NEAR_DUPLICATE_BITS: u32 = 3;

/// The SimHash of terms and their weights. A term that comes twice weighs as its weights together.
pub fn simhash<'t>(weighted_terms: impl IntoIterator<Item = (&'t str, f64)>) -> u64 {
    let mut sums = [0.0; 64];
    for (term, weight) in weighted_terms {
        let hash = splitmix64(fnv1a64(term.as_bytes()));
        for (bit, sum) in sums.iter_mut().enumerate() {
            *sum += if hash >> bit & 1 == 1 { weight } else { -weight };
        }
    }
    sums.iter().rev().fold(0, |hash, &sum| hash << 1 | u64::from(sum > 0.0))
}

/// How many bits differ.
pub const fn simhash_distance(a: u64, b: u64) -> u32 {
    (a ^ b).count_ones()
}

/// Whether two pages are near-duplicates by their SimHashes.
pub const fn is_near_duplicate(a: u64, b: u64) -> bool {
    simhash_distance(a, b) <= NEAR_DUPLICATE_BITS
}

/// Keys to find near-duplicates by: three different bits leave at least one of four blocks of 16 as it is. A key is the
/// block's number, 0 for the highest, and the block.
pub fn simhash_blocks(hash: u64) -> [(u8, u16); 4] {
    std::array::from_fn(|block| (block as u8, (hash >> (48 - 16 * block)) as u16))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const QUICK_FOX: &str = "the quick brown fox jumps over the lazy dog near the river bank";

    fn of_words(text: &str) -> u64 {
        simhash(text.split(' ').map(|word| (word, 1.0)))
    }

    #[test]
    fn the_bits_are_those_of_section_e4() {
        let (jumps, leaps) = (of_words(QUICK_FOX), of_words(&QUICK_FOX.replace("jumps", "leaps")));
        assert_eq!((jumps, leaps), (0xffdf_bf45_6c63_0331, 0xffff_3f55_6c63_03b1));
        assert_eq!(simhash_distance(jumps, leaps), 4);
        assert!(!is_near_duplicate(jumps, leaps));
    }

    #[test]
    fn bits_differ_as_often_as_the_angle_says() {
        // Two of three terms in common: the angle between (1, 1, 1, 0) and (1, 1, 0, 1) is arccos 2/3.
        let trials = 2_000;
        let distance = |trial: u32| {
            let [a, b, c, d] = [0, 1, 2, 3].map(|term| format!("{trial} {term}"));
            let hash = |terms: [&str; 3]| simhash(terms.map(|term| (term, 1.0)));
            simhash_distance(hash([&a, &b, &c]), hash([&a, &b, &d]))
        };
        let share = f64::from((0..trials).map(distance).sum::<u32>()) / f64::from(64 * trials);
        // Signs of three coins agree oftener than those of normal variables: 1/4 of all bits differ, θ/π is 0.268.
        let angle = (2.0f64 / 3.0).acos() / std::f64::consts::PI;
        assert!((share - 0.25).abs() < 0.005, "{share}");
        assert!((share - angle).abs() < 0.03, "{share} beside {angle}");
    }

    proptest! {
        #[test]
        fn near_duplicates_share_a_block(hash: u64, flips in proptest::collection::vec(0u32..64, 0..4)) {
            let other = flips.iter().fold(hash, |hash, flip| hash ^ 1 << flip);
            prop_assert!(is_near_duplicate(hash, other));
            let (ours, theirs) = (simhash_blocks(hash), simhash_blocks(other));
            prop_assert!(ours.iter().any(|key| theirs.contains(key)));
        }

        #[test]
        fn weights_of_a_repeated_term_add_up(words in proptest::collection::vec("[a-d]", 0..20)) {
            let counted = ["a", "b", "c", "d"].map(|term| (term, words.iter().filter(|word| *word == term).count()));
            let repeated = simhash(words.iter().map(|word| (word.as_str(), 1.0)));
            prop_assert_eq!(simhash(counted.map(|(term, count)| (term, count as f64))), repeated);
        }
    }
}
