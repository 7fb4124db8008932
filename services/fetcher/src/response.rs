//! A response, or why there is none.

use crate::heads::Heads;
use crate::memory::KeptMemory;
use crate::recorder::RecordedBody;
use crate::rules::FetcherRules;
use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{AGE, CACHE_CONTROL, CONTENT_TYPE, DATE, EXPIRES, HeaderMap, HeaderName};
use messages::{Exchange, FetchOutcome};
use page::{CanonicalUrl, Timestamp};
use politeness::{FreshnessHeaders, fresh_for};
use std::time::Duration;

/// A complete response. Its body may be cut.
#[derive(Debug, Default)]
pub struct Response {
    pub status: StatusCode,
    /// Headers of the response. Over HTTP/1.1, only those the fetcher uses.
    pub headers: HeaderMap,
    /// Unpacked body of a page, at most `fetch.max_body` long. Empty unless the status is 2xx.
    pub body: Bytes,
    /// Whether the body was longer, or was not read to its end.
    pub truncated: bool,
    /// Bytes received, including the head.
    pub wire_bytes: u64,
    /// The exchange as it went over the wire, if it is to be archived.
    pub(crate) record: Option<ExchangeRecord>,
    pub(crate) memory: Option<KeptMemory>,
    /// How long the host waited for memory of ours.
    pub(crate) waited: Duration,
}

/// Record of an exchange, for archives.
#[derive(Debug)]
pub(crate) struct ExchangeRecord {
    pub(crate) heads: Heads,
    pub(crate) protocol: &'static str,
    pub(crate) address: Option<String>,
    /// Body bytes received, before unpacking.
    pub(crate) received_bytes: u64,
    /// The body of a redirect or an error, if it is to be archived.
    pub(crate) body: Option<RecordedBody>,
}

impl ExchangeRecord {
    /// Converts it to the message format, without its body.
    pub(crate) fn exchange(self, url: &CanonicalUrl, requested_at: Timestamp) -> Exchange {
        Exchange {
            url: url.as_str().to_owned(),
            requested_at,
            address: self.address,
            protocol: self.protocol.to_owned(),
            request_head: self.heads.request,
            response_head: self.heads.response,
            is_cut: self.heads.is_cut,
            received_bytes: self.received_bytes as i64,
            body: None,
            body_is_cut: false,
        }
    }
}

impl Response {
    /// A header's value. Absent if it is not valid text.
    pub fn header(&self, name: HeaderName) -> Option<String> {
        self.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
    }

    /// All lines of a header that are text.
    pub(crate) fn headers_named(&self, name: HeaderName) -> impl Iterator<Item = &str> {
        self.headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok())
    }

    /// How long the server expects the answer to be current, from the time of the request on.
    pub(crate) fn fresh_for(&self, asked_at: Timestamp) -> Option<Duration> {
        let of = |name: HeaderName| self.headers.get(name).and_then(|value| value.to_str().ok());
        let lines = self.headers_named(CACHE_CONTROL).collect::<Vec<_>>().join(",");
        let headers =
            FreshnessHeaders { cache_control: Some(&lines), expires: of(EXPIRES), date: of(DATE), age: of(AGE) };
        fresh_for(&headers, asked_at)
    }

    /// The media type of the body, with its parameters. Bytes that are not ASCII are in a parameter, and replaced there.
    pub(crate) fn content_type(&self) -> Option<String> {
        self.headers.get(CONTENT_TYPE).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
    }
}

/// Why there is no response. The cause lies with the web, unless it is [`ours`](Self::ours).
#[derive(Clone, Debug)]
pub(crate) struct FetchFailure {
    pub(crate) outcome: FetchOutcome,
    pub(crate) detail: String,
    /// Bytes received despite the failure.
    pub(crate) wire_bytes: u64,
    /// Present if it says nothing of the web.
    pub(crate) ours: Option<OwnCause>,
}

/// Why the fetcher itself has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnCause {
    /// It stops before it has all of the answer.
    Stops,
    /// It found no open file for the connection.
    NoFile,
}

impl FetchFailure {
    pub(crate) fn new(outcome: FetchOutcome, detail: String) -> Self {
        Self { outcome, detail, wire_bytes: 0, ours: None }
    }
}

pub(crate) struct FailedExchange {
    pub(crate) failure: FetchFailure,
    pub(crate) seen: Seen,
}

/// Whether the host may have seen a request without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// It may be at work on it.
    Perhaps,
    /// Nothing: the connection ended before any byte of an answer.
    Nothing,
    /// It said that it did not look at it.
    Refused,
    /// It said that it answers over HTTP/1.1 only (RFC 9113 §7, HTTP_1_1_REQUIRED).
    RefusedOverHttp2,
}

impl FailedExchange {
    pub(crate) fn after(wire_bytes: u64, failure: FetchFailure) -> Self {
        Self { failure: FetchFailure { wire_bytes, ..failure }, seen: Seen::Perhaps }
    }
}

pub(crate) fn late(rules: &FetcherRules) -> FetchFailure {
    let limit = rules.fetch.total_timeout.as_secs_f64();
    FetchFailure::new(FetchOutcome::TimedOut, format!("not complete within {limit} s"))
}

pub(crate) fn silent(limit: Duration) -> FetchFailure {
    FetchFailure::new(FetchOutcome::TimedOut, format!("silent for {} s", limit.as_secs_f64()))
}
