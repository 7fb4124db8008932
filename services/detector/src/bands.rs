//! Sends the matcher the current bands of a page's text and links.

use crate::Detector;
use crate::look::PageMemory;
use crate::read_page::ReadPage;
use crate::state::PageSketch;
use messages::topics::PAGE_BANDS;
use messages::{Band, FetchResult, PageBand};
use mirrors::{LinkSketch, MirrorSketch, TextSketch};
use page::{Host, PageId, Timestamp};
use stream::{Context, ProcessError};
use watch::WatchRule;

/// The facts about a page that its bands are sent with.
pub(crate) struct BandedPage {
    pub(crate) id: PageId,
    pub(crate) host: Host,
    /// When its version was fetched.
    pub(crate) version_at: Timestamp,
}

impl BandedPage {
    fn of(result: &FetchResult) -> Self {
        let look = &result.look;
        Self { id: look.page_id, host: look.url.host(), version_at: look.fetched_at }
    }
}

impl Detector {
    /// The sketch of a page's links, if mirrors are searched for by them.
    pub(crate) fn link_sketch(&self, result: &FetchResult, page: &ReadPage) -> Option<LinkSketch> {
        let sketch = || LinkSketch::of_page(page.text(), result.look.answered_by(), &self.rules.urls);
        if self.rules.mirror_links { sketch() } else { None }
    }

    /// Sends the matcher the bands of a page's last version, if mirrors are searched for. `links` is the sketch of its
    /// links, if they were read again; otherwise those that the matcher has count.
    pub(crate) fn send_bands(
        &self,
        result: &FetchResult,
        rule: Option<&WatchRule>,
        links: Option<Option<LinkSketch>>,
        known: &mut PageMemory,
        context: &mut Context<'_>,
    ) -> Result<(), ProcessError> {
        let before = known_sketch(&known.sketch)?;
        let links = links.unwrap_or_else(|| before.as_ref().and_then(MirrorSketch::links).copied());
        let links = links.filter(|_| self.rules.mirror_links);
        // Watched parts do not count as text for mirror detection: two pages with one price are not mirrors.
        let is_wanted = self.rules.mirrors && !rule.is_some_and(|rule| rule.selection().watches());
        let is_compared = is_wanted && !known.state.is_gone();
        let version = is_compared.then(|| MirrorSketch::new(TextSketch::of(known.state.shingles()), links)).flatten();
        known.sketch.mirror_sketch = version.as_ref().map(MirrorSketch::encode).unwrap_or_default();
        report(&BandedPage::of(result), before.as_ref(), version.as_ref(), context);
        Ok(())
    }
}

/// The sketch that the matcher has of a page.
///
/// # Errors
/// When the stored bytes are damaged.
fn known_sketch(sketch: &PageSketch) -> Result<Option<MirrorSketch>, ProcessError> {
    if sketch.mirror_sketch.is_empty() {
        return Ok(None);
    }
    let damaged = |error| ProcessError::Damaged(format!("the sketch of a page that the matcher has: {error}"));
    MirrorSketch::decode(&sketch.mirror_sketch).map(Some).map_err(damaged)
}

/// Takes a page that is removed out of the buckets of its last version.
pub(crate) fn take_out(page: &BandedPage, known: &PageSketch, context: &mut Context<'_>) -> Result<(), ProcessError> {
    report(page, known_sketch(known)?.as_ref(), None, context);
    Ok(())
}

/// Removes the page from the buckets of its last version and enters it into those of the new one. An unchanged band is
/// entered again with the new sketch.
fn report(page: &BandedPage, before: Option<&MirrorSketch>, now: Option<&MirrorSketch>, context: &mut Context<'_>) {
    let bands = |sketch: Option<&MirrorSketch>| sketch.map(MirrorSketch::bands).unwrap_or_default();
    let new_bands = bands(now);
    let mut emit = |band: mirrors::BandKey, sketch: Option<Vec<u8>>| {
        let BandedPage { id, host, version_at } = page;
        let record = PageBand { band: Band(band), page_id: *id, host: host.clone(), version_at: *version_at, sketch };
        context.emit(PAGE_BANDS, record);
    };
    for band in bands(before).into_iter().filter(|band| !new_bands.contains(band)) {
        emit(band, None);
    }
    let sketch = now.map(MirrorSketch::encode);
    for &band in &new_bands {
        emit(band, sketch.clone());
    }
}
