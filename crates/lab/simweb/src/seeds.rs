//! Names and seeds as numbers: small, fixed functions, so that a seed means the same web in every release.

use chance::{Draws, SplitMix64, fnv1a, splitmix64};

/// A 64-bit hash of texts, each terminated so that `["ab", "c"]` and `["a", "bc"]` differ.
pub(crate) fn hash(parts: &[&str]) -> u64 {
    splitmix64(fnv1a(0, parts.iter().flat_map(|part| part.bytes().chain([0]))))
}

/// The random numbers of a seed. The first of the generator is passed over, as it is in every release.
pub(crate) fn numbers(seed: u64) -> SplitMix64 {
    let mut numbers = SplitMix64(splitmix64(seed));
    numbers.bits();
    numbers
}
