//! MinHash: the resemblance of two sets, estimated from a few numbers of each (Broder 1997; Section E3).
//!
//! Under a random permutation of all values, two sets have the same smallest element with probability r. [`MinHash`]
//! takes k permutations, m_j = min splitmix64(x ⊕ splitmix64(j)), and the estimate is the share of equal m_j. It costs k
//! hashes per element; [`crate::OnePermutation`] costs one, and is what pages are sketched with.
//!
//! Of each m_j the lowest b bits suffice (Li & König, WWW 2010): they agree with probability
//! P = 2⁻ᵇ + (1 − 2⁻ᵇ) r, so r = (P − 2⁻ᵇ) / (1 − 2⁻ᵇ).

use crate::hash::splitmix64;

/// The smallest values of a set under k permutations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinHash {
    minima: Vec<u64>,
}

impl MinHash {
    /// Of a set of hashes, under the permutations 0 to `permutations` − 1.
    pub fn of(set: &[u64], permutations: usize) -> Self {
        let smallest = |seed| set.iter().map(|hash| splitmix64(hash ^ seed)).min().unwrap_or(u64::MAX);
        Self { minima: (0..permutations as u64).map(|number| smallest(splitmix64(number))).collect() }
    }

    /// The smallest value under each permutation; `u64::MAX` of an empty set.
    pub fn minima(&self) -> &[u64] {
        &self.minima
    }

    /// Makes this that of the union of both sets. Permutations that only one of them has are left out.
    pub fn merge(&mut self, other: &Self) {
        self.minima.truncate(other.minima.len());
        for (ours, theirs) in self.minima.iter_mut().zip(&other.minima) {
            *ours = (*ours).min(*theirs);
        }
    }

    /// The estimate of |A ∩ B| / |A ∪ B|, from the permutations that both have.
    pub fn resemblance(&self, other: &Self) -> f64 {
        self.resemblance_by_bits(other, u64::BITS)
    }

    /// The estimate from the lowest `bits` of each minimum alone.
    pub fn resemblance_by_bits(&self, other: &Self, bits: u32) -> f64 {
        let apart = |(a, b): (&u64, &u64)| (a ^ b).trailing_zeros() < bits;
        let compared = self.minima.len().min(other.minima.len());
        let matching = compared - self.minima.iter().zip(&other.minima).filter(|&pair| apart(pair)).count();
        resemblance_of_matches(matching, compared, bits)
    }
}

/// The resemblance that makes `matching` of `slots` agree in `bits` bits; at least 0.
pub(crate) fn resemblance_of_matches(matching: usize, slots: usize, bits: u32) -> f64 {
    let by_chance = chance(bits);
    let share = matching as f64 / slots.max(1) as f64;
    ((share - by_chance) / (1.0 - by_chance)).max(0.0)
}

/// The standard deviation of an estimate of resemblance r from `slots` values of `bits` bits each,
/// sqrt(P (1 − P) / k) / (1 − 2⁻ᵇ).
pub fn sketch_deviation(resemblance: f64, slots: usize, bits: u32) -> f64 {
    let by_chance = chance(bits);
    let matching = by_chance + (1.0 - by_chance) * resemblance;
    (matching * (1.0 - matching) / slots as f64).sqrt() / (1.0 - by_chance)
}

/// How often `bits` bits of unrelated values agree.
fn chance(bits: u32) -> f64 {
    (-f64::from(bits)).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spread(numbers: std::ops::Range<u64>) -> Vec<u64> {
        numbers.map(splitmix64).collect()
    }

    #[test]
    fn the_minima_and_estimates_are_those_of_section_e3() {
        let (a, c) = (MinHash::of(&spread(0..100), 256), MinHash::of(&spread(50..150), 256));
        assert_eq!(
            a.minima()[..4],
            [0x00b3_9813_db88_c9df, 0x0100_4a48_08e6_1e4b, 0x0143_9804_21f1_882e, 0x0334_cfe4_f04a_1d36]
        );
        assert_eq!(
            c.minima()[..4],
            [0x00b3_9813_db88_c9df, 0x0211_dfe4_04d9_f6ba, 0x0143_9804_21f1_882e, 0x009f_45c1_6add_4b78]
        );
        let check = |permutations, resemblance| {
            assert_eq!(MinHash::of(&spread(0..100), permutations).resemblance(&c), resemblance, "k = {permutations}");
        };
        check(64, 0.375);
        check(128, 0.359375);
        check(256, 0.34765625);
        let check = |bits, resemblance: f64| {
            assert!((a.resemblance_by_bits(&c, bits) - resemblance).abs() < 1e-12, "b = {bits}");
        };
        check(1, 0.3359375);
        check(2, 0.401041666667);
        check(4, 0.375);
    }

    #[test]
    fn deviations_are_those_of_section_e3() {
        let check = |slots, bits, deviation: f64, tolerance: f64| {
            let ours = sketch_deviation(1.0 / 3.0, slots, bits);
            assert!((ours - deviation).abs() < tolerance, "k = {slots}, b = {bits}: {ours}");
        };
        check(64, 64, 0.0589255650988, 1e-12);
        check(128, 64, 0.0416666666667, 1e-12);
        check(256, 64, 0.0294627825494, 1e-12);
        check(256, 1, 0.058926, 5e-7);
        check(256, 2, 0.041667, 5e-7);
        check(256, 4, 0.032275, 5e-7);
    }

    #[test]
    fn empty_sets_resemble_each_other_and_nothing_else() {
        let (empty, some) = (MinHash::of(&[], 16), MinHash::of(&[5], 16));
        assert_eq!((empty.resemblance(&empty), empty.resemblance(&some)), (1.0, 0.0));
    }

    proptest! {
        #[test]
        fn merged_minima_are_those_of_the_union(a: Vec<u64>, b: Vec<u64>) {
            let mut merged = MinHash::of(&a, 16);
            merged.merge(&MinHash::of(&b, 16));
            prop_assert_eq!(merged, MinHash::of(&[a, b].concat(), 16));
        }

        #[test]
        fn resemblance_is_a_symmetric_share(a in spread_sets(), b in spread_sets(), bits in 1u32..=64) {
            let (a, b) = (MinHash::of(&a, 32), MinHash::of(&b, 32));
            prop_assert_eq!(a.resemblance_by_bits(&b, bits), b.resemblance_by_bits(&a, bits));
            prop_assert!((0.0..=1.0).contains(&a.resemblance_by_bits(&b, bits)));
            prop_assert_eq!(a.resemblance_by_bits(&a, bits), 1.0);
        }
    }

    fn spread_sets() -> impl Strategy<Value = Vec<u64>> {
        (0u64..50, 0u64..50).prop_map(|(start, length)| spread(start..start + length))
    }
}
