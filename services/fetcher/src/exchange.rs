//! One request and its response, bounded in time and size.

use crate::codings::{ACCEPTED, BodyLimits, BodyProblem, Coding, More, Unpacker};
use crate::connection::{Connection, Target};
use crate::heads::Heads;
use crate::network::Network;
use crate::proxy::basic;
use crate::rules::Rules;
use crate::sniff;
use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::body::{Body, Incoming};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue, InvalidHeaderValue};
use hyper::http::uri::InvalidUri;
use hyper::{Request, StatusCode, Version};
use messages::{Exchange, FetchOutcome, FetchRequest};
use page::{CanonicalUrl, Timestamp};
use politeness::MAX_ROBOTS_BYTES;
use std::error::Error;
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::pin::pin;
use std::time::Duration;

/// What is asked for; anything else is better than nothing.
const ACCEPTED_TYPES: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
/// Most bytes read, and longest wait, for the body of an answer that is no page.
const DRAINED_BYTES: u64 = 64 << 10;
const DRAINED_WITHIN: Duration = Duration::from_secs(2);

/// A complete response, its body perhaps cut.
#[derive(Debug)]
pub struct Response {
    /// HTTP status.
    pub status: StatusCode,
    /// Headers as received.
    pub headers: HeaderMap,
    /// Body of a page, unpacked, at most as long as allowed. Empty unless the status is 2xx.
    pub body: Bytes,
    /// Whether the body was longer, or was not read to its end.
    pub truncated: bool,
    /// Bytes received, an estimate of the head included.
    pub wire_bytes: u64,
    /// What went over the wire, if it is to be recorded.
    pub(crate) record: Option<Record>,
}

/// What is recorded of an exchange for archives.
#[derive(Debug)]
pub(crate) struct Record {
    heads: Heads,
    protocol: &'static str,
    address: Option<IpAddr>,
    /// Bytes of the body, before unpacking.
    received_bytes: u64,
}

impl Record {
    /// The same as it travels.
    pub(crate) fn exchange(self, url: &CanonicalUrl, requested_at: Timestamp) -> Exchange {
        Exchange {
            url: url.as_str().to_owned(),
            requested_at,
            address: self.address.map(|address| address.to_string()),
            protocol: self.protocol.to_owned(),
            request_head: self.heads.request,
            response_head: self.heads.response,
            is_cut: self.heads.is_cut,
            received_bytes: self.received_bytes as i64,
        }
    }
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
    /// Bytes received all the same.
    pub(crate) wire_bytes: u64,
}

impl Failure {
    pub(crate) fn new(outcome: FetchOutcome, detail: String) -> Self {
        Self { outcome, detail, wire_bytes: 0 }
    }
}

/// What a request is for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted<'a> {
    /// A page, if it is not the copy that these validators belong to.
    Page(Validators<'a>),
    /// A robots.txt, in whatever type it comes.
    Robots,
}

impl Wanted<'_> {
    fn max_body(self, rules: &Rules) -> usize {
        match self {
            Self::Page(_) => usize::try_from(rules.fetch.max_body).unwrap_or(usize::MAX),
            Self::Robots => MAX_ROBOTS_BYTES,
        }
    }
}

/// Validators to send along.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Validators<'a> {
    etag: Option<&'a str>,
    last_modified: Option<&'a str>,
}

impl<'a> Validators<'a> {
    pub(crate) fn of(request: &'a FetchRequest) -> Self {
        Self { etag: request.etag.as_deref(), last_modified: request.last_modified.as_deref() }
    }
}

/// Sends one GET over a host's connection, opening one when there is none. The connection is kept when it can be used
/// again.
pub(crate) async fn get(
    url: &CanonicalUrl,
    wanted: Wanted<'_>,
    connection: &mut Option<Connection>,
    network: &Network,
) -> Result<Response, Failure> {
    let rules = &*network.rules;
    let limit = rules.fetch.total_timeout;
    let attempt = async {
        if let Some(mut open) = connection.take().filter(|open| !open.is_closed()) {
            match exchange(url, wanted, &mut open, rules).await {
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
        // Rare, and kept out of what is set up for every request.
        let mut open = Box::pin(Connection::open(url, network)).await?;
        let response = exchange(url, wanted, &mut open, rules).await.map_err(|broken| broken.failure)?;
        *connection = reusable(open, &response);
        Ok(response)
    };
    tokio::time::timeout(limit, pin!(attempt)).await.unwrap_or_else(|_| {
        Err(Failure::new(FetchOutcome::TimedOut, format!("not complete within {} s", limit.as_secs_f64())))
    })
}

/// A connection can go on when the whole body was read from it.
fn reusable(mut connection: Connection, response: &Response) -> Option<Connection> {
    connection.used = true;
    (!response.truncated && !connection.is_closed()).then_some(connection)
}

struct Broken {
    failure: Failure,
    before_response: bool,
}

impl Broken {
    fn after(wire_bytes: u64, failure: Failure) -> Self {
        Self { failure: Failure { wire_bytes, ..failure }, before_response: false }
    }
}

fn silent(limit: Duration) -> Failure {
    Failure::new(FetchOutcome::TimedOut, format!("silent for {} s", limit.as_secs_f64()))
}

async fn exchange(
    url: &CanonicalUrl,
    wanted: Wanted<'_>,
    connection: &mut Connection,
    rules: &Rules,
) -> Result<Response, Broken> {
    let request = request(url, wanted, connection, rules)
        .map_err(|error| Broken::after(0, Failure::new(FetchOutcome::ClientError, error)))?;
    let idle = rules.fetch.idle_timeout;
    let response = within(idle.max(rules.fetch.connect_timeout), connection.send(request)).await;
    let response = response.ok_or_else(|| Broken::after(0, silent(idle)))?;
    let response = response.map_err(|error| Broken { failure: failure_of(&error), before_response: true })?;
    let (head, frames) = response.into_parts();
    let head_bytes = head.headers.iter().map(|(name, value)| (name.as_str().len() + value.len() + 4) as u64).sum();
    let heads = connection.recorder.take();
    let mut wire_bytes: u64 = head_bytes;
    let (body, truncated) = if head.status.is_success() {
        let received = receive(frames, &head.headers, wanted, &mut wire_bytes, rules).await;
        received.map_err(|failure| Broken::after(wire_bytes, failure))?
    } else {
        (Bytes::new(), !drained(frames, &mut wire_bytes, idle).await)
    };
    let protocol = match head.version {
        Version::HTTP_2 => "h2",
        Version::HTTP_10 => "http/1.0",
        _ => "http/1.1",
    };
    let received_bytes = wire_bytes - head_bytes;
    let record = heads.map(|heads| Record { heads, protocol, address: connection.address, received_bytes });
    Ok(Response { status: head.status, headers: head.headers, body, truncated, wire_bytes, record })
}

/// The body of a page, unpacked, and whether it was cut.
async fn receive(
    mut frames: Incoming,
    headers: &HeaderMap,
    wanted: Wanted<'_>,
    wire_bytes: &mut u64,
    rules: &Rules,
) -> Result<(Bytes, bool), Failure> {
    let told = wanted_type(headers, wanted, rules)?;
    let refused =
        |coding| Failure::new(FetchOutcome::ContentRefused, format!("content coding {coding} was not asked for"));
    // Only chunks were asked for, by saying HTTP/1.1.
    if let Some(value) = headers.get_all(header::TRANSFER_ENCODING).iter().find(|value| *value != "chunked") {
        let detail = format!("transfer coding {value:?} was not asked for");
        return Err(Failure::new(FetchOutcome::MalformedResponse, detail));
    }
    let coding = Coding::of(headers).map_err(refused)?;
    let limits = BodyLimits {
        wire: if coding == Coding::Identity { u64::MAX } else { rules.fetch.max_packed_body },
        kept: wanted.max_body(rules),
        ratio: rules.fetch.max_pack_ratio,
    };
    let problem = |problem| match problem {
        BodyProblem::Bomb => {
            let detail = format!("the body unpacks to more than {} times its size", rules.fetch.max_pack_ratio);
            Failure::new(FetchOutcome::TooLarge, detail)
        }
        BodyProblem::Corrupt(detail) => {
            Failure::new(FetchOutcome::MalformedResponse, format!("the body does not unpack: {detail}"))
        }
    };
    let idle = rules.fetch.idle_timeout;
    let announced = frames.size_hint();
    let mut unpacker = Unpacker::new(coding, limits, announced.lower())
        .map_err(|error| problem(BodyProblem::Corrupt(error.to_string())))?;
    let mut whole = None;
    while let Some(frame) = within(idle, frames.frame()).await.ok_or_else(|| silent(idle))? {
        let frame = frame.map_err(|error| failure_of(&error))?;
        let Ok(data) = frame.into_data() else { continue };
        let length = data.len() as u64;
        *wire_bytes += length;
        // Most bodies come in one piece, which is kept as it came.
        if coding == Coding::Identity && announced.exact() == Some(length) && data.len() <= limits.kept {
            whole = Some(data);
        } else if unpacker.take(&data).map_err(problem)? == More::Cut {
            break;
        }
    }
    let (body, truncated) = match whole {
        Some(body) => (body, false),
        None => unpacker.finish().map(|(body, truncated)| (body.into(), truncated)).map_err(problem)?,
    };
    if told == Told::Nothing && !rules.fetch.allows_content(sniff::media_type(&body)) {
        return Err(unwanted_type(sniff::media_type(&body)));
    }
    Ok((body, truncated))
}

/// What is known of the kind of content before the body has come.
#[derive(PartialEq, Eq)]
enum Told {
    Enough,
    Nothing,
}

/// Refuses content of a kind that is not kept, before its body is read.
fn wanted_type(headers: &HeaderMap, wanted: Wanted<'_>, rules: &Rules) -> Result<Told, Failure> {
    if rules.fetch.allows_all_content() || matches!(wanted, Wanted::Robots) {
        return Ok(Told::Enough);
    }
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    match value.split(';').next().unwrap_or_default().trim() {
        "" => Ok(Told::Nothing),
        media_type if rules.fetch.allows_content(media_type) => Ok(Told::Enough),
        media_type => Err(unwanted_type(media_type)),
    }
}

fn unwanted_type(media_type: &str) -> Failure {
    Failure::new(FetchOutcome::ContentRefused, format!("{media_type} is not among fetch.content_types"))
}

/// Reads what follows the head of an answer that is no page, so that the connection can be used again. Its status is
/// known, so what goes wrong here is no matter.
async fn drained(mut frames: Incoming, wire_bytes: &mut u64, limit: Duration) -> bool {
    let reading = async {
        let mut left = DRAINED_BYTES;
        loop {
            match frames.frame().await {
                None => return true,
                Some(Ok(frame)) => {
                    let length = frame.data_ref().map_or(0, |data| data.len() as u64);
                    *wire_bytes += length;
                    let Some(rest) = left.checked_sub(length) else { return false };
                    left = rest;
                }
                Some(Err(_)) => return false,
            }
        }
    };
    within(limit.min(DRAINED_WITHIN), reading).await == Some(true)
}

/// A request on a connection. What all requests on it say alike is put together once.
fn request(
    url: &CanonicalUrl,
    wanted: Wanted<'_>,
    connection: &mut Connection,
    rules: &Rules,
) -> Result<Request<Empty<Bytes>>, String> {
    let (target, version) = match connection.target {
        Target::Path => (url.path_and_query(), Version::HTTP_11),
        Target::Whole => (url.as_str(), Version::HTTP_2),
        Target::Proxied(_) => (url.as_str(), Version::HTTP_11),
    };
    let mut request = Request::new(Empty::new());
    *request.uri_mut() = target.parse().map_err(|error: InvalidUri| error.to_string())?;
    *request.version_mut() = version;
    if connection.headers.is_empty() {
        connection.headers = common_headers(url, &connection.target, rules).map_err(|error| error.to_string())?;
    }
    let headers = request.headers_mut();
    *headers = connection.headers.clone();
    if let Wanted::Page(validators) = wanted {
        for (name, value) in
            [(header::IF_NONE_MATCH, validators.etag), (header::IF_MODIFIED_SINCE, validators.last_modified)]
        {
            if let Some(value) = value {
                headers.insert(name, HeaderValue::from_str(value).map_err(|error| error.to_string())?);
            }
        }
    }
    Ok(request)
}

fn common_headers(url: &CanonicalUrl, target: &Target, rules: &Rules) -> Result<HeaderMap, InvalidHeaderValue> {
    let mut headers = HeaderMap::with_capacity(8);
    // In HTTP/2 the host is in a field of its own, taken from the address.
    if !matches!(target, Target::Whole) {
        headers.insert(header::HOST, HeaderValue::from_str(url.host().as_str())?);
    }
    if let Target::Proxied(Some(credentials)) = target {
        headers.insert(header::PROXY_AUTHORIZATION, credentials.clone());
    }
    headers.insert(header::USER_AGENT, rules.user_agent.clone());
    headers.insert(header::ACCEPT, HeaderValue::from_static(ACCEPTED_TYPES));
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(ACCEPTED));
    if let Some(credentials) = rules.fetch.credentials_for(url.host_name()) {
        headers.insert(header::AUTHORIZATION, basic(credentials));
    }
    Ok(headers)
}

async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(limit, work).await.ok()
}

fn failure_of(error: &hyper::Error) -> Failure {
    let outcome = if breaks_the_protocol(error) {
        FetchOutcome::MalformedResponse
    } else if error.is_timeout() {
        FetchOutcome::TimedOut
    } else {
        FetchOutcome::ConnectionLost
    };
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    Failure::new(outcome, format!("{error}{cause}"))
}

/// Whether the server's bytes are to blame, and not the connection.
fn breaks_the_protocol(error: &hyper::Error) -> bool {
    if error.is_parse() || error.is_parse_too_large() || error.is_parse_status() {
        return true;
    }
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<h2::Error>() {
            // Found by our own side; what the server says of itself (RST_STREAM, GOAWAY) is its leaving.
            return error.is_library();
        }
        if let Some(error) = error.downcast_ref::<io::Error>() {
            // Chunks that are none.
            return matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::InvalidInput);
        }
        cause = error.source();
    }
    false
}
