//! The removal of a page from all stages.

use crate::impl_message;
use page::{CanonicalUrl, Timestamp};
use serde::{Deserialize, Serialize};

/// A page is to be forgotten. It travels round the loop as a fetch does, behind the page's earlier records, and each stage
/// deletes what it keeps of the page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageRemoval {
    /// The page. Its site is the record key.
    pub url: CanonicalUrl,
    /// When the scheduler deleted it.
    pub removed_at: Timestamp,
    /// Number of the last request for the page, if an operator has forgotten it. Nothing is taken in of answers to it and
    /// to earlier ones, however late they come. Absent: the page made room for another.
    pub last_attempt: Option<i64>,
}

impl_message!(PageRemoval, "PageRemoval", include_str!("../../../schemas/PageRemoval.avsc"));
