//! One look at a page: asked for, fetched, compared, counted.
//!
//! What each field means stands in its schema; the words here are the short form.

use crate::{Digest, FetchOutcome, Sha1, impl_message};
use page::{CanonicalUrl, DAY, PageId, SiteKey, Timestamp};
use serde::{Deserialize, Serialize};

/// Scheduler to fetcher: fetch this page now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FetchRequest {
    /// The page's name.
    #[serde(with = "crate::page_id")]
    pub page_id: PageId,
    /// Its address.
    pub url: CanonicalUrl,
    /// Its site; the record key.
    pub site_key: SiteKey,
    /// Counts the fetches of this page upwards; with `page_id` it identifies the request.
    pub attempt: i64,
    /// When the scheduler handed it out.
    pub issued_at: Timestamp,
    /// The host's next permitted time; the fetcher waits for it.
    pub not_before: Timestamp,
    /// The scheduler takes the request for lost after this moment.
    pub lease_until: Timestamp,
    /// Why it is fetched.
    pub reason: FetchReason,
    /// Sent back as If-None-Match.
    pub etag: Option<String>,
    /// Sent back as If-Modified-Since, as it was received.
    pub last_modified: Option<String>,
    /// Digest of the content known so far: an equal body does not travel.
    pub content_digest: Option<Digest>,
    /// Milliseconds between requests planned for this host; the fetcher's gate never goes below it.
    pub crawl_delay_ms: Option<i64>,
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
            etag: None,
            last_modified: None,
            content_digest: None,
            crawl_delay_ms: None,
        }
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

/// Fetcher to detector: what came of one request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FetchResult {
    /// The page's name.
    #[serde(with = "crate::page_id")]
    pub page_id: PageId,
    /// Its address.
    pub url: CanonicalUrl,
    /// Its site; the record key.
    pub site_key: SiteKey,
    /// The request's.
    pub attempt: i64,
    /// When the request went out.
    pub fetched_at: Timestamp,
    /// Milliseconds to the end of the response or the failure.
    pub latency_ms: i32,
    /// What it came to.
    pub outcome: FetchOutcome,
    /// HTTP status of the last response; absent when none arrived.
    pub status: Option<u16>,
    /// Where redirects led.
    pub final_url: Option<CanonicalUrl>,
    /// The redirects in order.
    pub hops: Vec<Hop>,
    /// ETag as received.
    pub etag: Option<String>,
    /// Last-Modified as received.
    pub last_modified: Option<String>,
    /// Content-Type as received.
    pub content_type: Option<String>,
    /// Digest of the whole uncompressed body.
    pub content_digest: Option<Digest>,
    /// The body packed by [`body::compress`](crate::body::compress); absent when there is none or the requester has it.
    #[serde(with = "serde_bytes")]
    pub body: Option<Vec<u8>>,
    /// Bytes of the uncompressed body.
    pub body_length: i64,
    /// The body was longer than the fetcher keeps and was cut.
    pub truncated: bool,
    /// Bytes received, heads and redirects included.
    pub wire_bytes: i64,
    /// Seconds the server asked to wait; of a request that was not sent, those that the host is still left alone.
    pub retry_after_s: Option<i64>,
    /// Crawl-delay of the host's robots.txt, in milliseconds.
    pub robots_crawl_delay_ms: Option<i64>,
    /// A short reason for people when something failed.
    pub detail: Option<String>,
    /// What went over the wire, redirects first; empty when it is not recorded.
    pub exchanges: Vec<Exchange>,
    /// What archives know the body by, when it is left out because the requester has it.
    pub payload_sha1: Option<Sha1>,
    /// Sitemaps that the host's robots.txt names, as written, when it was read for this very request.
    pub sitemaps: Vec<String>,
}

impl FetchResult {
    /// The answer to a request of which no more is known than what came of it, and when.
    pub fn new(request: FetchRequest, outcome: FetchOutcome, fetched_at: Timestamp) -> Self {
        let FetchRequest { page_id, url, site_key, attempt, .. } = request;
        Self {
            page_id,
            url,
            site_key,
            attempt,
            fetched_at,
            latency_ms: 0,
            outcome,
            status: None,
            final_url: None,
            hops: Vec::new(),
            etag: None,
            last_modified: None,
            content_type: None,
            content_digest: None,
            body: None,
            body_length: 0,
            truncated: false,
            wire_bytes: 0,
            retry_after_s: None,
            robots_crawl_delay_ms: None,
            detail: None,
            exchanges: Vec::new(),
            payload_sha1: None,
            sitemaps: Vec::new(),
        }
    }
}

/// One redirect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hop {
    /// The address that redirected, as requested.
    pub url: String,
    /// Its HTTP status, 3xx.
    pub status: u16,
}

/// One HTTP request and the head of its response, as they went over the wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// The address asked for.
    pub url: String,
    /// When the request went out.
    pub requested_at: Timestamp,
    /// IP address of the server; absent when a proxy was asked.
    pub address: Option<String>,
    /// What was spoken, by its ALPN name: `http/1.0`, `http/1.1` or `h2`.
    pub protocol: String,
    /// Request line and header lines, without the empty line after them, credentials left out.
    #[serde(with = "serde_bytes")]
    pub request_head: Vec<u8>,
    /// Status line and header lines, without the empty line after them.
    #[serde(with = "serde_bytes")]
    pub response_head: Vec<u8>,
    /// A head was longer than is kept.
    pub is_cut: bool,
    /// Bytes of the body that were received, before unpacking.
    pub received_bytes: i64,
}

/// Detector to estimator: one look at a page, compared with the look before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageObservation {
    /// The page's name.
    #[serde(with = "crate::page_id")]
    pub page_id: PageId,
    /// Its address.
    pub url: CanonicalUrl,
    /// Its site; the record key.
    pub site_key: SiteKey,
    /// The request's.
    pub attempt: i64,
    /// What the fetch came to.
    pub outcome: FetchOutcome,
    /// HTTP status of the last response.
    pub status: Option<u16>,
    /// When the page was looked at.
    pub fetched_at: Timestamp,
    /// The look it is compared with.
    pub previous_fetched_at: Option<Timestamp>,
    /// What the comparison says.
    pub verdict: Verdict,
    /// How much of the meaningful content changed, 0 to 1.
    pub magnitude: f64,
    /// Estimated Jaccard resemblance of the two contents, 0 to 1; 1 when nothing was compared.
    pub resemblance: f64,
    /// ETag to send next time.
    pub etag: Option<String>,
    /// Last-Modified to send next time.
    pub last_modified: Option<String>,
    /// The moment Last-Modified names, when plausible.
    pub last_modified_at: Option<Timestamp>,
    /// Digest of the body.
    pub content_digest: Option<Digest>,
    /// Bytes of the uncompressed body.
    pub body_length: i64,
    /// Bytes received for this request, heads and redirects included.
    pub wire_bytes: i64,
    /// Milliseconds to the end of the response or the failure.
    pub latency_ms: i32,
    /// Seconds the server asked to wait; of a request that was not sent, those that the host is still left alone.
    pub retry_after_s: Option<i64>,
    /// Crawl-delay of the host's robots.txt, in milliseconds.
    pub robots_crawl_delay_ms: Option<i64>,
    /// Another look so many seconds after this one would settle what this one left open.
    pub look_again_after_s: Option<i64>,
}

/// What the detector makes of a fetch, compared with the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing to compare with.
    First,
    /// The same content.
    Unchanged,
    /// The bytes differ, what a reader sees does not.
    Cosmetic,
    /// A small change of the content.
    Minor,
    /// A large one.
    Major,
    /// The page is no longer there.
    Gone,
    /// It is there again.
    Returned,
    /// The fetch says nothing about the content, or what this program does not know.
    Unknown,
}

impl Verdict {
    /// Whether the page had changed since the look before, for a reader; `None` when the look did not find that out.
    pub fn is_change(self) -> Option<bool> {
        match self {
            Verdict::Unchanged | Verdict::Cosmetic => Some(false),
            Verdict::Minor | Verdict::Major | Verdict::Gone | Verdict::Returned => Some(true),
            Verdict::First | Verdict::Unknown => None,
        }
    }
}

/// Estimator to scheduler: how often the page changes, and what the scheduler needs of its last fetch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeEstimate {
    /// The page's name.
    #[serde(with = "crate::page_id")]
    pub page_id: PageId,
    /// Its address.
    pub url: CanonicalUrl,
    /// Its site; the record key.
    pub site_key: SiteKey,
    /// The request's.
    pub attempt: i64,
    /// What the fetch came to.
    pub outcome: FetchOutcome,
    /// HTTP status of the last response.
    pub status: Option<u16>,
    /// When the page was looked at.
    pub fetched_at: Timestamp,
    /// What the detector made of it.
    pub verdict: Verdict,
    /// Shape of the gamma posterior of the change rate.
    pub alpha: f64,
    /// Rate parameter of the same posterior, in days.
    pub beta_days: f64,
    /// Its point estimate: changes per day, above zero.
    pub change_rate_per_day: f64,
    /// Looks that entered the estimate.
    pub observations: i64,
    /// Those of them that saw a change.
    pub changes: i64,
    /// ETag to send next time.
    pub etag: Option<String>,
    /// Last-Modified to send next time.
    pub last_modified: Option<String>,
    /// Digest of the body.
    pub content_digest: Option<Digest>,
    /// Bytes of the uncompressed body.
    pub body_length: i64,
    /// Bytes received for this request, heads and redirects included.
    pub wire_bytes: i64,
    /// Milliseconds to the end of the response or the failure.
    pub latency_ms: i32,
    /// Seconds the server asked to wait; of a request that was not sent, those that the host is still left alone.
    pub retry_after_s: Option<i64>,
    /// Crawl-delay of the host's robots.txt, in milliseconds.
    pub robots_crawl_delay_ms: Option<i64>,
    /// Changes of its own beyond the prior's, sweeps set aside.
    pub own_alpha: f32,
    /// Days watched for them beyond the prior's.
    pub own_beta_days: f32,
    /// Changes of any cause beyond the prior's.
    pub plain_alpha: f32,
    /// Days watched for them beyond the prior's.
    pub plain_beta_days: f32,
    /// Another look so many seconds after this one would settle what this one left open.
    pub look_again_after_s: Option<i64>,
}

impl_message!(FetchRequest, "FetchRequest", include_str!("../../../schemas/FetchRequest.avsc"));
impl_message!(FetchResult, "FetchResult", include_str!("../../../schemas/FetchResult.avsc"));
impl_message!(PageObservation, "PageObservation", include_str!("../../../schemas/PageObservation.avsc"));
impl_message!(ChangeEstimate, "ChangeEstimate", include_str!("../../../schemas/ChangeEstimate.avsc"));
