//! The tokens of a text as hashes: what [`tokens`] and [`fnv1a64`](crate::fnv1a64) give, several times as fast.
//!
//! Going from token to token, a processor guesses at each where it ends, and guesses wrong. So the ends are found first,
//! 64 bytes at a time, and then the tokens are hashed side by side, eight bytes of each in one round.

use crate::hash::{FNV_START, fnv1a64_step};
use crate::lanes::{LANES, fnv1a64_steps};
use crate::tokens::tokens;

/// Memory to work with, used again for the next text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    /// Where runs begin and end, in turns.
    edges: Vec<usize>,
    /// The same of tokens, where they are not the runs.
    token_edges: Vec<usize>,
    /// Where the blocks of 64 bytes begin that have other than ASCII characters.
    foreign_blocks: Vec<usize>,
}

/// Appends the FNV-1a hash of each token of a text, in order.
pub(crate) fn token_hashes(text: &str, scratch: &mut Scratch, hashes: &mut Vec<u64>) {
    find_edges(text.as_bytes(), scratch);
    let edges =
        if scratch.foreign_blocks.is_empty() { scratch.edges.as_slice() } else { split_foreign_runs(text, scratch) };
    let (spans, _) = edges.as_chunks::<2>();
    let first = hashes.len();
    hashes.resize(first + spans.len(), FNV_START);
    hash_spans(text.as_bytes(), spans, &mut hashes[first..]);
}

/// Finds runs of letters, digits and non-ASCII bytes. No token reaches beyond its run.
fn find_edges(bytes: &[u8], scratch: &mut Scratch) {
    let Scratch { edges, foreign_blocks, .. } = scratch;
    edges.clear();
    foreign_blocks.clear();
    let mut found = [0; 64];
    let mut inside = 0;
    let (blocks, rest) = bytes.as_chunks::<64>();
    let mut last = [0; 64];
    last[..rest.len()].copy_from_slice(rest);
    for (number, block) in blocks.iter().chain([&last]).enumerate() {
        let start = 64 * number;
        let (runs, has_foreign) = run_mask(block);
        if has_foreign {
            foreign_blocks.push(start);
        }
        let mut changes = runs ^ (runs << 1 | inside);
        inside = runs >> 63;
        let mut count = 0;
        while changes != 0 {
            found[count] = start + changes.trailing_zeros() as usize;
            count += 1;
            changes &= changes - 1;
        }
        // Copying as many as there could be is faster than copying as many as there are.
        let length = edges.len();
        edges.extend_from_slice(&found);
        edges.truncate(length + count);
    }
}

/// A bit for each byte that is an ASCII letter or digit, or part of another character, the first byte's the lowest; and
/// whether there are others.
#[cfg(target_arch = "x86_64")]
fn run_mask(block: &[u8; 64]) -> (u64, bool) {
    // SAFETY: a safe function but for SSE2 instructions, which every x86-64 processor has.
    unsafe { run_mask_sse2(block) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
fn run_mask_sse2(block: &[u8; 64]) -> (u64, bool) {
    use std::arch::x86_64::*;
    // Bytes can only be compared as signed numbers: what is below an upper bound after moving the lower one to −128.
    let between = |bytes, low: u8, count: i8| {
        let moved = _mm_add_epi8(bytes, _mm_set1_epi8(0x80u8.wrapping_sub(low) as i8));
        _mm_cmplt_epi8(moved, _mm_set1_epi8(i8::MIN + count))
    };
    let mask = |bytes: &[u8; 16]| {
        let halves = u128::from_le_bytes(*bytes);
        let bytes = _mm_set_epi64x((halves >> 64) as i64, halves as i64);
        let letters = between(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), b'a', 26);
        let digits = between(bytes, b'0', 10);
        // The highest bit of each byte counts, which a non-ASCII byte has by itself.
        let runs = _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(letters, digits), bytes));
        (u64::from(runs as u32), _mm_movemask_epi8(bytes))
    };
    let (quarters, _) = block.as_chunks::<16>();
    let (runs, foreign) = quarters.iter().rev().fold((0, 0), |(runs, foreign), quarter| {
        let (more_runs, more_foreign) = mask(quarter);
        (runs << 16 | more_runs, foreign | more_foreign)
    });
    (runs, foreign != 0)
}

#[cfg(not(target_arch = "x86_64"))]
fn run_mask(block: &[u8; 64]) -> (u64, bool) {
    let is_in_run = |byte: u8| u64::from(byte.is_ascii_alphanumeric() || !byte.is_ascii());
    (block.iter().rev().fold(0, |runs, &byte| runs << 1 | is_in_run(byte)), !block.is_ascii())
}

/// Divides the runs that have other than ASCII characters into their tokens.
fn split_foreign_runs<'s>(text: &str, scratch: &'s mut Scratch) -> &'s [usize] {
    let Scratch { edges, token_edges, foreign_blocks } = scratch;
    token_edges.clear();
    let mut blocks = foreign_blocks.iter().peekable();
    for span in edges.as_chunks::<2>().0 {
        let [start, end] = *span;
        while blocks.next_if(|&&block| block + 64 <= start).is_some() {}
        let in_foreign_block = blocks.peek().is_some_and(|&&block| block < end);
        if !in_foreign_block || is_ascii(text.as_bytes(), start, end) {
            token_edges.extend_from_slice(span);
            continue;
        }
        for token in tokens(&text[start..end]) {
            let start = token.as_ptr().addr() - text.as_ptr().addr();
            token_edges.extend_from_slice(&[start, start + token.len()]);
        }
    }
    token_edges
}

/// Whether a run, which is not empty, has ASCII characters only. Runs are short, so the standard library's way for long
/// slices would take longer.
#[inline(always)]
fn is_ascii(bytes: &[u8], start: usize, end: usize) -> bool {
    const HIGHEST_BITS: u64 = 0x8080_8080_8080_8080;
    let mut at = start;
    while at + 8 < end {
        if eight_bytes(bytes, at) & HIGHEST_BITS != 0 {
            return false;
        }
        at += 8;
    }
    (eight_bytes(bytes, at) & HIGHEST_BITS) << (8 * (at + 8 - end)) == 0
}

/// The hash of each span, begun at [`FNV_START`]: two rounds of eight bytes side by side, and the few longer ones alone.
fn hash_spans(bytes: &[u8], spans: &[[usize; 2]], hashes: &mut [u64]) {
    let mut longer = [0; 2 * LANES];
    let mut waiting = 0;
    for (number, group) in spans.chunks(LANES).enumerate() {
        let first = number * LANES;
        hash_beginnings(bytes, group, &mut hashes[first..first + group.len()]);
        for (index, [start, end]) in group.iter().enumerate() {
            longer[waiting] = first + index;
            waiting += usize::from(end - start > 8);
        }
        if waiting >= LANES {
            waiting -= LANES;
            hash_rest(bytes, spans, hashes, &longer[waiting..waiting + LANES]);
        }
    }
    hash_rest(bytes, spans, hashes, &longer[..waiting]);
}

/// The hashes of the first eight bytes of spans, no more than [`LANES`].
fn hash_beginnings(bytes: &[u8], spans: &[[usize; 2]], hashes: &mut [u64]) {
    let mut states = [FNV_START; LANES];
    let mut words = [0; LANES];
    let mut lengths = [0; LANES];
    for ((word, length), &[start, end]) in words.iter_mut().zip(&mut lengths).zip(spans) {
        *word = eight_bytes(bytes, start);
        *length = (end - start) as u64;
    }
    fnv1a64_steps(&mut states, &words, &lengths);
    hashes.copy_from_slice(&states[..spans.len()]);
}

/// What the chosen spans, no more than [`LANES`], have beyond their first eight bytes.
fn hash_rest(bytes: &[u8], spans: &[[usize; 2]], hashes: &mut [u64], chosen: &[usize]) {
    let mut states = [0; LANES];
    let mut words = [0; LANES];
    let mut lengths = [0; LANES];
    for (lane, &index) in chosen.iter().enumerate() {
        let [start, end] = spans[index];
        states[lane] = hashes[index];
        words[lane] = eight_bytes(bytes, start + 8);
        lengths[lane] = (end - start - 8) as u64;
    }
    fnv1a64_steps(&mut states, &words, &lengths);
    for (lane, &index) in chosen.iter().enumerate() {
        let [start, end] = spans[index];
        let beyond = bytes.get(start + 16..end).unwrap_or_default();
        hashes[index] = beyond.iter().fold(states[lane], |hash, &byte| fnv1a64_step(hash, byte.into()));
    }
}

/// Eight bytes, with zeros after the end.
#[inline(always)]
fn eight_bytes(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..at + 8).and_then(|eight| eight.first_chunk()) {
        Some(eight) => u64::from_le_bytes(*eight),
        None => bytes[at..].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::fnv1a64;
    use proptest::prelude::*;

    fn check(text: &str) {
        let mut hashes = vec![7];
        token_hashes(text, &mut Scratch::default(), &mut hashes);
        let expected: Vec<u64> = [7].into_iter().chain(tokens(text).map(|token| fnv1a64(token.as_bytes()))).collect();
        assert_eq!(hashes, expected, "{text:?}");
    }

    #[test]
    fn runs_across_blocks_and_at_the_end_are_whole() {
        for length in 0..200 {
            check(&"x".repeat(length));
            check(&format!("{} y", "z".repeat(length)));
            check(&"ab ".repeat(length));
            check(&format!("{}é网页 tail", "a ".repeat(length)));
        }
    }

    #[test]
    fn every_ascii_character_is_in_a_run_or_not_as_for_tokens() {
        for byte in 0..128u8 {
            check(&format!("a{}b", byte as char));
        }
    }

    proptest! {
        #[test]
        fn hashes_are_those_of_the_tokens(text in "([a-zA-Z0-9]{0,20}[ .,\n]{0,2}|[é网页カ한हिन्दी。]{0,4}){0,60}") {
            check(&text);
        }

        #[test]
        fn hashes_of_any_text_are_those_of_its_tokens(text in "\\PC{0,200}") {
            check(&text);
        }
    }
}
