//! What the detector's stores hold.

use messages::{Digest, impl_message};
use page::Timestamp;
use serde::{Deserialize, Serialize};
use stream::StoreId;

/// Key: the 16 bytes of a page id. Value: [`PageSketch`]. Absence: no answer was ever taken in.
pub const PAGES: StoreId = StoreId(0);
/// Key: the 16 bytes of a page id. Value: the visible text of the last accepted version, cut and packed as a body is, to
/// tell what was added and removed. Absence: the page has no text, or none was wanted.
pub const TEXTS: StoreId = StoreId(1);

/// A page, as the detector keeps it. The fields are described in the schema.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct PageSketch {
    pub attempt: i64,
    pub fetches: i64,
    pub last_look_at: Option<Timestamp>,
    pub gone: bool,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    pub body_length: i64,
    pub content_digest: Option<Digest>,
    #[serde(with = "serde_bytes")]
    pub accepted: Option<Vec<u8>>,
}

impl_message!(PageSketch, "PageSketch", include_str!("../../../schemas/state/PageSketch.avsc"));
