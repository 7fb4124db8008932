//! The tokens of a text as hashes: the lower halves of their [`text_hash`], but several times as fast as one by one.
//!
//! Walking token by token mispredicts the branch at the end of each. So the ends are found first, 64 bytes at a time,
//! and the tokens are hashed afterwards.

use crate::span_hashes::{TextSpan, eight_bytes, hash_of_span};
use crate::tokens::tokens;
use document::text_hash;
use wide_bytes::{BLOCK, Wide, WideWork, at_widest, last_block};

/// About how long a token is, with the space behind it. Most texts have fewer for their length.
const TOKEN_BYTES: usize = 5;

/// Buffers, reused for the next text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    /// Starts and ends of runs, alternating. Longer than the number of runs: the rest is spare room.
    edges: Vec<u32>,
    /// Spans of the tokens, where they differ from the runs.
    spans: Vec<TextSpan>,
    /// Starts of the blocks with non-ASCII characters that need a closer look.
    foreign_blocks: Vec<usize>,
}

/// Appends the hash of each token of a text, in order.
pub(crate) fn token_hashes(text: &str, scratch: &mut Scratch, hashes: &mut Vec<u32>) {
    if u32::try_from(text.len()).is_err() {
        // Positions are stored in 32 bits.
        return hashes.extend(tokens(text).map(|token| text_hash(token.as_bytes()) as u32));
    }
    at_widest(Hashing { text, scratch, hashes });
}

struct Hashing<'t, 's> {
    text: &'t str,
    scratch: &'s mut Scratch,
    hashes: &'s mut Vec<u32>,
}

impl WideWork for Hashing<'_, '_> {
    type Result = ();

    #[inline(always)]
    fn at(self, wide: impl Wide) {
        let Self { text, scratch, hashes } = self;
        let count = find_edges(wide, text.as_bytes(), scratch);
        let spans = if scratch.foreign_blocks.is_empty() {
            scratch.edges[..count].as_chunks().0
        } else {
            split_foreign_runs(text, count, scratch)
        };
        hashes.reserve(spans.len());
        hashes.extend(spans.iter().map(|&span| hash_of_span(text.as_bytes(), span) as u32));
    }
}

/// Finds runs of alphabetic characters, digits and non-ASCII bytes. Returns the number of edges. No token reaches beyond its run.
#[inline(always)]
fn find_edges(wide: impl Wide, bytes: &[u8], scratch: &mut Scratch) -> usize {
    let Scratch { edges, foreign_blocks, .. } = scratch;
    foreign_blocks.clear();
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let last = last_block(rest);
    let (mut count, mut inside, mut before) = (0, 0, Foreign::default());
    for (number, block) in blocks.iter().chain([&last]).enumerate() {
        let start = BLOCK * number;
        let mut foreign = wide.beyond_ascii(block);
        if foreign != 0 {
            let (known, beyond) = Foreign::of(wide, block, &bytes[start..]);
            foreign &= !(known.punctuation | before.punctuation);
            if foreign & !(known.characters | before.characters) != 0 {
                foreign_blocks.push(start);
            }
            before = beyond;
        }
        let characters = wide.within(block, b'a', b'z') | wide.within(block, b'A', b'Z');
        let runs = characters | wide.within(block, b'0', b'9') | foreign;
        let ends = runs ^ (runs << 1 | inside);
        inside = runs >> (BLOCK - 1);
        if edges.len() < count + BLOCK {
            edges.resize((2 * edges.len()).max(BLOCK + 2 * bytes.len() / TOKEN_BYTES), 0);
        }
        let room = edges[count..].first_chunk_mut().expect("there is room for a block");
        count += wide.places(ends, start as u32, room);
    }
    count
}

/// The bytes of a block that belong to common non-ASCII characters.
#[derive(Clone, Copy, Debug, Default)]
struct Foreign {
    /// Never part of a token: U+2000 to U+203F, and the most common of U+00A0 to U+00BF.
    punctuation: u64,
    /// Always part of a word: the alphabetic characters of U+00C0 to U+017F, and U+0400 to U+047F.
    characters: u64,
}

impl Foreign {
    /// The characters of a block, and their bytes in the next one, into which the last character may reach. `rest` is
    /// the text from the block on.
    #[inline(always)]
    fn of(wide: impl Wide, block: &[u8; BLOCK], rest: &[u8]) -> (Self, Self) {
        let mut moved = [0; BLOCK];
        let behind = &rest[1..rest.len().min(BLOCK + 1)];
        moved[..behind.len()].copy_from_slice(behind);
        // `moved` holds each second byte at the position of its first.
        let three = u128::from(wide.equal(block, 0xe2) & wide.equal(&moved, 0x80));
        let mut two = wide.equal(block, 0xc2);
        if two != 0 {
            let marks = b"\xa7\xa9\xab\xac\xae\xb0\xb1\xb6\xb7\xbb".map(|second| wide.equal(&moved, second));
            two &= marks.into_iter().fold(0, |one, other| one | other);
        }
        let two = u128::from(two);
        let punctuation = two | two << 1 | three | three << 1 | three << 2;
        // × and ÷ lie in the range of the alphabetic characters.
        let signs = wide.equal(&moved, 0x97) | wide.equal(&moved, 0xb7);
        let mut characters = wide.equal(block, 0xc3) & !signs;
        for first in [0xc4, 0xc5, 0xd0, 0xd1] {
            characters |= wide.equal(block, first);
        }
        let characters = u128::from(characters) | u128::from(characters) << 1;
        let [here, behind] = [0, BLOCK]
            .map(|from| Self { punctuation: (punctuation >> from) as u64, characters: (characters >> from) as u64 });
        (here, behind)
    }
}

/// Splits the runs with non-ASCII characters into tokens.
fn split_foreign_runs<'s>(text: &str, edges: usize, scratch: &'s mut Scratch) -> &'s [TextSpan] {
    let Scratch { edges: all, spans, foreign_blocks } = scratch;
    spans.clear();
    let mut runs = all[..edges].as_chunks::<2>().0;
    for &block in &*foreign_blocks {
        let before = runs.iter().take_while(|[_, end]| *end as usize <= block).count();
        let (before, rest) = runs.split_at(before);
        let within = rest.iter().take_while(|[start, _]| (*start as usize) < block + BLOCK).count();
        let (within, rest) = rest.split_at(within);
        spans.extend_from_slice(before);
        within.iter().for_each(|&run| split(text, run, spans));
        runs = rest;
    }
    spans.extend_from_slice(runs);
    spans
}

fn split(text: &str, run: TextSpan, spans: &mut Vec<TextSpan>) {
    let [start, end] = run.map(|place| place as usize);
    if is_ascii(text.as_bytes(), start, end) {
        return spans.push(run);
    }
    for token in tokens(&text[start..end]) {
        let start = token.as_ptr().addr() - text.as_ptr().addr();
        spans.push([start as u32, (start + token.len()) as u32]);
    }
}

/// Whether a non-empty run is ASCII only. Runs are short, so the standard library's method for long slices would take
/// longer.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str) {
        let mut hashes = vec![7];
        token_hashes(text, &mut Scratch::default(), &mut hashes);
        let own = tokens(text).map(|token| text_hash(token.as_bytes()) as u32);
        let expected: Vec<u32> = [7].into_iter().chain(own).collect();
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

    #[test]
    fn every_common_character_beyond_ascii_is_in_a_run_or_not_as_for_tokens() {
        for character in ('\u{80}'..'\u{500}').chain('\u{2000}'..'\u{2100}') {
            for length in [1, 40, 61, 62, 63, 64] {
                check(&format!("{}{character}b{character}{character}", "a".repeat(length)));
            }
        }
    }

    proptest! {
        #[test]
        fn hashes_are_those_of_the_tokens(text in "([a-zA-Z0-9]{0,20}[ .,\n’–¶«]{0,2}|[é网页カ한हिन्दी。]{0,4}|[’”²ª\u{203f}\u{2071}¶]){0,60}") {
            check(&text);
        }

        #[test]
        fn hashes_of_any_text_are_those_of_its_tokens(text in "\\PC{0,200}") {
            check(&text);
        }
    }
}
