//! What the detector's stores hold.

use messages::schemas::SchemaRecord;
use messages::{Digest, Message, impl_message};
use page::Timestamp;
use serde::{Deserialize, Serialize};
use stream::StoreId;

/// Names of the stores, in their order.
pub const STORES: [&str; 4] = ["pages", "contents", "versions", "hosts"];

/// Key: the 16 bytes of a page id. Value: [`PageSketch`]. Absence: no answer was ever taken in.
pub const PAGES: StoreId = StoreId(0);
/// Key: the 16 bytes of a page id. Value: [`messages::PageContent`], the kept copy. Absence: the page is gone, or nothing is
/// kept. Its changelog is the public topic `page-contents`.
pub const CONTENTS: StoreId = StoreId(1);
/// Key: the 16 bytes of a page id. Value: [`change::PageState::encode`], by which the next version is judged; written only
/// when it changes, which most looks do not do to it. Absence: no version was ever seen.
pub const VERSIONS: StoreId = StoreId(2);
/// Key: a host's authority in UTF-8. Value: [`change::HostEvents::encode`]. Absence: nothing happens to its pages together.
pub const HOSTS: StoreId = StoreId(3);

/// A page, as the detector keeps it. The fields are described in the schema.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct PageSketch {
    pub attempt: i64,
    pub fetches: i64,
    pub last_look_at: Option<Timestamp>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    pub body_length: i64,
    pub content_digest: Option<Digest>,
    pub missing_since: Option<Timestamp>,
    pub missing_looks: i32,
}

impl_message!(PageSketch, "PageSketch", include_str!("../../../schemas/state/PageSketch.avsc"));

/// The schemas of what the stores hold, where it has one.
pub fn state_schemas() -> Vec<SchemaRecord> {
    vec![PageSketch::schema_record()]
}
