//! All words of the tables as one automaton, so that a text is searched once, whatever the number of languages.

use crate::fold::{folded, is_of_word};
use crate::stock::languages::{Class, LANGUAGES};
use aho_corasick::AhoCorasick;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::LazyLock;

/// A set of languages, a bit for each.
pub(super) type Languages = u64;

pub(super) const ALL_LANGUAGES: Languages = Languages::MAX;

/// The roles of some words, each with the languages in which they have it.
type Meanings = Vec<(Class, Languages)>;

/// Words of the tables in a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) meanings: &'static [(Class, Languages)],
}

impl Mark {
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
                    patterns[place].add(*class, bit);
                }
            }
        }
        let automaton = AhoCorasick::new(&texts).expect("the tables are far below the limits of an automaton");
        Self { automaton, patterns, agreeing }
    }
}

impl Pattern {
    fn add(&mut self, class: Class, language: Languages) {
        match self.meanings.iter_mut().find(|(known, _)| *known == class) {
            Some((_, languages)) => *languages |= language,
            None => self.meanings.push((class, language)),
        }
    }
}

/// The words of the tables in a folded text, none of them within another: the first and longest.
pub(super) fn marks(text: &str) -> Vec<Mark> {
    let table = &*TABLE;
    let found = table.automaton.find_overlapping_iter(text).filter_map(|found| {
        let pattern = &table.patterns[found.pattern().as_usize()];
        let end = end_of(text, found.end(), pattern.is_open)?;
        let is_whole = !joins(text, found.start());
        is_whole.then_some(Mark { start: found.start(), end, meanings: &pattern.meanings })
    });
    let mut found: Vec<Mark> = found.collect();
    found.sort_by_key(|mark| (mark.start, Reverse(mark.end)));
    let mut kept: Vec<Mark> = Vec::with_capacity(found.len());
    for mark in found {
        if kept.last().is_none_or(|last| last.end <= mark.start) {
            kept.push(mark);
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
        true => {
            let ending = text[end..].find(|sign| !is_of_word(sign)).unwrap_or(text.len() - end);
            (text[end..end + ending].chars().count() <= MAX_ENDING).then_some(end + ending)
        }
        false => (!joins(text, end)).then_some(end),
    }
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
