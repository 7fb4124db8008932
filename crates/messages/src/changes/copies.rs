//! The stored copies of pages.

use crate::{Digest, Verdict, impl_message};
use page::{CanonicalUrl, Timestamp};
use serde::{Deserialize, Serialize};

/// The stored copy of a page: its last accepted version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageContent {
    pub url: CanonicalUrl,
    /// Time of the fetch that saw this version.
    pub seen_at: Timestamp,
    pub kind: CopyKind,
    /// Content-Type as received.
    pub content_type: Option<String>,
    pub content_digest: Option<Digest>,
    /// Length of the whole text or body, in bytes.
    pub length: i64,
    /// Whether the copy is incomplete.
    pub truncated: bool,
    /// The text or body, packed by [`body::pack`](crate::body::pack).
    #[serde(with = "serde_bytes")]
    pub content: Vec<u8>,
    /// Its number among the versions of the page, from 1.
    pub version: i32,
    /// How it came: the verdict of the look that saw it first.
    pub verdict: Verdict,
    /// The published change that it came with. `None` if none was published.
    pub change_id: Option<String>,
    /// Number of fetches of the page up to the one that saw it first.
    pub fetches: i64,
    /// The owner's preferences on the use of the page at the last look.
    pub preferences: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CopyKind {
    /// The visible text, in UTF-8.
    Text,
    /// The body as received, without content codings.
    Body,
}

impl_message!(PageContent, "PageContent", include_str!("../../../../schemas/PageContent.avsc"));
