//! One-permutation MinHash: the sketch a page is compared by where its shingles are not at hand (Section E3).
//!
//! One permutation h = splitmix64(x ⊕ splitmix64(7)) deals the elements of a set into k = 128 bins by its highest bits,
//! and each bin keeps its smallest element (Li, Owen & Zhang, NIPS 2012). A bin that got none copies one that did, in an
//! order of its own that is the same for all sets (Shrivastava, ICML 2017, "Optimal densification"), so equal places
//! still agree with probability r: [`OnePermutation`] gathers, [`Sketch`] compares.

use crate::hash::splitmix64;
use crate::lanes::splitmix64_each;
use crate::minhash::resemblance_of_matches;

/// Places of a sketch, a power of two.
pub const SKETCH_SLOTS: usize = 128;

const SLOT_BITS: u32 = SKETCH_SLOTS.trailing_zeros();
const SEED: u64 = splitmix64(7);
/// No value of a bin: their lowest bits are zeros.
const EMPTY: u64 = u64::MAX;
/// Elements dealt out at a time; 2 KiB of stack.
const BATCH: usize = 256;

/// The bins of a set to which elements can still be added, in any order and more than once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnePermutation {
    bins: [u64; SKETCH_SLOTS],
}

impl Default for OnePermutation {
    fn default() -> Self {
        Self { bins: [EMPTY; SKETCH_SLOTS] }
    }
}

impl OnePermutation {
    /// Of the elements given, which are hashes.
    pub fn of(elements: &[u64]) -> Self {
        let mut bins = Self::default();
        bins.add(elements);
        bins
    }

    /// Adds elements to the set.
    pub fn add(&mut self, elements: &[u64]) {
        let mut mixed = [0; BATCH];
        for batch in elements.chunks(BATCH) {
            let mixed = &mut mixed[..batch.len()];
            for (mixed, element) in mixed.iter_mut().zip(batch) {
                *mixed = element ^ SEED;
            }
            splitmix64_each(mixed);
            for &hash in &*mixed {
                // The two halves of the product h k: its integer part is the bin, its fraction the value.
                let (bin, value) = ((hash >> (u64::BITS - SLOT_BITS)) as usize, hash << SLOT_BITS);
                self.bins[bin] = self.bins[bin].min(value);
            }
        }
    }

    /// Adds the elements of another set: what is left is that of the union.
    pub fn merge(&mut self, other: &Self) {
        for (ours, theirs) in self.bins.iter_mut().zip(&other.bins) {
            *ours = (*ours).min(*theirs);
        }
    }

    /// The sketch of the elements so far.
    pub fn sketch(&self) -> Sketch {
        let mut slots = self.bins;
        if self.bins.iter().any(|&value| value != EMPTY) {
            for (slot, value) in slots.iter_mut().enumerate().filter(|(_, value)| **value == EMPTY) {
                *value = self.borrowed(slot);
            }
        }
        Sketch { slots }
    }

    /// The value of the first bin with one, in the order t_a = splitmix64(2³² slot + a), a = 1, 2, …
    fn borrowed(&self, slot: usize) -> u64 {
        let probe = |attempt: u64| splitmix64((slot as u64) << 32 | attempt) >> (u64::BITS - SLOT_BITS);
        let values = (1..).map(|attempt| self.bins[probe(attempt) as usize]);
        values.into_iter().find(|&value| value != EMPTY).expect("some bin has a value, and every bin's turn comes")
    }
}

/// [`SKETCH_SLOTS`] values that stand for a set: equal places of two sketches estimate the sets' resemblance r, with a
/// standard deviation of about sqrt(r (1 − r) / 128), 0.027 at r = 0.9.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sketch {
    slots: [u64; SKETCH_SLOTS],
}

impl Sketch {
    /// Of the elements given, which are hashes, in any order and with repetitions.
    pub fn of(elements: &[u64]) -> Self {
        OnePermutation::of(elements).sketch()
    }

    /// The values; all `u64::MAX` for an empty set.
    pub fn slots(&self) -> &[u64; SKETCH_SLOTS] {
        &self.slots
    }

    /// Whether it stands for the empty set.
    pub fn is_empty(&self) -> bool {
        self.slots[0] == EMPTY
    }

    /// The estimate of |A ∩ B| / |A ∪ B|: 1 for two empty sets, 0 when just one is empty.
    pub fn resemblance(&self, other: &Self) -> f64 {
        let matching = self.slots.iter().zip(&other.slots).filter(|(a, b)| a == b).count();
        resemblance_of_matches(matching, SKETCH_SLOTS, u64::BITS)
    }

    /// The lowest eight bits that are not the same for all sets. The seven lowest of each value are zeros: the others
    /// have moved up by as many to make room for the bin's number.
    pub(crate) fn low_bytes(&self) -> [u8; SKETCH_SLOTS] {
        self.slots.map(|value| (value >> SLOT_BITS) as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::minhash::sketch_deviation;
    use proptest::prelude::*;

    fn spread(numbers: std::ops::Range<u64>) -> Vec<u64> {
        numbers.map(splitmix64).collect()
    }

    #[test]
    fn the_values_and_the_estimate_are_those_of_section_e3() {
        let (a, c) = (Sketch::of(&spread(0..100)), Sketch::of(&spread(50..150)));
        assert_eq!(a.slots()[..3], [0xa4a8_f695_079a_c080, 0xa117_be20_65e7_e980, 0x63c4_7d7e_80a6_8980]);
        assert_eq!(a.resemblance(&c), 0.359375);
    }

    #[test]
    fn the_error_is_that_of_as_many_permutations() {
        let squares = (0..400u64).map(|trial| {
            let set = spread(trial << 20..(trial << 20) + 900);
            let (a, b) = (Sketch::of(&set[..600]), Sketch::of(&set[300..]));
            (a.resemblance(&b) - 1.0 / 3.0).powi(2)
        });
        let error = (squares.sum::<f64>() / 400.0).sqrt();
        // Of 400 trials the error itself is known to a twenty-eighth.
        let expected = sketch_deviation(1.0 / 3.0, SKETCH_SLOTS, u64::BITS);
        assert!((error / expected - 1.0).abs() < 0.15, "{error} beside {expected}");
    }

    #[test]
    fn one_element_fills_every_place_and_none_leaves_all_empty() {
        let mut seen = [false; SKETCH_SLOTS];
        for element in 0..2_000 {
            let bins = OnePermutation::of(&[element]);
            let value = bins.bins.iter().min().unwrap();
            seen[bins.bins.iter().position(|bin| bin == value).unwrap()] = true;
            assert_eq!(bins.sketch().slots(), &[*value; SKETCH_SLOTS]);
        }
        assert_eq!(seen, [true; SKETCH_SLOTS], "the search for a bin with a value ends wherever that is");
        let (empty, one) = (Sketch::of(&[]), Sketch::of(&[1]));
        assert!(empty.is_empty() && !one.is_empty());
        assert_eq!((empty.resemblance(&empty), empty.resemblance(&one)), (1.0, 0.0));
    }

    proptest! {
        #[test]
        fn merged_bins_are_those_of_the_union(a: Vec<u64>, b: Vec<u64>) {
            let mut merged = OnePermutation::of(&a);
            merged.merge(&OnePermutation::of(&b));
            prop_assert_eq!(merged, OnePermutation::of(&[a, b].concat()));
        }

        #[test]
        fn order_and_repetition_do_not_matter(mut elements: Vec<u64>) {
            let sketch = Sketch::of(&elements);
            elements.extend_from_within(..);
            elements.reverse();
            prop_assert_eq!(Sketch::of(&elements), sketch);
        }

        #[test]
        fn resemblance_is_a_symmetric_share(a in 0u64..600, b in 0u64..600) {
            let (a, b) = (Sketch::of(&spread(0..a)), Sketch::of(&spread(b / 2..b)));
            prop_assert_eq!(a.resemblance(&b), b.resemblance(&a));
            prop_assert!((0.0..=1.0).contains(&a.resemblance(&b)));
            prop_assert_eq!(a.resemblance(&a), 1.0);
        }
    }
}
