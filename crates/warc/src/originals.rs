//! Remembers which record holds the body of a page, as the target of later revisits.

use crate::capture::LogPosition;
use crate::record::RecordId;
use messages::{Digest, FetchOutcome, FetchResult, Sha1};
use page::{PageId, Timestamp};
use std::collections::HashMap;

/// The last record with a body of each page, for a limited number of pages. A page takes about 150 bytes.
#[derive(Debug)]
pub struct Originals {
    pages: HashMap<PageId, Original>,
    max_pages: usize,
}

/// A record with a body.
#[derive(Debug)]
pub(crate) struct Original {
    pub(crate) id: RecordId,
    pub(crate) date: Timestamp,
    /// URL of the body, if redirects led away from the page's URL.
    pub(crate) moved_to: Option<Box<str>>,
    pub(crate) digest: Option<Digest>,
    /// SHA-1 of the body. Absent if it was not computed.
    pub(crate) payload_sha1: Option<Sha1>,
}

impl Originals {
    /// An empty memory for at most `max_pages` pages. Revisits of other pages name no original.
    pub fn new(max_pages: usize) -> Self {
        Self { pages: HashMap::new(), max_pages }
    }

    /// Remembers a result that is not exported now, or was exported earlier.
    pub fn note(&mut self, result: &FetchResult, position: &LogPosition<'_>) {
        self.remember(result, position, None);
    }

    pub(crate) fn remember(&mut self, result: &FetchResult, position: &LogPosition<'_>, payload_sha1: Option<Sha1>) {
        let has_room = self.pages.len() < self.max_pages || self.pages.contains_key(&result.look.page_id);
        if result.look.outcome != FetchOutcome::Fetched || !has_room {
            return;
        }
        let moved_to = result.look.final_url.as_ref().map(|url| url.as_str().into());
        let (id, digest) = (position.body_record(result), result.look.validators.content_digest);
        self.pages
            .insert(result.look.page_id, Original { id, date: result.look.fetched_at, moved_to, digest, payload_sha1 });
    }

    /// The record with the body that the page still has according to a result.
    pub(crate) fn of(&self, result: &FetchResult) -> Option<&Original> {
        let original = self.pages.get(&result.look.page_id)?;
        let is_it = match result.look.outcome {
            FetchOutcome::SameContent => original.digest == result.look.validators.content_digest,
            outcome => outcome == FetchOutcome::NotModified,
        };
        is_it.then_some(original)
    }
}
