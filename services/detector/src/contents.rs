//! Stores the copy of the page, where there is room for it.

use crate::DetectorRules;
use crate::copy_room::CopyRoom;
use crate::look::JudgedLook;
use crate::read_page::ReadPage;
use crate::state::{CONTENTS, COPIES, PageSketch, SiteCopies};
use document::Body;
use messages::body::{Packing, pack};
use messages::{CopyKind, FetchResult, PageContent, Verdict};
use page::SiteKey;
use settings::Contents;
use stream::{Context, ProcessError};

/// Reads a changed version and replaces the stored copy. Returns text and links, if there was a body, and whether the copy
/// is left out for want of room.
pub(crate) fn publish_copy(
    result: &FetchResult,
    body: Option<&Body<'_>>,
    look: &mut JudgedLook,
    sketch: &mut PageSketch,
    room: &mut CopyRoom,
    rules: &DetectorRules,
    context: &mut Context<'_>,
) -> Result<(Option<ReadPage>, bool), ProcessError> {
    let page = look.page.take().or_else(|| body.map(|body| ReadPage::of_body(body, !rules.focuses.is_empty())));
    let text = page.as_ref().map_or("", |page| &page.text().text);
    let kept = match (rules.contents, body.map(Body::bytes)) {
        (Contents::None, _) | (_, None) => None,
        (Contents::Text, Some(_)) => {
            let kept = document::prefix(text, rules.max_content_bytes);
            Some((CopyKind::Text, kept.as_bytes(), text.len()))
        }
        (Contents::Body, Some(bytes)) => {
            Some((CopyKind::Body, &bytes[..bytes.len().min(rules.max_content_bytes)], bytes.len()))
        }
    };
    let id = &result.look.page_id;
    let mut is_left_out = false;
    match kept {
        Some((kind, kept, length)) => {
            let content = PageContent {
                url: result.look.url.clone(),
                seen_at: result.look.fetched_at,
                kind,
                content_type: result.content_type.clone(),
                content_digest: result.look.validators.content_digest,
                length: length as i64,
                truncated: result.truncated || kept.len() < length,
                content: pack(kept, Packing::Lz4),
            };
            let (site, before, after) = (&result.look.site_key, sketch.copy_bytes, content.content.len() as i64);
            is_left_out = !room.allows(site, before as u64, after as u64);
            match is_left_out {
                false => context.put(CONTENTS, id, &content),
                true if before > 0 => context.delete(CONTENTS, id),
                true => {}
            }
            sketch.copy_bytes = if is_left_out { 0 } else { after };
            note_bytes(before, sketch.copy_bytes, site, room, context)?;
        }
        // A response without a body confirmed the version, whose copy is stored.
        None if (body.is_some() || look.verdict == Verdict::Gone) && context.get(CONTENTS, id)?.is_some() => {
            context.delete(CONTENTS, id);
            note_bytes(std::mem::take(&mut sketch.copy_bytes), 0, &result.look.site_key, room, context)?;
        }
        None => {}
    }
    Ok((page, is_left_out))
}

/// Notes that the copy of a page takes `after` bytes, where it took `before`.
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
