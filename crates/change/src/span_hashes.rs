//! Hashes of short spans of a text.

use chance::splitmix64;
use std::ops::Range;
use wide_bytes::{BLOCK, Wide, WideWork, at_widest};

/// Start and end of a span of a text, in bytes.
pub(crate) type TextSpan = [u32; 2];

/// [`text_hash`](document::text_hash) of a span. Reads whole words past its end and masks them, which is cheaper.
#[inline(always)]
pub(crate) fn hash_of_span(bytes: &[u8], [start, end]: TextSpan) -> u64 {
    let (mut at, end) = (start as usize, end as usize);
    let mut hash = (end - at) as u64;
    // One branch for each eight bytes: most words have fewer.
    while at < end {
        let behind = 8 - (end - at).min(8);
        hash = splitmix64(hash ^ (eight_bytes(bytes, at) & (u64::MAX >> (8 * behind))));
        at += 8;
    }
    hash
}

/// The most words found by [`first_words`].
const WORDS: usize = 3;

/// The first words of a text, split at spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FirstWords {
    /// Length in bytes, without the space behind them.
    pub(crate) length: usize,
    pub(crate) has_digit: bool,
}

/// The first words of each text.
pub(crate) fn first_words(bytes: &[u8], texts: impl Iterator<Item = Range<usize>>) -> Vec<FirstWords> {
    at_widest(FindingWords { bytes, texts })
}

struct FindingWords<'b, T> {
    bytes: &'b [u8],
    texts: T,
}

impl<T: Iterator<Item = Range<usize>>> WideWork for FindingWords<'_, T> {
    type Result = Vec<FirstWords>;

    #[inline(always)]
    fn at(self, wide: impl Wide) -> Self::Result {
        let Self { bytes, texts } = self;
        let mut found = Vec::with_capacity(texts.size_hint().1.unwrap_or_default());
        for text in texts {
            found.push(first_words_of(wide, bytes, text));
        }
        found
    }
}

#[inline(always)]
fn first_words_of(wide: impl Wide, bytes: &[u8], text: Range<usize>) -> FirstWords {
    if let Some(block) = bytes[text.start..].first_chunk() {
        let mut spaces = wide.equal(block, b' ');
        for _ in 1..WORDS {
            spaces &= spaces.wrapping_sub(1);
        }
        let length = text.len().min(spaces.trailing_zeros() as usize);
        if length < BLOCK {
            let digits = wide.within(block, b'0', b'9') & ((1 << length) - 1);
            return FirstWords { length, has_digit: digits != 0 };
        }
    }
    long_first_words(&bytes[text])
}

/// As [`first_words_of`], where less than a block follows or the words are longer.
fn long_first_words(text: &[u8]) -> FirstWords {
    let length = memchr::memchr_iter(b' ', text).nth(WORDS - 1).unwrap_or(text.len());
    FirstWords { length, has_digit: text[..length].iter().any(u8::is_ascii_digit) }
}

/// Eight bytes, padded with zeros after the end.
#[inline(always)]
pub(crate) fn eight_bytes(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..at + 8).and_then(|eight| eight.first_chunk()) {
        Some(eight) => u64::from_le_bytes(*eight),
        None => last_bytes(&bytes[at..]),
    }
}

#[cold]
fn last_bytes(rest: &[u8]) -> u64 {
    rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use document::text_hash;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn first_words_are_those_between_spaces(
            texts in proptest::collection::vec("([a-z]{1,9}| |7|x{60,70}){0,9}", 0..6)
        ) {
            let all = texts.concat();
            let mut end = 0;
            let places: Vec<_> = texts.iter().map(|text| { end += text.len(); end - text.len()..end }).collect();
            let expected = texts.iter().map(|text| text.split(' ').take(WORDS).collect::<Vec<_>>().join(" "));
            let expected: Vec<FirstWords> =
                expected.map(|words| FirstWords { length: words.len(), has_digit: words.contains('7') }).collect();
            prop_assert_eq!(first_words(all.as_bytes(), places.into_iter()), expected);
        }

        #[test]
        fn hashes_are_those_of_the_pieces_one_by_one(
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
            cuts in proptest::collection::vec((0..300_u32, 0..40_u32), 0..150)
        ) {
            let end = bytes.len() as u32;
            let spans: Vec<TextSpan> =
                cuts.iter().map(|&(start, length)| [start.min(end), (start.min(end) + length).min(end)]).collect();
            for span @ [start, end] in spans {
                prop_assert_eq!(hash_of_span(&bytes, span), text_hash(&bytes[start as usize..end as usize]));
            }
        }
    }
}
