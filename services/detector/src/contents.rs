//! Stores the copy of the page.

use crate::DetectorRules;
use crate::look::JudgedLook;
use crate::state::CONTENTS;
use document::PageText;
use messages::{CopyKind, FetchResult, PageContent, Verdict, body};
use settings::Contents;
use stream::{Context, ProcessError};

/// Reads a changed version and replaces the stored copy. Returns text and links, if there was a body.
pub(crate) fn publish_copy(
    result: &FetchResult,
    unpacked: Option<&[u8]>,
    look: &mut JudgedLook,
    rules: &DetectorRules,
    context: &mut Context<'_>,
) -> Result<Option<PageText>, ProcessError> {
    let extract = |body| document::extract(result.content_type.as_deref(), body);
    let page = look.page.take().or_else(|| unpacked.map(extract));
    let text = page.as_ref().map_or("", |page| &page.text);
    let kept = match (rules.contents, unpacked) {
        (Contents::None, _) | (_, None) => None,
        (Contents::Text, Some(_)) => {
            let kept = document::prefix(text, rules.max_content_bytes);
            Some((CopyKind::Text, kept.as_bytes(), text.len()))
        }
        (Contents::Body, Some(body)) => {
            Some((CopyKind::Body, &body[..body.len().min(rules.max_content_bytes)], body.len()))
        }
    };
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
                content: body::pack(kept, body::Packing::Lz4),
            };
            context.put(CONTENTS, &result.look.page_id, &content);
        }
        // A response without a body confirmed the version, whose copy is stored.
        None if context.get(CONTENTS, &result.look.page_id)?.is_some()
            && (unpacked.is_some() || look.verdict == Verdict::Gone) =>
        {
            context.delete(CONTENTS, &result.look.page_id)
        }
        None => {}
    }
    Ok(page)
}
