//! The text of a page as a sketch.
//!
//! A text is represented by the lowest 4 bits of each of the 128 slots of its [`Sketch`]. A band is eight of these
//! slots, 4 bytes. Pages that share a band meet in its bucket, wherever that is, and are compared by all slots. The
//! sketch travels anyway and contains everything needed: bands need no hashing, and the first band that two pages share
//! follows from it.

use crate::packed_sketch::{PACKED_BYTES, PackedSketch};
use crate::sketch::Sketch;
use change::ShingleSet;

/// Texts with fewer shingles are no evidence: many pages just say "Not available".
const LEAST_SHINGLES: usize = 30;

/// The sketch of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextSketch(pub(crate) PackedSketch);

impl TextSketch {
    pub(crate) const BYTES: usize = PACKED_BYTES;

    /// The sketch of a text with these shingles; `None` for a text too short to distinguish pages.
    pub fn of(shingles: &ShingleSet) -> Option<Self> {
        let sketch = || Sketch::of(shingles.hashes().iter().map(|&hash| hash.into()));
        (shingles.len() >= LEAST_SHINGLES).then(|| Self(PackedSketch::of(&sketch().low_bytes())))
    }

    /// The estimated resemblance of two texts.
    pub fn resemblance(&self, other: &Self) -> f64 {
        self.0.resemblance(&other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chance::splitmix64;

    #[test]
    fn short_texts_have_no_sketch() {
        let shingles = |count: u64| {
            let hashes: Vec<u32> = (0..count).map(|number| (splitmix64(number) >> 32) as u32).collect();
            TextSketch::of(&ShingleSet::from_hashes(&hashes))
        };
        assert_eq!((shingles(29), shingles(30).is_some()), (None, true));
    }
}
