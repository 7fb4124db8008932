//! Learns near words from the texts in which they stand beside a focus's words.
//!
//! A text is cut into windows of up to twenty terms of one line. Two words that share windows more often than chance has it
//! are similar by their normalised pointwise mutual information (Bouma 2009),
//!
//! `NPMI(x, y) = ln(p(x,y) / p(x) p(y)) / −ln p(x,y)`,
//!
//! which is 1 for words that stand only together, 0 for words that meet by chance, and below for words that avoid each
//! other. Rare words meet by accident, so it is multiplied by the discount of Pantel & Lin (2002),
//! `c/(c+1) · m/(m+1)`, for `c` common windows and `m` windows of the rarer word.

use crate::near_words::NearWords;
use crate::words::{Segmenter, terms};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Terms of a window.
const WINDOW_TERMS: usize = 20;
/// Windows that a near word shares with the focus's, at least.
const LEAST_SHARED: u32 = 3;
/// Least similarity of a near word: far ones, below .5 as published, mislead more often than they help.
const LEAST_SIMILARITY: f64 = 0.5;
/// Words whose neighbours are counted: the focus's first, as they are given.
const MAX_FOCUS_WORDS: usize = 64;
/// The most words counted. The rarest are forgotten first.
const MAX_WORDS: usize = 1 << 15;
/// The most pairs of a word and a focus's word counted.
const MAX_PAIRS: usize = 1 << 17;
/// The most near words learned for a language.
const MAX_LEARNED: usize = 100;

/// Counts of windows with words, and with words beside a focus's. Bounded: some 16 MiB at most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoOccurrence {
    focus_words: BTreeSet<String>,
    windows: u64,
    with: HashMap<String, u32>,
    /// By word and focus's word.
    shared: BTreeMap<(String, String), u32>,
    forgotten: u64,
}

impl CoOccurrence {
    /// Counts beside these words of a focus, the most important first.
    pub fn new(focus_words: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let focus_words = focus_words.into_iter().take(MAX_FOCUS_WORDS).map(Into::into).collect();
        Self { focus_words, ..Self::default() }
    }

    /// Counts a text: of pages in the focus, and of others, which show what is common everywhere. Takes time linear in it.
    pub fn add(&mut self, segmenter: &dyn Segmenter, text: &str) {
        for line in text.lines() {
            let mut window: Vec<String> = Vec::with_capacity(WINDOW_TERMS);
            terms(segmenter, line, &mut |term, _| {
                window.push(term.to_owned());
                if window.len() == WINDOW_TERMS {
                    self.add_window(&mut window);
                }
            });
            self.add_window(&mut window);
        }
    }

    fn add_window(&mut self, window: &mut Vec<String>) {
        if window.is_empty() {
            return;
        }
        window.sort_unstable();
        window.dedup();
        self.windows += 1;
        for term in window.iter() {
            add(&mut self.with, term, 1);
        }
        for focus_word in window.iter().filter(|term| self.focus_words.contains(*term)) {
            for term in window.iter().filter(|term| !self.focus_words.contains(*term)) {
                *self.shared.entry((term.clone(), focus_word.clone())).or_default() += 1;
            }
        }
        window.clear();
        self.prune();
    }

    /// Adds the counts of another, for the same words of a focus: those of another partition, say.
    pub fn merge(&mut self, other: &Self) {
        self.windows += other.windows;
        self.forgotten += other.forgotten;
        other.with.iter().for_each(|(term, count)| add(&mut self.with, term, *count));
        for (pair, count) in &other.shared {
            let sum = self.shared.entry(pair.clone()).or_default();
            *sum = sum.saturating_add(*count);
        }
        self.prune();
    }

    fn prune(&mut self) {
        if self.with.len() <= MAX_WORDS && self.shared.len() <= MAX_PAIRS {
            return;
        }
        // Half of them, so that this is rare.
        let mut least = 1;
        while self.with.len() > MAX_WORDS / 2 || self.shared.len() > MAX_PAIRS / 2 {
            let before = self.with.len() + self.shared.len();
            let (with, focus_words) = (&mut self.with, &self.focus_words);
            if with.len() > MAX_WORDS / 2 {
                with.retain(|word, count| *count > least || focus_words.contains(word));
            }
            self.shared.retain(|pair, count| *count > least && with.contains_key(&pair.0));
            self.forgotten += (before - self.with.len() - self.shared.len()) as u64;
            least *= 2;
        }
    }

    /// The number of counts that were dropped: those of the rarest among too many words.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// How similar a word is to a focus's, from 0 to 1.
    pub fn similarity(&self, word: &str, focus_word: &str) -> f64 {
        let shared = self.shared.get(&(word.to_owned(), focus_word.to_owned())).copied().unwrap_or(0);
        self.similarity_of(word, focus_word, shared)
    }

    fn similarity_of(&self, word: &str, focus_word: &str, shared: u32) -> f64 {
        let count = |word: &str| f64::from(self.with.get(word).copied().unwrap_or(0));
        let (shared, windows) = (f64::from(shared), self.windows as f64);
        let (one, other) = (count(word), count(focus_word));
        if shared == 0.0 || one == 0.0 || other == 0.0 || shared >= windows {
            return 0.0;
        }
        let information = (shared * windows / (one * other)).ln() / (windows / shared).ln();
        let rarer = one.min(other);
        (information * shared / (shared + 1.0) * rarer / (rarer + 1.0)).clamp(0.0, 1.0)
    }

    /// The words most similar to the focus's, up to a hundred.
    pub fn near_words(&self) -> NearWords {
        let frequent = self.shared.iter().filter(|(_, shared)| **shared >= LEAST_SHARED);
        let similar = frequent.map(|((word, of), shared)| (self.similarity_of(word, of, *shared), word, of));
        let mut similar: Vec<_> = similar.filter(|(similarity, ..)| *similarity >= LEAST_SIMILARITY).collect();
        similar.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut near = NearWords::default();
        for (similarity, word, of) in similar {
            if near.len() < MAX_LEARNED {
                near.add(word, of, similarity);
            }
        }
        near
    }
}

fn add(counts: &mut HashMap<String, u32>, word: &str, count: u32) {
    match counts.get_mut(word) {
        Some(sum) => *sum = sum.saturating_add(count),
        None => {
            counts.insert(word.to_owned(), count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::IcuSegmenter;
    use proptest::prelude::*;

    fn counted(lines: &[&str]) -> CoOccurrence {
        let mut counts = CoOccurrence::new(["boat"]);
        lines.iter().for_each(|line| counts.add(&IcuSegmenter::default(), line));
        counts
    }

    #[test]
    fn similarity_is_normalised_mutual_information_with_a_discount() {
        // Ten windows: boat in 4, yacht in 4, both in 3; bread in 5, once with boat.
        let counts = counted(&[
            "boat yacht",
            "boat yacht",
            "boat yacht",
            "boat bread",
            "yacht",
            "bread",
            "bread",
            "bread",
            "bread",
            "tree",
        ]);
        let information = (0.3f64 / (0.4 * 0.4)).ln() / -(0.3f64.ln());
        let expected = information * 3.0 / 4.0 * 4.0 / 5.0;
        assert!((counts.similarity("yacht", "boat") - expected).abs() < 1e-12, "{expected}");
        // Less often than by chance: .1 where .2 were expected.
        assert_eq!(counts.similarity("bread", "boat"), 0.0);
        assert_eq!((counts.similarity("tree", "boat"), counts.similarity("no", "boat")), (0.0, 0.0));
    }

    #[test]
    fn words_that_stand_beside_the_focus_and_nowhere_else_are_near() {
        let with = ["The yacht and the boat race."; 9];
        let without = ["A race of trains and some bread."; 40];
        let near = counted(&[&with[..], &without[..]].concat()).near_words();
        assert_eq!(near.iter().map(|(word, _)| word).collect::<Vec<_>>(), ["yacht"]);
        let similarity = near.closeness("yacht", |_| 1.0);
        assert!((0.5..=1.0).contains(&similarity), "{similarity}");
        assert!(counted(&with[..2]).near_words().is_empty());
    }

    #[test]
    fn windows_end_with_the_line_and_after_twenty_words() {
        let shared = |text: &str| counted(&[text]).shared.len();
        assert_eq!((shared("yacht boat"), shared("yacht\nboat")), (1, 0));
        let far =
            format!("yacht {} boat", (0..WINDOW_TERMS - 1).map(|number| format!("w{number} ")).collect::<String>());
        assert_eq!(shared(&far), 0);
    }

    #[test]
    fn counts_are_bounded_and_keep_the_focus() {
        let mut counts = CoOccurrence::new(["boat"]);
        for part in 0..8 {
            let words = |number| format!("boat yacht w{part}x{number}a w{part}x{number}b\n");
            counts.add(&IcuSegmenter::default(), &(0..4000).map(words).collect::<String>());
        }
        assert!(counts.with.len() <= MAX_WORDS && counts.shared.len() <= MAX_PAIRS && counts.forgotten() > 0);
        assert_eq!((counts.with["boat"], counts.with["yacht"]), (32_000, 32_000));
    }

    proptest! {
        #[test]
        fn merged_counts_are_those_of_all_texts(texts in proptest::collection::vec("(boat|yacht|bread| |\n){0,20}", 0..5)) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let half = texts.len() / 2;
            let mut merged = counted(&texts[..half]);
            merged.merge(&counted(&texts[half..]));
            let all = counted(&texts);
            prop_assert!((0.0..=1.0).contains(&all.similarity("yacht", "boat")));
            prop_assert_eq!(merged, all);
        }
    }
}
