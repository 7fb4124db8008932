//! Reads the versions of a page.

use super::{MAX_COPY_BYTES, delta, entry_bytes};
use crate::state::{CONTENTS, HISTORY, PAGES, PageSketch, PastVersion};
use messages::body::{Packing, pack, unpack};
use messages::{CopyKind, PageContent, Verdict};
use page::{CanonicalUrl, PageId, Timestamp};
use serde::{Deserialize, Serialize};
use stream::{Context, ProcessError, TableError, TaskTables};

/// The kept versions of a page.
#[derive(Clone, Debug, Default)]
pub struct PageHistory {
    /// The versions before the last one, the oldest first, with their numbers.
    past: Vec<(u32, PastVersion)>,
    /// The last version. `None` if the page is gone, or its copy is not stored.
    last: Option<PageContent>,
    sketch: PageSketch,
}

/// The facts of a version of a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VersionFacts {
    /// Counts the versions of the page, from 1.
    pub number: u32,
    /// Whether it is the one that the page shows, as far as is known.
    pub is_last: bool,
    /// Times of the first and of the last fetch that saw it.
    pub seen_at: Timestamp,
    pub last_seen_at: Timestamp,
    /// Number of fetches of the page between them, both included.
    pub looks: i64,
    /// How it came.
    pub verdict: Verdict,
    pub title: Option<String>,
    /// The published change that it came with.
    pub change_id: Option<String>,
    pub kind: CopyKind,
    pub content_type: Option<String>,
    /// Digest of the body, in hexadecimal digits.
    pub content_digest: Option<String>,
    /// Length of the whole text or body, in bytes.
    pub length: i64,
    /// Whether only the beginning is kept.
    pub truncated: bool,
    /// Bytes that it takes where it is kept.
    pub stored_bytes: u64,
}

impl PageHistory {
    /// The history of a page, from the tables of its partition.
    ///
    /// # Errors
    /// When an entry cannot be read.
    pub fn read(id: &PageId, tables: &TaskTables) -> Result<Self, TableError> {
        // First the last version: one that it has replaced meanwhile is read by another.
        let last = tables.get(CONTENTS, id)?;
        let mut past = Vec::new();
        tables.scan(HISTORY, &id.0, &mut |(_, number), version| {
            past.push((number, version));
            Ok::<(), TableError>(())
        })?;
        let sketch = tables.get(PAGES, id)?.unwrap_or_default();
        Ok(Self::of(past, last, sketch))
    }

    /// The same within the stage.
    pub(crate) fn of_context(id: &PageId, context: &Context<'_>) -> Result<Self, ProcessError> {
        let mut past = Vec::new();
        context.scan(HISTORY, &id.0, &mut |(_, number), version| {
            past.push((number, version));
            Ok(())
        })?;
        let (last, sketch) = (context.get(CONTENTS, id)?, context.get(PAGES, id)?);
        Ok(Self::of(past, last, sketch.unwrap_or_default()))
    }

    /// Versions from the last one on are not yet past.
    fn of(mut past: Vec<(u32, PastVersion)>, last: Option<PageContent>, sketch: PageSketch) -> Self {
        let number_of_last = last.as_ref().map_or(u32::MAX, |last| last.version.unsigned_abs());
        past.retain(|(number, _)| *number < number_of_last);
        Self { past, last, sketch }
    }

    /// The facts of all versions, the oldest first.
    pub fn versions(&self) -> Vec<VersionFacts> {
        let past = self.past.iter().map(|(number, version)| VersionFacts {
            number: *number,
            is_last: false,
            seen_at: version.seen_at,
            last_seen_at: version.last_seen_at,
            looks: version.looks,
            verdict: version.verdict,
            title: version.title.clone(),
            change_id: version.change_id.clone(),
            kind: version.kind,
            content_type: version.content_type.clone(),
            content_digest: version.content_digest.map(|digest| digest.to_string()),
            length: version.length,
            truncated: version.truncated,
            stored_bytes: entry_bytes(version),
        });
        let last = self.last.iter().map(|last| VersionFacts {
            number: last.version.unsigned_abs(),
            is_last: true,
            seen_at: last.seen_at,
            last_seen_at: self.sketch.version_seen_at().unwrap_or(last.seen_at).max(last.seen_at),
            looks: (self.sketch.fetches - last.fetches + 1).max(1),
            verdict: last.verdict,
            title: self.sketch.title.clone(),
            change_id: last.change_id.clone(),
            kind: last.kind,
            content_type: last.content_type.clone(),
            content_digest: last.content_digest.map(|digest| digest.to_string()),
            length: last.length,
            truncated: last.truncated,
            stored_bytes: last.content.len() as u64,
        });
        past.chain(last).collect()
    }

    /// The copy of a version. `None` if it is not kept.
    ///
    /// # Errors
    /// When what is kept of it, or of a newer one by which it is read, is damaged.
    pub fn copy(&self, url: &CanonicalUrl, number: u32) -> Result<Option<PageContent>, String> {
        if let Some(last) = self.last.as_ref().filter(|last| last.version.unsigned_abs() == number) {
            return Ok(Some(last.clone()));
        }
        let Some(wanted) = self.past.iter().position(|(kept, _)| *kept == number) else { return Ok(None) };
        let damaged = |number: u32, error: &dyn std::fmt::Display| format!("version {number} of {url}: {error}");
        let last = self.last.as_ref().map(|last| unpack(&last.content, MAX_COPY_BYTES));
        let last = last.transpose().map_err(|error| damaged(number, &error))?;
        let mut bytes = last.map(std::borrow::Cow::into_owned).unwrap_or_default();
        for (number, version) in self.past[wanted..].iter().rev() {
            let newer = if version.is_delta { &bytes[..] } else { &[] };
            bytes = delta::unpack(&version.content, newer, MAX_COPY_BYTES).map_err(|error| damaged(*number, &error))?;
        }
        let version = &self.past[wanted].1;
        Ok(Some(PageContent {
            url: url.clone(),
            seen_at: version.seen_at,
            kind: version.kind,
            content_type: version.content_type.clone(),
            content_digest: version.content_digest,
            length: version.length,
            truncated: version.truncated,
            content: pack(&bytes, Packing::Lz4),
            version: i32::try_from(number).unwrap_or(i32::MAX),
            verdict: version.verdict,
            change_id: version.change_id.clone(),
            fetches: 0,
            preferences: Vec::new(),
        }))
    }
}
