//! 128 values of 4 bits, of a text or of a set of links, and the bands that they are cut into.

use crate::sketch::{SKETCH_SLOTS, resemblance_of_matches};

/// Bands used of the sixteen in a sketch. Pages of resemblance 0.9 share one with probability 0.999, of 0.5 with 0.07:
/// 1 − (1 − s⁸)¹² of slots that agree with probability s, chance agreement of 4 bits included.
const BANDS: usize = 12;
const BAND_BYTES: usize = 4;

/// The key of a bucket: the number of a band and its bytes.
pub type BandKey = [u8; 1 + BAND_BYTES];

pub(crate) const BITS_PER_SLOT: u32 = 4;
pub(crate) const PACKED_BYTES: usize = SKETCH_SLOTS * BITS_PER_SLOT as usize / 8;

/// The lowest 4 bits of the values of a sketch: two per byte, the first in the lower half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PackedSketch(pub(crate) [u8; PACKED_BYTES]);

impl PackedSketch {
    /// Packs values, of which only the lowest 4 bits are kept.
    pub(crate) fn of(slots: &[u8; SKETCH_SLOTS]) -> Self {
        Self(std::array::from_fn(|place| slots[2 * place] & 0xf | slots[2 * place + 1] << BITS_PER_SLOT))
    }

    /// The buckets, whose numbers begin with `first`.
    pub(crate) fn keys(&self, first: u8) -> impl Iterator<Item = BandKey> {
        let key = move |(number, band): (u8, &[u8; BAND_BYTES])| {
            let mut key = [first + number; 1 + BAND_BYTES];
            key[1..].copy_from_slice(band);
            key
        };
        (0..).zip(self.0.as_chunks().0.iter().take(BANDS)).map(key)
    }

    /// The estimated resemblance of the two sets.
    pub(crate) fn resemblance(&self, other: &Self) -> f64 {
        let places = |byte: u8| u32::from(byte & 0xf == 0) + u32::from(byte >> BITS_PER_SLOT == 0);
        let matching: u32 = self.0.iter().zip(&other.0).map(|(ours, theirs)| places(ours ^ theirs)).sum();
        resemblance_of_matches(matching as usize, SKETCH_SLOTS, BITS_PER_SLOT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::Sketch;
    use crate::sketch::tests::sketch_deviation;
    use chance::splitmix64;

    #[test]
    fn the_error_is_that_of_as_many_bits() {
        let squares = (0..300u64).map(|trial| {
            let sketch = |from: u64, to: u64| {
                let numbers = (trial << 20) + from..(trial << 20) + to;
                PackedSketch::of(&Sketch::of(numbers.map(splitmix64)).low_bytes())
            };
            (sketch(0, 950).resemblance(&sketch(50, 1_000)) - 0.9).powi(2)
        });
        let error = (squares.sum::<f64>() / 300.0).sqrt();
        let expected = sketch_deviation(0.9, SKETCH_SLOTS, BITS_PER_SLOT);
        assert!((error / expected - 1.0).abs() < 0.2, "{error} beside {expected}");
    }
}
