//! Several topics by which the pages of a crawl are judged.
//!
//! A page is wanted if it is about one of them. What a link promises is the most that it promises for one, so its words are
//! looked at once, however many topics there are.

use crate::links::LinkPrediction;
use crate::page_terms::PageTerms;
use crate::relevance::RelevanceMeasure;
use crate::topic::Topic;
use crate::topic_writer::write_topic;
use std::collections::HashMap;

/// The most topics of a set. Judging a page takes time linear in them.
pub const MAX_TOPICS: usize = 32;

/// How close a term is to what is wanted.
pub trait TermCloseness {
    /// From 0 to 1.
    fn closeness(&self, term: &str) -> f64;
}

impl TermCloseness for Topic {
    fn closeness(&self, term: &str) -> f64 {
        Topic::closeness(self, term)
    }
}

impl TermCloseness for TopicSet {
    fn closeness(&self, term: &str) -> f64 {
        self.closenesses.get(term).copied().unwrap_or(0.0)
    }
}

/// How pages and links are judged by a set.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TopicSetRules {
    /// The relevance of pages.
    pub measure: RelevanceMeasure,
    /// The relevance from which a page is about a topic, in place of those of the topics.
    pub page_threshold: Option<f64>,
    /// How the relevance of a target is predicted from the words of links to it.
    pub prediction: LinkPrediction,
}

/// How much a page is about a topic of a set.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicJudgement {
    /// The topic.
    pub topic: String,
    /// From 0 to 1.
    pub relevance: f64,
    /// The relevance from which a page is about the topic. Positive.
    pub threshold: f64,
}

/// Topics of different names.
#[derive(Clone, Debug, Default)]
pub struct TopicSet {
    topics: Vec<Topic>,
    rules: TopicSetRules,
    /// By term, the largest closeness of all topics.
    closenesses: HashMap<String, f64>,
    version: i64,
}

impl TopicSet {
    /// The set of the first [`MAX_TOPICS`] topics. The caller reports others to the operator.
    pub fn new(mut topics: Vec<Topic>, rules: TopicSetRules) -> Self {
        topics.truncate(MAX_TOPICS);
        topics.sort_by(|one, other| one.name.cmp(&other.name));
        let mut closenesses: HashMap<String, f64> = HashMap::new();
        for vector in topics.iter().flat_map(|topic| topic.languages.values()).map(|terms| &terms.vector) {
            for (term, _) in vector.iter() {
                let largest = closenesses.entry(term.to_owned()).or_default();
                *largest = largest.max(vector.closeness(term));
            }
        }
        let version = if topics.is_empty() { 0 } else { version(&topics, &rules) };
        Self { topics, rules, closenesses, version }
    }

    /// A number that differs if pages may be judged otherwise. 0 for the empty set.
    pub fn version(&self) -> i64 {
        self.version
    }

    /// The topics, sorted by name.
    pub fn topics(&self) -> &[Topic] {
        &self.topics
    }

    /// Whether there are no topics.
    pub fn is_empty(&self) -> bool {
        self.topics.is_empty()
    }

    /// How pages and links are judged.
    pub fn rules(&self) -> &TopicSetRules {
        &self.rules
    }

    /// How much a page is about each topic.
    pub fn judge(&self, page: &PageTerms) -> Vec<TopicJudgement> {
        let judge = |topic: &Topic| {
            let found = topic.relevance(&self.rules.measure, page);
            // A threshold of 0 makes every page one of the topic.
            let threshold = self.rules.page_threshold.unwrap_or(found.threshold).max(f64::MIN_POSITIVE);
            TopicJudgement { topic: topic.name.clone(), relevance: found.score, threshold }
        };
        self.topics.iter().map(judge).collect()
    }
}

fn version(topics: &[Topic], rules: &TopicSetRules) -> i64 {
    let texts: Vec<String> = topics.iter().map(write_topic).collect();
    let text = format!("{rules:?}\0{}", texts.join("\0"));
    let hash = document::text_hash(text.as_bytes()) as i64;
    // 0 is for the empty set.
    if hash == 0 { 1 } else { hash }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topic_file::read_topic;
    use crate::words::IcuSegmenter;

    fn topic(name: &str, words: &str) -> Topic {
        let text = format!("format = 1\nname = \"{name}\"\nthreshold = 0.4\n[terms.en]\n{words}\n");
        read_topic(&text, &IcuSegmenter::default()).unwrap()
    }

    fn set(topics: Vec<Topic>) -> TopicSet {
        TopicSet::new(topics, TopicSetRules::default())
    }

    #[test]
    fn a_page_is_judged_by_every_topic_and_a_term_by_the_closest() {
        let set = set(vec![topic("boats", "sail = 1\nrope = 0.5"), topic("alps", "rope = 1\npeak = 1")]);
        let judged = set.judge(&PageTerms::read(&IcuSegmenter::default(), "", "a sail and a sail"));
        assert_eq!(judged.iter().map(|it| it.topic.as_str()).collect::<Vec<_>>(), ["alps", "boats"]);
        assert!(judged[0].relevance == 0.0 && judged[1].relevance > 0.8, "{judged:?}");
        assert_eq!(judged[1].threshold, 0.4);
        assert_eq!(["sail", "rope", "peak", "car"].map(|term| set.closeness(term)), [1.0, 1.0, 1.0, 0.0]);
    }

    #[test]
    fn the_version_is_that_of_the_judgement() {
        let (boats, alps) = (topic("boats", "sail = 1"), topic("alps", "peak = 1"));
        let version = |topics: &[&Topic]| set(topics.iter().map(|&topic| topic.clone()).collect()).version();
        assert_eq!(version(&[&boats, &alps]), version(&[&alps, &boats]));
        let others = [version(&[]), version(&[&boats]), version(&[&alps]), version(&[&boats, &alps])];
        let different: std::collections::BTreeSet<_> = others.into_iter().collect();
        assert_eq!((different.len(), others[0]), (4, 0));
        let rules = TopicSetRules { page_threshold: Some(0.5), ..TopicSetRules::default() };
        let stricter = TopicSet::new(vec![boats.clone()], rules);
        assert_ne!(stricter.version(), others[1]);
        assert_eq!(stricter.judge(&PageTerms::default())[0].threshold, 0.5);
    }

    #[test]
    fn the_number_of_topics_is_bounded() {
        let many = (0..2 * MAX_TOPICS).map(|index| topic(&format!("t{index}"), "sail = 1")).collect();
        assert_eq!(set(many).topics().len(), MAX_TOPICS);
    }
}
