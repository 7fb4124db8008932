//! Builds GET requests for HTTP/1.1 and HTTP/2.

use crate::codings::ACCEPTED;
use crate::rules::FetcherRules;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use bytes::Bytes;
use http_body_util::Empty;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue, InvalidHeaderValue};
use hyper::http::uri::InvalidUri;
use hyper::{Request, Version};
use messages::Validators;
use page::CanonicalUrl;
use politeness::MAX_ROBOTS_BYTES;
use settings::Credentials;
use signatures::RequestSignature;

/// The `accept` header. Other types are accepted too, with the lowest preference.
const ACCEPTED_TYPES: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

/// Kind of resource that a request asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RequestedResource<'a> {
    /// A page. The request is conditional on these validators.
    Page {
        known: &'a Validators,
        /// Whether the origin is to answer rather than a cache before it.
        fresh: bool,
        /// The headers that the operator adds. They may be secrets.
        headers: &'a [(String, String)],
    },
    /// A part of a page that a browser renders.
    Part {
        /// The validators of an earlier answer. The request is conditional on it.
        known: &'a Validators,
        /// The media types that the page asks for.
        accept: Option<&'a str>,
        /// The headers that the operator adds. They may be secrets.
        headers: &'a [(String, String)],
    },
    /// A robots.txt, of any media type.
    Robots,
}

impl RequestedResource<'_> {
    /// Most bytes of a body before it is unpacked.
    pub(crate) fn max_packed_body(self, rules: &FetcherRules) -> u64 {
        match self {
            Self::Page { .. } | Self::Part { .. } => rules.fetch.max_packed_body,
            // A file must not be cut earlier because it is packed: its rules would count as not had.
            Self::Robots => rules.fetch.max_packed_body.max(2 * MAX_ROBOTS_BYTES as u64),
        }
    }

    pub(crate) fn max_body(self, rules: &FetcherRules) -> usize {
        match self {
            Self::Page { .. } | Self::Part { .. } => usize::try_from(rules.fetch.max_body).unwrap_or(usize::MAX),
            Self::Robots => MAX_ROBOTS_BYTES,
        }
    }

    /// The media types asked for.
    fn accept(self) -> HeaderValue {
        let of_part = match self {
            Self::Part { accept, .. } => accept,
            Self::Page { .. } | Self::Robots => None,
        };
        let accept = of_part.and_then(|accept| HeaderValue::from_str(accept).ok());
        accept.unwrap_or(HeaderValue::from_static(ACCEPTED_TYPES))
    }
}

/// Form of the request target.
pub(crate) enum RequestTarget {
    /// Path only; the host is in a header.
    Path,
    /// Absolute URL, as in HTTP/2.
    Whole,
    /// Absolute URL, sent to a proxy, with its `proxy-authorization` if it needs one.
    Proxied(Option<HeaderValue>),
}

/// Headers shared by all requests of a connection.
#[derive(Default)]
pub(crate) struct Common {
    headers: HeaderMap,
    /// The headers as HTTP/1.1 lines, without credentials.
    lines: Vec<u8>,
    /// The credentials as HTTP/1.1 lines.
    secret_lines: Vec<u8>,
}

/// Head of an HTTP/1.1 request.
pub(crate) struct RequestHead {
    pub(crate) bytes: Vec<u8>,
    /// Range of the credential lines, which must not be archived. A signature is one for as long as it holds.
    pub(crate) secret: std::ops::Range<usize>,
}

/// Builds an HTTP/1.1 request.
pub(crate) fn head(
    url: &CanonicalUrl,
    wanted: RequestedResource<'_>,
    target: &RequestTarget,
    common: &Common,
    signature: Option<&RequestSignature>,
) -> Result<RequestHead, String> {
    let target = if matches!(target, RequestTarget::Path) { url.path_and_query() } else { url.as_str() };
    if !target.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(format!("{target:?} is not a valid request target"));
    }
    let mut bytes = Vec::with_capacity(target.len() + common.lines.len() + common.secret_lines.len() + 160);
    for part in ["GET ", target, " HTTP/1.1\r\n"] {
        bytes.extend_from_slice(part.as_bytes());
    }
    bytes.extend_from_slice(&common.lines);
    write_line(&mut bytes, &header::ACCEPT, wanted.accept().as_bytes());
    for (name, value) in conditions(wanted) {
        if !value.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~')) {
            return Err(format!("{value:?} is not a valid validator"));
        }
        write_line(&mut bytes, &name, value.as_bytes());
    }
    if let Some(signature) = signature {
        let [agent, input, _] = signature.headers();
        [agent, input].iter().for_each(|(name, value)| write_text(&mut bytes, name, value));
    }
    let secret_start = bytes.len();
    if let Some(signature) = signature {
        let [.., (name, value)] = signature.headers();
        write_text(&mut bytes, name, value);
    }
    bytes.extend_from_slice(&common.secret_lines);
    for (name, value) in ordered_headers(wanted)? {
        write_line(&mut bytes, &name, value.as_bytes());
    }
    let secret = secret_start..bytes.len();
    bytes.extend_from_slice(b"\r\n");
    Ok(RequestHead { bytes, secret })
}

/// Builds an HTTP/2 request.
pub(crate) fn request(
    url: &CanonicalUrl,
    wanted: RequestedResource<'_>,
    common: &Common,
    signature: Option<&RequestSignature>,
) -> Result<Request<Empty<Bytes>>, String> {
    let mut request = Request::new(Empty::new());
    *request.uri_mut() = url.as_str().parse().map_err(|error: InvalidUri| error.to_string())?;
    *request.version_mut() = Version::HTTP_2;
    let headers = request.headers_mut();
    headers.clone_from(&common.headers);
    headers.insert(header::ACCEPT, wanted.accept());
    for (name, value) in conditions(wanted) {
        headers.insert(name, HeaderValue::from_str(value).map_err(|error| error.to_string())?);
    }
    for (name, value) in signature.into_iter().flat_map(RequestSignature::headers) {
        let mut value = HeaderValue::from_str(value).map_err(|error| error.to_string())?;
        // Out of archives, and of the tables by which HTTP/2 compresses headers.
        value.set_sensitive(name == "signature");
        headers.insert(name, value);
    }
    headers.extend(ordered_headers(wanted)?);
    Ok(request)
}

/// The headers that the operator adds, marked so that they are not printed.
fn ordered_headers(wanted: RequestedResource<'_>) -> Result<Vec<(HeaderName, HeaderValue)>, String> {
    let (RequestedResource::Page { headers, .. } | RequestedResource::Part { headers, .. }) = wanted else {
        return Ok(Vec::new());
    };
    let header = |(name, value): &(String, String)| {
        let mut value = HeaderValue::from_str(value).map_err(|error| error.to_string())?;
        value.set_sensitive(true);
        Ok((HeaderName::from_bytes(name.as_bytes()).map_err(|error| error.to_string())?, value))
    };
    headers.iter().map(header).collect()
}

/// The headers that make a request conditional or bypass caches. Validators with which requests failed are not there: see
/// [`Validators::after`].
fn conditions(wanted: RequestedResource<'_>) -> impl Iterator<Item = (HeaderName, &str)> {
    let (etag, last_modified, fresh) = match wanted {
        RequestedResource::Page { known, fresh, .. } => (known.etag.as_deref(), known.last_modified.as_deref(), fresh),
        RequestedResource::Part { known, .. } => (known.etag.as_deref(), known.last_modified.as_deref(), false),
        RequestedResource::Robots => (None, None, false),
    };
    let named = [
        (header::IF_NONE_MATCH, etag),
        (header::IF_MODIFIED_SINCE, last_modified),
        (header::CACHE_CONTROL, fresh.then_some("no-cache")),
    ];
    named.into_iter().filter_map(|(name, value)| Some((name, value?)))
}

impl Common {
    /// The shared headers for this form of request target.
    pub(crate) fn new(
        url: &CanonicalUrl,
        target: &RequestTarget,
        rules: &FetcherRules,
    ) -> Result<Self, InvalidHeaderValue> {
        let (headers, secret) = (headers(url, target, rules)?, secret_headers(url, target, rules));
        let all = headers.iter().chain(&secret).map(|(name, value)| (name.clone(), value.clone()));
        Ok(Self { headers: all.collect(), lines: in_lines(&headers), secret_lines: in_lines(&secret) })
    }
}

fn headers(url: &CanonicalUrl, target: &RequestTarget, rules: &FetcherRules) -> Result<HeaderMap, InvalidHeaderValue> {
    let mut headers = HeaderMap::with_capacity(8);
    // HTTP/2 carries the host in a pseudo-header taken from the URL.
    if !matches!(target, RequestTarget::Whole) {
        headers.insert(header::HOST, HeaderValue::from_str(url.host().as_str())?);
    }
    headers.insert(header::USER_AGENT, rules.user_agent.clone());
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(ACCEPTED));
    Ok(headers)
}

fn secret_headers(url: &CanonicalUrl, target: &RequestTarget, rules: &FetcherRules) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if let RequestTarget::Proxied(Some(credentials)) = target {
        headers.insert(header::PROXY_AUTHORIZATION, credentials.clone());
    }
    if let Some(credentials) = rules.fetch.credentials_for(url.scheme(), url.host_name(), url.port()) {
        headers.insert(header::AUTHORIZATION, basic(credentials));
    }
    headers
}

fn in_lines(headers: &HeaderMap) -> Vec<u8> {
    let mut lines = Vec::new();
    headers.iter().for_each(|(name, value)| write_line(&mut lines, name, value.as_bytes()));
    lines
}

fn write_line(lines: &mut Vec<u8>, name: &HeaderName, value: &[u8]) {
    write_bytes(lines, name.as_str(), value);
}

fn write_text(lines: &mut Vec<u8>, name: &str, value: &str) {
    write_bytes(lines, name, value.as_bytes());
}

fn write_bytes(lines: &mut Vec<u8>, name: &str, value: &[u8]) {
    for part in [name.as_bytes(), b": ", value, b"\r\n"] {
        lines.extend_from_slice(part);
    }
}

/// Basic credentials as a header (RFC 7617), marked sensitive so that they are not printed.
pub(crate) fn basic(credentials: &Credentials) -> HeaderValue {
    let encoded = format!("Basic {}", BASE64_STANDARD.encode(credentials.reveal()));
    let mut value = HeaderValue::from_str(&encoded).expect("base64 has letters, digits and a few signs only");
    value.set_sensitive(true);
    value
}
