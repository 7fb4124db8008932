//! The versions of a page beside the last one: which are kept, and for how long.
//!
//! Each is kept as its difference from the next newer one. So a look without news writes nothing, one with news writes one
//! difference, and the last version is the stored copy that is there anyway. The oldest go first: no other needs them.

mod delta;
mod reading;
mod sweep;

pub use self::reading::{PageHistory, VersionFacts};
pub(crate) use self::sweep::HistorySweep;

use crate::state::{HISTORY, PageSketch, PastVersion};
use messages::{PageContent, body};
use page::{PageId, Timestamp};
use settings::{CrawlOrders, Settings};
use std::time::Duration;
use stream::{Context, ProcessError};

/// The most bytes of a copy.
const MAX_COPY_BYTES: usize = 8 << 20;
/// The most bytes of an entry, so that the changelog takes it.
const MAX_ENTRY_BYTES: u64 = 900 << 10;
/// Bytes of an entry besides its texts: times, counts, digest and key.
const FIXED_BYTES: usize = 120;

/// How much is kept of the versions of a page beside the last one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HistoryLimits {
    versions: u32,
    age: Duration,
    bytes: u64,
}

impl HistoryLimits {
    /// Nothing is kept.
    pub(crate) const NONE: Self = Self { versions: 0, age: Duration::ZERO, bytes: 0 };

    pub(crate) fn new(settings: &Settings) -> Self {
        let settings = &settings.detector;
        Self { versions: settings.history, age: settings.history_age, bytes: settings.history_bytes }
    }

    pub(crate) fn keeps_some(&self) -> bool {
        self.versions > 0 && self.bytes > 0
    }

    /// Whether a version that was seen last at this time is too old, or none is wanted.
    fn is_over(&self, last_seen_at: Timestamp, now: Timestamp) -> bool {
        !self.keeps_some() || last_seen_at < now - self.age
    }

    /// Those of a page whose rule has these orders.
    pub(crate) fn with(self, orders: Option<&CrawlOrders>) -> Self {
        let Some(orders) = orders else { return self };
        Self {
            versions: orders.history.unwrap_or(self.versions),
            age: orders.history_age.unwrap_or(self.age),
            bytes: orders.history_bytes.unwrap_or(self.bytes),
        }
    }
}

/// Bytes that an entry takes.
fn entry_bytes(version: &PastVersion) -> u64 {
    let PastVersion { url, title, change_id, content_type, content, .. } = version;
    let texts = [title, change_id, content_type].into_iter().flatten().map(String::len).sum::<usize>();
    (FIXED_BYTES + url.as_str().len() + texts + content.len()) as u64
}

/// A stored version of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredVersion {
    pub(crate) number: u32,
    pub(crate) bytes: u64,
    last_seen_at: Timestamp,
}

/// The stored versions of a page, the oldest first.
pub(crate) fn stored(id: &PageId, context: &Context<'_>) -> Result<Vec<StoredVersion>, ProcessError> {
    let mut versions = Vec::new();
    context.scan(HISTORY, &id.0, &mut |(_, number), version| {
        versions.push(StoredVersion { number, bytes: entry_bytes(&version), last_seen_at: version.last_seen_at });
        Ok(())
    })?;
    Ok(versions)
}

/// The last version of a page that another replaces. `newer` is the copy of that other one, if it is stored. `before` is the page's
/// state before the look that saw it. `None` if the copy is damaged: then it is left out, with all that are read by it.
pub(crate) fn replaced(last: PageContent, newer: Option<&[u8]>, before: &PageSketch) -> Option<PastVersion> {
    let copy = body::unpack(&last.content, MAX_COPY_BYTES).map_err(|error| error.to_string());
    let content = match copy.and_then(|copy| delta::pack(&copy, newer.unwrap_or_default())) {
        Ok(content) => content,
        Err(error) => {
            tracing::warn!(url = %last.url, error, "the copy of a page is damaged, and is not kept as its earlier version");
            return None;
        }
    };
    Some(PastVersion {
        seen_at: last.seen_at,
        last_seen_at: before.version_seen_at().unwrap_or(last.seen_at).max(last.seen_at),
        looks: (before.fetches - last.fetches + 1).max(1),
        verdict: last.verdict,
        change_id: last.change_id,
        title: before.title.clone(),
        kind: last.kind,
        content_type: last.content_type,
        content_digest: last.content_digest,
        length: last.length,
        truncated: last.truncated,
        is_delta: newer.is_some(),
        url: last.url,
        content,
    })
}

/// The last version of a page, when another replaces it.
pub(crate) enum Replaced {
    Version(u32, PastVersion),
    /// It cannot be kept.
    LeftOut,
    /// None was stored: the page was gone, or there was no room.
    Nothing,
}

/// Stores the replaced version. Deletes the first version that exceeds a limit, counted from the newest, and every older one; all of
/// them if the replaced version cannot be kept, because they are read by it. `fits` checks a total against the room for copies.
/// Returns the bytes kept.
pub(crate) fn keep(
    id: &PageId,
    replaced: Replaced,
    stored: &[StoredVersion],
    limits: &HistoryLimits,
    fits: impl Fn(u64) -> bool,
    context: &mut Context<'_>,
) -> u64 {
    let now = context.now();
    let (mut kept, mut bytes, mut is_full) = (0, 0, matches!(replaced, Replaced::LeftOut));
    let mut has_room = |more: u64, last_seen_at: Timestamp| {
        let all = bytes + more;
        is_full |= kept >= limits.versions || all > limits.bytes || more > MAX_ENTRY_BYTES;
        is_full |= limits.is_over(last_seen_at, now) || !fits(all);
        if !is_full {
            (kept, bytes) = (kept + 1, all);
        }
        !is_full
    };
    if let Replaced::Version(number, version) = replaced
        && has_room(entry_bytes(&version), version.last_seen_at)
    {
        context.put(HISTORY, &(*id, number), &version);
    }
    for version in stored.iter().rev() {
        if !has_room(version.bytes, version.last_seen_at) {
            context.delete(HISTORY, &(*id, version.number));
        }
    }
    bytes
}

/// Deletes these versions of a page.
pub(crate) fn delete(id: &PageId, versions: &[StoredVersion], context: &mut Context<'_>) {
    versions.iter().for_each(|version| context.delete(HISTORY, &(*id, version.number)));
}
