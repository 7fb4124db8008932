//! Texts that a program put together: phrases and words that repeat.

use crate::shape::{Signal, SpamShape};
use change::{DEFAULT_SHINGLE_WIDTH, Shingler};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::collections::HashMap;
use std::io::Write;
use std::num::NonZeroUsize;

/// Bytes of a text that are judged. More would cost time and say the same.
const JUDGED_BYTES: usize = 64 << 10;
/// Texts of fewer words are not judged. Short ones repeat themselves by chance and compress badly.
const LEAST_WORDS: usize = 100;

/// Measures of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TextShape {
    /// Words, or pairs of characters where words are not spaced.
    pub words: usize,
    /// Share of the phrases of five words that the text has said before.
    pub repeated_share: f64,
    /// Share of the words that are the commonest one.
    pub commonest_share: f64,
    /// Bytes of the text over its bytes when compressed.
    pub compression_ratio: f64,
}

/// Judges one text after another, reusing its buffers.
#[derive(Debug, Default)]
pub struct TextJudge {
    shingler: Shingler,
    seen: HashMap<u32, u32>,
}

impl TextJudge {
    /// Measures the first 64 KiB of a text.
    pub fn measure(&mut self, text: &str) -> TextShape {
        let text = document::prefix(text, JUDGED_BYTES);
        let (_, commonest, words) = self.count(text, NonZeroUsize::MIN);
        let (different, _, phrases) = self.count(text, DEFAULT_SHINGLE_WIDTH);
        TextShape {
            words,
            repeated_share: (phrases - different) as f64 / phrases.max(1) as f64,
            commonest_share: f64::from(commonest) / words.max(1) as f64,
            compression_ratio: text.len() as f64 / compressed_bytes(text).max(1) as f64,
        }
    }

    /// The judgement of a text.
    pub fn shape(&mut self, text: &str) -> SpamShape {
        self.measure(text).shape()
    }

    /// Counts the phrases of `width` words: the different ones, occurrences of the commonest, and all.
    fn count(&mut self, text: &str, width: NonZeroUsize) -> (usize, u32, usize) {
        self.seen.clear();
        let phrases = self.shingler.shingles([text], width);
        for phrase in phrases {
            *self.seen.entry(*phrase).or_default() += 1;
        }
        (self.seen.len(), self.seen.values().copied().max().unwrap_or(0), phrases.len())
    }
}

impl TextShape {
    /// The judgement of a text so measured. One of fewer than a hundred words is not judged.
    pub fn shape(&self) -> SpamShape {
        let mut shape = SpamShape::default();
        if self.words >= LEAST_WORDS {
            shape.add(Signal::RepeatedPhrases, self.repeated_share, 1.0);
            shape.add(Signal::CommonestWord, self.commonest_share, 1.0);
            shape.add(Signal::Compressible, self.compression_ratio, 1.0);
        }
        shape
    }
}

/// Bytes of a text when compressed, 0 if the compressor fails, which it cannot in memory.
fn compressed_bytes(text: &str) -> usize {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    match encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish()) {
        Ok(bytes) => bytes.len(),
        Err(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(count: usize, of: usize) -> String {
        let word = |number: usize| format!("w{} ", chance::splitmix64((number % of) as u64) % 100_000);
        (0..count).map(word).collect()
    }

    #[test]
    fn what_is_said_once_is_measured_as_such() {
        let shape = TextJudge::default().measure(&words(1_000, 1_000));
        assert_eq!(shape.words, 1_000);
        assert!(shape.repeated_share < 0.01 && shape.commonest_share < 0.01, "{shape:?}");
        assert_eq!(shape.shape(), SpamShape::default());
    }

    #[test]
    fn a_text_said_ten_times_repeats_nine_tenths() {
        let mut judge = TextJudge::default();
        let shape = judge.measure(&words(1_000, 100));
        assert!((shape.repeated_share - 0.9).abs() < 0.01 && shape.compression_ratio > 5.0, "{shape:?}");
        assert!(judge.shape(&words(1_000, 100)).is_spam());
        assert_eq!(judge.shape(&words(99, 10)), SpamShape::default(), "too short");
    }

    #[test]
    fn a_stuffed_word_is_counted() {
        let stuffed: String = words(600, 600).split(' ').flat_map(|word| ["cheap ", word, " "]).collect();
        let shape = TextJudge::default().measure(&stuffed);
        assert!((shape.commonest_share - 0.5).abs() < 0.01, "{shape:?}");
        assert!(shape.shape().is_spam());
    }

    #[test]
    fn any_text_is_judged_within_bounds() {
        let mut judge = TextJudge::default();
        for text in ["", " ", "\u{feff}", "漢字", &"天地玄黄宇宙洪荒".repeat(20_000), &"a ".repeat(1 << 20)] {
            let shape = judge.measure(text);
            assert!((0.0..=1.0).contains(&shape.repeated_share) && (0.0..=1.0).contains(&shape.commonest_share));
            assert!(shape.compression_ratio.is_finite() && shape.words <= JUDGED_BYTES);
        }
    }
}
