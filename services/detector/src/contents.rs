//! Describes a change in words, and stores the copy of the page.

use crate::DetectorRules;
use crate::look::JudgedLook;
use crate::state::CONTENTS;
use change::Passages;
use document::PageText;
use messages::{CopyKind, FetchResult, PageContent, Verdict, body};
use settings::Contents;
use stream::{Context, ProcessError};

/// Only this much of a longer text is compared for additions and removals.
const COMPARED_BYTES: usize = 32 << 10;

/// A change in words.
#[derive(Default)]
pub(crate) struct PublishedVersion {
    /// Text and links, if there was a body.
    pub(crate) page: Option<PageText>,
    /// Sentences added and removed.
    pub(crate) passages: Passages,
}

impl PublishedVersion {
    /// Reads a changed version, compares it with the stored copy, and replaces the copy.
    pub(crate) fn of(
        result: &FetchResult,
        unpacked: Option<&[u8]>,
        look: &mut JudgedLook,
        rules: &DetectorRules,
        context: &mut Context<'_>,
    ) -> Result<Self, ProcessError> {
        let extract = |body| document::extract(result.content_type.as_deref(), body);
        let page = look.page.take().or_else(|| unpacked.map(extract));
        let text = page.as_ref().map_or("", |page| &page.text);
        let old = context.get(CONTENTS, &result.look.page_id)?;
        let mut passages = match &old {
            _ if rules.passages == 0 => Passages::default(),
            Some(old) => {
                change::passages(beginning(&text_of(old, rules), COMPARED_BYTES), beginning(text, COMPARED_BYTES))
            }
            // Without a copy, only the additions named by the judgement are known.
            None => Passages { added: look.judgement.added.clone(), ..Passages::default() },
        };
        passages.added.truncate(rules.passages);
        passages.removed.truncate(rules.passages);
        let kept = match (rules.contents, unpacked) {
            (Contents::None, _) | (_, None) => None,
            (Contents::Text, Some(_)) => {
                let kept = beginning(text, rules.max_content_bytes);
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
            None if old.is_some() && (unpacked.is_some() || look.verdict == Verdict::Gone) => {
                context.delete(CONTENTS, &result.look.page_id)
            }
            None => {}
        }
        Ok(Self { page, passages })
    }
}

/// The text of a stored copy. A copy that exceeds the current limit cannot be unpacked, and compares as empty.
fn text_of(kept: &PageContent, rules: &DetectorRules) -> String {
    let limit = rules.max_content_bytes.max(rules.max_body_bytes);
    let content = body::unpack(&kept.content, limit).unwrap_or_default();
    match kept.kind {
        CopyKind::Text => String::from_utf8_lossy(&content).into_owned(),
        CopyKind::Body => document::extract(kept.content_type.as_deref(), &content).text,
    }
}

/// The start of a text, cut between two characters.
fn beginning(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}
