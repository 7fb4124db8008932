//! Learns everything about a focus from the texts of example pages: words that the dictionary lacks, then the focus's
//! terms, and then the words near to them.

use crate::co_occurrence::CoOccurrence;
use crate::focus::Focus;
use crate::learn::FocusLearner;
use crate::page_terms::PageTerms;
use crate::phrase_learner::PhraseLearner;
use crate::phrases::{PhraseSegmenter, Phrases};
use crate::words::Segmenter;
use std::collections::BTreeSet;

/// The texts of a page to learn from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LearningText {
    /// ISO 639-1, or any other name of the language.
    pub language: String,
    pub title: String,
    /// The main text, a line for each block.
    pub text: String,
}

/// Learns a focus from examples, and from other pages, which show which words are common. `None` if the examples have no
/// terms, or only those of every other page.
pub fn learn_from_texts(
    name: &str,
    segmenter: &dyn Segmenter,
    examples: &[LearningText],
    others: &[LearningText],
) -> Option<Focus> {
    let mut words = PhraseLearner::default();
    for example in examples {
        words.add(segmenter, &example.title);
        words.add(segmenter, &example.text);
    }
    let words = words.finish();
    let phrases = Phrases::new(segmenter, words.iter().map(String::as_str));
    let segmenter = PhraseSegmenter::new(segmenter, &phrases);
    let mut learner = FocusLearner::default();
    for LearningText { language, title, text } in examples {
        learner.add_example(language, PageTerms::read(&segmenter, title, text));
    }
    for LearningText { language, title, text } in others {
        learner.add_other(language, PageTerms::read(&segmenter, title, text));
    }
    let mut focus = learner.finish(name, &segmenter)?;
    for (language, terms) in &focus.languages {
        let mut by_weight: Vec<(&str, f64)> = terms.vector.iter().collect();
        by_weight.sort_by(|one, other| other.1.total_cmp(&one.1));
        let mut counts = CoOccurrence::new(by_weight.into_iter().map(|(term, _)| term));
        for page in examples.iter().chain(others).filter(|page| page.language == *language) {
            counts.add(&segmenter, &page.text);
        }
        let terms: BTreeSet<&str> = terms.vector.iter().map(|(term, _)| term).collect();
        for (word, similarities) in counts.near_words().iter().filter(|(word, _)| !terms.contains(word)) {
            for (of, similarity) in similarities {
                focus.near.add(word, of, *similarity);
            }
        }
    }
    Some(focus)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::focus_file::read_focus;
    use crate::focus_writer::write_focus;
    use crate::words::IcuSegmenter;

    fn texts(language: &str, texts: &[&str]) -> Vec<LearningText> {
        let text = |text: &&str| LearningText {
            language: language.to_owned(),
            title: String::new(),
            text: (*text).to_owned(),
        };
        texts.iter().map(text).collect()
    }

    #[test]
    fn words_that_the_dictionary_lacks_become_terms() {
        let examples = texts(
            "zh",
            &[
                "国际航班晚点，旅客在机场等候。航班信息请咨询航空公司。",
                "由于天气原因，多个航班取消，旅客退票。",
                "乘坐邮轮旅行很受欢迎。邮轮停靠港口，旅客上岸。",
                "邮轮比航班慢，旅客却更舒适。",
            ],
        );
        let segmenter = IcuSegmenter::default();
        let focus = learn_from_texts("travel", &segmenter, &examples, &[]).unwrap();
        assert!(focus.closeness("航班") > 0.35 && focus.closeness("邮轮") > 0.35, "{focus:?}");
        assert!(focus.words().all(|word| word.chars().count() > 1), "{focus:?}");
        let again = read_focus(&write_focus(&focus), &segmenter).unwrap();
        let phrases = again.phrases(&segmenter);
        let page = PageTerms::read(&PhraseSegmenter::new(&segmenter, &phrases), "", "国际航班");
        assert_eq!(page.get("航班").body, 1);
    }

    #[test]
    fn words_beside_the_terms_are_near() {
        // One page says what a yacht is, so that the word is no term.
        let yachts = "The boat and the yacht sail.\n".repeat(12);
        let boats = "The boat, a keel.\nA sail and wind.\n".repeat(2);
        let examples = texts("en", &[&yachts, &boats, &boats, &boats]);
        let others = texts("en", &[&"The train stops here.\nBread and butter.\n".repeat(30)]);
        let focus = learn_from_texts("sailing", &IcuSegmenter::default(), &examples, &others).unwrap();
        assert_eq!(focus.languages["en"].vector.weight("yacht"), 0.0);
        assert!(focus.closeness("yacht") > 0.35, "{focus:?}");
        assert_eq!((focus.closeness("train"), focus.closeness("bread")), (0.0, 0.0));
        assert_eq!(learn_from_texts("none", &IcuSegmenter::default(), &[], &others), None);
    }
}
