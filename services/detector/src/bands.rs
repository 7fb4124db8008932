//! Sends the matcher the current bands of a page's text.

use crate::look::PageMemory;
use change::{LookMemory, PageState, VersionMemory};
use messages::topics::PAGE_BANDS;
use messages::{Band, FetchResult, PageBand};
use mirrors::TextSketch;
use page::{Host, PageId, Timestamp};
use stream::Context;

/// The facts about a page that its bands are sent with.
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

/// Sends the matcher the bands of a version that is to be compared with other pages, or takes out those of a version that
/// was. `known` is the page with this version; it remembers whether its bands were sent.
pub(crate) fn send_version(
    page: &BandedPage,
    before: &PageState,
    known: &mut PageMemory,
    is_wanted: bool,
    context: &mut Context<'_>,
) {
    let sketch = |state: &PageState| if state.is_gone() { None } else { TextSketch::of(state.shingles()) };
    let old = if known.sketch.banded { sketch(before) } else { None };
    let new = if is_wanted { sketch(&known.state) } else { None };
    known.sketch.banded = new.is_some();
    report(page, old.as_ref(), new.as_ref(), context);
}

/// Takes a page that is removed out of the buckets of its last version.
pub(crate) fn take_out(page: &BandedPage, version: VersionMemory, context: &mut Context<'_>) {
    let last = PageState::new(LookMemory::default(), version);
    report(page, TextSketch::of(last.shingles()).as_ref(), None, context);
}

/// Removes the page from the buckets of its last version and enters it into those of the new one. An unchanged band is
/// entered again with the new sketch.
fn report(page: &BandedPage, before: Option<&TextSketch>, now: Option<&TextSketch>, context: &mut Context<'_>) {
    let bands = |sketch: Option<&TextSketch>| sketch.map(TextSketch::bands).unwrap_or_default();
    let new_bands = bands(now);
    let mut emit = |band: mirrors::BandKey, sketch: Option<Vec<u8>>| {
        let BandedPage { id, host, version_at } = page;
        let record = PageBand { band: Band(band), page_id: *id, host: host.clone(), version_at: *version_at, sketch };
        context.emit(PAGE_BANDS, record);
    };
    for band in bands(before).into_iter().filter(|band| !new_bands.contains(band)) {
        emit(band, None);
    }
    let sketch = now.map(TextSketch::encode);
    for &band in &new_bands {
        emit(band, sketch.clone());
    }
}
