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
    /// The text of the page's main part differs.
    pub content_changed: bool,
    /// The links of its main part differ.
    pub links_changed: bool,
    /// Something outside its main part differs, or something that differs by itself.
    pub structure_changed: bool,
    /// Another page of the host changed within a day before in mostly the same words.
    pub host_event: bool,
    /// Changes of this page are usually still there at the next look.
    pub changes_last: bool,
}

/// The kept copy of a page: its last accepted version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageContent {
    /// The page's address.
    pub url: CanonicalUrl,
    /// The fetch that saw this version.
    pub seen_at: Timestamp,
    /// What is kept.
    pub kind: ContentKind,
    /// Content-Type as received.
    pub content_type: Option<String>,
    /// Digest of the body.
    pub content_digest: Option<Digest>,
    /// Bytes of the whole text or body.
    pub length: i64,
    /// Not all of it is kept.
    pub truncated: bool,
    /// The text or body, packed by [`body::compress`](crate::body::compress).
    #[serde(with = "serde_bytes")]
    pub content: Vec<u8>,
}

/// What is kept of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentKind {
    /// What a reader sees, in UTF-8.
    Text,
    /// The bytes as received, content codings removed.
    Body,
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
impl_message!(PageContent, "PageContent", include_str!("../../../schemas/PageContent.avsc"));
impl_message!(DeadLetter, "DeadLetter", include_str!("../../../schemas/DeadLetter.avsc"));
