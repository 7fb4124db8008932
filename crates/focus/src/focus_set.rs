//! Several focuses by which the pages of a crawl are judged.
//!
//! A page is wanted if it is about one of them. A link counts for the focus it is closest to, so its words are looked
//! at once for all focuses.

use crate::focus::Focus;
use crate::focus_writer::write_focus;
use crate::links::LinkPrediction;
use crate::page_terms::PageTerms;
use crate::phrases::Phrases;
use crate::relevance::RelevanceMeasure;
use crate::words::Segmenter;
use std::collections::HashMap;

/// The most focuses of a set. Judging a page takes time linear in them.
pub const MAX_FOCUSES: usize = 32;

/// Closeness of terms to the wanted subjects.
pub trait TermCloseness {
    /// From 0 to 1.
    fn closeness(&self, term: &str) -> f64;
}

impl TermCloseness for Focus {
    fn closeness(&self, term: &str) -> f64 {
        Focus::closeness(self, term)
    }
}

impl TermCloseness for FocusSet {
    fn closeness(&self, term: &str) -> f64 {
        self.closenesses.get(term).copied().unwrap_or(0.0)
    }
}

/// How pages and links are judged by a set.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FocusSetRules {
    pub measure: RelevanceMeasure,
    /// The relevance from which a page is about a focus, in place of those of the focuses.
    pub page_threshold: Option<f64>,
    /// How the relevance of a target is predicted from the words of links to it.
    pub prediction: LinkPrediction,
}

/// How much a page is about a focus of a set.
#[derive(Clone, Debug, PartialEq)]
pub struct FocusJudgement {
    /// Name of the focus.
    pub focus: String,
    /// From 0 to 1.
    pub relevance: f64,
    /// The relevance from which a page is about the focus. Positive.
    pub threshold: f64,
}

/// Focuses of different names.
#[derive(Clone, Debug, Default)]
pub struct FocusSet {
    focuses: Vec<Focus>,
    rules: FocusSetRules,
    /// By term, the largest closeness of all focuses.
    closenesses: HashMap<String, f64>,
    phrases: Phrases,
    version: i64,
}

impl FocusSet {
    /// The set of the first [`MAX_FOCUSES`] focuses. The caller reports others to the operator. The segmenter is the one by
    /// which pages are read.
    pub fn new(mut focuses: Vec<Focus>, rules: FocusSetRules, segmenter: &dyn Segmenter) -> Self {
        focuses.truncate(MAX_FOCUSES);
        focuses.sort_by(|one, other| one.name.cmp(&other.name));
        let mut closenesses: HashMap<String, f64> = HashMap::new();
        for focus in &focuses {
            for word in focus.words() {
                let largest = closenesses.entry(word.to_owned()).or_default();
                *largest = largest.max(focus.closeness(word));
            }
        }
        let phrases = Phrases::new(segmenter, focuses.iter().flat_map(Focus::words));
        let version = if focuses.is_empty() { 0 } else { version(&focuses, &rules) };
        Self { focuses, rules, closenesses, phrases, version }
    }

    /// A number that differs if pages may be judged otherwise. 0 for the empty set.
    pub fn version(&self) -> i64 {
        self.version
    }

    /// The focuses, sorted by name.
    pub fn focuses(&self) -> &[Focus] {
        &self.focuses
    }

    pub fn is_empty(&self) -> bool {
        self.focuses.is_empty()
    }

    /// The words of all focuses that the segmenter may cut. Pages and links are read by a
    /// [`PhraseSegmenter`](crate::PhraseSegmenter) with these.
    pub fn phrases(&self) -> &Phrases {
        &self.phrases
    }

    /// How pages and links are judged.
    pub fn rules(&self) -> &FocusSetRules {
        &self.rules
    }

    /// How much a page is about each focus.
    pub fn judge(&self, page: &PageTerms) -> Vec<FocusJudgement> {
        let judge = |focus: &Focus| {
            let found = focus.relevance(&self.rules.measure, page);
            // A threshold of 0 makes every page one of the focus.
            let threshold = self.rules.page_threshold.unwrap_or(found.threshold).max(f64::MIN_POSITIVE);
            FocusJudgement { focus: focus.name.clone(), relevance: found.score, threshold }
        };
        self.focuses.iter().map(judge).collect()
    }
}

fn version(focuses: &[Focus], rules: &FocusSetRules) -> i64 {
    let texts: Vec<String> = focuses.iter().map(write_focus).collect();
    let text = format!("{rules:?}\0{}", texts.join("\0"));
    let hash = document::text_hash(text.as_bytes()) as i64;
    // 0 is for the empty set.
    if hash == 0 { 1 } else { hash }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::focus_file::read_focus;
    use crate::phrases::PhraseSegmenter;
    use crate::words::IcuSegmenter;

    fn focus(name: &str, words: &str) -> Focus {
        let text = format!("format = 1\nname = \"{name}\"\nthreshold = 0.4\n[terms.en]\n{words}\n");
        read_focus(&text, &IcuSegmenter::default()).unwrap()
    }

    fn set(focuses: Vec<Focus>) -> FocusSet {
        FocusSet::new(focuses, FocusSetRules::default(), &IcuSegmenter::default())
    }

    #[test]
    fn a_page_is_judged_by_every_focus_and_a_term_by_the_closest() {
        let set = set(vec![focus("boats", "sail = 1\nrope = 0.5"), focus("alps", "rope = 1\npeak = 1")]);
        let judged = set.judge(&PageTerms::read(&IcuSegmenter::default(), "", "a sail and a sail"));
        assert_eq!(judged.iter().map(|it| it.focus.as_str()).collect::<Vec<_>>(), ["alps", "boats"]);
        assert!(judged[0].relevance == 0.0 && judged[1].relevance > 0.8, "{judged:?}");
        assert_eq!(judged[1].threshold, 0.4);
        assert_eq!(["sail", "rope", "peak", "car"].map(|term| set.closeness(term)), [1.0, 1.0, 1.0, 0.0]);
    }

    #[test]
    fn near_words_and_phrases_are_those_of_all_focuses() {
        let sail = "sail = 1\n[near]\nsail = { yacht = 0.6 }";
        let set = set(vec![focus("boats", sail), focus("travel", "\"航班\" = 1")]);
        assert_eq!((set.closeness("yacht"), set.closeness("航班")), (0.6, 1.0));
        let page = PageTerms::read(&PhraseSegmenter::new(&IcuSegmenter::default(), set.phrases()), "", "国际航班");
        assert!(set.judge(&page)[1].relevance > 0.5 && set.judge(&page)[0].relevance == 0.0);
    }

    #[test]
    fn the_version_is_that_of_the_judgement() {
        let (boats, alps) = (focus("boats", "sail = 1"), focus("alps", "peak = 1"));
        let version = |focuses: &[&Focus]| set(focuses.iter().map(|&focus| focus.clone()).collect()).version();
        assert_eq!(version(&[&boats, &alps]), version(&[&alps, &boats]));
        let others = [version(&[]), version(&[&boats]), version(&[&alps]), version(&[&boats, &alps])];
        let different: std::collections::BTreeSet<_> = others.into_iter().collect();
        assert_eq!((different.len(), others[0]), (4, 0));
        let rules = FocusSetRules { page_threshold: Some(0.5), ..FocusSetRules::default() };
        let stricter = FocusSet::new(vec![boats.clone()], rules, &IcuSegmenter::default());
        assert_ne!(stricter.version(), others[1]);
        assert_eq!(stricter.judge(&PageTerms::default())[0].threshold, 0.5);
    }

    #[test]
    fn the_number_of_focuses_is_bounded() {
        let many = (0..2 * MAX_FOCUSES).map(|index| focus(&format!("t{index}"), "sail = 1")).collect();
        assert_eq!(set(many).focuses().len(), MAX_FOCUSES);
    }
}
