//! Splits a text into tokens: words where words are spaced, pairs of neighbouring characters where they are not.
//!
//! A word is a run of alphabetic characters and digits. Punctuation makes no token: the text digest sees a moved comma, but it
//! has no magnitude. Upper and lower case are kept: a reader sees the case change.
//!
//! Chinese, Japanese, Thai and similar scripts become overlapping pairs of characters, not dictionary words: with
//! these, a local edit could re-segment its whole neighbourhood.

/// The tokens of a text, in order.
pub(crate) fn tokens(text: &str) -> TextTokens<'_> {
    TextTokens { text, at: 0, inside_run: false }
}

/// Iterator returned by [`tokens`].
#[derive(Clone, Debug)]
pub(crate) struct TextTokens<'a> {
    text: &'a str,
    at: usize,
    /// Whether the character at `at` ended the previous pair.
    inside_run: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum CharClass {
    Word,
    Unspaced,
    Other,
}

impl<'a> Iterator for TextTokens<'a> {
    type Item = &'a str;

    #[inline]
    fn next(&mut self) -> Option<&'a str> {
        let bytes = self.text.as_bytes();
        loop {
            let start = self.at;
            let byte = *bytes.get(start)?;
            let (class, length) = if byte.is_ascii() { (ascii_class(byte), 1) } else { self.class_at(start) };
            self.at += length;
            match class {
                CharClass::Other => {}
                CharClass::Word => {
                    self.skip_word();
                    return Some(&self.text[start..self.at]);
                }
                CharClass::Unspaced => {
                    let continues = std::mem::take(&mut self.inside_run);
                    if let (CharClass::Unspaced, length) = self.class_at(self.at) {
                        self.inside_run = true;
                        return Some(&self.text[start..self.at + length]);
                    }
                    if !continues {
                        return Some(&self.text[start..self.at]);
                    }
                }
            }
        }
    }
}

impl TextTokens<'_> {
    #[inline]
    fn skip_word(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            if byte.is_ascii() {
                if !byte.is_ascii_alphanumeric() {
                    return;
                }
                self.at += 1;
            } else {
                match self.class_at(self.at) {
                    (CharClass::Word, length) => self.at += length,
                    _ => return,
                }
            }
        }
    }

    /// The class and length of the character at a position; a length of 0 at the end of the text.
    fn class_at(&self, at: usize) -> (CharClass, usize) {
        let Some(character) = self.text[at..].chars().next() else { return (CharClass::Other, 0) };
        (class(character), character.len_utf8())
    }
}

fn ascii_class(byte: u8) -> CharClass {
    if byte.is_ascii_alphanumeric() { CharClass::Word } else { CharClass::Other }
}

fn class(character: char) -> CharClass {
    match character {
        // Thai and Lao; Myanmar; Khmer.
        '\u{e01}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17d3}' => CharClass::Unspaced,
        // 々 and 〇; kana; Han, with its compatibility forms and extensions; narrow katakana.
        '\u{3005}' | '\u{3007}' | '\u{3041}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' => {
            CharClass::Unspaced
        }
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}' => {
            CharClass::Unspaced
        }
        '\u{ff66}'..='\u{ff9f}' => CharClass::Unspaced,
        // Combining marks belong to their word. Unicode does not count those of the Indian scripts as alphabetic.
        '\u{300}'..='\u{36f}' => CharClass::Word,
        '\u{964}' | '\u{965}' => CharClass::Other,
        '\u{900}'..='\u{dff}' => CharClass::Word,
        character if character.is_alphanumeric() => CharClass::Word,
        _ => CharClass::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_are_runs_of_characters_and_digits_and_unspaced_scripts_come_in_pairs() {
        let check = |text, expected: &[&str]| assert_eq!(tokens(text).collect::<Vec<_>>(), expected, "{text}");
        check("", &[]);
        check("A rose, is 3-fold!", &["A", "rose", "is", "3", "fold"]);
        check("Größe naïve", &["Größe", "naïve"]);
        check("网页", &["网页"]);
        check("网", &["网"]);
        check("增量网页。采集", &["增量", "量网", "网页", "采集"]);
        check("Rust语言x", &["Rust", "语言", "x"]);
        check("カタカナ と한국어", &["カタ", "タカ", "カナ", "と", "한국어"]);
        check("हिन्दी।", &["हिन्दी"]);
    }

    proptest! {
        #[test]
        fn any_text_has_tokens_none_of_them_empty(text in "\\PC{0,40}") {
            for token in tokens(&text) {
                prop_assert!(!token.is_empty() && token.len() <= text.len());
            }
        }
    }
}
