//! Random numbers from seeds: small, fixed functions, so that a seed means the same web in every release.

use std::f64::consts::TAU;

/// Scrambles 64 bits (the finaliser of splitmix64; Steele, Lea & Flood 2014).
pub(crate) fn mix(value: u64) -> u64 {
    let mut bits = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

/// A 64-bit hash of texts, each terminated so that `["ab", "c"]` and `["a", "bc"]` differ (FNV-1a, then scrambled).
pub(crate) fn hash(parts: &[&str]) -> u64 {
    let step = |state: u64, byte: u8| (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    let state = parts.iter().fold(0xCBF2_9CE4_8422_2325, |state, part| step(part.bytes().fold(state, step), 0));
    mix(state)
}

/// Maps 64 random bits to [0, 1).
pub(crate) fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

/// A stream of random numbers from a seed (splitmix64).
pub(crate) struct SplitMix64(u64);

impl SplitMix64 {
    pub(crate) fn new(seed: u64) -> Self {
        Self(mix(seed))
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// Uniform in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        unit(self.bits())
    }

    /// Exponential with mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// Normal with mean 0 and variance 1 (Box & Muller 1958).
    pub(crate) fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.unit()).ln()).sqrt() * (TAU * self.unit()).cos()
    }
}
