//! What leaves the loop: the product, and what could not be worked on.

use crate::{Digest, Verdict, impl_message};
use page::{CanonicalUrl, PageId, Timestamp};
use serde::{Deserialize, Serialize};

/// The product: a page is new, changed, gone or back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageChange {
    /// The same for every delivery of this change: topic-partition-offset-index of what caused it.
    pub change_id: String,
    /// The page's name; the record key.
    #[serde(with = "crate::page_id")]
    pub page_id: PageId,
    /// Its address.
    pub url: CanonicalUrl,
    /// What happened to it.
    pub verdict: Verdict,
    /// How much of the meaningful content changed, 0 to 1.
    pub magnitude: f64,
    /// The fetch that saw it.
    pub seen_at: Timestamp,
    /// The fetch before; the change happened between the two.
    pub previous_seen_at: Option<Timestamp>,
    /// HTTP status of the last response.
    pub status: Option<u16>,
    /// Digest of the body.
    pub content_digest: Option<Digest>,
    /// Passages that are new, shortened and few.
    pub added: Vec<String>,
    /// Passages that are gone, shortened and few.
    pub removed: Vec<String>,
}

/// A record that a stage could not work on, set aside with its reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeadLetter {
    /// The stage that set it aside.
    pub stage: String,
    /// Where it was read.
    pub topic: String,
    /// The partition it was read from.
    pub partition: i32,
    /// Its offset there.
    pub offset: i64,
    /// Its key as read.
    #[serde(with = "serde_bytes")]
    pub key: Vec<u8>,
    /// Its value as read; absent for a tombstone.
    #[serde(with = "serde_bytes")]
    pub value: Option<Vec<u8>>,
    /// Why it could not be worked on.
    pub reason: String,
    /// When it was set aside.
    pub set_aside_at: Timestamp,
}

impl_message!(PageChange, "PageChange", include_str!("../../../schemas/PageChange.avsc"));
impl_message!(DeadLetter, "DeadLetter", include_str!("../../../schemas/DeadLetter.avsc"));
