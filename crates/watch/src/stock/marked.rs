//! A text with its marks: where its sentences end, and what stands between two places.

use crate::fold::is_of_word;
use crate::stock::counts::{Count, CountKind, counts};
use crate::stock::languages::Class;
use crate::stock::table::{ALL_LANGUAGES, Languages, Mark, marks};

/// The most signs before and behind a place that are its sentence, and the most bytes of a gap within one. A text without
/// full stops costs no more than one with them.
pub(super) const MAX_SENTENCE: usize = 300;
/// The longest word that a dot shortens.
const MAX_ABBREVIATION: usize = 4;

/// A folded text with the words of the tables and the numbers in it.
pub(super) struct MarkedText<'t> {
    pub(super) text: &'t str,
    pub(super) marks: Vec<Mark>,
    pub(super) counts: Vec<Count>,
}

/// The text between two places.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Gap {
    /// Its words; two signs of a script without blanks are one.
    pub(super) words: usize,
    /// Whether a sentence ends in it.
    pub(super) has_end: bool,
    /// Whether a comma, a colon, a dash or the like is in it.
    pub(super) is_apart: bool,
}

impl Gap {
    /// Whether no more than some words, and no sign, are between.
    pub(super) fn is_within(self, words: usize) -> bool {
        !self.has_end && !self.is_apart && self.words <= words
    }
}

impl<'t> MarkedText<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, marks: marks(text), counts: counts(text) }
    }

    pub(super) fn gap(&self, from: usize, to: usize) -> Gap {
        if to - from > MAX_SENTENCE {
            return Gap { has_end: true, ..Gap::default() };
        }
        let mut gap = Gap::default();
        let (mut in_word, mut unspaced) = (false, 0);
        for (place, sign) in self.text[from..to].char_indices() {
            let place = from + place;
            gap.has_end |= self.is_end(place, sign);
            gap.is_apart |= self.is_apart(place, sign);
            let of_word = is_of_word(sign);
            gap.words += usize::from(of_word && !in_word);
            unspaced += usize::from(!of_word && sign.is_alphanumeric());
            in_word = of_word || (in_word && sign == '\'');
        }
        gap.words += usize::div_ceil(unspaced, 2);
        gap
    }

    /// Whether a sentence ends at a sign.
    fn is_end(&self, place: usize, sign: char) -> bool {
        match sign {
            '!' | '?' | ';' | '|' | '•' | '。' | '…' | '·' | '।' | '・' => true,
            '.' => self.is_full_stop(place),
            _ => false,
        }
    }

    /// A dot behind an abbreviation, or behind the number of a day, ends nothing.
    fn is_full_stop(&self, place: usize) -> bool {
        let behind = &self.text[place + 1..];
        if behind.starts_with(|sign: char| sign.is_alphanumeric()) {
            return false;
        }
        let next = place + 1 + (behind.len() - behind.trim_start().len());
        let is_day = self.count_before(place).is_some_and(|count| count.end == place)
            && self.mark_at(next).is_some_and(|mark| mark.is(Class::Date, ALL_LANGUAGES));
        let last = self.before(place).next();
        let is_short = last.is_some_and(|mark| {
            mark.end == place && place - mark.start <= MAX_ABBREVIATION && mark.is(Class::Count, ALL_LANGUAGES)
        });
        !is_day && !is_short
    }

    fn is_apart(&self, place: usize, sign: char) -> bool {
        match sign {
            ',' | ':' | '(' | ')' | '[' | ']' | '–' | '—' | '、' | '/' | '=' | '→' => true,
            '-' => self.text[..place].ends_with(' ') || self.text[place + 1..].starts_with(' '),
            _ => false,
        }
    }

    /// The words that begin at a place.
    pub(super) fn mark_at(&self, place: usize) -> Option<&Mark> {
        let index = self.marks.partition_point(|mark| mark.start < place);
        self.marks.get(index).filter(|mark| mark.start == place)
    }

    /// The words that begin at a place or behind it, in their order.
    pub(super) fn behind(&self, place: usize) -> impl Iterator<Item = &Mark> {
        self.marks[self.marks.partition_point(|mark| mark.start < place)..].iter()
    }

    /// The words that end at a place or before it, the last first.
    pub(super) fn before(&self, place: usize) -> impl Iterator<Item = &Mark> {
        self.marks[..self.marks.partition_point(|mark| mark.end <= place)].iter().rev()
    }

    /// The first number at a place or behind it.
    pub(super) fn count_behind(&self, place: usize) -> Option<&Count> {
        self.counts.get(self.counts.partition_point(|count| count.start < place))
    }

    /// The last number that ends at a place or before it.
    pub(super) fn count_before(&self, place: usize) -> Option<&Count> {
        self.counts[..self.counts.partition_point(|count| count.end <= place)].last()
    }

    /// The sign that ends the sentence of a place, and where it is.
    pub(super) fn end_of_sentence(&self, from: usize) -> (usize, Option<char>) {
        let mut last = self.text.len();
        for (number, (place, sign)) in self.text[from..].char_indices().enumerate() {
            if self.is_end(from + place, sign) {
                return (from + place, Some(sign));
            }
            if number >= MAX_SENTENCE {
                last = from + place;
                break;
            }
        }
        (last, None)
    }

    fn start_of_sentence(&self, to: usize) -> usize {
        let mut first = 0;
        for (number, (place, sign)) in self.text[..to].char_indices().rev().enumerate() {
            if number >= MAX_SENTENCE || self.is_end(place, sign) {
                first = place + sign.len_utf8();
                break;
            }
        }
        first
    }

    /// The words of the sentence around a place that the tables do not have.
    pub(super) fn unknown_words(&self, place: usize) -> usize {
        let (start, (end, _)) = (self.start_of_sentence(place), self.end_of_sentence(place));
        self.unknown_between(start, end)
    }

    /// The words between two places that the tables do not have. Numbers are known.
    pub(super) fn unknown_between(&self, start: usize, end: usize) -> usize {
        let marks = self.behind(start).take_while(|mark| mark.end <= end).map(|mark| (mark.start, mark.end));
        let counts = &self.counts[self.counts.partition_point(|count| count.start < start)..];
        let counts = counts.iter().take_while(|count| count.end <= end).map(|count| (count.start, count.end));
        let mut known: Vec<_> = marks.chain(counts).collect();
        known.sort_unstable();
        let (mut words, mut from) = (0, start);
        for (next, to) in known.into_iter().chain([(end, end)]) {
            words += if next > from { self.gap(from, next).words } else { 0 };
            from = from.max(to);
        }
        words
    }

    /// The languages that most words of the sentence around a place are of. All if the tables have none of its words.
    pub(super) fn languages_around(&self, place: usize) -> Languages {
        let (start, (end, _)) = (self.start_of_sentence(place), self.end_of_sentence(place));
        let mut votes = [0_u32; Languages::BITS as usize];
        for mark in self.behind(start).take_while(|mark| mark.end <= end) {
            let languages = mark.meanings.iter().fold(0, |all, (_, languages)| all | languages);
            (0..Languages::BITS).filter(|bit| languages >> bit & 1 == 1).for_each(|bit| votes[bit as usize] += 1);
        }
        let most = votes.iter().max().copied().unwrap_or_default();
        (0..Languages::BITS).filter(|bit| votes[*bit as usize] == most).fold(0, |all, bit| all | 1 << bit)
    }

    /// Whether a number counts a time, a price or the like, and no things.
    pub(super) fn counts_things(&self, count: &Count) -> bool {
        let is_number = matches!(count.kind, CountKind::Zero | CountKind::Some | CountKind::Year);
        is_number && !self.is_time(count) && !self.is_day(count)
    }

    /// Whether a number is that of a day: "12 May", "12. Mai".
    pub(super) fn is_day(&self, count: &Count) -> bool {
        let next = self.behind(count.end).next();
        next.is_some_and(|mark| {
            self.gap(count.end, mark.start) == Gap::default() && mark.is(Class::Date, ALL_LANGUAGES)
        })
    }

    /// Whether a number is one of days, hours or the like.
    pub(super) fn is_time(&self, count: &Count) -> bool {
        let mut behind = self.behind(count.end);
        behind.next().is_some_and(|mark| {
            self.gap(count.end, mark.start).is_within(0)
                && mark.is_only(
                    &[Class::Time, Class::Date, Class::Now, Class::Yes, Class::From, Class::Count, Class::Not],
                    ALL_LANGUAGES,
                )
                && mark.is(Class::Time, ALL_LANGUAGES)
        })
    }
}
