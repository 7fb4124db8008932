//! Locality-sensitive hashing: similar sketches share a bucket, dissimilar ones rarely do (Indyk & Motwani, STOC 1998;
//! Section E5).
//!
//! A sketch is cut into b bands of r slots. Pages that agree in all slots of a band have the same key for it, so pages
//! of resemblance s share a key with probability 1 − (1 − sʳ)ᵇ, which rises steeply about (1/b)^(1/r).

use chance::splitmix64;
use mirrors::{SKETCH_SLOTS, Sketch};

/// The number and size of the bands of a sketch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Banding {
    bands: usize,
    rows: usize,
}

impl Default for Banding {
    /// 16 bands of 8 slots: pages of resemblance 0.9 share a key with probability 0.9999, of 0.5 with 0.06.
    fn default() -> Self {
        Self { bands: 16, rows: 8 }
    }
}

impl Banding {
    /// `bands` of `rows` slots each; `None` if either is 0 or a sketch has too few slots.
    pub const fn new(bands: usize, rows: usize) -> Option<Self> {
        match bands.checked_mul(rows) {
            Some(1..=SKETCH_SLOTS) => Some(Self { bands, rows }),
            _ => None,
        }
    }

    /// The key of each band. Keys of different bands differ too, so a store can hold them side by side.
    pub fn keys(self, sketch: &Sketch) -> Vec<u64> {
        let key = |(band, values): (usize, &[u64])| {
            values.iter().fold(splitmix64(band as u64), |key, value| splitmix64(key ^ value))
        };
        sketch.slots().chunks_exact(self.rows).take(self.bands).enumerate().map(key).collect()
    }

    /// The probability that two pages of this resemblance share a key.
    pub fn candidate_probability(self, resemblance: f64) -> f64 {
        1.0 - (1.0 - resemblance.powi(self.rows as i32)).powi(self.bands as i32)
    }

    /// The resemblance at which [`candidate_probability`](Self::candidate_probability) rises steeply.
    pub fn threshold(self) -> f64 {
        (1.0 / self.bands as f64).powf(1.0 / self.rows as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_and_thresholds_are_those_of_section_e5() {
        let check = |rows, bands, resemblance, probability: f64| {
            let ours = Banding::new(bands, rows).unwrap().candidate_probability(resemblance);
            assert!((ours / probability - 1.0).abs() < 1e-9, "r = {rows}, b = {bands}: {ours}");
        };
        check(4, 32, 0.5, 0.8732112136);
        check(8, 16, 0.8, 0.9470487962);
        check(8, 16, 0.5, 0.06070190411);
        check(16, 8, 0.9, 0.8059234243);
        check(16, 8, 0.5, 0.0001220637934);
        check(8, 16, 0.9, 0.9998774538);
        let check = |rows, bands, threshold: f64| {
            assert!((Banding::new(bands, rows).unwrap().threshold() / threshold - 1.0).abs() < 1e-9);
        };
        check(4, 32, 0.4204482076);
        check(8, 16, std::f64::consts::FRAC_1_SQRT_2);
        check(16, 8, 0.8781260802);
    }

    #[test]
    fn cuts_that_a_sketch_does_not_have_are_refused() {
        let refused = [(0, 8), (8, 0), (17, 8), (usize::MAX, 2)].map(|(bands, rows)| Banding::new(bands, rows));
        assert_eq!(refused, [None; 4]);
        assert_eq!(Banding::new(16, 8), Some(Banding::default()));
    }

    #[test]
    fn keys_are_pinned_because_they_are_stored() {
        let keys = Banding::default().keys(&Sketch::of((0..100).map(splitmix64)));
        assert_eq!((keys.len(), keys[0], keys[15]), (16, 0xd0b8_be0a_3266_5ccc, 0x2635_7703_42be_0fd2));
    }

    #[test]
    fn pages_share_keys_as_often_as_their_resemblance_says() {
        let banding = Banding::default();
        // 1,000 links each, all but d of them common: r = (1000 − d) / (1000 + d).
        let check = |apart: u64| {
            let shared = (0..300u64).filter(|trial| {
                let page = |first: u64| {
                    let links = (trial << 20) + first..(trial << 20) + first + 1000;
                    banding.keys(&Sketch::of(links.map(splitmix64)))
                };
                page(0).iter().zip(page(apart)).any(|(a, b)| *a == b)
            });
            let resemblance = (1000.0 - apart as f64) / (1000.0 + apart as f64);
            let expected = banding.candidate_probability(resemblance);
            let share = shared.count() as f64 / 300.0;
            let deviation = (expected * (1.0 - expected) / 300.0).sqrt();
            assert!((share - expected).abs() < 4.0 * deviation + 0.01, "r = {resemblance}: {share} beside {expected}");
        };
        check(52);
        check(150);
        check(200);
        check(333);
    }
}
