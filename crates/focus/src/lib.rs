//! Focuses: the subjects of pages, and whether the operator wants them.
//!
//! A [`Focus`] is learned from example pages ([`FocusLearner`]), read from a file ([`read_focus`]) or taken from the built-in
//! [`classes`]. A page's [`PageTerms`] are compared with it ([`Focus::relevance`]). What a link promises before its target is
//! fetched is predicted from its words ([`predict_links`]), scored ([`LinkScoring`]), and weighed together with its importance
//! ([`FocusWeight`]). Several focuses are one [`FocusSet`].
//!
//! ```
//! use focus::{IcuSegmenter, PageTerms, PhraseSegmenter, RelevanceMeasure, class};
//! let segmenter = IcuSegmenter::default();
//! let sport = class("sport", &segmenter).unwrap();
//! let phrases = sport.phrases(&segmenter);
//! let segmenter = PhraseSegmenter::new(&segmenter, &phrases);
//! let page = PageTerms::read(&segmenter, "Late goal", "The goalkeeper and her coach won the league. 球队赢得联赛冠军。");
//! assert!(sport.relevance(&RelevanceMeasure::default(), &page).is_relevant);
//! ```
//!
//! This crate never fetches or stores, never decides when a page is fetched again, and knows no importance but by a number.

mod background;
mod classes;
mod co_occurrence;
mod configured;
mod focus;
mod focus_file;
mod focus_set;
mod focus_writer;
mod learn;
mod learn_texts;
mod link_score;
mod links;
pub mod metrics;
mod near_words;
mod page_abstract;
mod page_terms;
mod phrase_learner;
mod phrases;
mod relevance;
mod stop_words;
mod vector;
mod words;
mod worth;

pub use crate::background::Background;
pub use crate::classes::{class, classes};
pub use crate::co_occurrence::CoOccurrence;
pub use crate::configured::configured;
pub use crate::focus::{Focus, LanguageTerms, PageRelevance};
pub use crate::focus_file::{FocusFault, FocusFileError, read_focus};
pub use crate::focus_set::{FocusJudgement, FocusSet, FocusSetRules, MAX_FOCUSES, TermCloseness};
pub use crate::focus_writer::write_focus;
pub use crate::learn::FocusLearner;
pub use crate::learn_texts::{LearningText, learn_from_texts};
pub use crate::link_score::{LinkEvidence, LinkScoring, UNKNOWN_IMPORTANCE, hops_out_of_focus};
pub use crate::links::{LEAST_CLOSENESS, LinkPrediction, PredictedLink, WORDS_AROUND, link_relevance, predict_links};
pub use crate::near_words::{LISTED_SIMILARITY, MAX_NEAR_WORDS, NearWords};
pub use crate::page_abstract::{ABSTRACT_CHARACTERS, abstract_of};
pub use crate::page_terms::{PageTerms, TermCount};
pub use crate::phrase_learner::PhraseLearner;
pub use crate::phrases::{PhraseSegmenter, Phrases};
pub use crate::relevance::{DEFAULT_THRESHOLD, Damping, PageLength, RelevanceMeasure};
pub use crate::vector::{FOCUS_TERMS, FocusVector};
pub use crate::words::{IcuSegmenter, Segmenter, terms};
pub use crate::worth::{FocusWeight, standing};
