//! What the matcher's store holds.

use messages::schemas::SchemaRecord;
use messages::{Message, impl_message};
use mirrors::BandKey;
use page::{Host, PageId, Timestamp};
use serde::{Deserialize, Serialize};
use stream::StoreId;

/// Key: a band and the 16 bytes of a page id. Value: [`BandEntry`]. Absence: the page does not have the band.
pub const BANDS: StoreId = StoreId(0);

/// A page in the bucket of a band. The fields are described in the schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct BandEntry {
    pub host: Host,
    pub version_at: Timestamp,
    #[serde(with = "serde_bytes")]
    pub sketch: Vec<u8>,
}

impl_message!(BandEntry, "BandEntry", include_str!("../../../schemas/state/BandEntry.avsc"));

/// The schemas of what the stores hold.
pub fn state_schemas() -> Vec<SchemaRecord> {
    vec![BandEntry::schema_record()]
}

/// The key of a page in a band's bucket.
pub(crate) fn key(band: &BandKey, page: PageId) -> Vec<u8> {
    [band.as_slice(), &page.0].concat()
}
