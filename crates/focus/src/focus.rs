//! A focus: a subject that pages are wanted about.

use crate::near_words::NearWords;
use crate::page_terms::PageTerms;
use crate::phrases::Phrases;
use crate::relevance::{DEFAULT_THRESHOLD, RelevanceMeasure};
use crate::vector::FocusVector;
use crate::words::Segmenter;
use std::collections::BTreeMap;

/// A focus. A page is compared with the terms of each language, and the best comparison counts: half of the terms of a
/// focus in two languages can never stand in a page of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Focus {
    pub name: String,
    /// The version of the segmenter that cut its terms ([`Segmenter::version`](crate::Segmenter::version)).
    pub segmenter: String,
    /// Its terms by language (ISO 639-1), or by any other name.
    pub languages: BTreeMap<String, LanguageTerms>,
    /// Words that are near to its terms. They count in links, where few words stand, and not in pages.
    pub near: NearWords,
    /// Addresses of the pages it was learned from.
    pub examples: Vec<String>,
    /// Addresses where a crawl for it may begin.
    pub seeds: Vec<String>,
}

/// The terms of a focus in a language.
#[derive(Clone, Debug, PartialEq)]
pub struct LanguageTerms {
    /// A page with at least this relevance is about the focus. Each language has its own: where words have many forms, or
    /// few terms are known, fewer of them stand in a page.
    pub threshold: f64,
    pub vector: FocusVector,
}

/// How much a page is about a focus.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageRelevance<'a> {
    /// From 0 to 1.
    pub score: f64,
    /// The score from which a page in that language is about the focus.
    pub threshold: f64,
    /// Whether the score reaches the threshold.
    pub is_relevant: bool,
    /// The language whose terms fit best; `None` if none fits at all.
    pub language: Option<&'a str>,
}

impl Focus {
    /// A focus without terms, examples and seeds.
    pub fn new(name: impl Into<String>, segmenter: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            segmenter: segmenter.into(),
            languages: BTreeMap::new(),
            near: NearWords::default(),
            examples: Vec::new(),
            seeds: Vec::new(),
        }
    }

    /// The relevance of a page: in the language in which it comes closest to the threshold, or goes furthest beyond.
    pub fn relevance(&self, measure: &RelevanceMeasure, page: &PageTerms) -> PageRelevance<'_> {
        let mut best = PageRelevance { score: 0.0, threshold: DEFAULT_THRESHOLD, is_relevant: false, language: None };
        for (language, LanguageTerms { threshold, vector }) in &self.languages {
            let score = measure.of(vector, page);
            if score / threshold > best.score / best.threshold {
                let (threshold, is_relevant) = (*threshold, score >= *threshold);
                best = PageRelevance { score, threshold, is_relevant, language: Some(language) };
            }
        }
        best
    }

    /// How close a term is to the focus, from 0 to 1, in whichever language it is closest: by itself, or as a word near to a
    /// term of the focus.
    pub fn closeness(&self, term: &str) -> f64 {
        self.own_closeness(term).max(self.near.closeness(term, |of| self.own_closeness(of)))
    }

    fn own_closeness(&self, term: &str) -> f64 {
        self.languages.values().map(|terms| terms.vector.closeness(term)).fold(0.0, f64::max)
    }

    /// Its terms and near words.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let terms = self.languages.values().flat_map(|terms| terms.vector.iter().map(|(term, _)| term));
        terms.chain(self.near.iter().map(|(word, _)| word))
    }

    /// Its words that the segmenter may cut. Pages that are compared with the focus are read by a
    /// [`PhraseSegmenter`](crate::PhraseSegmenter) with these.
    pub fn phrases(&self, segmenter: &dyn Segmenter) -> Phrases {
        Phrases::new(segmenter, self.words())
    }

    /// The terms of a page that count most, best first.
    pub fn best_terms(&self, measure: &RelevanceMeasure, page: &PageTerms, most: usize) -> Vec<String> {
        let language = self.relevance(measure, page).language;
        let Some(terms) = language.and_then(|language| self.languages.get(language)) else { return Vec::new() };
        let share = |(term, weight): (&str, f64)| (weight * measure.weight(page.get(term)), term.to_owned());
        let mut shares: Vec<(f64, String)> = terms.vector.iter().map(share).filter(|(share, _)| *share > 0.0).collect();
        shares.sort_by(|one, other| other.0.total_cmp(&one.0));
        shares.into_iter().take(most).map(|(_, term)| term).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::IcuSegmenter;

    fn focus() -> Focus {
        let vector = |terms: &[(&str, f64)]| {
            let vector = FocusVector::new(terms.iter().map(|(term, weight)| ((*term).to_owned(), *weight)), 200);
            LanguageTerms { threshold: DEFAULT_THRESHOLD, vector }
        };
        let languages = [("en", vector(&[("boat", 2.0), ("sail", 1.0)])), ("zh", vector(&[("帆船", 1.0)]))];
        Focus {
            languages: languages.map(|(language, terms)| (language.to_owned(), terms)).into(),
            ..Focus::new("x", "v")
        }
    }

    #[test]
    fn a_page_is_compared_with_each_language() {
        let (focus, measure) = (focus(), RelevanceMeasure::default());
        let read = |text| PageTerms::read(&IcuSegmenter::default(), "", text);
        let english = read("a boat with a sail");
        assert_eq!(focus.relevance(&measure, &english).language, Some("en"));
        assert!(focus.relevance(&measure, &english).score > 0.9);
        let chinese = focus.relevance(&measure, &read("帆船"));
        assert_eq!((chinese.language, chinese.is_relevant), (Some("zh"), true));
        assert!((chinese.score - 1.0).abs() < 1e-12);
        let other = focus.relevance(&measure, &read("a train"));
        assert_eq!((other.language, other.is_relevant, other.score), (None, false, 0.0));
        assert_eq!(focus.best_terms(&measure, &english, 1), ["boat"]);
        assert_eq!((focus.closeness("sail"), focus.closeness("帆船"), focus.closeness("car")), (0.5, 1.0, 0.0));
    }

    #[test]
    fn a_near_word_is_as_close_as_its_term_at_most() {
        let mut focus = focus();
        assert!(focus.near.add("yacht", "sail", 0.8) && focus.near.add("boat", "sail", 1.0));
        assert_eq!((focus.closeness("yacht"), focus.closeness("boat")), (0.4, 1.0));
        let page = PageTerms::read(&IcuSegmenter::default(), "", "yacht");
        assert_eq!(focus.relevance(&RelevanceMeasure::default(), &page).score, 0.0);
        assert!(focus.words().any(|word| word == "yacht"));
    }

    #[test]
    fn each_language_has_its_threshold_which_equality_reaches() {
        let (mut focus, measure) = (focus(), RelevanceMeasure::default());
        let page = PageTerms::read(&IcuSegmenter::default(), "", "sail");
        let score = focus.relevance(&measure, &page).score;
        focus.languages.get_mut("en").unwrap().threshold = score;
        focus.languages.get_mut("zh").unwrap().threshold = 1.1;
        assert!(focus.relevance(&measure, &page).is_relevant);
        assert!(!focus.relevance(&measure, &PageTerms::read(&IcuSegmenter::default(), "", "帆船")).is_relevant);
    }
}
