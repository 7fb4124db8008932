//! The tokens of a text as hashes: what [`tokens`] and [`fnv1a64`](crate::fnv1a64) give, several times as fast.
//!
//! Going from token to token, a processor guesses at each where it ends, and guesses wrong. So the ends are found first,
//! 64 bytes at a time, and then the tokens are hashed side by side, eight bytes of each in one round.

use crate::hash::{FNV_START, fnv1a64_step};
use crate::lanes::{LANES, fnv1a64_steps};
use crate::tokens::tokens;

/// Appends the FNV-1a hash of each token of a text, in order. `edges` is memory to work with.
pub(crate) fn token_hashes(text: &str, edges: &mut Vec<usize>, hashes: &mut Vec<u64>) {
    edges.clear();
    find_edges(text.as_bytes(), edges);
    if !text.is_ascii() {
        *edges = split_at_other_scripts(text, edges);
    }
    let (spans, _) = edges.as_chunks::<2>();
    let first = hashes.len();
    hashes.resize(first + spans.len(), FNV_START);
    hash_spans(text.as_bytes(), spans, &mut hashes[first..]);
}

/// Where runs of letters, digits and non-ASCII bytes begin and end, in turns. No token reaches beyond its run.
fn find_edges(bytes: &[u8], edges: &mut Vec<usize>) {
    let mut found = [0; 64];
    let mut inside = 0;
    let (blocks, rest) = bytes.as_chunks::<64>();
    let mut last = [0; 64];
    last[..rest.len()].copy_from_slice(rest);
    for (number, block) in blocks.iter().chain([&last]).enumerate() {
        let runs = run_mask(block);
        let mut changes = runs ^ (runs << 1 | inside);
        inside = runs >> 63;
        let mut count = 0;
        while changes != 0 {
            found[count] = 64 * number + changes.trailing_zeros() as usize;
            count += 1;
            changes &= changes - 1;
        }
        edges.extend_from_slice(&found[..count]);
    }
}

/// A bit for each byte that is an ASCII letter or digit, or part of another character; the first byte's is the lowest.
#[cfg(target_arch = "x86_64")]
fn run_mask(block: &[u8; 64]) -> u64 {
    // SAFETY: a safe function but for SSE2 instructions, which every x86-64 processor has.
    unsafe { run_mask_sse2(block) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
fn run_mask_sse2(block: &[u8; 64]) -> u64 {
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
        u64::from(_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(letters, digits), bytes)) as u32)
    };
    let (quarters, _) = block.as_chunks::<16>();
    quarters.iter().rev().fold(0, |runs, quarter| runs << 16 | mask(quarter))
}

#[cfg(not(target_arch = "x86_64"))]
fn run_mask(block: &[u8; 64]) -> u64 {
    let is_in_run = |byte: u8| u64::from(byte.is_ascii_alphanumeric() || !byte.is_ascii());
    block.iter().rev().fold(0, |runs, &byte| runs << 1 | is_in_run(byte))
}

/// Divides the runs that have other than ASCII characters into their tokens.
fn split_at_other_scripts(text: &str, edges: &[usize]) -> Vec<usize> {
    let mut split = Vec::with_capacity(2 * edges.len());
    for &[start, end] in edges.as_chunks::<2>().0 {
        let run = &text[start..end];
        if run.is_ascii() {
            split.extend([start, end]);
            continue;
        }
        for token in tokens(run) {
            let start = token.as_ptr().addr() - text.as_ptr().addr();
            split.extend([start, start + token.len()]);
        }
    }
    split
}

/// The hash of each span, begun at [`FNV_START`]: two rounds of eight bytes side by side, and the few longer ones alone.
fn hash_spans(bytes: &[u8], spans: &[[usize; 2]], hashes: &mut [u64]) {
    let mut longer = [0; LANES];
    let mut waiting = 0;
    for (number, group) in spans.chunks(LANES).enumerate() {
        let first = number * LANES;
        let everyone: [usize; LANES] = std::array::from_fn(|lane| first + lane);
        hash_round(bytes, spans, hashes, &everyone[..group.len()], 0);
        for (index, span) in group.iter().enumerate() {
            if waiting == LANES {
                hash_rest(bytes, spans, hashes, &longer);
                waiting = 0;
            }
            longer[waiting] = first + index;
            waiting += usize::from(span[1] - span[0] > 8);
        }
    }
    hash_rest(bytes, spans, hashes, &longer[..waiting]);
}

/// What spans longer than eight bytes have beyond these.
fn hash_rest(bytes: &[u8], spans: &[[usize; 2]], hashes: &mut [u64], longer: &[usize]) {
    hash_round(bytes, spans, hashes, longer, 8);
    for &index in longer {
        let [start, end] = spans[index];
        if end - start > 16 {
            hashes[index] = bytes[start + 16..end].iter().fold(hashes[index], |h, &byte| fnv1a64_step(h, byte.into()));
        }
    }
}

/// Takes eight bytes of each chosen span into its hash, from `offset` on. No more than [`LANES`] are chosen.
fn hash_round(bytes: &[u8], spans: &[[usize; 2]], hashes: &mut [u64], chosen: &[usize], offset: usize) {
    let mut states = [0; LANES];
    let mut words = [0; LANES];
    let mut lengths = [0; LANES];
    for (lane, &index) in chosen.iter().enumerate() {
        let [start, end] = spans[index];
        states[lane] = hashes[index];
        words[lane] = eight_bytes(bytes, start + offset);
        lengths[lane] = (end - start - offset) as u64;
    }
    fnv1a64_steps(&mut states, &words, &lengths);
    for (lane, &index) in chosen.iter().enumerate() {
        hashes[index] = states[lane];
    }
}

/// Eight bytes, with zeros after the end.
#[inline(always)]
fn eight_bytes(bytes: &[u8], at: usize) -> u64 {
    match bytes[at..].first_chunk() {
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
        token_hashes(text, &mut Vec::new(), &mut hashes);
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
