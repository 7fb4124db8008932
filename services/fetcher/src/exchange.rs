//! One request and its response, bounded in time and size.

use crate::connection::{Connection, Protocol};
use crate::heads::Heads;
use crate::network::Network;
use crate::rules::Rules;
use crate::{over_http1, over_http2, request};
use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{HeaderMap, HeaderName};
use messages::{Exchange, FetchOutcome, Validators};
use page::{CanonicalUrl, Timestamp};
use politeness::MAX_ROBOTS_BYTES;
use std::time::{Duration, Instant};

/// A complete response. Its body may be cut.
#[derive(Debug)]
pub struct Response {
    /// HTTP status.
    pub status: StatusCode,
    /// Headers of the response. Over HTTP/1.1, only those the fetcher uses.
    pub headers: HeaderMap,
    /// Unpacked body of a page, at most `fetch.max_body` long. Empty unless the status is 2xx.
    pub body: Bytes,
    /// Whether the body was longer, or was not read to its end.
    pub truncated: bool,
    /// Bytes received, including the head. An estimate over HTTP/2.
    pub wire_bytes: u64,
    /// The exchange as it went over the wire, if it is to be archived.
    pub(crate) record: Option<Record>,
}

/// Record of an exchange, for archives.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) heads: Heads,
    pub(crate) protocol: &'static str,
    pub(crate) address: Option<String>,
    /// Body bytes received, before unpacking.
    pub(crate) received_bytes: u64,
}

impl Record {
    /// Converts it to the message format.
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
        }
    }
}

impl Response {
    /// A header's value. Absent if it is not valid text.
    pub fn header(&self, name: HeaderName) -> Option<String> {
        self.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
    }
}

/// Why there is no response. The cause lies with the web, not with us.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) outcome: FetchOutcome,
    pub(crate) detail: String,
    /// Bytes received despite the failure.
    pub(crate) wire_bytes: u64,
}

impl Failure {
    pub(crate) fn new(outcome: FetchOutcome, detail: String) -> Self {
        Self { outcome, detail, wire_bytes: 0 }
    }
}

/// Kind of resource that a request asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted<'a> {
    /// A page. The request is conditional on these validators.
    Page(&'a Validators),
    /// A robots.txt, of any media type.
    Robots,
}

impl Wanted<'_> {
    pub(crate) fn max_body(self, rules: &Rules) -> usize {
        match self {
            Self::Page(_) => usize::try_from(rules.fetch.max_body).unwrap_or(usize::MAX),
            Self::Robots => MAX_ROBOTS_BYTES,
        }
    }
}

/// Sends one GET over the host's connection and opens one if needed. Keeps the connection if it can be reused.
pub(crate) async fn get(
    url: &CanonicalUrl,
    wanted: Wanted<'_>,
    connection: &mut Option<Connection>,
    network: &Network,
) -> Result<Response, Failure> {
    let rules = &*network.rules;
    let limit = Instant::now() + rules.fetch.total_timeout;
    if let Some(mut open) = connection.take()
        && open.is_in_order().await
    {
        match exchange(url, wanted, &mut open, rules, limit).await {
            Ok(response) => {
                *connection = reusable(open, &response);
                return Ok(response);
            }
            // The host closed the idle connection just before our request arrived. Nothing was received, so retry on a
            // new connection.
            Err(Broken { before_response: true, .. }) if open.used => {}
            Err(broken) => return Err(broken.failure),
        }
    }
    // Boxed because it is rare: it would enlarge the future of every request.
    let opening = tokio::time::timeout_at(limit.into(), Box::pin(Connection::open(url, network)));
    let mut open = opening.await.unwrap_or_else(|_| Err(late(rules)))?;
    let response = exchange(url, wanted, &mut open, rules, limit).await.map_err(|broken| broken.failure)?;
    *connection = reusable(open, &response);
    Ok(response)
}

/// A connection is reusable if the whole body was read from it.
fn reusable(mut connection: Connection, response: &Response) -> Option<Connection> {
    connection.used = true;
    (!response.truncated).then_some(connection)
}

/// A failed exchange. `before_response` tells whether it failed before any byte was received.
pub(crate) struct Broken {
    pub(crate) failure: Failure,
    pub(crate) before_response: bool,
}

impl Broken {
    pub(crate) fn after(wire_bytes: u64, failure: Failure) -> Self {
        Self { failure: Failure { wire_bytes, ..failure }, before_response: false }
    }
}

pub(crate) fn late(rules: &Rules) -> Failure {
    let limit = rules.fetch.total_timeout.as_secs_f64();
    Failure::new(FetchOutcome::TimedOut, format!("not complete within {limit} s"))
}

pub(crate) fn silent(limit: Duration) -> Failure {
    Failure::new(FetchOutcome::TimedOut, format!("silent for {} s", limit.as_secs_f64()))
}

/// Sends a request and reads its response, until `limit` at most.
async fn exchange(
    url: &CanonicalUrl,
    wanted: Wanted<'_>,
    connection: &mut Connection,
    rules: &Rules,
    limit: Instant,
) -> Result<Response, Broken> {
    let refused = |error| Broken::after(0, Failure::new(FetchOutcome::ClientError, error));
    let Connection { protocol, target, common, address, .. } = connection;
    match protocol {
        Protocol::Http1(line) => {
            let request = request::head(url, wanted, target, common).map_err(refused)?;
            over_http1::exchange(request, wanted, line, address.as_deref(), rules, limit).await
        }
        Protocol::Http2(sender) => {
            let request = request::request(url, wanted, common).map_err(refused)?;
            let exchange = Box::pin(over_http2::exchange(request, wanted, sender, address.as_deref(), rules));
            let exchange = tokio::time::timeout_at(limit.into(), exchange);
            exchange.await.unwrap_or_else(|_| Err(Broken::after(0, late(rules))))
        }
    }
}
