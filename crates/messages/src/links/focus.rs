//! Messages about topics: what an operator wants, and what the topics say of pages and links.

use crate::impl_message;
use page::Timestamp;
use serde::{Deserialize, Serialize};

/// Operator to detector: the pages should be about this, or no longer. The latest of a name counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicOrder {
    /// Name of the topic. Also the record key.
    pub name: String,
    /// The topic's file. `None` removes the topic, also one of the settings.
    pub text: Option<String>,
    /// When the operator gave the order.
    pub ordered_at: Timestamp,
}

/// How much a page is about a topic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TopicRelevance {
    /// Name of the topic.
    pub topic: String,
    /// From 0 to 1.
    pub relevance: f64,
    /// The relevance from which a page is about the topic.
    pub threshold: f64,
}

/// Judgement of a page and its links by the topics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageFocus {
    /// Number of the set of topics.
    pub topics_version: i64,
    /// One entry per topic.
    pub relevances: Vec<TopicRelevance>,
    /// Whether a topic names the page as an example.
    pub is_target: bool,
    /// Promise of each link, in the order of the links: the predicted relevance of its target, from 0 to 1.
    pub promises: Vec<f32>,
}

/// Judgement of links by the topics, on its way to the target's site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkFocus {
    /// Number of the set of topics.
    pub topics_version: i64,
    /// Links between the page and the last one on a topic on the way to it; 0 for one on a topic.
    pub hops: i32,
    /// Whether the page was judged by these topics for the first time, so that its links count.
    pub is_first: bool,
    /// Promise of each link, in the order of the links: the predicted relevance of its target, from 0 to 1.
    pub promises: Vec<f32>,
}

impl_message!(TopicOrder, "TopicOrder", include_str!("../../../../schemas/TopicOrder.avsc"));
