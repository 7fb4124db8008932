//! Finds the places where a text may hold an id, a clock time, an age or a typeset sign, 64 bytes at a time. Nearly no
//! text has one; only those that may are read character by character ([`crate::classes`]).

use std::ops::Range;
use wide_bytes::{BLOCK, Wide, WideWork, at_widest, last_block};

/// One bit per byte. Every piece of text that [`crate::classes::Classed`] would change has at least one bit set.
pub(crate) struct ClassMarks(Vec<u64>);

impl ClassMarks {
    pub(crate) fn of(text: &str) -> Self {
        at_widest(Marking(text))
    }

    /// Whether a bit is set in this range of bytes.
    pub(crate) fn any_within(&self, place: Range<usize>) -> bool {
        let Some(last) = place.end.checked_sub(1).filter(|last| *last >= place.start) else { return false };
        let (first_block, last_block) = (place.start / BLOCK, last / BLOCK);
        let from = u64::MAX << (place.start % BLOCK);
        let up_to = u64::MAX >> (BLOCK - 1 - last % BLOCK);
        if first_block == last_block {
            return self.0[first_block] & from & up_to != 0;
        }
        self.0[first_block] & from != 0
            || self.0[first_block + 1..last_block].iter().any(|marks| *marks != 0)
            || self.0[last_block] & up_to != 0
    }
}

struct Marking<'t>(&'t str);

impl WideWork for Marking<'_> {
    type Result = ClassMarks;

    #[inline(always)]
    fn at(self, wide: impl Wide) -> ClassMarks {
        let (blocks, rest) = self.0.as_bytes().as_chunks::<BLOCK>();
        let last = last_block(rest);
        let mut before = Before::default();
        let mut marks = vec![0; blocks.len() + 1];
        // Not a closure: it would not be compiled for the processor's instructions.
        for (marks, block) in marks.iter_mut().zip(blocks.iter().chain([&last])) {
            *marks = before.marks(wide, block);
        }
        ClassMarks(marks)
    }
}

/// Matches in the previous block.
#[derive(Default)]
struct Before {
    digits: u64,
    words: u64,
    ais: u64,
    s: u64,
    f: u64,
    before_ed: u64,
    ed: u64,
    a: u64,
    ag: u64,
    ef: u64,
    hyphens: u64,
}

impl Before {
    #[inline(always)]
    fn marks(&mut self, wide: impl Wide, block: &[u8; BLOCK]) -> u64 {
        let digits = wide.within(block, b'0', b'9');
        // Ids: a run of sixteen alphanumeric characters, `_` and `-` with a digit in it.
        let characters = wide.within(block, b'a', b'z') | wide.within(block, b'A', b'Z');
        let words = characters | digits | wide.equal(block, b'_') | wide.equal(block, b'-');
        let with_before = |bits, before| u128::from(bits) << BLOCK | u128::from(before);
        let (mut row, mut near_digit) = (with_before(words, self.words), with_before(digits, self.digits));
        for length in [1, 2, 4, 8] {
            row &= row << length;
            near_digit |= near_digit << length;
        }
        // Clock times: a colon after a digit.
        let times = wide.equal(block, b':') & behind(digits, &mut self.digits);
        // Ages: `ago`. Edits: words that end in `ated`, `ited`, `sted`, `shed` or `fied`.
        let ag = character(wide, block, b'g') & behind(character(wide, block, b'a'), &mut self.a);
        let ago = character(wide, block, b'o') & behind(ag, &mut self.ag);
        let (a, i, s) = (character(wide, block, b'a'), character(wide, block, b'i'), character(wide, block, b's'));
        let behind_ais = behind(a | i | s, &mut self.ais);
        let behind_s = behind(s, &mut self.s);
        let behind_f = behind(character(wide, block, b'f'), &mut self.f);
        let before_ed =
            character(wide, block, b't') & behind_ais | character(wide, block, b'h') & behind_s | i & behind_f;
        let ed = character(wide, block, b'e') & behind(before_ed, &mut self.before_ed);
        let edits = character(wide, block, b'd') & behind(ed, &mut self.ed);
        // The first UTF-8 byte of quotes, dashes and selectors that have a plain form; the second one of ligatures and
        // other selectors, whose first byte is common in Chinese. Dashes of several hyphens.
        let pairs = (wide.equal(block, 0xac) | wide.equal(block, 0xb8)) & behind(wide.equal(block, 0xef), &mut self.ef);
        let typeset = wide.equal(block, 0xe2) | wide.equal(block, 0xca) | wide.equal(block, 0xf3) | pairs;
        let hyphens = wide.equal(block, b'-');
        let dashes = hyphens & behind(hyphens, &mut self.hyphens);
        self.words = words;
        (row >> BLOCK & near_digit >> BLOCK) as u64 | times | ago | edits | typeset | dashes
    }
}

/// The places of an alphabetic character in either case.
#[inline(always)]
fn character(wide: impl Wide, block: &[u8; BLOCK], small: u8) -> u64 {
    wide.equal(block, small) | wide.equal(block, small.to_ascii_uppercase())
}

/// The bytes that follow a match, including a match at the end of the previous block.
#[inline(always)]
fn behind(found: u64, before: &mut u64) -> u64 {
    let last = std::mem::replace(before, found) >> (BLOCK - 1);
    found << 1 | last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classes::Classed;
    use proptest::prelude::*;

    #[test]
    fn a_mark_is_found_wherever_it_is() {
        for at in 0..200 {
            let text = format!("{}9:{}", " ".repeat(at), " ".repeat(200 - at));
            let marks = ClassMarks::of(&text);
            assert!(marks.any_within(0..text.len()) && marks.any_within(at + 1..at + 2), "{at}");
            assert!(!marks.any_within(0..at + 1) && !marks.any_within(at + 2..text.len()), "{at}");
            assert!(!marks.any_within(at + 1..at + 1), "{at}");
        }
        assert!(!ClassMarks::of("").any_within(0..0));
    }

    proptest! {
        #[test]
        fn what_has_no_mark_has_no_class(
            before in " {0,80}",
            text in "([0-9]{1,3}:[0-9]{2}| ?(sec|Minute|hours?)|[0-9] | AGO|a(go)?|Updated |edited|Posted|publisheD|modified \
                     |just now|today|yesterday|this week|[a-f0-9-]{8,20}|[a-z_0-9]{6,17}|’|‑|ʼ|é|ﬁ|--?|\u{fe0f}|\u{e0100}|（| ){0,6}"
        ) {
            let all = format!("{before}{text}");
            let classed = Classed::of(&text).all;
            prop_assert!(classed == text || ClassMarks::of(&all).any_within(before.len()..all.len()), "{}", text);
        }
    }
}
