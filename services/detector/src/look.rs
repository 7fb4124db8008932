//! One answer beside what is known of the page.

use crate::is_news;
use crate::state::PageSketch;
use change::{Fingerprint, PageText};
use messages::{FetchOutcome, FetchResult, Verdict};
use stream::ProcessError;

/// What an answer says about the page.
pub(crate) struct Look {
    pub(crate) verdict: Verdict,
    pub(crate) magnitude: f64,
    pub(crate) resemblance: f64,
    /// Text and links, when there was a body that differs from the one known.
    pub(crate) page: Option<PageText>,
    fingerprint: Option<Fingerprint>,
}

impl Look {
    /// Compares an answer with the last accepted version.
    pub(crate) fn of(
        result: &FetchResult,
        body: Option<&[u8]>,
        sketch: &PageSketch,
        max_text_bytes: usize,
    ) -> Result<Self, ProcessError> {
        let known = sketch.accepted.is_some();
        match result.outcome {
            FetchOutcome::Fetched => match body {
                Some(body) if sketch.gone || !known || result.content_digest != sketch.content_digest => {
                    Self::compare(result, body, sketch, max_text_bytes)
                }
                Some(_) => Ok(Self::plain(Verdict::Unchanged)),
                None => Err(ProcessError::SetAside("a fetched page without its body".to_owned())),
            },
            // The requester's copy is current. Without a copy the answer says nothing.
            FetchOutcome::NotModified | FetchOutcome::SameContent => Ok(Self::plain(match known {
                true if sketch.gone => Verdict::Returned,
                true => Verdict::Unchanged,
                false => Verdict::Unknown,
            })),
            FetchOutcome::NotFound | FetchOutcome::Gone => Ok(Self::plain(match sketch.last_look_at {
                // Never seen: there is nothing to be gone, and nothing to tell.
                None => Verdict::Unknown,
                Some(_) if sketch.gone => Verdict::Unchanged,
                Some(_) => Verdict::Gone,
            })),
            _ => Ok(Self::plain(Verdict::Unknown)),
        }
    }

    fn plain(verdict: Verdict) -> Self {
        let magnitude = if verdict == Verdict::Gone { 1.0 } else { 0.0 };
        Self { verdict, magnitude, resemblance: 1.0 - magnitude, page: None, fingerprint: None }
    }

    fn compare(
        result: &FetchResult,
        body: &[u8],
        sketch: &PageSketch,
        max_text_bytes: usize,
    ) -> Result<Self, ProcessError> {
        let mut page = change::extract(result.content_type.as_deref(), body);
        page.text.truncate(page.text.floor_char_boundary(max_text_bytes));
        let fingerprint = Fingerprint::of(&page, body);
        let accepted = sketch.accepted.as_deref().map(Fingerprint::decode).transpose();
        let accepted = accepted.map_err(|error| ProcessError::Stop(format!("sketch of {}: {error}", result.url)))?;
        let mut comparison = change::compare(accepted.as_ref(), &fingerprint);
        if sketch.gone && accepted.is_some() {
            comparison = comparison.returned();
        }
        let verdict = match comparison.verdict {
            change::Verdict::First => Verdict::First,
            change::Verdict::Unchanged => Verdict::Unchanged,
            change::Verdict::Cosmetic => Verdict::Cosmetic,
            change::Verdict::Minor => Verdict::Minor,
            change::Verdict::Major => Verdict::Major,
            change::Verdict::Gone => Verdict::Gone,
            change::Verdict::Returned => Verdict::Returned,
        };
        Ok(Self {
            verdict,
            magnitude: comparison.magnitude,
            resemblance: comparison.resemblance,
            page: Some(page),
            fingerprint: Some(fingerprint),
        })
    }

    /// Whether the world should hear of it.
    pub(crate) fn is_news(&self) -> bool {
        is_news(self.verdict)
    }

    /// Puts what the answer showed into the page's sketch.
    pub(crate) fn remember(&self, result: &FetchResult, sketch: &mut PageSketch) {
        match result.outcome {
            FetchOutcome::Fetched | FetchOutcome::NotModified | FetchOutcome::SameContent => {
                sketch.gone = false;
                sketch.last_look_at = Some(result.fetched_at);
                // A 304 need not repeat the validators; what it does not repeat still holds.
                if result.outcome == FetchOutcome::Fetched || result.etag.is_some() {
                    sketch.etag.clone_from(&result.etag);
                }
                if result.outcome == FetchOutcome::Fetched || result.last_modified.is_some() {
                    sketch.last_modified.clone_from(&result.last_modified);
                }
            }
            FetchOutcome::NotFound | FetchOutcome::Gone => {
                sketch.gone = true;
                sketch.last_look_at = Some(result.fetched_at);
                // Validators of content that is gone must not be sent, or its return would look like no change.
                (sketch.etag, sketch.last_modified) = (None, None);
            }
            _ => return,
        }
        if result.outcome == FetchOutcome::Fetched {
            sketch.content_digest = result.content_digest;
            sketch.body_length = result.body_length;
        }
        // Noise is not accepted: later versions are still compared with what a reader last saw change.
        if let (true, Some(fingerprint)) = (self.is_news(), &self.fingerprint) {
            sketch.accepted = Some(fingerprint.encode());
        }
    }
}
