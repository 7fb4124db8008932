//! All words of the tables as one automaton, so that a text is searched once, whatever the number of languages.

use crate::fold::{folded, is_of_word};
use crate::stock::languages::{Class, LANGUAGES};
use aho_corasick::AhoCorasick;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::LazyLock;

/// A set of languages, a bit for each.
pub(super) type Languages = u64;

pub(super) const ALL_LANGUAGES: Languages = Languages::MAX;

/// The roles of some words, each with the languages in which they have it.
type Meanings = Vec<(Class, Languages)>;

/// Words of the tables in a text.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) meanings: Cow<'static, [(Class, Languages)]>,
}

impl Mark {
    /// Takes in the meanings that other entries of the tables give to the same words: another language writes them with
    /// other accents, or with an open ending.
    fn take(&mut self, meanings: &[(Class, Languages)]) {
        let all = self.meanings.to_mut();
        meanings.iter().for_each(|(class, languages)| add(all, *class, *languages));
    }

    /// The languages among these in which the words are of a class.
    pub(super) fn languages(&self, classes: &[Class]) -> Languages {
        let of_class = self.meanings.iter().filter(|(class, _)| classes.contains(class));
        of_class.fold(0, |languages, (_, others)| languages | others)
    }

    /// Whether the words are of a class in one of the languages.
    pub(super) fn is(&self, class: Class, languages: Languages) -> bool {
        self.languages(&[class]) & languages != 0
    }

    /// Whether the words are of no other classes in these languages.
    pub(super) fn is_only(&self, classes: &[Class], languages: Languages) -> bool {
        self.meanings.iter().all(|(class, others)| others & languages == 0 || classes.contains(class))
    }
}

/// The most signs by which a word may go on: an ending, and not another word.
const MAX_ENDING: usize = 3;

struct Pattern {
    meanings: Meanings,
    /// Whether a word that begins so may go on.
    is_open: bool,
}

struct Table {
    automaton: AhoCorasick,
    patterns: Vec<Pattern>,
    /// The languages in which two denials are one.
    agreeing: Languages,
}

static TABLE: LazyLock<Table> = LazyLock::new(Table::new);

impl Table {
    fn new() -> Self {
        let (mut texts, mut patterns) = (Vec::<String>::new(), Vec::<Pattern>::new());
        let mut places = HashMap::new();
        let mut agreeing = 0;
        for (number, language) in LANGUAGES.iter().copied().flatten().enumerate() {
            let bit = 1 << number;
            agreeing |= if language.denials_agree { bit } else { 0 };
            for (class, words) in language.words {
                for words in words.split('|') {
                    let place = *places.entry(words.to_owned()).or_insert_with(|| {
                        texts.push(folded(words.trim_end_matches('*')));
                        patterns.push(Pattern { meanings: Vec::new(), is_open: words.ends_with('*') });
                        patterns.len() - 1
                    });
                    add(&mut patterns[place].meanings, *class, bit);
                }
            }
        }
        let automaton = AhoCorasick::new(&texts).expect("the tables are far below the limits of an automaton");
        Self { automaton, patterns, agreeing }
    }
}

fn add(meanings: &mut Meanings, class: Class, languages: Languages) {
    match meanings.iter_mut().find(|(known, _)| *known == class) {
        Some((_, known)) => *known |= languages,
        None => meanings.push((class, languages)),
    }
}

/// The words of the tables in a folded text, none of them within another: the first and longest. Each has its meanings in all
/// languages that have these words.
pub(super) fn marks(text: &str) -> Vec<Mark> {
    let table = &*TABLE;
    let found = table.automaton.find_overlapping_iter(text).filter_map(|found| {
        let pattern = &table.patterns[found.pattern().as_usize()];
        let end = end_of(text, found.end(), pattern.is_open)?;
        let is_whole = !joins(text, found.start());
        let meanings = Cow::Borrowed(&pattern.meanings[..]);
        is_whole.then_some(Mark { start: found.start(), end, meanings })
    });
    let mut found: Vec<Mark> = found.collect();
    found.sort_by_key(|mark| (mark.start, Reverse(mark.end)));
    let mut kept: Vec<Mark> = Vec::with_capacity(found.len());
    for mark in found {
        match kept.last_mut() {
            Some(last) if (last.start, last.end) == (mark.start, mark.end) => last.take(&mark.meanings),
            Some(last) if last.end > mark.start => {}
            Some(_) | None => kept.push(mark),
        }
    }
    kept
}

/// Whether two denials are one in one of these languages.
pub(super) fn denials_agree(languages: Languages) -> bool {
    TABLE.agreeing & languages != 0
}

fn end_of(text: &str, end: usize, is_open: bool) -> Option<usize> {
    match is_open {
        true => ending(text[end..].chars()).map(|length| end + length),
        false => (!joins(text, end)).then_some(end),
    }
}

/// The bytes of the ending that these signs begin with. `None` if it is too long for one.
fn ending(signs: impl Iterator<Item = char>) -> Option<usize> {
    let (mut count, mut length) = (0, 0);
    for sign in signs.take_while(|sign| is_of_word(*sign)).take(MAX_ENDING + 1) {
        count += 1;
        length += sign.len_utf8();
    }
    (count <= MAX_ENDING).then_some(length)
}

/// Whether a word goes on across a place. A digit and a word beside it are two words.
pub(super) fn joins(text: &str, place: usize) -> bool {
    let (before, behind) = (text[..place].chars().next_back(), text[place..].chars().next());
    before.zip(behind).is_some_and(|(before, behind)| {
        is_of_word(before) && is_of_word(behind) && before.is_numeric() == behind.is_numeric()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn words_are_whole_and_the_longest() {
        let found =
            |text: &str| marks(text).iter().map(|mark| text[mark.start..mark.end].to_owned()).collect::<Vec<_>>();
        assert_eq!(found("restocksing unavailables"), [""; 0]);
        assert_eq!(found("back in stock"), ["back in stock"]);
        assert_eq!(found("ausverkaufte ware"), ["ausverkaufte", "ware"]);
        assert_eq!(found("5pcs"), ["pcs"]);
        assert_eq!(found("在庫ありません"), ["在庫ありません"]);
    }

    #[test]
    fn words_that_languages_share_keep_the_meaning_of_each() {
        for (number, language) in LANGUAGES.iter().copied().flatten().enumerate() {
            for (class, words) in language.words {
                for words in words.split('|') {
                    let text = folded(words.trim_end_matches('*'));
                    let found = marks(&text);
                    let whole = found.first().filter(|mark| (mark.start, mark.end) == (0, text.len()));
                    let is_kept = whole.is_some_and(|mark| mark.is(*class, 1 << number));
                    assert!(is_kept, "{words:?} is no {class:?} in {}: {found:?}", language.name);
                }
            }
        }
    }

    #[test]
    fn no_words_say_in_stock_in_one_language_and_the_opposite_in_another() {
        for words in LANGUAGES.iter().copied().flatten().flat_map(|language| language.words) {
            for words in words.1.split('|') {
                for mark in marks(&folded(words.trim_end_matches('*'))) {
                    let says_in = mark.languages(&[Class::In, Class::WeakIn]);
                    let says_out = mark.languages(&[Class::Out, Class::WeakOut]);
                    assert!(says_in == 0 || says_out == 0, "{words:?} is always unclear");
                }
            }
        }
    }

    #[test]
    fn an_ending_is_read_no_further_than_it_may_be_long() {
        let mut read = 0;
        let endless = std::iter::repeat_n('a', 1_000).inspect(|_| read += 1);
        assert_eq!(ending(endless), None);
        assert!(read <= MAX_ENDING + 1, "{read}");
        assert_eq!(ending("né daher".chars()), Some(3));
    }

    #[test]
    fn each_language_has_what_a_sentence_needs() {
        use Class::{After, Condition, ConditionAfter, In, Label, Not, Offer, Out};
        let mut names = HashSet::new();
        let mut count = 0;
        for language in LANGUAGES.iter().copied().flatten() {
            assert!(names.insert(language.name), "{} has two tables", language.name);
            let has = |classes: &[Class]| language.words.iter().any(|(class, _)| classes.contains(class));
            let needed: [&[Class]; 6] =
                [&[In], &[Out], &[Label], &[Not, After], &[Offer], &[Condition, ConditionAfter]];
            assert!(needed.iter().all(|classes| has(classes)), "{} lacks a class", language.name);
            assert!(language.words.iter().all(|(_, words)| words.split('|').all(|words| !words.is_empty())));
            count += 1;
        }
        assert!(count <= Languages::BITS, "a language is a bit");
    }
}
