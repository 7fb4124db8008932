//! Text as a reader sees it: whitespace folded, one line per block, bounded.

/// Collects pieces of text. Whitespace between words becomes one space, or one line end where a block ended.
#[derive(Debug, Default)]
pub(crate) struct TextBuilder {
    text: String,
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

    /// Adds text, folding its whitespace.
    pub(crate) fn push(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let space = space_length(text, at);
            if space > 0 {
                self.separate(Gap::Space);
                at += space;
                continue;
            }
            let end = span_end(text, at);
            self.push_span(&text[at..end]);
            at = end;
        }
    }

    /// Adds text of which every line is a block of its own.
    pub(crate) fn push_lines(&mut self, text: &str) {
        for line in text.lines() {
            self.push(line);
            self.separate(Gap::Line);
        }
    }

    fn push_span(&mut self, span: &str) {
        let room = self.limit.saturating_sub(self.text.len() + 1);
        if self.truncated || span.len() > room {
            self.truncated = true;
            return;
        }
        if !self.text.is_empty() {
            match self.gap {
                Gap::Nothing => {}
                Gap::Space => self.text.push(' '),
                Gap::Line => self.text.push('\n'),
            }
        }
        self.gap = Gap::Nothing;
        self.text.push_str(span);
    }

    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// The text, and whether some of it did not fit.
    pub(crate) fn finish(self) -> (String, bool) {
        (self.text, self.truncated)
    }
}

/// Spans longer than this are cut between words, so that a text stops near its limit.
const LONGEST_SPAN: usize = 1024;

/// Where a span of words ends that can be taken as it is: words with one plain space between any two.
fn span_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    // Neither control characters and space, nor the first byte of a character beyond U+007F.
    let is_plain = |byte: u8| byte.wrapping_sub(b' ' + 1) < 0xc2 - (b' ' + 1);
    loop {
        at += plain_length(bytes, at, start + LONGEST_SPAN);
        let Some(plain) = bytes[at..].iter().position(|&byte| !is_plain(byte)) else { return bytes.len() };
        at += plain;
        if space_length(text, at) == 0 {
            at += 1;
            continue;
        }
        let next_is_word = bytes[at] == b' ' && at + 1 < bytes.len() && space_length(text, at + 1) == 0;
        if !next_is_word || at - start > LONGEST_SPAN {
            return at;
        }
        at += 1;
    }
}

/// A number of bytes, perhaps less than there are, that are words with one plain space between any two, and behind which a
/// word goes on. Sixteen at a time and without branches, so that the compiler makes vector instructions of it.
#[inline]
fn plain_length(bytes: &[u8], start: usize, limit: usize) -> usize {
    let mut at = start;
    while at < limit
        && let Some(seventeen) = bytes.get(at..).and_then(|rest| rest.first_chunk::<17>())
    {
        let may_fold = (0..16).fold(false, |so_far, place| {
            let (byte, next) = (seventeen[place], seventeen[place + 1]);
            so_far
                | (byte < b' ')
                | (byte == b' ') & (next <= b' ')
                | (byte == 0xc2)
                | (byte.wrapping_sub(0xe1) < 3)
                | (byte == b' ') & (next >= 0xc2)
        });
        if may_fold {
            break;
        }
        at += 16;
    }
    at - start
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
        assert_eq!(builder.finish(), (String::new(), true));
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
    }
}
