//! Trouble at a host whose schedule another partition keeps.

use crate::{Look, impl_message};
use page::{CanonicalUrl, PageId, Timestamp};
use serde::{Deserialize, Serialize};

/// Scheduler to scheduler: a host failed or asked to wait when a redirect from another site led to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TroubleNotice {
    /// The address that was asked for. Its site is the record key.
    pub url: CanonicalUrl,
    /// The page whose redirects led there.
    pub page_id: PageId,
    /// When the request went out.
    pub fetched_at: Timestamp,
    /// Milliseconds to the end of the response or the failure.
    pub latency_ms: i32,
    /// HTTP status; absent when no response arrived.
    pub status: Option<u16>,
    /// Seconds the server asked to wait.
    pub retry_after_s: Option<i64>,
    /// Crawl-delay of the host's robots.txt, in milliseconds.
    pub robots_crawl_delay_ms: Option<i64>,
}

impl TroubleNotice {
    /// The notice about the host that a look led to.
    pub fn of(look: &Look) -> Self {
        Self {
            url: look.answered_by().clone(),
            page_id: look.page_id,
            fetched_at: look.fetched_at,
            latency_ms: look.latency_ms,
            status: look.status,
            retry_after_s: look.retry_after_s,
            robots_crawl_delay_ms: look.robots_crawl_delay_ms,
        }
    }
}

impl_message!(TroubleNotice, "TroubleNotice", include_str!("../../../schemas/TroubleNotice.avsc"));
