//! Document frequencies: the number of pages, of any kind, in which a term occurs.
//!
//! Counted from pages seen, not shipped as a table: what is common depends on the crawl, and a table for every language
//! would be larger than the program. Counts of two crawlers, or two partitions, are merged by addition. Languages are
//! counted apart: a word of every Chinese page occurs in few pages of a crawl that is mostly English.

use crate::page_terms::PageTerms;
use document::text_hash;
use std::collections::{BTreeMap, HashMap};

/// The most terms counted in a language. Some 24 MiB.
const MAX_TERMS: usize = 1 << 20;
/// The most languages counted.
const MAX_LANGUAGES: usize = 64;

/// Document frequencies of terms, by language.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Background {
    languages: BTreeMap<String, LanguageCounts>,
    forgotten: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct LanguageCounts {
    pages: u64,
    /// By hash of the term. Two terms of one hash share a count, which is harmless and rare.
    pages_with: HashMap<u64, u32>,
}

impl Background {
    /// Counts a page of a language.
    pub fn add(&mut self, language: &str, page: &PageTerms) {
        let counts = page.iter().map(|(term, _)| (text_hash(term.as_bytes()), 1));
        self.add_counts(language, 1, counts);
    }

    /// Adds the counts of another background, as if its pages had been seen here.
    pub fn merge(&mut self, other: &Self) {
        self.forgotten += other.forgotten;
        for (language, counts) in &other.languages {
            self.add_counts(language, counts.pages, counts.pages_with.iter().map(|(term, count)| (*term, *count)));
        }
    }

    fn add_counts(&mut self, language: &str, pages: u64, counts: impl Iterator<Item = (u64, u32)>) {
        if !self.languages.contains_key(language) && self.languages.len() == MAX_LANGUAGES {
            self.forgotten += counts.count() as u64;
            return;
        }
        let known = self.languages.entry(language.to_owned()).or_default();
        known.pages += pages;
        for (term, count) in counts {
            let sum = known.pages_with.entry(term).or_default();
            *sum = sum.saturating_add(count);
        }
        let mut least = 1;
        while known.pages_with.len() > MAX_TERMS {
            let before = known.pages_with.len();
            known.pages_with.retain(|_, count| *count > least);
            self.forgotten += (before - known.pages_with.len()) as u64;
            least *= 2;
        }
    }

    /// The number of pages counted in a language.
    pub fn pages(&self, language: &str) -> u64 {
        self.languages.get(language).map_or(0, |counts| counts.pages)
    }

    /// The number of counts that were dropped: those of the rarest among more than a million terms of a language, and of
    /// languages beyond the 64th.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Inverse document frequency among the pages of a language: `ln((N + 1) / (n + 1))`. A term of all pages has 0.
    /// Without pages all terms are equal and have 1.
    pub fn inverse_frequency(&self, language: &str, term: &str) -> f64 {
        let Some(counts) = self.languages.get(language) else { return 1.0 };
        let with = counts.pages_with.get(&text_hash(term.as_bytes())).copied().unwrap_or(0);
        ((counts.pages as f64 + 1.0) / (f64::from(with) + 1.0)).ln().max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page_terms::TermCount;

    fn page(terms: &str) -> PageTerms {
        terms.split(' ').map(|term| (term, TermCount { body: 1, title: 0 })).collect()
    }

    #[test]
    fn terms_of_every_page_weigh_nothing_and_rare_ones_most() {
        let mut background = Background::default();
        assert_eq!(background.inverse_frequency("en", "a"), 1.0);
        ["a b", "a b", "a c"].iter().for_each(|terms| background.add("en", &page(terms)));
        assert_eq!(background.inverse_frequency("en", "a"), 0.0);
        assert!((background.inverse_frequency("en", "b") - (4.0f64 / 3.0).ln()).abs() < 1e-12);
        assert!((background.inverse_frequency("en", "never") - 4.0f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn merged_counts_are_those_of_all_pages() {
        let pages = ["a b", "a c", "c d e", "a"].map(page);
        let count = |pages: &[PageTerms]| {
            let mut background = Background::default();
            pages.iter().for_each(|page| background.add("en", page));
            background
        };
        let mut merged = count(&pages[..1]);
        merged.merge(&count(&pages[1..]));
        assert_eq!(merged, count(&pages));
        assert_eq!(merged.pages("en"), 4);
    }

    #[test]
    fn languages_are_counted_apart_and_their_number_is_bounded() {
        let mut background = Background::default();
        background.add("en", &page("a"));
        assert_eq!((background.inverse_frequency("en", "a"), background.inverse_frequency("zh", "a")), (0.0, 1.0));
        (0..100).for_each(|language| background.add(&format!("x{language}"), &page("a b")));
        assert_eq!((background.languages.len(), background.forgotten()), (MAX_LANGUAGES, 2 * 37));
    }

    #[test]
    fn it_is_bounded_and_keeps_what_is_common() {
        let mut background = Background::default();
        for part in 0..5 {
            let rare = (0..300_000).map(|index| (format!("{part}-{index}"), TermCount { body: 1, title: 0 }));
            background.add("en", &rare.chain([("common".to_owned(), TermCount { body: 1, title: 0 })]).collect());
        }
        assert!(background.languages["en"].pages_with.len() <= MAX_TERMS && background.forgotten() > 0);
        assert_eq!(background.inverse_frequency("en", "common"), 0.0);
    }
}
