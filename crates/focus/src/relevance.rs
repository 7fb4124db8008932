//! How much a page is about a focus: the vector space model (VSM) with a weight for titles.
//!
//! A term of a page weighs `tf_body + β tf_title`, damped to `1 + ln`. The relevance is the cosine of the page's vector
//! and the focus's:
//!
//! `Sim = Σ w₁w₂ / √(Σ w₁² Σ w₂²)`, and 0 if one of the two is empty.
//!
//! The published system drops the page's other terms before it takes the page's length. A long page with one word of the
//! focus is then as good as a page about it, so here the length is that of the whole page.

use crate::page_terms::{PageTerms, TermCount};
use crate::vector::FocusVector;

/// A page with at least this relevance is about the focus, unless the focus says otherwise.
pub const DEFAULT_THRESHOLD: f64 = 0.3;

/// How counts of terms become weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damping {
    /// The count itself, as published.
    None,
    /// `1 + ln count`: a word repeated a hundred times says less than a hundred times as much.
    Logarithmic,
}

/// Which terms of a page make up its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageLength {
    /// All of them.
    AllTerms,
    /// Those that are terms of the focus, as published.
    FocusTerms,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelevanceMeasure {
    /// β: how many occurrences in the body one in the title is worth.
    pub title_weight: f64,
    pub damping: Damping,
    pub page_length: PageLength,
}

impl Default for RelevanceMeasure {
    fn default() -> Self {
        Self { title_weight: 5.0, damping: Damping::Logarithmic, page_length: PageLength::AllTerms }
    }
}

impl RelevanceMeasure {
    /// The measure as the "SkyReach" system published it.
    pub fn published() -> Self {
        Self { damping: Damping::None, page_length: PageLength::FocusTerms, ..Self::default() }
    }

    /// The weight of a term in a page.
    pub fn weight(&self, count: TermCount) -> f64 {
        let count = f64::from(count.body) + self.title_weight * f64::from(count.title);
        match self.damping {
            Damping::Logarithmic if count > 1.0 => 1.0 + count.ln(),
            _ => count,
        }
    }

    /// The length of a page's vector over all its terms.
    pub fn length(&self, page: &PageTerms) -> f64 {
        page.iter().map(|(_, count)| self.weight(count).powi(2)).sum::<f64>().sqrt()
    }

    /// The relevance of a page to one vector, from 0 to 1.
    pub fn of(&self, focus: &FocusVector, page: &PageTerms) -> f64 {
        let (mut product, mut focus_square, mut pruned_square) = (0.0, 0.0, 0.0);
        for (term, weight) in focus.iter() {
            let in_page = self.weight(page.get(term));
            product += weight * in_page;
            focus_square += weight * weight;
            pruned_square += in_page * in_page;
        }
        let page_length = match self.page_length {
            PageLength::AllTerms => self.length(page),
            PageLength::FocusTerms => pruned_square.sqrt(),
        };
        let lengths = focus_square.sqrt() * page_length;
        if lengths > 0.0 { (product / lengths).clamp(0.0, 1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn page(counts: &[(&str, u32, u32)]) -> PageTerms {
        counts.iter().map(|(term, body, title)| (*term, TermCount { body: *body, title: *title })).collect()
    }

    fn focus() -> FocusVector {
        FocusVector::new([("a", 0.6), ("b", 0.3), ("c", 0.1)].map(|(term, weight)| (term.to_owned(), weight)), 200)
    }

    /// Section G1 of the specification.
    #[test]
    fn the_reference_values_are_met() {
        let page = page(&[("a", 2, 1), ("b", 1, 0), ("d", 4, 0)]);
        let check = |title_weight, damping, page_length, expected: f64| {
            let relevance = RelevanceMeasure { title_weight, damping, page_length }.of(&focus(), &page);
            assert!((relevance / expected - 1.0).abs() < 1e-9, "{relevance} {expected}");
        };
        for (title_weight, all, pruned) in [
            (0.0, 0.482617089066, 0.989070710094),
            (1.0, 0.607230678565, 0.979130048652),
            (5.0, 0.816698259721, 0.938314863257),
            (10.0, 0.871504049714, 0.918329099959),
        ] {
            check(title_weight, Damping::None, PageLength::AllTerms, all);
            check(title_weight, Damping::None, PageLength::FocusTerms, pruned);
        }
        check(5.0, Damping::Logarithmic, PageLength::AllTerms, 0.777499240392);
        assert_eq!(RelevanceMeasure::published().of(&focus(), &page), {
            let published =
                RelevanceMeasure { title_weight: 5.0, damping: Damping::None, page_length: PageLength::FocusTerms };
            published.of(&focus(), &page)
        });
    }

    #[test]
    fn nothing_is_relevant_to_nothing() {
        for measure in [RelevanceMeasure::default(), RelevanceMeasure::published()] {
            assert_eq!(measure.of(&focus(), &PageTerms::default()), 0.0);
            assert_eq!(measure.of(&FocusVector::default(), &page(&[("a", 1, 1)])), 0.0);
            assert_eq!(measure.of(&focus(), &page(&[("d", 1, 1)])), 0.0);
        }
    }

    #[test]
    fn words_beside_the_focus_lower_the_relevance_unless_they_are_pruned_first() {
        let other: Vec<String> = (0..300).map(|index| format!("other{index}")).collect();
        let long: Vec<_> = std::iter::once(("a", 1, 0)).chain(other.iter().map(|term| (term.as_str(), 1, 0))).collect();
        assert!(RelevanceMeasure::default().of(&focus(), &page(&long)) < 0.06);
        assert!(RelevanceMeasure::published().of(&focus(), &page(&long)) > 0.8);
    }

    proptest! {
        #[test]
        fn relevance_is_between_0_and_1(counts in proptest::collection::vec(("[a-e]", any::<u32>(), any::<u32>()), 0..6)) {
            let page = counts.into_iter().map(|(term, body, title)| (term, TermCount { body, title })).collect();
            for measure in [RelevanceMeasure::default(), RelevanceMeasure::published()] {
                let relevance = measure.of(&focus(), &page);
                prop_assert!((0.0..=1.0).contains(&relevance), "{relevance}");
            }
        }
    }
}
