//! Stores the copy of the page.

use crate::DetectorRules;
use crate::look::JudgedLook;
use crate::read_page::ReadPage;
use crate::state::CONTENTS;
use document::Body;
use messages::body::{Packing, pack};
use messages::{CopyKind, FetchResult, PageContent, Verdict};
use settings::Contents;
use stream::{Context, ProcessError};

/// Reads a changed version and replaces the stored copy. Returns text and links, if there was a body.
pub(crate) fn publish_copy(
    result: &FetchResult,
    body: Option<&Body<'_>>,
    look: &mut JudgedLook,
    rules: &DetectorRules,
    context: &mut Context<'_>,
) -> Result<Option<ReadPage>, ProcessError> {
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
            context.put(CONTENTS, &result.look.page_id, &content);
        }
        // A response without a body confirmed the version, whose copy is stored.
        None if context.get(CONTENTS, &result.look.page_id)?.is_some()
            && (body.is_some() || look.verdict == Verdict::Gone) =>
        {
            context.delete(CONTENTS, &result.look.page_id)
        }
        None => {}
    }
    Ok(page)
}
