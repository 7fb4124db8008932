//! Tells the matcher the current bands of a page's text.

use change::PageState;
use messages::topics::PAGE_BANDS;
use messages::{Band, FetchResult, PageBand};
use mirrors::TextSketch;
use page::{Host, PageId, Timestamp};
use stream::Context;

/// A page as its bands know it.
pub(crate) struct BandedPage {
    pub(crate) id: PageId,
    pub(crate) host: Host,
    /// When its version was fetched.
    pub(crate) version_at: Timestamp,
}

impl BandedPage {
    pub(crate) fn of(result: &FetchResult) -> Self {
        let look = &result.look;
        Self { id: look.page_id, host: look.url.host(), version_at: look.fetched_at }
    }
}

/// Removes the page from the buckets of its last version and enters it into those of the new one. An unchanged band is
/// entered again with the new sketch.
pub(crate) fn tell(page: &BandedPage, before: &PageState, now: &PageState, context: &mut Context<'_>) {
    let sketch = |state: &PageState| TextSketch::of(state.shingles()).filter(|_| !state.is_gone());
    let (before, now) = (sketch(before), sketch(now));
    let bands = |sketch: &Option<TextSketch>| sketch.as_ref().map(TextSketch::bands).unwrap_or_default();
    let new_bands = bands(&now);
    let mut emit = |band: mirrors::BandKey, sketch: Option<Vec<u8>>| {
        let BandedPage { id, host, version_at } = page;
        let record = PageBand { band: Band(band), page_id: *id, host: host.clone(), version_at: *version_at, sketch };
        context.emit(PAGE_BANDS, record);
    };
    for band in bands(&before).into_iter().filter(|band| !new_bands.contains(band)) {
        emit(band, None);
    }
    let sketch = now.as_ref().map(TextSketch::encode);
    for &band in &new_bands {
        emit(band, sketch.clone());
    }
}
