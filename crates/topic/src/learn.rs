//! Learns a topic from example pages.
//!
//! The weight of a term is its mean weight over the examples of a language, each scaled to length 1, times its inverse
//! document frequency. The examples cannot say which words are common: a word that stands in all of them is what they
//! are about. So the frequencies come from other pages ([`Background`]). Without any, stop words alone are left out.

use crate::background::Background;
use crate::page_terms::PageTerms;
use crate::relevance::{DEFAULT_THRESHOLD, RelevanceMeasure};
use crate::topic::Topic;
use crate::vector::{TOPIC_TERMS, TopicVector};
use crate::words::Segmenter;
use std::collections::BTreeMap;

/// Examples of a language that are judged by what the others teach. More would not make the threshold better.
const MAX_JUDGED: usize = 32;
/// With fewer examples of a language, the threshold stays at its default.
const MIN_JUDGED: usize = 3;
/// A threshold is this share of what a typical weak example reaches, and at least [`MIN_THRESHOLD`].
const THRESHOLD_SHARE: f64 = 0.8;
const MIN_THRESHOLD: f64 = 0.05;

/// Collects examples of a topic.
#[derive(Clone, Debug, Default)]
pub struct TopicLearner {
    measure: RelevanceMeasure,
    languages: BTreeMap<String, LanguageExamples>,
}

#[derive(Clone, Debug, Default)]
struct LanguageExamples {
    examples: usize,
    sums: BTreeMap<String, f64>,
    judged: Vec<PageTerms>,
}

impl TopicLearner {
    /// Adds an example. Returns false for a page without terms, which teaches nothing.
    pub fn add(&mut self, language: &str, page: PageTerms) -> bool {
        let length = self.measure.length(&page);
        if length == 0.0 {
            return false;
        }
        let examples = self.languages.entry(language.to_owned()).or_default();
        examples.examples += 1;
        for (term, count) in page.iter() {
            *examples.sums.entry(term.to_owned()).or_default() += self.measure.weight(count) / length;
        }
        if examples.judged.len() < MAX_JUDGED {
            examples.judged.push(page);
        }
        true
    }

    /// The topic of all examples; `None` without any, or if all their terms stand in every page of the background.
    ///
    /// The threshold is [`DEFAULT_THRESHOLD`] or less. It is less if the examples differ so much that the weaker
    /// ones would not reach it: each is judged by what the others teach, and the first quarter of them counts.
    pub fn finish(&self, name: &str, segmenter: &dyn Segmenter, background: &Background) -> Option<Topic> {
        let mut topic = Topic::new(name, segmenter.version());
        for (language, examples) in &self.languages {
            let vector = vector(examples.sums.iter().map(|(term, sum)| (term, *sum)), background);
            if vector.is_empty() {
                continue;
            }
            topic.threshold = topic.threshold.min(self.threshold(examples, background));
            topic.vectors.insert(language.clone(), vector);
        }
        (!topic.vectors.is_empty()).then_some(topic)
    }

    fn threshold(&self, examples: &LanguageExamples, background: &Background) -> f64 {
        if examples.examples < MIN_JUDGED {
            return DEFAULT_THRESHOLD;
        }
        let mut scores: Vec<f64> =
            examples.judged.iter().map(|page| self.score_by_others(examples, page, background)).collect();
        scores.sort_unstable_by(f64::total_cmp);
        (THRESHOLD_SHARE * scores[scores.len() / 4]).clamp(MIN_THRESHOLD, DEFAULT_THRESHOLD)
    }

    /// The relevance of an example to a topic that is learned from the others.
    fn score_by_others(&self, examples: &LanguageExamples, page: &PageTerms, background: &Background) -> f64 {
        let length = self.measure.length(page);
        let others = examples.sums.iter().map(|(term, sum)| {
            let rest = sum - self.measure.weight(page.get(term)) / length;
            // What is left of a term of this page alone is rounding.
            (term, if rest > 1e-9 { rest } else { 0.0 })
        });
        self.measure.of(&vector(others, background), page)
    }
}

fn vector<'a>(sums: impl Iterator<Item = (&'a String, f64)>, background: &Background) -> TopicVector {
    let weighted = sums.map(|(term, sum)| (term.clone(), sum * background.inverse_frequency(term)));
    TopicVector::new(weighted, TOPIC_TERMS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::IcuSegmenter;

    fn read(text: &str) -> PageTerms {
        PageTerms::read(&IcuSegmenter::default(), "", text)
    }

    fn learned(examples: &[&str], others: &[&str]) -> Topic {
        let mut learner = TopicLearner::default();
        examples.iter().for_each(|text| assert!(learner.add("en", read(text))));
        let mut background = Background::default();
        others.iter().for_each(|text| background.add(&read(text)));
        learner.finish("x", &IcuSegmenter::default(), &background).unwrap()
    }

    const EXAMPLES: [&str; 4] = [
        "The keel of a sailing boat holds it upright while wind fills the mainsail.",
        "Reef the mainsail when the wind grows, before the boat heels over its keel.",
        "A boat sails close to the wind with mainsail and jib; the keel stops drift.",
        "Jib and mainsail drive the boat; people say the wind decides.",
    ];

    #[test]
    fn what_the_examples_share_weighs_most() {
        let topic = learned(&EXAMPLES, &[]);
        let vector = &topic.vectors["en"];
        for common in ["boat", "mainsail", "wind"] {
            for rare in ["upright", "drift", "people"] {
                assert!(vector.weight(common) > vector.weight(rare) && vector.weight(rare) > 0.0, "{common} {rare}");
            }
        }
        assert_eq!(vector.weight("the"), 0.0);
    }

    #[test]
    fn words_of_other_pages_weigh_less() {
        let others = ["People like wind.", "People eat bread.", "People drive cars.", "Some people read."];
        let (alone, against) = (learned(&EXAMPLES, &[]), learned(&EXAMPLES, &others));
        let share = |topic: &Topic, term| topic.vectors["en"].closeness(term);
        assert_eq!(share(&against, "people"), 0.0);
        assert!(share(&against, "wind") < share(&alone, "wind"));
    }

    #[test]
    fn examples_that_differ_lower_the_threshold() {
        assert!((learned(&EXAMPLES[..2], &[]).threshold - DEFAULT_THRESHOLD).abs() < 1e-12);
        let alike = learned(&EXAMPLES, &[]).threshold;
        let mixed = [EXAMPLES[0], EXAMPLES[1], "Bread is baked from flour.", "Trains run on rails."];
        let differing = learned(&mixed, &[]).threshold;
        assert!(differing < alike && alike <= DEFAULT_THRESHOLD && differing >= MIN_THRESHOLD, "{differing} {alike}");
    }

    #[test]
    fn languages_are_learned_apart_and_the_best_terms_are_kept() {
        let mut learner = TopicLearner::default();
        let many: Vec<String> = (0..500).map(|index| format!("word{index}a")).collect();
        assert!(learner.add("en", read(&many.join(" "))));
        assert!(learner.add("zh", read("帆船比赛")));
        assert!(!learner.add("en", read("the 7 的")));
        let topic = learner.finish("x", &IcuSegmenter::default(), &Background::default()).unwrap();
        assert_eq!((topic.vectors["en"].len(), topic.vectors["zh"].len()), (TOPIC_TERMS, 2));
        let none = TopicLearner::default().finish("x", &IcuSegmenter::default(), &Background::default());
        assert_eq!(none, None);
    }
}
