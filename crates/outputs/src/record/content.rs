//! A page as it is now, as it is published: its text, or its end.

use page::{CanonicalUrl, Timestamp};
use serde::{Serialize, Serializer};

/// The current copy of a page. Whoever has an earlier one replaces it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PublishedContent {
    /// The page's canonical address.
    #[serde(serialize_with = "address")]
    pub url: CanonicalUrl,
    /// The page's id: 32 hexadecimal digits, which follow from the address.
    pub page_id: String,
    /// Whether the page is gone or forgotten, or its owner disallows a use of `--uses`. Then it has no text.
    pub deleted: bool,
    /// How the version came, or how the page went.
    pub verdict: String,
    /// When the version was seen first, or when the page was found gone.
    #[serde(serialize_with = "moment")]
    pub seen_at: Timestamp,
    /// Number of the version among those of the page. It begins anew with a page that was forgotten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i32>,
    /// The title of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The primary language subtag, as declared or else guessed from the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Content-Type as received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// When the page says it was published and last modified, in RFC 3339. Kept texts do not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
    /// The main text of a body, or the kept text. `None`: no copy is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Whether the copy is incomplete.
    pub truncated: bool,
    /// The owner's preferences on the use of the page, each with the statement that decides.
    pub preferences: Vec<String>,
}

impl PublishedContent {
    /// A page without a text.
    pub fn bare(url: CanonicalUrl, verdict: String, seen_at: Timestamp) -> Self {
        Self {
            page_id: url.page_id().to_string(),
            url,
            deleted: false,
            verdict,
            seen_at,
            version: None,
            title: None,
            language: None,
            content_type: None,
            published: None,
            modified: None,
            text: None,
            truncated: false,
            preferences: Vec::new(),
        }
    }
}

fn address<S: Serializer>(url: &CanonicalUrl, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(url.as_str())
}

fn moment<S: Serializer>(moment: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(moment)
}
