//! The heads of requests and responses as they go over a connection, byte for byte: what archives are made of.

use hyper::header::{self, HeaderMap, HeaderName};
use hyper::{Request, Response};
use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Most bytes kept of a head.
const MAX_HEAD: usize = 16 << 10;
/// A head is taken in steps of so many bytes, because most of a piece is the body behind it.
const STEP: usize = 512;
/// Headers that are left out of what is kept.
const CREDENTIALS: [HeaderName; 3] = [header::AUTHORIZATION, header::PROXY_AUTHORIZATION, header::COOKIE];

/// The heads of one exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Heads {
    /// Request line and header lines, credentials left out.
    pub(crate) request: Vec<u8>,
    /// Status line and header lines.
    pub(crate) response: Vec<u8>,
    /// Whether one of them was longer than is kept.
    pub(crate) is_cut: bool,
}

/// Keeps the heads of the newest exchange of a connection, or nothing when nothing is to be recorded.
#[derive(Clone, Default)]
pub(crate) struct Recorder(Option<Rc<RefCell<Exchange>>>);

#[derive(Default)]
struct Exchange {
    sent: Head,
    received: Head,
}

impl Recorder {
    pub(crate) fn new(records: bool) -> Self {
        Self(records.then(Rc::default))
    }

    /// The next exchange begins.
    pub(crate) fn begin(&self) {
        self.update(|exchange| *exchange = Exchange::default());
    }

    /// The request of HTTP/2, which has another form on the wire, in the words of HTTP/1.1.
    pub(crate) fn send<B>(&self, request: &Request<B>) {
        let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
        let host = request.uri().authority().map_or("", |authority| authority.as_str());
        let first = format!("{} {target} HTTP/1.1\r\nhost: {host}", request.method());
        self.update(|exchange| exchange.sent.take(&in_words(&first, request.headers())));
    }

    /// The response of HTTP/2 likewise.
    pub(crate) fn receive<B>(&self, response: &Response<B>) {
        let status = response.status();
        let first = format!("HTTP/1.1 {} {}", status.as_str(), status.canonical_reason().unwrap_or_default());
        self.update(|exchange| exchange.received.take(&in_words(&first, response.headers())));
    }

    /// Gives away what was recorded of the newest exchange.
    pub(crate) fn take(&self) -> Option<Heads> {
        let mut exchange = self.0.as_ref()?.borrow_mut();
        let Exchange { sent, received } = &mut *exchange;
        let is_cut = sent.state == State::Cut || received.state == State::Cut;
        let response = std::mem::take(&mut received.bytes);
        Some(Heads { request: without_credentials(&sent.bytes), response, is_cut })
    }

    fn update(&self, update: impl FnOnce(&mut Exchange)) {
        if let Some(exchange) = &self.0 {
            update(&mut exchange.borrow_mut());
        }
    }
}

fn in_words(first: &str, headers: &HeaderMap) -> Vec<u8> {
    let mut head = [first.as_bytes(), b"\r\n"].concat();
    for (name, value) in headers {
        head.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
    }
    head.extend(b"\r\n");
    head
}

fn without_credentials(head: &[u8]) -> Vec<u8> {
    let is_secret = |line: &&[u8]| {
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        CREDENTIALS.iter().any(|secret| name.eq_ignore_ascii_case(secret.as_str().as_bytes()))
    };
    let mut kept = Vec::with_capacity(head.len());
    let lines = head.split_inclusive(|byte| *byte == b'\n').filter(|line| !is_secret(line));
    lines.for_each(|line| kept.extend_from_slice(line));
    kept
}

/// A head as it comes, in pieces.
#[derive(Default)]
struct Head {
    bytes: Vec<u8>,
    /// Up to where no end of it was found.
    searched: usize,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// More of it is to come.
    #[default]
    Open,
    Whole,
    /// It is longer than is kept.
    Cut,
}

impl Head {
    /// Takes what belongs to the head; what follows it is passed over.
    fn take(&mut self, mut piece: &[u8]) {
        while self.state == State::Open && !piece.is_empty() {
            let room = (MAX_HEAD - self.bytes.len()).min(STEP);
            let (now, later) = piece.split_at(room.min(piece.len()));
            self.bytes.extend_from_slice(now);
            piece = later;
            self.settle();
        }
    }

    fn settle(&mut self) {
        loop {
            let empty_lines = self.bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            self.pass_over(empty_lines);
            let Some((end, after)) = self.end() else { break };
            if !is_interim(&self.bytes) {
                self.bytes.truncate(end);
                self.state = State::Whole;
                return;
            }
            self.pass_over(after);
        }
        if self.bytes.len() == MAX_HEAD {
            let lines_end = self.bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
            self.bytes.truncate(lines_end);
            self.state = State::Cut;
        }
    }

    fn pass_over(&mut self, bytes: usize) {
        if bytes > 0 {
            self.bytes.drain(..bytes);
            self.searched = 0;
        }
    }

    /// Where the last line of the head ends, and where the empty line after it does. Servers may end lines with LF alone
    /// (RFC 9112 §2.2).
    fn end(&mut self) -> Option<(usize, usize)> {
        while let Some(ahead) = memchr::memchr(b'\n', &self.bytes[self.searched..]) {
            let next = self.searched + ahead + 1;
            match &self.bytes[next..] {
                [b'\n', ..] => return Some((next, next + 1)),
                [b'\r', b'\n', ..] => return Some((next, next + 2)),
                [] | [b'\r'] => {
                    self.searched = next - 1;
                    return None;
                }
                _ => self.searched = next,
            }
        }
        self.searched = self.bytes.len();
        None
    }
}

/// Whether a head is one that the response is still to follow, such as 103 (Early Hints).
fn is_interim(head: &[u8]) -> bool {
    let status = head.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
    head.starts_with(b"HTTP/") && status.starts_with(b"1") && !status.starts_with(b"101")
}

/// What leads to a host, overheard by a recorder.
pub(crate) struct Tap<T> {
    inner: T,
    recorder: Recorder,
}

impl<T> Tap<T> {
    pub(crate) fn new(inner: T, recorder: Recorder) -> Self {
        Self { inner, recorder }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Tap<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = Pin::new(&mut self.inner).poll_read(context, buffer);
        self.recorder.update(|exchange| exchange.received.take(&buffer.filled()[before..]));
        result
    }
}

/// Requests have no body, so that nothing is gained by writing several pieces at once, as the trait leaves it.
impl<T: AsyncWrite + Unpin> AsyncWrite for Tap<T> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.inner).poll_write(context, bytes);
        if let Poll::Ready(Ok(length)) = result {
            self.recorder.update(|exchange| exchange.sent.take(&bytes[..length]));
        }
        result
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What is kept of a head that comes in pieces of this size, and whether it is cut.
    fn kept(bytes: &[u8], piece: usize) -> (Vec<u8>, bool) {
        let mut head = Head::default();
        bytes.chunks(piece).for_each(|piece| head.take(piece));
        assert!(head.state != State::Open, "{:?}", String::from_utf8_lossy(&head.bytes));
        (head.bytes, head.state == State::Cut)
    }

    #[test]
    fn a_head_ends_at_its_empty_line_in_whatever_pieces_it_comes() {
        let check = |bytes: &[u8], expected: &[u8]| {
            for piece in [1, 2, 3, 7, 1_000] {
                assert_eq!(kept(bytes, piece), (expected.to_vec(), false), "{piece}");
            }
        };
        check(b"HTTP/1.1 200 OK\r\nA: 1\r\na: 2\r\n\r\nbody\r\n\r\n", b"HTTP/1.1 200 OK\r\nA: 1\r\na: 2\r\n");
        check(b"HTTP/1.0 404\nA: \xff\n\nbody", b"HTTP/1.0 404\nA: \xff\n");
        check(b"\r\nHTTP/1.1 204 None\r\n\r\n", b"HTTP/1.1 204 None\r\n");
        let hints =
            b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n";
        check(hints, b"HTTP/1.1 200 OK\r\n");
    }

    #[test]
    fn a_long_head_is_cut_at_the_end_of_a_line() {
        let line = b"X-Filler: 0123456789012345678901234567890123456789\r\n";
        let long = [b"HTTP/1.1 200 OK\r\n".as_slice(), &line.repeat(1_000), b"\r\n"].concat();
        for piece in [1, 999, 1 << 20] {
            let (head, is_cut) = kept(&long, piece);
            assert!(is_cut && head.ends_with(line) && long.starts_with(&head), "{piece}");
            assert!(head.len() > MAX_HEAD - line.len() && head.len() <= MAX_HEAD, "{}", head.len());
        }
        // What came before the answer takes no room from it.
        let hints = [b"HTTP/1.1 103 Early Hints\r\n".as_slice(), &line.repeat(300), b"\r\n"].concat();
        let answer = b"HTTP/1.1 200 OK\r\nA: 1\r\n";
        assert_eq!(kept(&[&hints, answer.as_slice(), b"\r\n"].concat(), 1 << 20), (answer.to_vec(), false));
    }

    proptest! {
        #[test]
        fn what_is_kept_does_not_depend_on_the_pieces(
            words in prop::collection::vec("(\r\n|\n|\r|HTTP/1.1 103 |HTTP/1.1 200 |A: 1|x){1,8}", 0..40),
            piece in 1..50_usize,
        ) {
            let bytes = words.concat().repeat(60).into_bytes();
            let kept = |piece: usize| {
                let mut head = Head::default();
                bytes.chunks(piece).for_each(|piece| head.take(piece));
                (head.bytes, head.state)
            };
            let (head, state) = kept(piece);
            prop_assert!(head.len() <= MAX_HEAD);
            prop_assert_eq!((head, state), kept(bytes.len().max(1)));
        }
    }

    #[test]
    fn credentials_are_left_out() {
        let recorder = Recorder::new(true);
        recorder.begin();
        let request = Request::get("https://a.test/x?y")
            .header("authorization", "Basic c2VjcmV0")
            .header("Proxy-Authorization", "c2VjcmV0")
            .header("cookie", "c2VjcmV0")
            .header("accept", "*/*");
        recorder.send(&request.body(()).unwrap());
        recorder.receive(&Response::builder().status(404).header("a", "1").header("a", "2").body(()).unwrap());
        let heads = recorder.take().unwrap();
        let words = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        assert_eq!(words(&heads.request), "GET /x?y HTTP/1.1\r\nhost: a.test\r\naccept: */*\r\n");
        assert_eq!(words(&heads.response), "HTTP/1.1 404 Not Found\r\na: 1\r\na: 2\r\n");
        assert_eq!(Recorder::new(false).take(), None);
    }
}
