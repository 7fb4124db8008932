//! One request and its response, bounded in time and size.

use crate::connection::Connection;
use crate::rules::Rules;
use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::header::{self, HeaderMap, HeaderName};
use hyper::{Request, StatusCode};
use messages::FetchOutcome;
use page::CanonicalUrl;
use std::time::Duration;

/// A complete response, its body perhaps cut.
#[derive(Debug)]
pub struct Response {
    /// HTTP status.
    pub status: StatusCode,
    /// Headers as received.
    pub headers: HeaderMap,
    /// Body, at most as long as allowed.
    pub body: Vec<u8>,
    /// Whether the body was longer.
    pub truncated: bool,
    /// Bytes received, an estimate of the head included.
    pub wire_bytes: u64,
}

impl Response {
    /// A header's value as text; one that is no text counts as absent.
    pub fn header(&self, name: HeaderName) -> Option<String> {
        self.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
    }
}

/// Why there is no response. The web's doing, not ours.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) outcome: FetchOutcome,
    pub(crate) detail: String,
}

impl Failure {
    pub(crate) fn new(outcome: FetchOutcome, detail: String) -> Self {
        Self { outcome, detail }
    }
}

/// Validators to send along.
#[derive(Clone, Debug, Default)]
pub(crate) struct Validators {
    pub(crate) etag: Option<String>,
    pub(crate) last_modified: Option<String>,
}

/// Sends one GET over a host's connection, opening one when there is none. The connection is kept when it can be used
/// again.
pub(crate) async fn get(
    url: &CanonicalUrl,
    validators: &Validators,
    max_body: usize,
    connection: &mut Option<Connection>,
    rules: &Rules,
) -> Result<Response, Failure> {
    let limit = rules.fetch.total_timeout;
    let attempt = async {
        if let Some(mut open) = connection.take().filter(|open| !open.sender.is_closed()) {
            match exchange(url, validators, max_body, &mut open, rules).await {
                Ok(response) => {
                    *connection = reusable(open, &response);
                    return Ok(response);
                }
                // The host closed the connection just before the request: a matter of timing, so asked again on a new
                // one. Nothing had been received.
                Err(Broken { before_response: true, .. }) if open.used => {}
                Err(broken) => return Err(broken.failure),
            }
        }
        let mut open = Connection::open(url, rules).await?;
        let response = exchange(url, validators, max_body, &mut open, rules).await.map_err(|broken| broken.failure)?;
        *connection = reusable(open, &response);
        Ok(response)
    };
    tokio::time::timeout(limit, attempt).await.unwrap_or_else(|_| {
        Err(Failure::new(FetchOutcome::TimedOut, format!("not complete within {} s", limit.as_secs_f64())))
    })
}

/// A connection can go on when the whole body was read from it.
fn reusable(mut connection: Connection, response: &Response) -> Option<Connection> {
    connection.used = true;
    (!response.truncated && !connection.sender.is_closed()).then_some(connection)
}

struct Broken {
    failure: Failure,
    before_response: bool,
}

async fn exchange(
    url: &CanonicalUrl,
    validators: &Validators,
    max_body: usize,
    connection: &mut Connection,
    rules: &Rules,
) -> Result<Response, Broken> {
    let broken = |outcome, detail: String| Broken { failure: Failure::new(outcome, detail), before_response: false };
    let request = request(url, validators, rules).map_err(|error| broken(FetchOutcome::ClientError, error))?;
    let sent = async {
        connection.sender.ready().await?;
        connection.sender.send_request(request).await
    };
    let idle = rules.fetch.idle_timeout;
    let silent = || broken(FetchOutcome::TimedOut, format!("silent for {} s", idle.as_secs_f64()));
    let response = within(idle.max(rules.fetch.connect_timeout), sent).await.ok_or_else(silent)?;
    let response = response.map_err(|error| Broken { failure: failure_of(&error), before_response: true })?;
    let (head, mut frames) = response.into_parts();
    let mut wire_bytes: u64 =
        head.headers.iter().map(|(name, value)| (name.as_str().len() + value.len() + 4) as u64).sum();
    let (mut body, mut truncated) = (Vec::new(), false);
    while let Some(frame) = within(idle, frames.frame()).await.ok_or_else(silent)? {
        let frame = frame.map_err(|error| Broken { failure: failure_of(&error), before_response: false })?;
        let Some(data) = frame.data_ref() else { continue };
        wire_bytes += data.len() as u64;
        let room = max_body - body.len();
        body.extend_from_slice(&data[..data.len().min(room)]);
        if data.len() > room {
            truncated = true;
            break;
        }
    }
    Ok(Response { status: head.status, headers: head.headers, body, truncated, wire_bytes })
}

fn request(url: &CanonicalUrl, validators: &Validators, rules: &Rules) -> Result<Request<Empty<Bytes>>, String> {
    let mut request = Request::get(url.path_and_query())
        .header(header::HOST, url.host().as_str())
        .header(header::USER_AGENT, &rules.user_agent)
        .header(header::ACCEPT, "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
        .header(header::ACCEPT_ENCODING, "identity");
    if let Some(etag) = &validators.etag {
        request = request.header(header::IF_NONE_MATCH, etag);
    }
    if let Some(last_modified) = &validators.last_modified {
        request = request.header(header::IF_MODIFIED_SINCE, last_modified);
    }
    request.body(Empty::new()).map_err(|error| error.to_string())
}

async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(limit, work).await.ok()
}

fn failure_of(error: &hyper::Error) -> Failure {
    let outcome = if error.is_parse() || error.is_parse_too_large() || error.is_parse_status() {
        FetchOutcome::MalformedResponse
    } else if error.is_timeout() {
        FetchOutcome::TimedOut
    } else {
        FetchOutcome::ConnectionLost
    };
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
    Failure::new(outcome, format!("{error}{cause}"))
}
