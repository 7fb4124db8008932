//! The matcher's table.

use messages::impl_message;
use messages::topics::KeyKind;
use mirrors::BandKey;
use page::{Host, PageId, Timestamp};
use serde::{Deserialize, Serialize};
use stream::{Table, TableKey};

/// Absent: the page does not have the band.
pub const BANDS: Table<BucketKey, BandEntry> =
    Table::new("bands").bounded_by("24 for each of `scheduler/pages`", "the page's next version, or its removal");

/// The key of a page in the bucket of a band: the band, followed by the 16 bytes of the page id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketKey {
    /// The band that names the bucket.
    pub band: BandKey,
    pub page: PageId,
}

impl TableKey for BucketKey {
    const KIND: KeyKind = KeyKind::Band;
    type Bytes = Vec<u8>;

    fn to_bytes(&self) -> Vec<u8> {
        [&self.band[..], &self.page.0].concat()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (band, page) = bytes.split_first_chunk()?;
        Some(Self { band: *band, page: PageId(page.try_into().ok()?) })
    }
}

/// A page in the bucket of a band. The schema describes the fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BandEntry {
    pub host: Host,
    pub version_at: Timestamp,
    #[serde(with = "serde_bytes")]
    pub sketch: Vec<u8>,
}

impl_message!(BandEntry, "BandEntry", include_str!("../../../schemas/state/BandEntry.avsc"));
