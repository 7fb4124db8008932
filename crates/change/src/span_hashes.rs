//! FNV-1a of many short pieces of a text: they are hashed side by side, eight bytes of each in one round.

use crate::lanes::{LANES, fnv1a64_each};
use document::{FNV_START, fnv1a64_step};
use std::ops::Range;
use wide_bytes::{BLOCK, Wide, Work, at_widest};

/// A piece of a text: where it begins and where it ends.
pub(crate) type Span = [u32; 2];

/// The hash of each piece.
pub(crate) fn fnv1a64_of_spans(bytes: &[u8], spans: &[Span]) -> Vec<u64> {
    let mut hashes = vec![FNV_START; spans.len()];
    at_widest(Hashing { bytes, spans, hashes: &mut hashes });
    hashes
}

struct Hashing<'b, 'h> {
    bytes: &'b [u8],
    spans: &'b [Span],
    hashes: &'h mut [u64],
}

impl Work for Hashing<'_, '_> {
    type Result = ();

    #[inline(always)]
    fn at(self, wide: impl Wide) {
        hash_spans(wide, self.bytes, self.spans, self.hashes);
    }
}

/// The most words given of a text by [`first_words`].
const WORDS: usize = 3;

/// The first words of each text, which stand between spaces, and how many they are. Of no text there is one, which is
/// empty. All must end before 4 GiB.
pub(crate) fn first_words(bytes: &[u8], texts: impl Iterator<Item = Range<usize>>) -> (Vec<Span>, Vec<usize>) {
    at_widest(FirstWords { bytes, texts })
}

struct FirstWords<'b, T> {
    bytes: &'b [u8],
    texts: T,
}

impl<T: Iterator<Item = Range<usize>>> Work for FirstWords<'_, T> {
    type Result = (Vec<Span>, Vec<usize>);

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

/// The place of the next space before an end.
#[inline(always)]
fn next_space(wide: impl Wide, bytes: &[u8], from: usize, end: usize) -> Option<usize> {
    let spaces = bytes[from..].first_chunk().map_or(0, |block| wide.equal(block, b' '));
    let space = match spaces {
        0 => from + memchr::memchr(b' ', &bytes[from..end])?,
        _ => from + spaces.trailing_zeros() as usize,
    };
    (space < end).then_some(space)
}

/// The hash of each span, begun at [`FNV_START`]: two rounds of eight bytes side by side, and the few longer ones alone.
#[inline(always)]
pub(crate) fn hash_spans(wide: impl Wide, bytes: &[u8], spans: &[Span], hashes: &mut [u64]) {
    // Of those not yet at their end: fewer than it takes for a round, and room for what one group has.
    let mut longer = [0; LANES + BLOCK];
    let mut waiting = 0;
    for (number, group) in spans.chunks(LANES).enumerate() {
        let first = number * LANES;
        let begun = &mut hashes[first..first + group.len()];
        let is_longer = match (group.first_chunk(), begun.first_chunk_mut()) {
            (Some(group), Some(begun)) => hash_beginnings(bytes, group, begun),
            _ => {
                let (mut last, mut states) = ([[0; 2]; LANES], [FNV_START; LANES]);
                last[..group.len()].copy_from_slice(group);
                let is_longer = hash_beginnings(bytes, &last, &mut states);
                begun.copy_from_slice(&states[..group.len()]);
                is_longer
            }
        };
        let room = longer[waiting..].first_chunk_mut().expect("fewer wait than a round takes");
        waiting += wide.places(is_longer, first as u32, room);
        if waiting >= LANES {
            waiting -= LANES;
            hash_rest(bytes, spans, hashes, &longer[waiting..waiting + LANES]);
        }
    }
    hash_rest(bytes, spans, hashes, &longer[..waiting]);
}

/// Takes the first eight bytes of spans into their hashes. Returns which are longer, a bit each.
#[inline(always)]
fn hash_beginnings(bytes: &[u8], spans: &[Span; LANES], hashes: &mut [u64; LANES]) -> u64 {
    let mut words = [0; LANES];
    let mut lengths = [0; LANES];
    for ((word, length), &[start, end]) in words.iter_mut().zip(&mut lengths).zip(spans) {
        *word = eight_bytes(bytes, start as usize);
        *length = u64::from(end - start);
    }
    fnv1a64_each(hashes, &words, &lengths);
    lengths.iter().enumerate().fold(0, |bits, (lane, &length)| bits | u64::from(length > 8) << lane)
}

/// What the chosen spans, no more than [`LANES`], have beyond their first eight bytes.
#[inline(always)]
fn hash_rest(bytes: &[u8], spans: &[Span], hashes: &mut [u64], chosen: &[u32]) {
    if chosen.is_empty() {
        return;
    }
    let mut states = [0; LANES];
    let mut words = [0; LANES];
    let mut lengths = [0; LANES];
    for (lane, &index) in chosen.iter().enumerate() {
        let [start, end] = spans[index as usize];
        states[lane] = hashes[index as usize];
        words[lane] = eight_bytes(bytes, start as usize + 8);
        lengths[lane] = u64::from(end - start - 8);
    }
    fnv1a64_each(&mut states, &words, &lengths);
    for (lane, &index) in chosen.iter().enumerate() {
        let [start, end] = spans[index as usize];
        let beyond = bytes.get(start as usize + 16..end as usize).unwrap_or_default();
        hashes[index as usize] = beyond.iter().fold(states[lane], |hash, &byte| fnv1a64_step(hash, byte.into()));
    }
}

/// Eight bytes, with zeros after the end.
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
    use document::fnv1a64;
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
            let spans: Vec<Span> =
                cuts.iter().map(|&(start, length)| [start.min(end), (start.min(end) + length).min(end)]).collect();
            let expected: Vec<u64> =
                spans.iter().map(|&[start, end]| fnv1a64(&bytes[start as usize..end as usize])).collect();
            prop_assert_eq!(fnv1a64_of_spans(&bytes, &spans), expected);
        }
    }
}
