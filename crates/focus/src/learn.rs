//! Learns a focus from example pages.
//!
//! The weight of a term is its mean weight over the examples of a language, each scaled to length 1, times its inverse
//! document frequency. The examples cannot say which words are common: a word that occurs in all of them is their
//! subject. So the frequencies come from other pages ([`Background`]). Without any, stop words alone are left out. If
//! there are enough examples, a term counts only if several have it: the rest is what each of them happens to mention.

use crate::background::Background;
use crate::focus::{Focus, LanguageTerms};
use crate::page_terms::{PageTerms, TermCount};
use crate::relevance::{DEFAULT_THRESHOLD, RelevanceMeasure};
use crate::vector::{FOCUS_TERMS, FocusVector};
use crate::words::Segmenter;
use std::collections::BTreeMap;

/// Examples, and other pages, of a language that are judged. More would not make the threshold better.
const MAX_JUDGED: usize = 32;
/// With fewer examples of a language, the threshold stays at its default.
const MIN_JUDGED: usize = 3;
/// From this number of examples on, a term has to occur in [`SHARED_BY`] of them.
const MANY_EXAMPLES: usize = 4;
const SHARED_BY: usize = 2;
/// With fewer other pages of a language, they do not move the threshold.
const MIN_OTHERS: usize = 8;
/// Without other pages, a threshold is this share of the relevance of a weak example.
const WEAK_EXAMPLE_SHARE: f64 = 0.8;
/// The lowest threshold.
const MIN_THRESHOLD: f64 = 0.05;

/// Collects examples of a focus, and other pages.
#[derive(Clone, Debug, Default)]
pub struct FocusLearner {
    measure: RelevanceMeasure,
    languages: BTreeMap<String, LanguageExamples>,
    background: Background,
}

#[derive(Clone, Debug, Default)]
struct LanguageExamples {
    examples: usize,
    terms: BTreeMap<String, TermSum>,
    judged: Vec<PageTerms>,
    others: Vec<PageTerms>,
}

/// A term over all examples of a language.
#[derive(Clone, Copy, Debug, Default)]
struct TermSum {
    weight: f64,
    examples: usize,
}

impl FocusLearner {
    /// A learner that knows these document frequencies.
    pub fn with_background(background: Background) -> Self {
        Self { background, ..Self::default() }
    }

    /// Adds an example. Returns false for a page without terms, which teaches nothing.
    pub fn add_example(&mut self, language: &str, page: PageTerms) -> bool {
        let length = self.measure.length(&page);
        if length == 0.0 {
            return false;
        }
        let examples = self.languages.entry(language.to_owned()).or_default();
        examples.examples += 1;
        for (term, count) in page.iter() {
            let sum = examples.terms.entry(term.to_owned()).or_default();
            sum.weight += self.measure.weight(count) / length;
            sum.examples += 1;
        }
        if examples.judged.len() < MAX_JUDGED {
            examples.judged.push(page);
        }
        true
    }

    /// Adds a page that is not about the focus.
    pub fn add_other(&mut self, language: &str, page: PageTerms) {
        self.background.add(language, &page);
        let others = &mut self.languages.entry(language.to_owned()).or_default().others;
        if others.len() < MAX_JUDGED {
            others.push(page);
        }
    }

    /// The focus of all examples; `None` without any, or if all their terms stand in every other page.
    pub fn finish(&self, name: &str, segmenter: &dyn Segmenter) -> Option<Focus> {
        let mut focus = Focus::new(name, segmenter.version());
        for (language, examples) in &self.languages {
            let terms = examples.terms.iter().map(|(term, sum)| (term, *sum));
            let vector = vector(language, examples.examples, terms, &self.background);
            if !vector.is_empty() {
                let threshold = self.threshold(language, examples, &vector);
                focus.languages.insert(language.clone(), LanguageTerms { threshold, vector });
            }
        }
        (!focus.languages.is_empty()).then_some(focus)
    }

    /// The threshold of a language: at most [`DEFAULT_THRESHOLD`], and lower if the examples differ. Each is judged by
    /// a focus learned from the others. If other pages are known, it lies in the middle between the best of them and
    /// weak examples.
    fn threshold(&self, language: &str, examples: &LanguageExamples, vector: &FocusVector) -> f64 {
        if examples.examples < MIN_JUDGED {
            return DEFAULT_THRESHOLD;
        }
        let by_others = examples.judged.iter().map(|page| self.score_by_others(language, examples, page));
        let weak_example = quantile(by_others.collect(), 0.25);
        let threshold = if examples.others.len() < MIN_OTHERS {
            WEAK_EXAMPLE_SHARE * weak_example
        } else {
            let others = examples.others.iter().map(|page| self.measure.of(vector, page));
            f64::midpoint(quantile(others.collect(), 0.95), weak_example)
        };
        threshold.clamp(MIN_THRESHOLD, DEFAULT_THRESHOLD)
    }

    /// The relevance of an example to a focus that is learned from the others.
    fn score_by_others(&self, language: &str, examples: &LanguageExamples, page: &PageTerms) -> f64 {
        let length = self.measure.length(page);
        let others = examples.terms.iter().map(|(term, sum)| {
            let count = page.get(term);
            let weight = sum.weight - self.measure.weight(count) / length;
            (term, TermSum { weight, examples: sum.examples - usize::from(count != TermCount::default()) })
        });
        self.measure.of(&vector(language, examples.examples - 1, others, &self.background), page)
    }
}

/// The value below which this share of the scores lies.
fn quantile(mut scores: Vec<f64>, share: f64) -> f64 {
    scores.sort_unstable_by(f64::total_cmp);
    let place = (share * scores.len() as f64) as usize;
    scores.get(place.min(scores.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

/// The vector of a language, from sums over a number of examples.
fn vector<'a>(
    language: &str,
    examples: usize,
    terms: impl Iterator<Item = (&'a String, TermSum)>,
    background: &Background,
) -> FocusVector {
    let shared_by = if examples >= MANY_EXAMPLES { SHARED_BY } else { 1 };
    let shared = terms.filter(|(_, sum)| sum.examples >= shared_by);
    let weighted = shared.map(|(term, sum)| (term.clone(), sum.weight * background.inverse_frequency(language, term)));
    FocusVector::new(weighted, FOCUS_TERMS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::IcuSegmenter;

    fn read(text: &str) -> PageTerms {
        PageTerms::read(&IcuSegmenter::default(), "", text)
    }

    fn learned(examples: &[&str], others: &[&str]) -> Focus {
        let mut learner = FocusLearner::default();
        examples.iter().for_each(|text| assert!(learner.add_example("en", read(text))));
        others.iter().for_each(|text| learner.add_other("en", read(text)));
        learner.finish("x", &IcuSegmenter::default()).unwrap()
    }

    const EXAMPLES: [&str; 4] = [
        "The keel of a sailing boat holds it upright while wind fills the mainsail.",
        "Reef the mainsail when the wind grows, before the boat heels over its keel.",
        "A boat sails close to the wind with mainsail and jib; the keel stops drift.",
        "Jib and mainsail drive the boat; people say the wind decides.",
    ];

    #[test]
    fn what_the_examples_share_is_kept() {
        let focus = learned(&EXAMPLES, &[]);
        let vector = &focus.languages["en"].vector;
        for common in ["boat", "mainsail", "wind"] {
            for rare in ["upright", "drift", "people"] {
                assert!(vector.weight(common) > 0.0 && vector.weight(rare) == 0.0, "{common} {rare}");
            }
        }
        assert_eq!(vector.weight("the"), 0.0);
        // Three examples are too few to determine what is shared.
        let few = learned(&EXAMPLES[..3], &[]);
        assert!(few.closeness("boat") > few.closeness("upright") && few.closeness("upright") > 0.0);
    }

    #[test]
    fn words_of_other_pages_weigh_less() {
        let others = ["People like wind.", "People eat bread.", "People drive cars.", "Some people read."];
        let (alone, against) = (learned(&EXAMPLES, &[]), learned(&EXAMPLES, &others));
        let share = |focus: &Focus, term| focus.closeness(term);
        assert_eq!(share(&against, "people"), 0.0);
        assert!(share(&against, "wind") < share(&alone, "wind"));
    }

    #[test]
    fn examples_that_differ_lower_the_threshold() {
        let threshold = |examples: &[&str], others: &[&str]| learned(examples, others).languages["en"].threshold;
        assert_eq!(threshold(&EXAMPLES[..2], &[]), DEFAULT_THRESHOLD);
        let alike = threshold(&EXAMPLES, &[]);
        let mixed = [EXAMPLES[0], EXAMPLES[1], "Bread is baked from flour.", "Trains run on rails."];
        let differing = threshold(&mixed, &[]);
        assert!(differing < alike && alike <= DEFAULT_THRESHOLD && differing >= MIN_THRESHOLD, "{differing} {alike}");
        // Other pages that are unlike the focus let it be lower still, pages that are like it do not.
        let bread = ["Bread is baked from flour."; 8];
        let boats = [&bread[..], &["A boat of flour in the wind."; 3]].concat();
        assert!(threshold(&EXAMPLES, &bread) < threshold(&EXAMPLES, &boats));
    }

    #[test]
    fn languages_are_learned_apart_and_the_best_terms_are_kept() {
        let mut learner = FocusLearner::default();
        let many: Vec<String> = (0..500).map(|index| format!("word{index}a")).collect();
        assert!(learner.add_example("en", read(&many.join(" "))));
        assert!(learner.add_example("zh", read("帆船比赛")));
        assert!(!learner.add_example("en", read("the 7 的")));
        let focus = learner.finish("x", &IcuSegmenter::default()).unwrap();
        let terms = |language| focus.languages[language].vector.len();
        assert_eq!((terms("en"), terms("zh")), (FOCUS_TERMS, 2));
        assert_eq!(FocusLearner::default().finish("x", &IcuSegmenter::default()), None);
        let mut others_only = FocusLearner::default();
        others_only.add_other("en", read("boat"));
        assert_eq!(others_only.finish("x", &IcuSegmenter::default()), None);
    }
}
