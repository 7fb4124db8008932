//! Hashes of short spans of a text.

use document::splitmix64;
use std::ops::Range;
use wide_bytes::{Wide, WideWork, at_widest};

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

/// The most words per text returned by [`first_words`].
const WORDS: usize = 3;

/// The first words of each text, split at spaces, and their number per text. An empty text has one empty word. All
/// texts must end before 4 GiB.
pub(crate) fn first_words(bytes: &[u8], texts: impl Iterator<Item = Range<usize>>) -> (Vec<TextSpan>, Vec<usize>) {
    at_widest(FirstWords { bytes, texts })
}

struct FirstWords<'b, T> {
    bytes: &'b [u8],
    texts: T,
}

impl<T: Iterator<Item = Range<usize>>> WideWork for FirstWords<'_, T> {
    type Result = (Vec<TextSpan>, Vec<usize>);

    #[inline(always)]
    fn at(self, wide: impl Wide) -> Self::Result {
        let Self { bytes, texts } = self;
        let (mut words, mut counts) = (Vec::new(), Vec::new());
        for text in texts {
            let before = words.len();
            let mut from = text.start;
            while words.len() < before + WORDS - 1
                && let Some(space) = next_space(wide, bytes, from, text.end)
            {
                words.push([from as u32, space as u32]);
                from = space + 1;
            }
            let end = next_space(wide, bytes, from, text.end).unwrap_or(text.end);
            words.push([from as u32, end as u32]);
            counts.push(words.len() - before);
        }
        (words, counts)
    }
}

/// The position of the next space before `end`.
#[inline(always)]
fn next_space(wide: impl Wide, bytes: &[u8], from: usize, end: usize) -> Option<usize> {
    let spaces = bytes[from..].first_chunk().map_or(0, |block| wide.equal(block, b' '));
    let space = match spaces {
        0 => from + memchr::memchr(b' ', &bytes[from..end])?,
        _ => from + spaces.trailing_zeros() as usize,
    };
    (space < end).then_some(space)
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
            texts in proptest::collection::vec("([a-z]{1,9}| |x{60,70}){0,9}", 0..6)
        ) {
            let all = texts.concat();
            let mut end = 0;
            let places: Vec<_> = texts.iter().map(|text| { end += text.len(); end - text.len()..end }).collect();
            let (words, counts) = first_words(all.as_bytes(), places.into_iter());
            let expected: Vec<&str> = texts.iter().flat_map(|text| text.split(' ').take(WORDS)).collect();
            let found: Vec<&str> = words.iter().map(|&[from, to]| &all[from as usize..to as usize]).collect();
            prop_assert_eq!(found, expected);
            let expected: Vec<usize> = texts.iter().map(|text| text.split(' ').take(WORDS).count()).collect();
            prop_assert_eq!(counts, expected);
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
