//! One-permutation MinHash: a sketch that pages are compared by where their shingles are not available (Broder 1997;
//! Section E3).
//!
//! One permutation h = splitmix64(x ⊕ splitmix64(7)) assigns the elements of a set to k = 128 bins by its highest bits,
//! and each bin keeps its smallest element (Li, Owen & Zhang, NIPS 2012). An empty bin copies a non-empty one, chosen
//! in an order of its own that is the same for all sets (Shrivastava, ICML 2017, "Optimal densification"), so equal
//! slots still agree with probability r.

use chance::splitmix64;

/// Slots of a sketch; a power of two.
pub const SKETCH_SLOTS: usize = 128;

const SLOT_BITS: u32 = SKETCH_SLOTS.trailing_zeros();
const SEED: u64 = splitmix64(7);
/// Never the value of a bin: the lowest bits of those are zeros.
const EMPTY: u64 = u64::MAX;

/// [`SKETCH_SLOTS`] values that represent a set. The share of slots in which two sketches agree estimates the
/// resemblance r of the sets, with a standard deviation of about sqrt(r (1 − r) / 128), 0.027 at r = 0.9.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sketch {
    slots: [u64; SKETCH_SLOTS],
}

impl Sketch {
    /// The sketch of elements, which are hashes, in any order and with repetitions.
    pub fn of(elements: impl IntoIterator<Item = u64>) -> Self {
        let mut bins = [EMPTY; SKETCH_SLOTS];
        for element in elements {
            let hash = splitmix64(element ^ SEED);
            // The integer part of the product h k is the bin, its fraction the value.
            let (bin, value) = ((hash >> (u64::BITS - SLOT_BITS)) as usize, hash << SLOT_BITS);
            bins[bin] = bins[bin].min(value);
        }
        let mut slots = bins;
        if bins.iter().any(|&value| value != EMPTY) {
            for (slot, value) in slots.iter_mut().enumerate().filter(|(_, value)| **value == EMPTY) {
                *value = borrowed(&bins, slot);
            }
        }
        Self { slots }
    }

    /// The values of the slots; all `u64::MAX` for an empty set.
    pub fn slots(&self) -> &[u64; SKETCH_SLOTS] {
        &self.slots
    }

    /// The lowest eight significant bits of each value. The seven bits below are always zero: the value was shifted up
    /// to remove the bin's number.
    pub(crate) fn low_bytes(&self) -> [u8; SKETCH_SLOTS] {
        self.slots.map(|value| (value >> SLOT_BITS) as u8)
    }
}

/// The value of the first non-empty bin in the order t_a = splitmix64(2³² slot + a), a = 1, 2, …
fn borrowed(bins: &[u64; SKETCH_SLOTS], slot: usize) -> u64 {
    let probe = |attempt: u64| splitmix64((slot as u64) << 32 | attempt) >> (u64::BITS - SLOT_BITS);
    let values = (1..).map(|attempt| bins[probe(attempt) as usize]);
    values.into_iter().find(|&value| value != EMPTY).expect("at least one bin has a value, and all bins are tried")
}

/// The estimate of resemblance when `matching` of `slots` slots agree in `bits` bits; at least 0. Values of b bits
/// agree with probability P = 2⁻ᵇ + (1 − 2⁻ᵇ) r (Li & König, WWW 2010).
pub(crate) fn resemblance_of_matches(matching: usize, slots: usize, bits: u32) -> f64 {
    let by_chance = (-f64::from(bits)).exp2();
    let share = matching as f64 / slots.max(1) as f64;
    ((share - by_chance) / (1.0 - by_chance)).max(0.0)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The standard deviation of an estimate of resemblance r from `slots` values of `bits` bits each,
    /// sqrt(P (1 − P) / k) / (1 − 2⁻ᵇ).
    pub(crate) fn sketch_deviation(resemblance: f64, slots: usize, bits: u32) -> f64 {
        let by_chance = (-f64::from(bits)).exp2();
        let matching = by_chance + (1.0 - by_chance) * resemblance;
        (matching * (1.0 - matching) / slots as f64).sqrt() / (1.0 - by_chance)
    }

    fn spread(numbers: std::ops::Range<u64>) -> impl Iterator<Item = u64> {
        numbers.map(splitmix64)
    }

    fn resemblance(a: &Sketch, b: &Sketch) -> f64 {
        let matching = a.slots.iter().zip(&b.slots).filter(|(a, b)| a == b).count();
        resemblance_of_matches(matching, SKETCH_SLOTS, u64::BITS)
    }

    #[test]
    fn the_values_and_the_estimate_are_those_of_section_e3() {
        let (a, c) = (Sketch::of(spread(0..100)), Sketch::of(spread(50..150)));
        assert_eq!(a.slots()[..3], [0xa4a8_f695_079a_c080, 0xa117_be20_65e7_e980, 0x63c4_7d7e_80a6_8980]);
        assert_eq!(resemblance(&a, &c), 0.359375);
    }

    #[test]
    fn deviations_are_those_of_section_e3() {
        let check = |slots, bits, deviation: f64, tolerance: f64| {
            let ours = sketch_deviation(1.0 / 3.0, slots, bits);
            assert!((ours - deviation).abs() < tolerance, "k = {slots}, b = {bits}: {ours}");
        };
        check(64, 64, 0.0589255650988, 1e-12);
        check(128, 64, 0.0416666666667, 1e-12);
        check(256, 1, 0.058926, 5e-7);
        check(256, 4, 0.032275, 5e-7);
    }

    #[test]
    fn the_error_is_that_of_as_many_permutations() {
        let squares = (0..400u64).map(|trial| {
            let set = |from: u64, to: u64| Sketch::of(spread((trial << 20) + from..(trial << 20) + to));
            (resemblance(&set(0, 600), &set(300, 900)) - 1.0 / 3.0).powi(2)
        });
        let error = (squares.sum::<f64>() / 400.0).sqrt();
        // With 400 trials, the error itself is known to within a twenty-eighth.
        let expected = sketch_deviation(1.0 / 3.0, SKETCH_SLOTS, u64::BITS);
        assert!((error / expected - 1.0).abs() < 0.15, "{error} beside {expected}");
    }

    #[test]
    fn one_element_fills_every_place_and_none_leaves_all_empty() {
        for element in 0..2_000 {
            let sketch = Sketch::of([element]);
            assert_eq!(sketch.slots(), &[sketch.slots()[0]; SKETCH_SLOTS]);
        }
        assert_eq!(Sketch::of([]).slots(), &[EMPTY; SKETCH_SLOTS]);
    }

    proptest! {
        #[test]
        fn order_and_repetition_do_not_matter(mut elements: Vec<u64>) {
            let sketch = Sketch::of(elements.iter().copied());
            elements.extend_from_within(..);
            elements.reverse();
            prop_assert_eq!(Sketch::of(elements), sketch);
        }

        #[test]
        fn resemblance_is_a_symmetric_share(a in 0u64..600, b in 0u64..600) {
            let (a, b) = (Sketch::of(spread(0..a)), Sketch::of(spread(b / 2..b)));
            prop_assert_eq!(resemblance(&a, &b), resemblance(&b, &a));
            prop_assert!((0.0..=1.0).contains(&resemblance(&a, &b)));
            prop_assert_eq!(resemblance(&a, &a), 1.0);
        }
    }
}
