//! Generators of random bits from seeds.

use crate::{Draws, mixing::GOLDEN, splitmix64};

/// SplitMix64, from its seed.
#[derive(Debug)]
pub struct SplitMix64(pub u64);

impl Draws for SplitMix64 {
    #[inline]
    fn bits(&mut self) -> u64 {
        let bits = splitmix64(self.0);
        self.0 = self.0.wrapping_add(GOLDEN);
        bits
    }
}

/// Knuth's linear congruential generator of 64 bits (MMIX), from its seed. Its lowest bits repeat soon.
#[derive(Debug)]
pub struct Lcg(pub u64);

impl Draws for Lcg {
    #[inline]
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix_is_the_published_one() {
        let mut ours = SplitMix64(1_234_567);
        let [a, b, c, d, e] = [0; 5].map(|_| ours.bits());
        assert_eq!([a, b, c], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
        assert_eq!([d, e], [4_593_380_528_125_082_431, 16_408_922_859_458_223_821]);
    }
}
