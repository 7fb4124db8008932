//! Text as a reader sees it: whitespace folded, one line per block, bounded.

use crate::entities;
use crate::plain_copy::copy_plain;

/// Collects pieces of text. Whitespace between words becomes one space, or one line end where a block ended.
#[derive(Debug, Default)]
pub(crate) struct TextBuilder {
    text: Vec<u8>,
    /// Before this place nothing separates words.
    start: usize,
    gap: Gap,
    limit: usize,
    truncated: bool,
}

/// What separates the next word from the text so far. Ordered: the stronger of two wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Gap {
    #[default]
    Nothing,
    Space,
    Line,
}

impl TextBuilder {
    /// Keeps at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Separates what comes from what has been.
    pub(crate) fn separate(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }

    /// Makes room for as many bytes more, so that the text need not move as it grows.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        self.text.reserve(bytes.min(self.limit));
    }

    /// What comes stands directly behind what has been, and whitespace before it does not count.
    pub(crate) fn begin(&mut self) {
        self.start = self.text.len();
        self.gap = Gap::Nothing;
    }

    /// Adds text, folding its whitespace.
    pub(crate) fn push(&mut self, text: &str) {
        self.push_within(text, 0, text.len(), References::Kept);
    }

    /// Adds the text between two places of a page. That there is more behind it makes copying faster.
    #[inline]
    pub(crate) fn push_within(&mut self, page: &str, start: usize, end: usize, references: References) {
        // No reference stands for twice as many bytes as it has.
        if self.truncated || self.text.len() + 2 * (end - start) + 1 > self.limit {
            return self.push_bounded(&page[start..end], references);
        }
        let bytes = page.as_bytes();
        let mut at = start;
        loop {
            while let Some(&byte) = bytes[..end].get(at) {
                let space = if matches!(byte, b' ' | b'\n') { 1 } else { space_length(page, at) };
                if space == 0 {
                    break;
                }
                self.separate(Gap::Space);
                at += space;
            }
            if at == end {
                return;
            }
            if bytes[at] == b'&' && references == References::Decoded {
                at += self.push_reference(&page[at..end]);
                continue;
            }
            self.end_gap();
            let plain = copy_plain(&mut self.text, bytes, at, end);
            at += plain;
            if plain == 0 {
                let length = character_length(bytes[at]);
                self.text.extend_from_slice(&bytes[at..at + length]);
                at += length;
            } else if bytes[at - 1] == b' ' {
                // What comes may be the end of the text, or more whitespace.
                self.text.pop();
                self.gap = Gap::Space;
            }
        }
    }

    /// Adds what a character reference stands for, and says how long it is.
    fn push_reference(&mut self, text: &str) -> usize {
        let (reference, _) = text.split_at(entities::reference_length(text));
        match entities::common(reference) {
            Some(letter) => self.push_letter(letter),
            None => entities::decode(reference).chars().for_each(|letter| self.push_letter(letter)),
        }
        reference.len()
    }

    fn push_letter(&mut self, letter: char) {
        if letter.is_whitespace() {
            return self.separate(Gap::Space);
        }
        self.end_gap();
        self.text.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
    }

    #[inline]
    fn end_gap(&mut self) {
        match std::mem::take(&mut self.gap) {
            _ if self.text.len() == self.start => {}
            Gap::Nothing => {}
            Gap::Space => self.text.push(b' '),
            Gap::Line => self.text.push(b'\n'),
        }
    }

    /// Adds text word by word, up to the limit.
    fn push_bounded(&mut self, text: &str, references: References) {
        let text = match references {
            References::Kept => text.into(),
            References::Decoded => entities::decode(text),
        };
        if text.starts_with(char::is_whitespace) {
            self.separate(Gap::Space);
        }
        for word in text.split_whitespace() {
            self.truncated |= self.text.len() + 1 + word.len() > self.limit;
            if self.truncated {
                return;
            }
            self.end_gap();
            self.text.extend_from_slice(word.as_bytes());
            self.gap = Gap::Space;
        }
        // Of a text without words, the space or line before it stays.
        if text.ends_with(|last: char| !last.is_whitespace()) {
            self.gap = Gap::Nothing;
        }
    }

    /// Adds text of which every line is a block of its own.
    pub(crate) fn push_lines(&mut self, text: &str) {
        for line in text.lines() {
            self.push(line);
            self.separate(Gap::Line);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    /// The text from a place on, which must be between two characters.
    pub(crate) fn since(&self, start: usize) -> &str {
        std::str::from_utf8(&self.text[start..]).expect("whole characters were copied")
    }

    /// The text, and whether some of it did not fit.
    pub(crate) fn finish(mut self) -> (String, bool) {
        self.text.shrink_to_fit();
        (String::from_utf8(self.text).expect("whole characters were copied"), self.truncated)
    }
}

/// What character references in a text are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum References {
    /// Text like any other.
    Kept,
    /// The characters they stand for.
    Decoded,
}

/// The length of the character with this first byte.
fn character_length(first: u8) -> usize {
    match first {
        0..0x80 => 1,
        0x80..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    }
}

/// How many bytes of whitespace (as `char::is_whitespace` has it) stand at a place; 0 within a character.
#[inline(always)]
fn space_length(text: &str, at: usize) -> usize {
    match text.as_bytes()[at] {
        b' ' | b'\t'..=b'\r' => 1,
        // The first bytes of all other white space: U+0085, U+00A0, U+1680, U+2000 to U+205F, U+3000.
        0xc2 | 0xe1 | 0xe2 | 0xe3 => {
            text[at..].chars().next().filter(|letter| letter.is_whitespace()).map_or(0, char::len_utf8)
        }
        _ => 0,
    }
}

/// The longest prefix of at most `limit` bytes that ends between two characters.
pub(crate) fn prefix(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn whitespace_folds_to_the_strongest_gap() {
        let mut builder = TextBuilder::new(100);
        builder.push("  a \n\t b");
        builder.push("c ");
        builder.separate(Gap::Line);
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
                let gap = [Gap::Nothing, Gap::Space, Gap::Line][usize::from(gap)];
                let references = if decoded { References::Decoded } else { References::Kept };
                bulk.separate(gap);
                words.separate(gap);
                let page = format!("b {text} <and more, so that there is room behind the text>");
                bulk.push_within(&page, 2, 2 + text.len(), references);
                words.push_bounded(&text, references);
            }
            prop_assert_eq!(bulk.finish(), words.finish());
        }
    }
}
