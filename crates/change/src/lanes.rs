//! The same arithmetic on many values at once, as wide as the machine's registers are.
//!
//! The loops are written so that the compiler turns them into vector instructions, of those that the function they are
//! inlined into may use ([`crate::wide`]).

use document::{fnv1a64_step, splitmix64};
use wide_bytes::{Wide, Work, at_widest};

/// Values worked on side by side.
pub(crate) const LANES: usize = 32;

/// Takes up to eight bytes into each of the FNV-1a hashes: the `lengths[i]` lowest bytes of `bytes[i]`; a length above eight
/// means all of them.
#[inline(always)]
pub(crate) fn fnv1a64_each(hashes: &mut [u64; LANES], bytes: &[u64; LANES], lengths: &[u64; LANES]) {
    for lane in 0..LANES {
        let mut hash = hashes[lane];
        for place in 0..8 {
            let next = fnv1a64_step(hash, bytes[lane] >> (8 * place) & 0xff);
            hash = if lengths[lane] > place { next } else { hash };
        }
        hashes[lane] = hash;
    }
}

/// splitmix64 of every value.
pub(crate) fn splitmix64_each(values: &mut [u64]) {
    at_widest(SplitmixEach(values));
}

struct SplitmixEach<'v>(&'v mut [u64]);

impl Work for SplitmixEach<'_> {
    type Result = ();

    #[inline(always)]
    fn at(self, _: impl Wide) {
        for value in self.0 {
            *value = splitmix64(*value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_mixed_as_one_is() {
        let mut values: Vec<u64> = (0..100).collect();
        splitmix64_each(&mut values);
        assert_eq!(values, (0..100).map(splitmix64).collect::<Vec<_>>());
    }
}
