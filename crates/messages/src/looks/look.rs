//! One look at a page: requested, fetched, judged, learned from.
//!
//! A [`Look`] is made by the fetcher and passed on unchanged; each stage adds its finding beside it. The schemas
//! describe the fields in full.

use crate::{AnswerKind, ContentEvidence, Digest, FetchOutcome, FetchRequest, OutcomeClass, Sha1, impl_message};
use page::{CanonicalUrl, PageId, SiteKey, Timestamp};
use serde::{Deserialize, Serialize};

/// Identify a version of a page: ETag and Last-Modified to the server, the digest to the fetcher.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validators {
    /// The address that sent ETag and Last-Modified, if redirects led there. `None`: the page's own.
    pub url: Option<CanonicalUrl>,
    /// ETag as received, sent as If-None-Match.
    pub etag: Option<String>,
    /// Last-Modified as received, sent as If-Modified-Since.
    pub last_modified: Option<String>,
    /// Digest of the whole uncompressed body.
    pub content_digest: Option<Digest>,
    /// Number of conditional requests that failed where the one after them, without conditions, did not. From
    /// three on the page is asked for without conditions.
    pub failed_conditions: i32,
}

/// How often a page's conditional requests may fail in turn with others that do not.
const MAX_FAILED_CONDITIONS: i32 = 3;

impl Validators {
    /// The address that sent ETag and Last-Modified, of the page with this URL. They mean nothing to any other.
    pub fn sent_by<'a>(&'a self, page: &'a CanonicalUrl) -> &'a CanonicalUrl {
        self.url.as_ref().unwrap_or(page)
    }

    /// The validators of the copy after a look. Every stage that keeps some goes by this.
    pub fn after(self, look: &Look, verdict: Verdict) -> Self {
        let failed_conditions = self.failed_conditions_after(look);
        let after = Self { failed_conditions, ..self.learned_from(look, verdict) };
        let is_failure = look.outcome.meaning().content == ContentEvidence::Nothing;
        if failed_conditions >= MAX_FAILED_CONDITIONS || is_failure && failed_conditions > 0 {
            return Self { url: None, etag: None, last_modified: None, ..after };
        }
        after
    }

    /// Whether a request with these has conditions.
    fn has_conditions(&self) -> bool {
        self.etag.is_some() || self.last_modified.is_some()
    }

    /// Some servers fail at conditions and at nothing else, so a request that failed with them is not repeated with them.
    fn failed_conditions_after(&self, look: &Look) -> i32 {
        use FetchOutcome::{ClientError, ConnectionLost, MalformedResponse, ServerError, TimedOut};
        let failed = self.failed_conditions;
        match look.outcome {
            // It says itself that it is the conditions.
            ClientError if look.status == Some(412) && self.has_conditions() => MAX_FAILED_CONDITIONS,
            ClientError | ServerError | TimedOut | ConnectionLost | MalformedResponse => match self.has_conditions() {
                true => failed + 1,
                // It fails without conditions, too. They were not the reason.
                false if failed < MAX_FAILED_CONDITIONS => 0,
                false => failed,
            },
            _ if look.outcome.meaning().content == ContentEvidence::Nothing => failed,
            _ if self.has_conditions() => 0,
            _ => failed,
        }
    }

    fn learned_from(self, look: &Look, verdict: Verdict) -> Self {
        let received = &look.validators;
        match look.outcome.meaning().content {
            // The detector withholds its verdict on an error page in place of the content. The page is to come again
            // with its body.
            ContentEvidence::Body if verdict == Verdict::Unknown => Self::default(),
            ContentEvidence::Body => received.clone(),
            // A copy that the detector does not have, or has not read by the page's rule.
            ContentEvidence::SameAsKnown if verdict == Verdict::Unknown => Self::default(),
            // A 304 need not repeat the validators; those it leaves out still hold.
            ContentEvidence::SameAsKnown if received.url == self.url => Self {
                url: self.url,
                etag: received.etag.clone().or(self.etag),
                last_modified: received.last_modified.clone().or(self.last_modified),
                content_digest: self.content_digest,
                failed_conditions: 0,
            },
            // The same body, now from another address.
            ContentEvidence::SameAsKnown => Self { content_digest: self.content_digest, ..received.clone() },
            // With the validators of content that is gone, its return would look like no change and come without a body.
            ContentEvidence::Missing { .. } if verdict != Verdict::Unknown => Self::default(),
            ContentEvidence::Missing { .. } | ContentEvidence::Elsewhere | ContentEvidence::Nothing => self,
        }
    }
}

/// A request for a page and its outcome. Stages pass it on unchanged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Look {
    pub page_id: PageId,
    pub url: CanonicalUrl,
    /// The page's site, which is also the record key.
    pub site_key: SiteKey,
    /// Number of the request.
    pub attempt: i64,
    /// When the request went out.
    pub fetched_at: Timestamp,
    /// Milliseconds to the end of the response or the failure.
    pub latency_ms: i32,
    pub outcome: FetchOutcome,
    /// HTTP status of the last response; absent when none arrived.
    pub status: Option<u16>,
    /// The address that redirects led to; `None` without redirects.
    pub final_url: Option<CanonicalUrl>,
    /// Validators of the response, as received.
    pub validators: Validators,
    /// Bytes of the uncompressed body.
    pub body_length: i64,
    /// Bytes received, heads and redirects included.
    pub wire_bytes: i64,
    /// Requests sent: the page, its redirects, and each robots.txt on the way.
    pub requests: i32,
    /// Seconds the server asked to wait; of a request that was not sent, those that the host is still left alone.
    pub retry_after_s: Option<i64>,
    /// Crawl-delay of the host's robots.txt, in milliseconds.
    pub robots_crawl_delay_ms: Option<i64>,
    /// Seconds in which the server expects the answer to be current (max-age, Expires).
    pub fresh_for_s: Option<i64>,
}

impl Look {
    /// A look of which only the outcome and its time are known.
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
            validators: Validators::default(),
            body_length: 0,
            wire_bytes: 0,
            requests: 0,
            retry_after_s: None,
            robots_crawl_delay_ms: None,
            fresh_for_s: None,
        }
    }

    /// The address that the answer came from. Its validators belong to this address, and its links are relative to it.
    pub fn answered_by(&self) -> &CanonicalUrl {
        self.final_url.as_ref().unwrap_or(&self.url)
    }

    /// Whether a request went over the wire for the page. Only such a look counts as a fetch, in all published figures.
    pub fn is_fetch(&self) -> bool {
        match self.outcome {
            // The detector sets aside what was fetched, the fetcher does not send what it has set aside.
            FetchOutcome::SetAside => self.requests > 0,
            _ => AnswerKind::of(self).report().class != OutcomeClass::NotSent,
        }
    }

    /// Whether the request was handed back without being sent, because its host had just refused another or its
    /// robots.txt cannot be had. It is no fetch and says nothing of the page; `retry_after_s` is how long the host is
    /// left alone.
    pub fn was_not_sent(&self) -> bool {
        match self.outcome {
            // Behind a redirect something was sent, and would be again.
            _ if self.final_url.is_some() => false,
            FetchOutcome::RateLimited => self.status.is_none(),
            FetchOutcome::RobotsUnavailable => true,
            _ => false,
        }
    }
}

/// Fetcher to detector: a look with its body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FetchResult {
    pub look: Look,
    /// The redirects in order.
    pub hops: Vec<Hop>,
    /// Content-Type as received.
    pub content_type: Option<String>,
    /// The body packed by [`body::pack`](crate::body::pack). Absent if the response has no body, or the
    /// requester has the same one.
    #[serde(with = "serde_bytes")]
    pub body: Option<Vec<u8>>,
    /// The body was longer than the fetcher keeps and was cut.
    pub truncated: bool,
    /// A short reason for people when something failed.
    pub detail: Option<String>,
    /// HTTP exchanges of the fetch, redirects first, those for robots.txt only where bodies of failures are
    /// kept; empty when they are not recorded.
    pub exchanges: Vec<Exchange>,
    /// The digest that archives use, when the body is left out because the requester has it.
    pub payload_sha1: Option<Sha1>,
    /// Sitemaps that the host's robots.txt names, resolved against it, when it was read for this very request.
    pub sitemaps: Vec<String>,
    /// The owner's statements in robots.txt and the headers, as `preferences::Preferences` lists them.
    pub preferences: Vec<String>,
    /// Whether the body is the document that a browser made of what the server sent.
    pub rendered: bool,
    /// `Refresh` as received.
    pub refresh: Option<String>,
}

impl FetchResult {
    /// A look without a body.
    pub fn new(look: Look) -> Self {
        Self {
            look,
            hops: Vec::new(),
            content_type: None,
            body: None,
            truncated: false,
            detail: None,
            exchanges: Vec::new(),
            payload_sha1: None,
            sitemaps: Vec::new(),
            preferences: Vec::new(),
            rendered: false,
            refresh: None,
        }
    }

    /// The exchange that brought the page. Absent if there was no answer, or no exchange is recorded. Those of the parts of a
    /// rendered page come behind it.
    pub fn exchange_of_page(&self) -> Option<&Exchange> {
        self.look.status?;
        match self.rendered {
            true => self.exchanges.iter().rfind(|exchange| exchange.url == self.look.answered_by().as_str()),
            false => self.exchanges.last(),
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

/// One HTTP request and the head of its response, as they went over the wire, and the body of some.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// The address asked for.
    pub url: String,
    /// When the request went out.
    pub requested_at: Timestamp,
    /// IP address of the server; absent when a proxy was asked.
    pub address: Option<String>,
    /// The protocol, by its ALPN name: `http/1.0`, `http/1.1` or `h2`.
    pub protocol: String,
    /// Request line and header lines, without the empty line after them, credentials left out.
    #[serde(with = "serde_bytes")]
    pub request_head: Vec<u8>,
    /// Status line and header lines, without the empty line after them.
    #[serde(with = "serde_bytes")]
    pub response_head: Vec<u8>,
    /// Whether a head was longer than the part that is kept.
    pub is_cut: bool,
    /// Bytes of the body that were received, before unpacking.
    pub received_bytes: i64,
    /// The body of a robots.txt, a redirect or an error, packed by [`body::pack`](crate::body::pack). Absent unless it is
    /// kept for archives.
    #[serde(with = "serde_bytes")]
    pub body: Option<Vec<u8>>,
    /// Whether only the beginning of that body is kept.
    pub body_is_cut: bool,
}

/// Detector to estimator: a look, compared with the look before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageObservation {
    pub look: Look,
    pub judgement: LookJudgement,
}

/// The detector's verdict on a look, compared with the look before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LookJudgement {
    /// Time of the look that this one is compared with.
    pub previous_fetched_at: Option<Timestamp>,
    pub verdict: Verdict,
    /// How much of the meaningful content changed, 0 to 1.
    pub magnitude: f64,
    /// Estimated Jaccard resemblance of the two contents, 0 to 1; 1 when nothing was compared.
    pub resemblance: f64,
    /// Claims of when the page last changed, none of them after the look; at most one per source.
    pub dates: Vec<PageDate>,
    /// Seconds after this look at which another would settle an open question.
    pub look_again_after_s: Option<i64>,
}

/// A claim of when a page last changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageDate {
    pub source: DateSource,
    /// The time of the change.
    pub at: Timestamp,
}

/// Sources of the time at which a page last changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateSource {
    /// The response's Last-Modified header.
    LastModified,
    /// The page itself.
    Page,
    /// A sitemap or feed.
    Listed,
    /// A source that only a newer detector knows.
    Other,
}

/// Conclusion of the detector from a fetch, compared with the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The first version seen.
    First,
    /// The same content.
    Unchanged,
    /// The bytes differ, but a reader sees no difference.
    Cosmetic,
    /// A small change of the content.
    Minor,
    /// A large change of the content.
    Major,
    Gone,
    Returned,
    /// The server does not find the page, which may be a fault that passes. Only in [`PageChange`](crate::PageChange); the observation says unknown.
    Missing,
    /// No statement about the content, or a verdict of a newer detector.
    Unknown,
    /// Something that the page's watch rule watches is not there any more. Only in [`PageChange`](crate::PageChange).
    Unwatched,
    /// It is there again. Only in [`PageChange`](crate::PageChange).
    Watched,
    /// Something else is served in the page's place, which may pass. Only in [`PageChange`](crate::PageChange); the
    /// observation says unknown.
    Obscured,
    /// The page leads to another page than before. Only in [`PageChange`](crate::PageChange); the observation judges what
    /// stands there.
    Redirected,
    /// An operator had the page forgotten: readers delete what was published of it before. Only in
    /// [`PageChange`](crate::PageChange).
    Forgotten,
    /// The first request for a seed brought no page. Only in [`PageChange`](crate::PageChange), once for each seed.
    Failed,
}

impl Verdict {
    /// Whether a reader sees a change since the previous look. `None` if the look does not show it.
    pub fn is_change(self) -> Option<bool> {
        match self {
            Verdict::Unchanged | Verdict::Cosmetic => Some(false),
            Verdict::Minor | Verdict::Major | Verdict::Gone | Verdict::Returned => Some(true),
            Verdict::First | Verdict::Missing | Verdict::Unknown | Verdict::Unwatched | Verdict::Watched => None,
            Verdict::Obscured | Verdict::Redirected | Verdict::Forgotten | Verdict::Failed => None,
        }
    }
}

impl LookJudgement {
    /// A verdict without anything to compare with.
    pub fn new(verdict: Verdict) -> Self {
        Self {
            previous_fetched_at: None,
            verdict,
            magnitude: 0.0,
            resemblance: 1.0,
            dates: Vec::new(),
            look_again_after_s: None,
        }
    }
}

impl_message!(FetchResult, "FetchResult", include_str!("../../../../schemas/FetchResult.avsc"));
impl_message!(PageObservation, "PageObservation", include_str!("../../../../schemas/PageObservation.avsc"));
