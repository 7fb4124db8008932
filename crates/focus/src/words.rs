//! Cuts text into words, and words into terms.
//!
//! Languages with spaces, Chinese and Japanese may stand in one text. A *term* is a word as vectors know it: lower case,
//! full-width characters as plain ones, English plural endings removed. Stop words, numbers and single alphabetic characters are
//! no terms, nor are single Han characters: one is part of hundreds of words ([`Phrases`](crate::Phrases)).

use crate::phrases::is_han;
use crate::stop_words;
use icu_segmenter::options::WordBreakInvariantOptions;
use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};
use std::borrow::Cow;
use std::ops::Range;

/// Longer words, in bytes, are no words: encoded data, or a script without a dictionary.
const MAX_WORD_BYTES: usize = 64;
/// Words shorter than this, in bytes, keep their ending: `news`, `gas`.
const MIN_PLURAL_CHARACTERS: usize = 5;

/// Finds the words of a text.
pub trait Segmenter {
    /// Name and version of the dictionary and of the rules for terms. The file of a focus has it, because another
    /// dictionary cuts other words: terms of one version are not comparable with those of another.
    fn version(&self) -> &str;

    /// Calls `take` with the place of each word, in order. Spaces and punctuation are no words.
    fn words(&self, text: &str, take: &mut dyn FnMut(Range<usize>));
}

/// Unicode's word boundaries (UAX 29), with ICU's dictionary for Chinese and Japanese in one, and its dictionaries for
/// Thai, Lao, Khmer and Burmese.
#[derive(Clone, Copy, Debug)]
pub struct IcuSegmenter(WordSegmenterBorrowed<'static>);

/// Raised by hand whenever [`tests::the_version_changes_with_the_words`] finds other words.
const ICU_VERSION: &str = "icu4x-dictionary-2";

impl Default for IcuSegmenter {
    fn default() -> Self {
        Self(WordSegmenter::new_dictionary(WordBreakInvariantOptions::default()))
    }
}

impl Segmenter for IcuSegmenter {
    fn version(&self) -> &str {
        ICU_VERSION
    }

    fn words(&self, text: &str, take: &mut dyn FnMut(Range<usize>)) {
        let mut start = 0;
        let mut ends = self.0.segment_str(text);
        while let Some(end) = ends.next() {
            if ends.is_word_like() {
                take(start..end);
            }
            start = end;
        }
    }
}

/// Calls `take` with the terms of a text, in order, and the place of the word of each.
pub fn terms(segmenter: &dyn Segmenter, text: &str, take: &mut dyn FnMut(&str, Range<usize>)) {
    segmenter.words(text, &mut |place| {
        if let Some(term) = term_of(&text[place.clone()]) {
            take(&term, place);
        }
    });
}

/// The term of a word; `None` for a word that says nothing of a focus.
fn term_of(word: &str) -> Option<Cow<'_, str>> {
    if word.len() > MAX_WORD_BYTES || !word.chars().any(char::is_alphabetic) {
        return None;
    }
    let is_plain = |character: char| character.is_ascii_lowercase() || !character.is_ascii() && !folds(character);
    let folded = if word.chars().all(is_plain) {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(word.chars().map(half_width).flat_map(char::to_lowercase).collect())
    };
    let mut characters = folded.chars();
    let is_single_han = characters.next().is_some_and(is_han) && characters.next().is_none();
    if folded.len() < 2 || is_single_han || is_kana_particle(&folded) || stop_words::contains(&folded) {
        return None;
    }
    Some(without_plural(folded))
}

fn folds(character: char) -> bool {
    character.is_uppercase() || half_width(character) != character
}

/// The plain form of a full-width alphabetic character or digit, as Chinese and Japanese texts use them.
fn half_width(character: char) -> char {
    match character {
        '！'..='～' => char::from_u32(u32::from(character) - 0xFEE0).unwrap_or(character),
        other => other,
    }
}

/// Words of one or two hiragana are particles and endings.
fn is_kana_particle(word: &str) -> bool {
    word.chars().all(|character| ('ぁ'..='ゟ').contains(&character)) && word.chars().count() <= 2
}

/// Removes an English plural ending (the s-stemmer of Harman 1991). Words of other languages lose a character here and
/// there, in focuses and pages alike.
fn without_plural(mut word: Cow<'_, str>) -> Cow<'_, str> {
    if word.len() < MIN_PLURAL_CHARACTERS || !word.is_ascii() {
        return word;
    }
    if word.ends_with("ies") && !word.ends_with("eies") && !word.ends_with("aies") {
        let word = word.to_mut();
        word.truncate(word.len() - 3);
        word.push('y');
    } else if word.ends_with('s') && !word.ends_with("us") && !word.ends_with("ss") && !word.ends_with("is") {
        match &mut word {
            Cow::Borrowed(text) => *text = &text[..text.len() - 1],
            Cow::Owned(text) => text.truncate(text.len() - 1),
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn terms_of(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        terms(&IcuSegmenter::default(), text, &mut |term, _| found.push(term.to_owned()));
        found
    }

    #[test]
    fn spaced_scripts_chinese_and_japanese_are_cut_in_one_text() {
        let text =
            "The Stock Markets rose, 股票市场随后上涨。東京の株式市場は今日大きく上昇しました。 Börse über Akciová";
        let expected = [
            "stock",
            "market",
            "rose",
            "股票",
            "市场",
            "随后",
            "上涨",
            "東京",
            "株式",
            "市場",
            "今日",
            "大きく",
            "上昇",
            "börse",
            "akciová",
        ];
        assert_eq!(terms_of(text), expected);
    }

    #[test]
    fn terms_have_one_form() {
        let check = |text, expected: &[&str]| assert_eq!(terms_of(text), expected, "{text}");
        check("Studies STUDY studies", &["study", "study", "study"]);
        check("ＲＵＳＴ２ Rust2", &["rust2", "rust2"]);
        check("virus glass thesis gas news", &["virus", "glass", "thesis", "gas", "news"]);
        check("船 猫 航班", &[]);
        check("don't x 7 1,299.00 _ 🙂 the 的", &[]);
        check("ÉCOLE École", &["école", "école"]);
        check(&"a".repeat(MAX_WORD_BYTES + 1), &[]);
    }

    #[test]
    fn places_are_those_of_the_words() {
        let text = "Buy shares: 股票!";
        let mut places = Vec::new();
        terms(&IcuSegmenter::default(), text, &mut |_, place| places.push(&text[place]));
        assert_eq!(places, ["Buy", "shares", "股票"]);
    }

    #[test]
    fn the_version_changes_with_the_words() {
        let text = "Segmentation isn't trivial: 他来自中国科学院计算技术研究所，研究自然语言处理和机器学习。北京大学生前来应聘。\
                    南京市长江大桥于一九六八年通车。吾輩は猫である。名前はまだ無い。カタカナのソフトウェア開発と機械学習。\
                    สวัสดีชาวโลก Straßenverkehr naïve";
        let hash = document::text_hash(terms_of(text).join("|").as_bytes());
        let raise = "raise the number in ICU_VERSION: focuses learned before are cut into other words";
        assert_eq!((hash, ICU_VERSION), (9_627_313_112_471_240_228, "icu4x-dictionary-2"), "{raise}");
    }

    #[test]
    fn text_without_spaces_takes_linear_time() {
        for character in ["的", "学", "あ", "ก", "a", "\u{301}"] {
            assert!(terms_of(&character.repeat(1 << 19)).len() <= 1 << 19);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_cut_at_characters(text in "\\PC{0,80}") {
            let mut end = 0;
            terms(&IcuSegmenter::default(), &text, &mut |_, place| {
                assert!(place.start >= end && !text[place.clone()].is_empty());
                end = place.end;
            });
        }
    }
}
