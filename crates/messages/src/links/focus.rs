//! Messages about focuses: orders of operators, and the relevance of pages and links.

use crate::impl_message;
use page::Timestamp;
use serde::{Deserialize, Serialize};

/// Operator to detector: the pages should be about this, or no longer. The latest of a name counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FocusOrder {
    /// Name of the focus. Also the record key.
    pub name: String,
    /// The focus's file. `None` removes the focus, also one of the settings.
    pub text: Option<String>,
    /// When the operator gave the order.
    pub ordered_at: Timestamp,
}

/// How much a page is about a focus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FocusRelevance {
    /// Name of the focus.
    pub focus: String,
    /// From 0 to 1.
    pub relevance: f64,
    /// The relevance from which a page is about the focus.
    pub threshold: f64,
}

/// Judgement of a page and its links by the focuses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageFocus {
    /// Number of the set of focuses.
    pub focus_version: i64,
    /// One entry per focus.
    pub relevances: Vec<FocusRelevance>,
    /// Whether a focus names the page as an example.
    pub is_target: bool,
    /// Promise of each link, in the order of the links: the predicted relevance of its target, from 0 to 1.
    pub promises: Vec<f32>,
}

/// Judgement of links by the focuses, on its way to the target's site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkFocus {
    /// Number of the set of focuses.
    pub focus_version: i64,
    /// Links between the page and the last one in a focus on the way to it; 0 for one in a focus.
    pub hops: i32,
    /// Whether the page was judged by these focuses for the first time, so that its links count.
    pub is_first: bool,
    /// Promise of each link, in the order of the links: the predicted relevance of its target, from 0 to 1.
    pub promises: Vec<f32>,
}

impl_message!(FocusOrder, "FocusOrder", include_str!("../../../../schemas/FocusOrder.avsc"));
