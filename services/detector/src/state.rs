//! The detector's tables.

use crate::unread::Unread;
use change::{HostEvents, LookMemory, StateDecodeError, VersionMemory};
use messages::topics::PAGE_CONTENTS;
use messages::{CopyKind, DecodeError, Digest, Encoded, LinkedSite, PageContent, Verdict, body, impl_message};
use page::{CanonicalUrl, Host, PageId, SiteKey, Timestamp};
use serde::{Deserialize, Serialize};
use stream::Table;

/// Absent: no result was ever processed.
pub const PAGES: Table<PageId, PageSketch> =
    Table::new("pages").bounded_by("`scheduler/pages`", "the removal of the page");
/// The published copies. Absent: the page is gone, or copies are not stored.
pub const CONTENTS: Table<PageId, PageContent> = Table::published("contents", PAGE_CONTENTS)
    .bounded_by("`scheduler/pages`", "the removal of the page; a look that finds it gone");
/// The versions of pages before the last one. Absent: it was not kept, or is no longer.
pub const HISTORY: Table<(PageId, u32), PastVersion> = Table::new("history").bounded_by(
    "`detector.history` for each page of `scheduler/pages`",
    "a newer version; the removal of the page; the sweep, when it is too old",
);
/// Sizes of the copies of sites. Absent: none is stored.
pub const COPIES: Table<SiteKey, SiteCopies> = Table::new("copies")
    .bounded_by("sites of `detector/contents` and `detector/history`", "the removal of their last copy");
/// The version that the next one is judged by, written only when a reader would see a difference. Absent: no version
/// was ever seen.
pub const VERSIONS: Table<PageId, PageVersion> =
    Table::new("versions").bounded_by("`scheduler/pages`", "the removal of the page");
/// Absent: no recent event on the host.
pub const HOSTS: Table<Host, EventsOfHost> = Table::new("hosts")
    .bounded_by("hosts of `scheduler/pages` with recent events", "the sweep, when the events are over");

/// Pages whose rule sees nothing of a watched part or for a trigger. Absent: it sees all, or the page has no rule.
pub const BLIND: Table<PageId, BlindPage> = Table::new("blind")
    .bounded_by("pages whose rule sees nothing", "the removal of the page; a look at which the rule sees again");

/// The most bytes of a version's memory. It has at most 50,000 blocks and 256 KiB of text.
const MAX_VERSION_BYTES: usize = 32 << 20;

/// The large part of a [`change::PageState`], stored as the packed bytes of [`VersionMemory::encode`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageVersion(pub VersionMemory);

/// Recent events on the pages of a host, stored as the bytes of [`HostEvents::encode`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventsOfHost(pub HostEvents);

impl Encoded for PageVersion {
    fn encode_into(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&body::pack(&self.0.encode(), body::Packing::Lz4));
    }

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let corrupt = |problem: String| DecodeError::Corrupt { name: "VersionMemory", problem };
        let bytes = body::unpack(bytes, MAX_VERSION_BYTES).map_err(|error| corrupt(error.to_string()))?;
        VersionMemory::decode(&bytes).map(Self).map_err(|error| corrupt(error.to_string()))
    }
}

impl Encoded for EventsOfHost {
    fn encode_into(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.0.encode());
    }

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let corrupt = |problem: String| DecodeError::Corrupt { name: "HostEvents", problem };
        HostEvents::decode(bytes).map(Self).map_err(|error| corrupt(error.to_string()))
    }
}

/// State of a page. The schema describes the fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PageSketch {
    pub attempt: i64,
    pub fetches: i64,
    pub last_look_at: Option<Timestamp>,
    pub content_digest: Option<Digest>,
    pub missing_since: Option<Timestamp>,
    pub missing_looks: i32,
    pub listed_change_at: Option<Timestamp>,
    #[serde(with = "serde_bytes")]
    pub looks: Vec<u8>,
    #[serde(with = "serde_bytes")]
    pub watch: Vec<u8>,
    pub focus_version: i64,
    pub forgotten: bool,
    pub forgotten_at: Option<Timestamp>,
    #[serde(with = "serde_bytes")]
    pub mirror_sketch: Vec<u8>,
    pub title: Option<String>,
    pub unread: Option<Unread>,
    pub copy_of: Option<PageId>,
    pub copy_bytes: i64,
    pub doubted_since: Option<Timestamp>,
    pub linked_sites: Vec<LinkedSite>,
    pub is_unwanted: bool,
    pub preferences: Vec<String>,
}

impl PageSketch {
    /// Time of the last look that showed the last version.
    pub(crate) fn version_seen_at(&self) -> Option<Timestamp> {
        self.doubted_since.or(self.last_look_at)
    }

    /// The history of the page's looks; empty if no version was ever seen.
    ///
    /// # Errors
    /// When the stored history is damaged.
    pub fn look_memory(&self) -> Result<LookMemory, StateDecodeError> {
        if self.looks.is_empty() { Ok(LookMemory::default()) } else { LookMemory::decode(&self.looks) }
    }
}

/// A version of a page that another has replaced. The schema describes the fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PastVersion {
    pub url: CanonicalUrl,
    pub seen_at: Timestamp,
    pub last_seen_at: Timestamp,
    pub looks: i64,
    pub verdict: Verdict,
    pub change_id: Option<String>,
    pub title: Option<String>,
    pub kind: CopyKind,
    pub content_type: Option<String>,
    pub content_digest: Option<Digest>,
    pub length: i64,
    pub truncated: bool,
    pub is_delta: bool,
    #[serde(with = "serde_bytes")]
    pub content: Vec<u8>,
}

/// The size of the stored copies of a site. The schema describes the field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteCopies {
    pub bytes: i64,
}

/// A page on which its rule sees nothing of something that it watches. The schema describes the fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlindPage {
    pub url: CanonicalUrl,
    pub rule: String,
    pub since: Timestamp,
    pub parts: Vec<String>,
}

impl_message!(BlindPage, "BlindPage", include_str!("../../../schemas/state/BlindPage.avsc"));

impl_message!(PastVersion, "PastVersion", include_str!("../../../schemas/state/PastVersion.avsc"));

impl_message!(SiteCopies, "SiteCopies", include_str!("../../../schemas/state/SiteCopies.avsc"));

impl_message!(PageSketch, "PageSketch", include_str!("../../../schemas/state/PageSketch.avsc"));
