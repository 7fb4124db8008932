//! How the text of a body is read.

use crate::formats::Format;
use serde::Serialize;

/// How a body is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentKind {
    /// HTML: the visible text counts.
    Html,
    /// Feeds, sitemaps and other XML: the text of all elements counts.
    Xml,
    /// JSON: everything counts, whitespace folded.
    Json,
    /// Any other text.
    Text,
    /// Not text: only its digest counts.
    #[default]
    Opaque,
}

impl ContentKind {
    /// The kind of a body's format ([`Format::of`]).
    pub fn of(content_type: Option<&str>, body: &[u8]) -> Self {
        Format::of(content_type, body).kind
    }
}
