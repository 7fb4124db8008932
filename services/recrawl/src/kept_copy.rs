//! Reads stored copies of pages.

use crate::CommandFailure;
use messages::{CopyKind, PageContent, body};
use std::borrow::Cow;

/// The bytes of a copy, `most` of them at most.
///
/// # Errors
/// The copy is damaged, or larger.
pub(crate) fn unpacked(copy: &PageContent, most: usize) -> Result<Cow<'_, [u8]>, CommandFailure> {
    let wrong =
        |error| CommandFailure::World(format!("the stored copy of {}, version {}: {error}", copy.url, copy.version));
    body::unpack(&copy.content, most).map_err(wrong)
}

/// The media type to read a copy by.
pub(crate) fn media_type(copy: &PageContent) -> Option<&str> {
    match copy.kind {
        CopyKind::Text => Some("text/plain; charset=utf-8"),
        CopyKind::Body => copy.content_type.as_deref(),
    }
}
