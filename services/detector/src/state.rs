//! What the detector's stores hold.

use change::{HostEvents, VersionMemory};
use messages::topics::PAGE_CONTENTS;
use messages::{DecodeError, Digest, Encoded, PageContent, impl_message};
use page::{Host, PageId, Timestamp};
use serde::{Deserialize, Serialize};
use stream::Table;

/// Absence: no answer was ever taken in.
pub const PAGES: Table<PageId, PageSketch> = Table::new("pages");
/// The kept copies, for everyone. Absence: the page is gone, or nothing is kept.
pub const CONTENTS: Table<PageId, PageContent> = Table::published("contents", PAGE_CONTENTS);
/// The version by which the next one is judged; written only by looks that show a reader something else. Absence: no
/// version was ever seen.
pub const VERSIONS: Table<PageId, PageVersion> = Table::new("versions");
/// Absence: nothing happens to the pages of the host together.
pub const HOSTS: Table<Host, EventsOfHost> = Table::new("hosts");

/// The large part of a [`change::PageState`], stored as the bytes of [`VersionMemory::encode`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageVersion(pub VersionMemory);

/// What happens to the pages of a host together, in the bytes of [`HostEvents::encode`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventsOfHost(pub HostEvents);

impl Encoded for PageVersion {
    fn encode_into(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.0.encode());
    }

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let corrupt = |problem: String| DecodeError::Corrupt { name: "VersionMemory", problem };
        VersionMemory::decode(bytes).map(Self).map_err(|error| corrupt(error.to_string()))
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

/// A page, as the detector keeps it. The fields are described in the schema.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct PageSketch {
    pub attempt: i64,
    pub fetches: i64,
    pub last_look_at: Option<Timestamp>,
    pub content_digest: Option<Digest>,
    pub missing_since: Option<Timestamp>,
    pub missing_looks: i32,
    #[serde(with = "serde_bytes")]
    pub looks: Vec<u8>,
}

impl_message!(PageSketch, "PageSketch", include_str!("../../../schemas/state/PageSketch.avsc"));
