//! In how many pages of any kind a term stands.
//!
//! Counted from pages seen, not shipped as a table: what is common depends on the crawl, and a table for every language
//! would be larger than the program. Counts of two crawlers, or two partitions, are merged by addition.

use crate::page_terms::PageTerms;
use document::text_hash;
use std::collections::HashMap;

/// The most terms counted. Some 24 MiB.
const MAX_TERMS: usize = 1 << 20;

/// Document frequencies of terms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Background {
    pages: u64,
    /// By hash of the term. Two terms of one hash share a count, which is harmless and rare.
    counts: HashMap<u64, u32>,
    forgotten: u64,
}

impl Background {
    /// Counts a page.
    pub fn add(&mut self, page: &PageTerms) {
        self.pages += 1;
        for (term, _) in page.iter() {
            let count = self.counts.entry(text_hash(term.as_bytes())).or_default();
            *count = count.saturating_add(1);
        }
        self.forget_rare_terms();
    }

    /// Adds the counts of another background, as if its pages had been seen here.
    pub fn merge(&mut self, other: &Self) {
        self.pages += other.pages;
        self.forgotten += other.forgotten;
        for (term, count) in &other.counts {
            let sum = self.counts.entry(*term).or_default();
            *sum = sum.saturating_add(*count);
        }
        self.forget_rare_terms();
    }

    /// The number of pages counted.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// The number of counts that were dropped because there were more than a million terms. They were the smallest.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Inverse document frequency: `ln((N + 1) / (n + 1))`. A term of all pages has 0. Without pages all terms are equal
    /// and have 1.
    pub fn inverse_frequency(&self, term: &str) -> f64 {
        if self.pages == 0 {
            return 1.0;
        }
        let count = self.counts.get(&text_hash(term.as_bytes())).copied().unwrap_or(0);
        ((self.pages as f64 + 1.0) / (f64::from(count) + 1.0)).ln().max(0.0)
    }

    fn forget_rare_terms(&mut self) {
        let mut least = 1;
        while self.counts.len() > MAX_TERMS {
            let before = self.counts.len();
            self.counts.retain(|_, count| *count > least);
            self.forgotten += (before - self.counts.len()) as u64;
            least *= 2;
        }
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
        assert_eq!(background.inverse_frequency("a"), 1.0);
        ["a b", "a b", "a c"].iter().for_each(|terms| background.add(&page(terms)));
        assert_eq!(background.inverse_frequency("a"), 0.0);
        assert!((background.inverse_frequency("b") - (4.0f64 / 3.0).ln()).abs() < 1e-12);
        assert!((background.inverse_frequency("never") - 4.0f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn merged_counts_are_those_of_all_pages() {
        let pages = ["a b", "a c", "c d e", "a"].map(page);
        let count = |pages: &[PageTerms]| {
            let mut background = Background::default();
            pages.iter().for_each(|page| background.add(page));
            background
        };
        let mut merged = count(&pages[..1]);
        merged.merge(&count(&pages[1..]));
        assert_eq!(merged, count(&pages));
        assert_eq!(merged.pages(), 4);
    }

    #[test]
    fn it_is_bounded_and_keeps_what_is_common() {
        let mut background = Background::default();
        for part in 0..5 {
            let rare = (0..300_000).map(|index| (format!("{part}-{index}"), TermCount { body: 1, title: 0 }));
            background.add(&rare.chain([("common".to_owned(), TermCount { body: 1, title: 0 })]).collect());
        }
        assert!(background.counts.len() <= MAX_TERMS && background.forgotten() > 0);
        assert_eq!(background.inverse_frequency("common"), 0.0);
    }
}
