//! A request for a page, and how far it has come when one fetcher sends it on to another.

use crate::{Exchange, Hop, Validators, impl_message};
use page::{CanonicalUrl, DAY, PageId, SiteKey, Timestamp};
use serde::{Deserialize, Serialize};

/// Scheduler to fetcher: fetch this page now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FetchRequest {
    pub page_id: PageId,
    pub url: CanonicalUrl,
    /// The page's site, which is also the record key.
    pub site_key: SiteKey,
    /// Counts the fetches of this page upwards; with `page_id` it identifies the request.
    pub attempt: i64,
    /// When the scheduler handed it out.
    pub issued_at: Timestamp,
    /// The host's next permitted time; the fetcher waits for it.
    pub not_before: Timestamp,
    /// The scheduler takes the request for lost after this moment.
    pub lease_until: Timestamp,
    pub reason: FetchReason,
    /// Validators of the copy known so far. A body with the same digest does not travel.
    pub validators: Validators,
    /// Milliseconds between requests planned for this host; the fetcher's gate never goes below it.
    pub crawl_delay_ms: Option<i64>,
    /// How far it has come, if a redirect led to another site.
    pub redirected: Option<Box<RedirectedRequest>>,
}

/// Fetcher to fetcher: where the redirects of a request have led. The owner of the target's site goes on with it, so
/// that a site is asked by one fetcher only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RedirectedRequest {
    /// The address to ask for.
    pub target_url: CanonicalUrl,
    /// The redirects in order.
    pub hops: Vec<Hop>,
    /// Their exchanges; empty when they are not recorded.
    pub exchanges: Vec<Exchange>,
    /// Bytes received so far, robots.txt included.
    pub wire_bytes: i64,
    /// Requests sent so far, robots.txt included.
    pub requests: i32,
    /// Delegated fetch of a robots.txt that comes before the page: still to be made, or with its answer. `None`: the owner
    /// of the target's site asks for the page.
    pub robots: Option<RobotsErrand>,
}

/// Fetcher to fetcher: the robots.txt of one site that redirects to another. The owner of the other site asks for it and
/// sends the request back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotsErrand {
    /// The address that the request goes on with when robots.txt is known. Until there is an answer, the target of the
    /// request is where robots.txt is asked for.
    pub of_url: CanonicalUrl,
    /// Redirects of robots.txt so far.
    pub redirects: i32,
    /// `None` while it is to be asked for.
    pub answer: Option<RobotsAnswer>,
}

/// Result of a [`RobotsErrand`]: the rules of robots.txt, or the status without them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotsAnswer {
    /// The HTTP status of the last answer. 0: there was none. 3xx: the redirects lead nowhere.
    pub status: i32,
    /// The groups for this crawler and the sitemaps. Empty unless the status is 2xx.
    pub robots_txt: String,
    /// How long the server asked to wait.
    pub retry_after_s: Option<i64>,
}

impl FetchRequest {
    /// The first request for a page that nothing is known of: for now, and to be answered within a day.
    pub fn first(url: CanonicalUrl, issued_at: Timestamp) -> Self {
        Self {
            page_id: url.page_id(),
            site_key: url.site_key(),
            url,
            attempt: 1,
            issued_at,
            not_before: issued_at,
            lease_until: issued_at + DAY,
            reason: FetchReason::New,
            validators: Validators::default(),
            crawl_delay_ms: None,
            redirected: None,
        }
    }

    pub fn target(&self) -> &CanonicalUrl {
        self.redirected.as_ref().map_or(&self.url, |redirected| &redirected.target_url)
    }
}

/// Why a page is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FetchReason {
    /// Never fetched before.
    New,
    /// Its crawl value reached the price.
    Refresh,
    /// The last fetch failed.
    Retry,
    /// To settle what the last look left open.
    Probe,
    /// Drawn at random to measure freshness.
    Audit,
    /// An operator asked.
    Command,
}

impl_message!(FetchRequest, "FetchRequest", include_str!("../../../schemas/FetchRequest.avsc"));
