//! What is a page about, and is that what somebody wants?
mod background;
mod classes;
mod learn;
mod link_queue;
mod link_score;
mod links;
pub mod metrics;
mod page_terms;
mod relevance;
mod stop_words;
mod topic;
mod topic_file;
mod vector;
mod words;

pub use crate::background::Background;
pub use crate::classes::{class, classes};
pub use crate::learn::TopicLearner;
pub use crate::link_queue::{LinkQueue, QueuedLink};
pub use crate::link_score::{LinkEvidence, LinkScoring, UNKNOWN_IMPORTANCE, hops_off_topic};
pub use crate::links::{LEAST_CLOSENESS, LinkPrediction, PredictedLink, WORDS_AROUND, link_relevance, predict_links};
pub use crate::page_terms::{PageTerms, TermCount};
pub use crate::relevance::{DEFAULT_THRESHOLD, Damping, PageLength, RelevanceMeasure};
pub use crate::topic::{LanguageTerms, PageRelevance, Topic};
pub use crate::topic_file::{TopicFault, TopicFileError, read_topic, write_topic};
pub use crate::vector::{TOPIC_TERMS, TopicVector};
pub use crate::words::{IcuSegmenter, Segmenter, terms};
