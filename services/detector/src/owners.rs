//! Preferences of the owners of pages: renewed at each look, kept with the page.

use crate::look::JudgedLook;
use crate::state::{CONTENTS, PageSketch};
use document::RobotsMeta;
use messages::{ContentEvidence, FetchResult, PageContent};
use page::Timestamp;
use preferences::{Place, Preferences, Use};
use stream::{Context, ProcessError};

impl PageSketch {
    /// The owner's statements on the use of the page.
    pub fn preferences(&self) -> Preferences {
        Preferences::of_list(self.preferences.iter().map(String::as_str))
    }

    /// Whether the owner disallows a use of the page at a time.
    pub(crate) fn disallows(&self, usage: Use, at: Timestamp) -> bool {
        !self.preferences.is_empty() && self.preferences().refusal(usage, at).is_some()
    }
}

/// Whether the owner now says otherwise of the page's links or of its place in an index.
pub(crate) fn says_otherwise(before: &PageSketch, after: &PageSketch, at: Timestamp) -> bool {
    before.preferences != after.preferences
        && [Use::Follow, Use::Index].into_iter().any(|usage| before.disallows(usage, at) != after.disallows(usage, at))
}

/// The statements after a look: those of robots.txt and the headers are new, those of the page if it was read.
pub(crate) fn after(known: &PageSketch, result: &FetchResult, look: &JudgedLook, product_token: &str) -> Vec<String> {
    let shows_page = match result.look.outcome.meaning().content {
        ContentEvidence::Body | ContentEvidence::SameAsKnown => true,
        ContentEvidence::Missing { .. } | ContentEvidence::Elsewhere | ContentEvidence::Nothing => false,
    };
    let is_bare = known.preferences.is_empty() && result.preferences.is_empty();
    let meta = look.robots_meta.as_ref().filter(|_| !look.judgement.held);
    if !shows_page || is_bare && meta.is_none_or(RobotsMeta::is_empty) {
        return known.preferences.clone();
    }
    let (known, fetched) = (known.preferences(), Preferences::of_list(result.preferences.iter().map(String::as_str)));
    // An error in the page's place has headers of its own. A 304 may leave out those that still hold (RFC 9110, section 15.4.5).
    let has_headers = !fetched.found_at(&[Place::Header]).is_empty();
    let renews_headers = !look.judgement.held && (result.look.status != Some(304) || has_headers);
    let mut after = fetched.found_at(&[Place::RobotsTxt, Place::WellKnown]);
    after.merge(&(if renews_headers { &fetched } else { &known }).found_at(&[Place::Header]));
    match meta {
        Some(meta) => after.merge(&Preferences::of_meta(meta.iter(), product_token)),
        None => after.merge(&known.found_at(&[Place::Page])),
    }
    after.to_list()
}

/// Writes the preferences into the stored copy, if a look that brought no other version has changed them.
pub(crate) fn renew_copy(
    result: &FetchResult,
    before: &PageSketch,
    now: &PageSketch,
    context: &mut Context<'_>,
) -> Result<(), ProcessError> {
    if before.preferences == now.preferences || now.copy_bytes == 0 {
        return Ok(());
    }
    let preferences = now.preferences().to_decisions(result.look.fetched_at);
    let id = &result.look.page_id;
    if let Some(copy) = context.get(CONTENTS, id)?.filter(|copy| copy.preferences != preferences) {
        context.put(CONTENTS, id, &PageContent { preferences, ..copy });
    }
    Ok(())
}
