//! Raw heads of requests and responses, byte for byte, for archives.

use crate::request;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Request, Response};

/// Most bytes of a head that are kept.
const MAX_HEAD: usize = 16 << 10;
/// Headers removed before a head is kept.
const CREDENTIALS: [HeaderName; 3] = [header::AUTHORIZATION, header::PROXY_AUTHORIZATION, header::COOKIE];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Heads {
    /// Request line and header lines, without credentials.
    pub(crate) request: Vec<u8>,
    /// Status line and header lines.
    pub(crate) response: Vec<u8>,
    /// Whether a head was longer than `MAX_HEAD`.
    pub(crate) is_cut: bool,
}

impl Heads {
    /// Heads of an HTTP/1.1 exchange. Strips the empty lines around the response's head.
    pub(crate) fn sent(request: request::RequestHead, mut response: Vec<u8>) -> Self {
        let mut sent = request.bytes;
        sent.truncate(sent.len() - b"\r\n".len());
        sent.drain(request.secret);
        let empty_lines = response.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        response.drain(..empty_lines);
        let empty_line = if response.ends_with(b"\r\n") { 2 } else { 1 };
        response.truncate(response.len().saturating_sub(empty_line));
        Self::cut(sent, response)
    }

    /// Heads of an HTTP/2 exchange, rendered in HTTP/1.1 syntax because HTTP/2 is binary on the wire.
    pub(crate) fn in_words<A, B>(request: &Request<A>, response: &Response<B>) -> Self {
        let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
        let host = request.uri().authority().map_or("", |authority| authority.as_str());
        let asked = format!("{} {target} HTTP/1.1\r\nhost: {host}", request.method());
        let status = response.status();
        let answered = format!("HTTP/1.1 {} {}", status.as_str(), status.canonical_reason().unwrap_or_default());
        Self::cut(in_words(&asked, request.headers()), in_words(&answered, response.headers()))
    }

    fn cut(mut request: Vec<u8>, mut response: Vec<u8>) -> Self {
        let is_cut = [&mut request, &mut response].map(cut).contains(&true);
        Self { request, response, is_cut }
    }
}

/// Cuts a head at a line end if it is too long. Returns whether it did.
fn cut(head: &mut Vec<u8>) -> bool {
    let is_long = head.len() > MAX_HEAD;
    if is_long {
        let lines_end = memchr::memrchr(b'\n', &head[..MAX_HEAD]).map_or(0, |last| last + 1);
        head.truncate(lines_end);
        // Heads are kept for as long as a request takes all its redirects.
        head.shrink_to_fit();
    }
    is_long
}

fn in_words(first: &str, headers: &HeaderMap) -> Vec<u8> {
    let mut head = [first.as_bytes(), b"\r\n"].concat();
    let is_shown = |(name, value): &(&HeaderName, &HeaderValue)| !CREDENTIALS.contains(name) && !value.is_sensitive();
    for (name, value) in headers.iter().filter(is_shown) {
        head.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
    }
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> request::RequestHead {
        let parts = ["GET / HTTP/1.1\r\nhost: a.test\r\n", "authorization: Basic c2VjcmV0\r\n", "\r\n"];
        request::RequestHead {
            bytes: parts.concat().into_bytes(),
            secret: parts[0].len()..parts[0].len() + parts[1].len(),
        }
    }

    #[test]
    fn heads_end_with_their_last_line_and_credentials_are_left_out() {
        let check = |bytes: &[u8], expected: &[u8]| {
            let heads = Heads::sent(request(), bytes.to_vec());
            assert_eq!(heads.request, b"GET / HTTP/1.1\r\nhost: a.test\r\n");
            assert_eq!((heads.response, heads.is_cut), (expected.to_vec(), false));
        };
        check(b"HTTP/1.1 200 OK\r\nA: 1\r\na: 2\r\n\r\n", b"HTTP/1.1 200 OK\r\nA: 1\r\na: 2\r\n");
        check(b"HTTP/1.0 404\nA: \xff\n\n", b"HTTP/1.0 404\nA: \xff\n");
        check(b"\r\n\nHTTP/1.1 204 None\r\n\r\n", b"HTTP/1.1 204 None\r\n");
    }

    #[test]
    fn a_long_head_is_cut_at_the_end_of_a_line() {
        let line = b"X-Filler: 0123456789012345678901234567890123456789\r\n";
        let long = [b"HTTP/1.1 200 OK\r\n".as_slice(), &line.repeat(1_000), b"\r\n"].concat();
        let heads = Heads::sent(request(), long.clone());
        assert!(heads.is_cut && heads.response.ends_with(line) && long.starts_with(&heads.response));
        assert!(heads.response.capacity() <= MAX_HEAD, "{} bytes are held", heads.response.capacity());
        let length = heads.response.len();
        assert!(length > MAX_HEAD - line.len() && length <= MAX_HEAD, "{length}");
    }

    #[test]
    fn what_http2_sent_is_written_in_the_words_of_http1() {
        let request = Request::get("https://a.test/x?y")
            .header("authorization", "Basic c2VjcmV0")
            .header("Proxy-Authorization", "c2VjcmV0")
            .header("cookie", "c2VjcmV0")
            .header("accept", "*/*");
        let response = Response::builder().status(404).header("a", "1").header("a", "2");
        let heads = Heads::in_words(&request.body(()).unwrap(), &response.body(()).unwrap());
        let words = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        assert_eq!(words(&heads.request), "GET /x?y HTTP/1.1\r\nhost: a.test\r\naccept: */*\r\n");
        assert_eq!(words(&heads.response), "HTTP/1.1 404 Not Found\r\na: 1\r\na: 2\r\n");
    }
}
