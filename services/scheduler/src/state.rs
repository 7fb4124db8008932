//! What the scheduler's stores hold.

use messages::{Digest, impl_message};
use page::{CanonicalUrl, Timestamp};
use serde::{Deserialize, Serialize};
use stream::StoreId;

/// Key: the 16 bytes of a page id. Value: [`ScheduledPage`]. Absence: the page is not known.
pub const PAGES: StoreId = StoreId(0);
/// Key: a host's authority in UTF-8. Value: [`HostSchedule`]. Absence: nothing was ever asked of it.
pub const HOSTS: StoreId = StoreId(1);

/// A page, as the scheduler keeps it. The fields are described in the schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct ScheduledPage {
    pub url: CanonicalUrl,
    pub weight: f64,
    pub depth: i32,
    pub discovered_at: Timestamp,
    pub last_look_at: Option<Timestamp>,
    pub alpha: f64,
    pub beta_days: f64,
    pub attempt: i64,
    pub answered: i64,
    pub lease_until: Option<Timestamp>,
    pub held_until: Option<Timestamp>,
    pub refetch: bool,
    pub failures: i32,
    pub fetches: i64,
    pub changes: i64,
    pub last_change_at: Option<Timestamp>,
    pub outcome: Option<String>,
    pub verdict: Option<String>,
    pub status: Option<u16>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    pub content_digest: Option<Digest>,
    pub body_length: i64,
}

/// A host, as the scheduler keeps it. The fields are described in the schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct HostSchedule {
    pub next_permitted_at: Timestamp,
    pub crawl_delay_ms: i64,
    pub paused: bool,
}

impl_message!(ScheduledPage, "ScheduledPage", include_str!("../../../schemas/state/ScheduledPage.avsc"));
impl_message!(HostSchedule, "HostSchedule", include_str!("../../../schemas/state/HostSchedule.avsc"));
