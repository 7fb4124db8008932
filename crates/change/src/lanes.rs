//! Arithmetic on many values at once, as wide as the machine's registers.
//!
//! The compiler turns the loops into vector instructions: those that the function they are inlined into may use
//! ([`wide_bytes`]).

use document::splitmix64;
use wide_bytes::{Wide, WideWork, at_widest};

/// Replaces every value by its splitmix64.
pub(crate) fn splitmix64_each(values: &mut [u64]) {
    at_widest(SplitmixEach(values));
}

struct SplitmixEach<'v>(&'v mut [u64]);

impl WideWork for SplitmixEach<'_> {
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
