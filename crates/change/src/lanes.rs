//! The same arithmetic on many values at once, as wide as the machine's registers are.
//!
//! The loops are written so that the compiler turns them into vector instructions, of those that the function they are
//! inlined into may use ([`crate::wide`]).

use document::splitmix64;
use wide_bytes::{Wide, Work, at_widest};

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
