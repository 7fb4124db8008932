//! Builds text as a reader sees it: whitespace folded, one line per block, bounded.

use crate::entities;
use std::borrow::Cow;
use wide_bytes::{Folded, PIECE, Wide, WideWork, at_widest, text_of};

/// Spare room after a text. A piece and its separator may use it before their length is known.
const SLACK: usize = PIECE + 2;

/// How far ahead of need the buffer is cleared.
const CLEARED_AHEAD: usize = 4096;

/// Collects pieces of text. Whitespace between words becomes one space, or one line end after a block.
#[derive(Debug, Default)]
pub struct TextBuilder {
    /// Longer than the text; the rest is spare room.
    text: Vec<u8>,
    length: usize,
    /// No separator is added at this position.
    start: usize,
    gap: Gap,
    limit: usize,
    truncated: bool,
}

/// The separator between the text so far and the next word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gap(u8);

impl Gap {
    pub const NOTHING: Self = Self(0);
    pub const SPACE: Self = Self(1);
    /// The end of a line.
    pub const LINE: Self = Self(3);

    /// The stronger of the two gaps: the union of their bits.
    #[inline(always)]
    fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[inline(always)]
    fn byte(self) -> u8 {
        u32::from_le_bytes(*b"   \n").wrapping_shr(8 * u32::from(self.0)) as u8
    }
}

impl TextBuilder {
    /// A builder that keeps at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Separates the next text from the text so far.
    pub fn separate(&mut self, gap: Gap) {
        self.gap = self.gap.with(gap);
    }

    /// Like [`new`](Self::new), with capacity for `bytes`, so that the text need not move as it grows.
    pub fn with_room(limit: usize, bytes: usize) -> Self {
        Self { text: Vec::with_capacity(bytes.min(limit) + SLACK), ..Self::new(limit) }
    }

    /// Ends the line, unless it is empty. Whitespace before the next text is ignored.
    pub fn begin_line(&mut self) {
        if self.length != self.start {
            self.append(b"\n");
        }
        self.start = self.length;
        self.gap = Gap::NOTHING;
    }

    /// Adds text, folding its whitespace.
    pub fn push(&mut self, text: &str) {
        at_widest(Push { builder: self, text });
    }

    /// Appends the range of a page. Copying is faster because it may read past `end`.
    #[inline(always)]
    pub(crate) fn push_within(
        &mut self,
        wide: impl Wide,
        page: &str,
        start: usize,
        end: usize,
        references: References,
    ) {
        // No reference decodes to more than twice its length.
        let most = self.length + 2 * (end - start) + SLACK;
        if most > self.text.len() && !self.make_room(most) {
            return self.push_bounded(&page[start..end], references);
        }
        let bytes = page.as_bytes();
        let mut at = start;
        while at < end {
            let piece = match bytes[at..].first_chunk() {
                Some(piece) => piece,
                None => &last_piece(&bytes[at..]),
            };
            let folded = self.push_piece(wide, piece, end - at, references);
            at += folded.read;
            if folded.is_special {
                at += self.push_special(&page[at..end]);
            }
        }
    }

    /// Appends the start of a piece, up to the first byte that needs more than folding.
    #[inline(always)]
    fn push_piece(&mut self, wide: impl Wide, piece: &[u8; PIECE], left: usize, references: References) -> Folded {
        let room: &mut [u8; PIECE + 1] =
            self.text[self.length..].first_chunk_mut().expect("the buffer is longer than the text by one piece");
        let folded = wide.fold(piece, left, references == References::Decoded);
        // The separator is written even if it does not count. A branch on the next byte of a page would be mispredicted
        // often.
        let before = self.gap.with(Gap(u8::from(folded.start > 0)));
        let separated = usize::from(before != Gap::NOTHING) & usize::from(self.length != self.start);
        room[0] = before.byte();
        wide.write(piece, folded.start, room[separated..].first_chunk_mut().expect("a separator is one byte"));
        let is_text = folded.written > 0;
        self.length += if is_text { separated + folded.written } else { 0 };
        self.gap = if is_text { Gap(u8::from(folded.trails)) } else { before };
        folded
    }

    /// Appends the character reference or white space at the start of a text, and returns its length.
    #[cold]
    fn push_special(&mut self, text: &str) -> usize {
        if text.starts_with('&') {
            return self.push_reference(text);
        }
        self.separate(Gap::SPACE);
        text.chars().next().map_or(0, char::len_utf8)
    }

    /// Makes room for `bytes` in all. Returns false if that exceeds the limit.
    #[cold]
    fn make_room(&mut self, bytes: usize) -> bool {
        // The slack includes one byte for the separator.
        let most = self.limit + SLACK - 1;
        let fits = !self.truncated && bytes <= most;
        if fits {
            // Only a little more than needed: freshly cleared memory is still in cache when it is written.
            let ahead = self.text.capacity().min(bytes + CLEARED_AHEAD).min(most);
            self.text.resize(ahead.max(bytes), 0);
        }
        fits
    }

    /// Appends the character of a reference, and returns the reference's length.
    fn push_reference(&mut self, text: &str) -> usize {
        let (reference, _) = text.split_at(entities::reference_length(text));
        match entities::common(reference) {
            Some(character) => self.push_character(character),
            None => entities::decode(reference).chars().for_each(|character| self.push_character(character)),
        }
        reference.len()
    }

    fn push_character(&mut self, character: char) {
        if character.is_whitespace() {
            return self.separate(Gap::SPACE);
        }
        self.end_gap();
        self.append(character.encode_utf8(&mut [0; 4]).as_bytes());
    }

    fn end_gap(&mut self) {
        let gap = std::mem::take(&mut self.gap);
        if gap != Gap::NOTHING && self.length != self.start {
            self.append(&[gap.byte()]);
        }
    }

    fn append(&mut self, bytes: &[u8]) {
        let end = self.length + bytes.len();
        if end > self.text.len() {
            self.text.resize(end, 0);
        }
        self.text[self.length..end].copy_from_slice(bytes);
        self.length = end;
    }

    /// Appends text word by word, up to the limit.
    fn push_bounded(&mut self, text: &str, references: References) {
        let text = match references {
            References::Kept => text.into(),
            References::Decoded => entities::decode(text),
        };
        if text.starts_with(char::is_whitespace) {
            self.separate(Gap::SPACE);
        }
        for word in text.split_whitespace() {
            self.truncated |= self.length + 1 + word.len() > self.limit;
            if self.truncated {
                // Without spare room, nothing more is added.
                self.text.truncate(self.length);
                return;
            }
            self.end_gap();
            self.append(word.as_bytes());
            self.gap = Gap::SPACE;
        }
        // If the text had no words, the gap before it stays.
        if text.ends_with(|last: char| !last.is_whitespace()) {
            self.gap = Gap::NOTHING;
        }
    }

    /// Appends text with each line as a block.
    pub fn push_lines(&mut self, text: &str) {
        for line in text.lines() {
            self.push(line);
            self.separate(Gap::LINE);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Whether white space separates the next text from the text so far.
    pub(crate) fn has_gap(&self) -> bool {
        self.gap != Gap::NOTHING
    }

    /// Appends a sign right behind the text so far, and the next text right behind the sign.
    pub(crate) fn push_joined(&mut self, sign: char) {
        self.gap = Gap::NOTHING;
        if !self.truncated {
            self.append(sign.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }

    /// Takes up to this many bytes more than its limit from now on.
    pub(crate) fn make_room_behind_limit(&mut self, bytes: usize) {
        (self.limit, self.truncated) = (self.length + bytes, false);
    }

    pub(crate) fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// The text so far behind a position.
    pub(crate) fn behind(&self, start: usize) -> Cow<'_, str> {
        String::from_utf8_lossy(self.text[..self.length].get(start..).unwrap_or_default())
    }

    /// Returns the text, and whether it was truncated.
    pub fn finish(mut self) -> (String, bool) {
        self.text.truncate(self.length);
        self.text.shrink_to_fit();
        (text_of(self.text), self.truncated)
    }
}

/// How character references in a text are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum References {
    /// As ordinary text.
    Kept,
    /// Decoded to characters.
    Decoded,
}

/// The last bytes of a page, padded with zeros.
#[cold]
fn last_piece(rest: &[u8]) -> [u8; PIECE] {
    let mut piece = [0; PIECE];
    piece[..rest.len()].copy_from_slice(rest);
    piece
}

struct Push<'b, 't> {
    builder: &'b mut TextBuilder,
    text: &'t str,
}

impl WideWork for Push<'_, '_> {
    type Result = ();

    #[inline(always)]
    fn at(self, wide: impl Wide) {
        self.builder.push_within(wide, self.text, 0, self.text.len(), References::Kept);
    }
}

/// The longest prefix of at most `limit` bytes that ends between two characters.
pub fn prefix(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wide_bytes::EightBytes;

    #[test]
    fn whitespace_folds_to_the_strongest_gap() {
        let mut builder = TextBuilder::new(100);
        builder.push("  a \n\t b");
        builder.push("c ");
        builder.separate(Gap::LINE);
        builder.push(" d\u{a0}\u{3000}é");
        assert_eq!(builder.finish(), ("a bc\nd é".to_owned(), false));
    }

    #[test]
    fn text_stops_at_its_limit() {
        let mut builder = TextBuilder::new(10);
        builder.push("one two three four");
        builder.push("x");
        assert_eq!(builder.finish(), ("one two".to_owned(), true));
        let mut builder = TextBuilder::new(5_000);
        builder.push(&"word ".repeat(2_000));
        let (text, truncated) = builder.finish();
        assert!((3_500..5_000).contains(&text.len()) && truncated && text.ends_with("word"));
    }

    proptest! {
        #[test]
        fn folding_agrees_with_the_standard_library(text in "([ \\t\\n\\x0b\\x1f\u{85}\u{a0}\u{1680}\u{2003}\u{205f}\u{3000}a,é网\u{a1}\u{2010}]{0,3}){0,10}") {
            let mut builder = TextBuilder::new(10_000);
            builder.push(&text);
            prop_assert_eq!(builder.finish().0, text.split_whitespace().collect::<Vec<_>>().join(" "));
        }

        #[test]
        fn copying_in_bulk_agrees_with_going_word_by_word(
            pieces in proptest::collection::vec(("( |[a-z]{1,12}|\n|&|&amp;|&nbsp;|&#3?[29];?|&copy|&notit;|\u{a0}|\u{2003}|’|é|カ|\u{1f}|;){0,14}", 0..3u8, any::<bool>()), 0..8)
        ) {
            let (mut bulk, mut words) = (TextBuilder::new(100_000), TextBuilder::new(100_000));
            for (text, gap, decoded) in pieces {
                let gap = [Gap::NOTHING, Gap::SPACE, Gap::LINE][usize::from(gap)];
                let references = if decoded { References::Decoded } else { References::Kept };
                bulk.separate(gap);
                words.separate(gap);
                let page = format!("b {text} <and more, so that there is room behind the text>");
                bulk.push_within(EightBytes, &page, 2, 2 + text.len(), references);
                words.push_bounded(&text, references);
            }
            prop_assert_eq!(bulk.finish(), words.finish());
        }
    }
}
