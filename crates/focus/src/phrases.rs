//! Finds words whole that the segmenter's dictionary lacks.
//!
//! ICU cuts a Chinese word that it does not know into pieces, most of them single characters: 航班 (flight) into 航 and 班.
//! A single Han character is part of hundreds of words and says nothing of a focus: 班 is also in 班轮 (liner) and 班级
//! (school class). So such pieces are no terms, and the words that focuses name are matched over the pieces instead, the
//! leftmost first and of those the longest.
//!
//! A match begins or ends where a word does. Inside a longer word, or between two, it may lie at one edge only: 航班 is in
//! 航|班次, which ICU cuts wrongly, but not in 民航|班机, two words that it knows. Words that ICU knows are left to it, but
//! where a neighbour took one of their ends and a single character is left: 法官 is in 了法|官.

use crate::stop_words;
use crate::words::Segmenter;
use std::collections::HashMap;
use std::ops::Range;

/// More adjacent pieces than this are matched in parts, so that a page without punctuation needs no memory of its size.
const MAX_PIECES: usize = 1024;

/// Whether a character is Han: Chinese, or Japanese kanji.
pub(crate) fn is_han(character: char) -> bool {
    matches!(character, '々' | '〇' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{323AF}')
}

/// Whether a character is of a script that writes words without spaces and that is cut by the dictionary: Han or kana.
fn is_unspaced(character: char) -> bool {
    is_han(character) || matches!(character, 'ぁ'..='ゟ' | '゠'..='ヺ' | 'ー'..='ヿ')
}

fn is_unspaced_word(word: &str) -> bool {
    word.chars().all(is_unspaced)
}

/// Words of scripts without spaces, of two characters or more, that are found whole.
#[derive(Clone, Debug, Default)]
pub struct Phrases {
    /// Whether the segmenter's dictionary has each.
    words: HashMap<String, bool>,
    /// By first character, the lengths in bytes of the words, the longest first.
    lengths: HashMap<char, Vec<usize>>,
}

impl Phrases {
    /// Keeps those of these words that the segmenter may cut; the others need no help.
    pub fn new<'a>(segmenter: &dyn Segmenter, words: impl IntoIterator<Item = &'a str>) -> Self {
        let mut phrases = Self::default();
        let may_be_cut = |word: &&str| is_unspaced_word(word) && word.chars().nth(1).is_some();
        for word in words.into_iter().filter(may_be_cut) {
            let mut pieces = 0;
            segmenter.words(word, &mut |_| pieces += 1);
            if phrases.words.insert(word.to_owned(), pieces == 1).is_none()
                && let Some(first) = word.chars().next()
            {
                let lengths = phrases.lengths.entry(first).or_default();
                if let Err(place) = lengths.binary_search_by(|length| word.len().cmp(length)) {
                    lengths.insert(place, word.len());
                }
            }
        }
        phrases
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The first phrase that begins within `starts` and ends by `end`, and that fits, given whether the dictionary has it; the
    /// longest of one start.
    fn find(
        &self,
        text: &str,
        starts: Range<usize>,
        end: usize,
        fits: impl Fn(&Range<usize>, bool) -> bool,
    ) -> Option<Range<usize>> {
        for (offset, first) in text[starts.clone()].char_indices() {
            let start = starts.start + offset;
            let mut places = self.lengths.get(&first).into_iter().flatten().map(|length| start..start + length);
            let is_phrase = |place: &Range<usize>| {
                let word = text.get(place.clone()).filter(|_| place.end <= end);
                word.and_then(|word| self.words.get(word)).is_some_and(|is_known| fits(place, *is_known))
            };
            let found = places.find(is_phrase);
            if found.is_some() {
                return found;
            }
        }
        None
    }
}

/// A segmenter that finds [`Phrases`] whole. Everything that is compared with a focus is cut by one: pages, the words of
/// links, and the pages that show which words are common.
#[derive(Clone, Copy)]
pub struct PhraseSegmenter<'a> {
    segmenter: &'a dyn Segmenter,
    phrases: &'a Phrases,
}

impl<'a> PhraseSegmenter<'a> {
    pub fn new(segmenter: &'a dyn Segmenter, phrases: &'a Phrases) -> Self {
        Self { segmenter, phrases }
    }

    /// Hands over the words of adjacent pieces.
    fn cut(&self, text: &str, pieces: &[Range<usize>], take: &mut dyn FnMut(Range<usize>)) {
        let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else { return };
        let mut from = first.start;
        for piece in pieces {
            // A phrase may have ended behind this piece.
            while from < piece.end {
                let fits = |place: &Range<usize>, is_known: bool| {
                    let last = pieces.binary_search_by_key(&place.end, |piece| piece.end).ok().map(|at| &pieces[at]);
                    if is_known {
                        place == piece || last.is_some_and(|last| was_taken_apart(text, from..place.start, last))
                    } else {
                        place.start == from || place.start == piece.start || last.is_some()
                    }
                };
                match self.phrases.find(text, from..piece.end, last.end, fits) {
                    Some(phrase) => {
                        if from < phrase.start {
                            take(from..phrase.start);
                        }
                        from = phrase.end;
                        take(phrase);
                    }
                    None => {
                        take(from..piece.end);
                        from = piece.end;
                    }
                }
            }
        }
    }
}

impl Segmenter for PhraseSegmenter<'_> {
    fn version(&self) -> &str {
        self.segmenter.version()
    }

    fn words(&self, text: &str, take: &mut dyn FnMut(Range<usize>)) {
        if self.phrases.is_empty() {
            return self.segmenter.words(text, take);
        }
        adjacent_pieces(self.segmenter, text, MAX_PIECES, &mut |pieces| match pieces {
            [word] if !is_unspaced_word(&text[word.clone()]) => take(word.clone()),
            pieces => self.cut(text, pieces, take),
        });
    }
}

/// Whether a known word lost its beginning to the word before it, given the rest of that word and the piece at its end. The
/// dictionary takes the longest word from the left, so that 了法|官 is cut for 了|法官. In 工作|用 the rest of the first would be
/// no word, and 作用 is not meant.
fn was_taken_apart(text: &str, rest: Range<usize>, last: &Range<usize>) -> bool {
    let rest = &text[rest];
    let is_word = rest.chars().nth(1).is_some() || stop_words::contains(rest);
    is_word && text[last.clone()].chars().nth(1).is_none()
}

/// A segmenter for words that people name: pieces without space between them are one word, as it was written.
pub(crate) struct WrittenWords<'a>(pub(crate) &'a dyn Segmenter);

impl Segmenter for WrittenWords<'_> {
    fn version(&self) -> &str {
        self.0.version()
    }

    fn words(&self, text: &str, take: &mut dyn FnMut(Range<usize>)) {
        adjacent_pieces(self.0, text, usize::MAX, &mut |pieces| {
            if let (Some(first), Some(last)) = (pieces.first(), pieces.last()) {
                take(first.start..last.end);
            }
        });
    }
}

/// Hands over the words of a text, together those of scripts without spaces that nothing separates, up to `most`.
pub(crate) fn adjacent_pieces(
    segmenter: &dyn Segmenter,
    text: &str,
    most: usize,
    take: &mut dyn FnMut(&[Range<usize>]),
) {
    let mut pieces: Vec<Range<usize>> = Vec::new();
    segmenter.words(text, &mut |place| {
        let is_unspaced = is_unspaced_word(&text[place.clone()]);
        let goes_on = is_unspaced && pieces.len() < most && pieces.last().is_some_and(|last| last.end == place.start);
        if !goes_on && !pieces.is_empty() {
            take(&pieces);
            pieces.clear();
        }
        if is_unspaced {
            pieces.push(place);
        } else {
            take(&[place]);
        }
    });
    if !pieces.is_empty() {
        take(&pieces);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::{IcuSegmenter, terms};
    use proptest::prelude::*;

    fn terms_of(words: &[&str], text: &str) -> Vec<String> {
        let segmenter = IcuSegmenter::default();
        let phrases = Phrases::new(&segmenter, words.iter().copied());
        let mut found = Vec::new();
        terms(&PhraseSegmenter::new(&segmenter, &phrases), text, &mut |term, _| found.push(term.to_owned()));
        found
    }

    #[test]
    fn words_that_the_dictionary_lacks_are_found_whole() {
        let words = ["航班", "班轮", "股票市场", "股票"];
        let check = |text, expected: &[&str]| assert_eq!(terms_of(&words, text), expected, "{text}");
        check("航班 Flight", &["航班", "flight"]);
        check("返程航班次日到达", &["返程", "航班", "到达"]);
        check("班轮", &["班轮"]);
        check("航，班", &[]);
        check("股票市场与股票", &["股票市场", "股票"]);
        check("股票 市场", &["股票", "市场"]);
    }

    #[test]
    fn a_phrase_across_two_known_words_is_none() {
        assert_eq!(terms_of(&["航班"], "民航班机"), ["民航", "班机"]);
        assert_eq!(terms_of(&["航班"], "民航的航班"), ["民航", "航班"]);
    }

    #[test]
    fn words_that_the_dictionary_knows_are_left_to_it() {
        let segmenter = IcuSegmenter::default();
        assert!(Phrases::new(&segmenter, ["hotel", "", "hot dogs", "大"]).is_empty());
        assert_eq!(terms_of(&["大学"], "大学生与大学"), ["大学生", "大学"]);
        assert_eq!(terms_of(&["法官"], "我们讨论了法官，"), ["讨论", "法官"]);
        assert_eq!(terms_of(&[], "我们讨论了法官，"), ["讨论", "了法"]);
        assert_eq!(terms_of(&["作用"], "工作用电脑"), ["工作", "电脑"]);
    }

    #[test]
    fn the_longest_of_one_start_is_taken() {
        assert_eq!(terms_of(&["航班", "航班表"], "航班表航班"), ["航班表", "航班"]);
    }

    #[test]
    fn text_without_punctuation_takes_linear_time() {
        let words: Vec<String> = (1..20).map(|length| "航".repeat(length)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert!(!terms_of(&words, &"航".repeat(1 << 17)).is_empty());
    }

    proptest! {
        #[test]
        fn every_word_is_handed_over_once_and_in_order(text in "(航|班|轮|民航|机场|景|区|的|ソフト|ー|a| |。|é){0,30}") {
            let segmenter = IcuSegmenter::default();
            let phrases = Phrases::new(&segmenter, ["航班", "班轮", "景区"]);
            let (mut end, mut bytes, mut of_icu) = (0, 0, 0);
            PhraseSegmenter::new(&segmenter, &phrases).words(&text, &mut |place| {
                assert!(place.start >= end && !text[place.clone()].is_empty());
                bytes += place.len();
                end = place.end;
            });
            segmenter.words(&text, &mut |place| of_icu += place.len());
            prop_assert_eq!(bytes, of_icu);
        }
    }
}
