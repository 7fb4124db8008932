//! Stores the copies of a page's versions, where there is room for them.

use crate::DetectorRules;
use crate::copy_room::CopyRoom;
use crate::history::{self, Replaced};
use crate::read_page::ReadPage;
use crate::state::{CONTENTS, COPIES, PageSketch, SiteCopies};
use document::Body;
use messages::body::{Packing, pack};
use messages::{CopyKind, FetchResult, PageContent, Verdict};
use page::SiteKey;
use settings::Contents;
use stream::{Context, ProcessError};

/// A look that brought another version of a page, or showed that the page is gone.
pub(crate) struct NewVersion<'a, 'b> {
    pub(crate) result: &'a FetchResult,
    /// Text and links, if there was a body.
    pub(crate) page: Option<&'a ReadPage>,
    pub(crate) body: Option<&'a Body<'b>>,
    pub(crate) verdict: Verdict,
    /// The change that was published of it.
    pub(crate) change_id: Option<String>,
    /// The page's state before the look.
    pub(crate) before: &'a PageSketch,
}

impl NewVersion<'_, '_> {
    /// Stores the version in place of the last one, which joins the versions before it. Returns whether it is left out for want
    /// of room.
    pub(crate) fn store(
        self,
        sketch: &mut PageSketch,
        room: &mut CopyRoom,
        rules: &DetectorRules,
        context: &mut Context<'_>,
    ) -> Result<bool, ProcessError> {
        // A response without a body confirmed the version, whose copy is stored.
        if self.body.is_none() && self.verdict != Verdict::Gone {
            return Ok(false);
        }
        let Self { result, before, .. } = self;
        let (id, site, bytes_before) = (&result.look.page_id, &result.look.site_key, sketch.copy_bytes);
        let (last, stored) = match bytes_before {
            0 => (None, Vec::new()),
            _ => (context.get(CONTENTS, id)?, history::stored(id, context)?),
        };
        let newest = last.as_ref().map(|last| last.version.unsigned_abs()).or(stored.last().map(|last| last.number));
        let text = self.page.map_or("", |page| &page.text().text);
        let wanted = self.wanted(text, rules);
        let copy = wanted.map(|copy| self.content(copy, newest.unwrap_or(0) + 1, sketch));
        let is_wanted = copy.is_some();
        let bytes = |copy: &PageContent| copy.content.len() as u64;
        // The last version comes before those of the past.
        let copy = copy.filter(|copy| room.allows(site, bytes_before as u64, bytes(copy)));
        let copy_bytes = copy.as_ref().map_or(0, bytes);
        let limits = rules.history_limits(&result.look.url);
        let newer = copy.as_ref().and(wanted).map(|(_, kept, _)| kept);
        let had_copy = last.is_some();
        let replaced = match last.zip(newest) {
            None => Replaced::Nothing,
            Some(_) if !limits.keeps_some() => Replaced::LeftOut,
            Some((last, number)) => history::replaced(last, newer, before)
                .map_or(Replaced::LeftOut, |version| Replaced::Version(number, version)),
        };
        let fits = |past: u64| room.allows(site, bytes_before as u64, copy_bytes + past);
        let past_bytes = history::keep(id, replaced, &stored, &limits, fits, context);
        match &copy {
            Some(copy) => context.put(CONTENTS, id, copy),
            None if had_copy => context.delete(CONTENTS, id),
            None => {}
        }
        sketch.copy_bytes = (copy_bytes + past_bytes) as i64;
        note_bytes(bytes_before, sketch.copy_bytes, site, room, context)?;
        Ok(is_wanted && copy.is_none())
    }

    /// The part of the version that is to be stored, and the length of the whole.
    fn wanted<'t>(&'t self, text: &'t str, rules: &DetectorRules) -> Option<(CopyKind, &'t [u8], usize)> {
        match (rules.contents, self.body.map(Body::bytes)) {
            (Contents::None, _) | (_, None) => None,
            (Contents::Text, Some(_)) => {
                Some((CopyKind::Text, document::prefix(text, rules.max_content_bytes).as_bytes(), text.len()))
            }
            (Contents::Body, Some(bytes)) => {
                Some((CopyKind::Body, &bytes[..bytes.len().min(rules.max_content_bytes)], bytes.len()))
            }
        }
    }

    fn content(&self, (kind, kept, length): (CopyKind, &[u8], usize), number: u32, sketch: &PageSketch) -> PageContent {
        let result = self.result;
        PageContent {
            url: result.look.url.clone(),
            seen_at: result.look.fetched_at,
            kind,
            content_type: result.content_type.clone(),
            content_digest: result.look.validators.content_digest,
            length: length as i64,
            truncated: result.truncated || kept.len() < length,
            content: pack(kept, Packing::Lz4),
            version: i32::try_from(number).unwrap_or(i32::MAX),
            verdict: self.verdict,
            change_id: self.change_id.clone(),
            fetches: sketch.fetches,
            preferences: sketch.preferences().to_decisions(result.look.fetched_at),
        }
    }
}

/// Notes that the copies of a page take `after` bytes, where they took `before`.
pub(crate) fn note_bytes(
    before: i64,
    after: i64,
    site: &SiteKey,
    room: &mut CopyRoom,
    context: &mut Context<'_>,
) -> Result<(), ProcessError> {
    if before == after {
        return Ok(());
    }
    // The table is rolled back with the record, the numbers in memory are not.
    let of_site = context.get(COPIES, site)?.map_or(0, |copies: SiteCopies| copies.bytes);
    let bytes = (of_site - before + after).max(0);
    room.set(site, bytes as u64);
    match bytes {
        0 => context.delete(COPIES, site),
        bytes => context.put(COPIES, site, &SiteCopies { bytes }),
    }
    Ok(())
}
