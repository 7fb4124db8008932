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
            let bytes = content.content.len() as u64;
            is_left_out = !room.allows(&result.look.site_key, sketch.copy_bytes as u64, bytes);
            if is_left_out {
                context.delete(CONTENTS, id);
            } else {
                context.put(CONTENTS, id, &content);
            }
            note_bytes(if is_left_out { 0 } else { bytes }, &result.look.site_key, sketch, room, context)?;
        }
        // A response without a body confirmed the version, whose copy is stored.
        None if (body.is_some() || look.verdict == Verdict::Gone) && context.get(CONTENTS, id)?.is_some() => {
            context.delete(CONTENTS, id);
            note_bytes(0, &result.look.site_key, sketch, room, context)?;
        }
        None => {}
    }
    Ok((page, is_left_out))
}

/// Notes how many bytes the copy of a page takes.
pub(crate) fn note_bytes(
    bytes: u64,
    site: &SiteKey,
    sketch: &mut PageSketch,
    room: &mut CopyRoom,
    context: &mut Context<'_>,
) -> Result<(), ProcessError> {
    let before = std::mem::replace(&mut sketch.copy_bytes, bytes as i64) as u64;
    if before == bytes {
        return Ok(());
    }
    // The table is rolled back with the record, the numbers in memory are not.
    let of_site = context.get(COPIES, site)?.map_or(0, |copies: SiteCopies| copies.bytes as u64);
    let of_site = of_site.saturating_sub(before) + bytes;
    room.set(site, of_site);
    match of_site {
        0 => context.delete(COPIES, site),
        bytes => context.put(COPIES, site, &SiteCopies { bytes: bytes as i64 }),
    }
    Ok(())
}
