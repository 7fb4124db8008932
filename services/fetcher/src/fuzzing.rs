//! The readers of servers' answers, without a network: for the fuzz targets and for tests.

use crate::codings::{BodyLimits, BodyProblem, Coding, More, Unpacker};
use crate::heads::Heads;
use crate::http1::{Http1Connection, Http1Error, PARSED_BYTES, ReadHead};
use crate::memory::BodyRoom;
use crate::network::Buffers;
use crate::request::{self, Common, RequestTarget, RequestedResource};
use crate::rules::FetcherRules;
use messages::Validators;
use page::CanonicalUrl;
use settings::{Layers, Settings};
use std::collections::VecDeque;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::LazyLock;
use std::task::{Context, Poll, Waker};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A stream that takes whatever is written, and then gives one piece at each read.
pub struct Pieces {
    left: VecDeque<Vec<u8>>,
    is_asked: bool,
    is_closed: bool,
}

impl Pieces {
    /// These pieces. Then the stream ends, or else is silent.
    pub fn new<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, is_closed: bool) -> Self {
        let left = pieces.into_iter().filter(|piece| !piece.is_empty()).map(<[u8]>::to_vec).collect();
        Self { left, is_asked: false, is_closed }
    }
}

impl AsyncRead for Pieces {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, room: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if !self.is_asked {
            return Poll::Pending;
        }
        let Some(piece) = self.left.front_mut() else {
            return if self.is_closed { Poll::Ready(Ok(())) } else { Poll::Pending };
        };
        let length = piece.len().min(room.remaining());
        room.put_slice(&piece[..length]);
        piece.drain(..length);
        if piece.is_empty() {
            self.left.pop_front();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Pieces {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.is_asked = true;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// The HTTP/1.1 reader's result for an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The status, if there was a head.
    pub status: Option<u16>,
    /// The body, as far as it came.
    pub body: Vec<u8>,
    /// How the answer ended.
    pub end: AnswerEnd,
    /// Whether another request may be sent over the connection.
    pub is_reusable: bool,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerEnd {
    /// At the end that it announced.
    Whole,
    /// With the stream, too early.
    Closed,
    /// It is not valid HTTP.
    Malformed,
    /// Too early, in silence.
    Silent,
}

/// Reads an answer that comes over this stream.
pub fn read_http1(stream: Pieces, max_head: usize) -> Reading {
    let mut connection = Http1Connection::new(Box::new(stream), Rc::new(Buffers::for_heads_of(max_head)), max_head);
    let mut reading = Reading { status: None, body: Vec::new(), end: AnswerEnd::Silent, is_reusable: false };
    reading.end = match at_once(read_answer(&mut connection, &mut reading)) {
        Ok(is_whole) => {
            assert!(is_whole, "nobody cut it");
            AnswerEnd::Whole
        }
        Err(Http1Error::Late) => AnswerEnd::Silent,
        Err(Http1Error::Closed) => AnswerEnd::Closed,
        Err(Http1Error::Malformed(_)) => AnswerEnd::Malformed,
        Err(Http1Error::Broken(error)) => unreachable!("the stream does not fail: {error}"),
    };
    if reading.end == AnswerEnd::Whole {
        reading.is_reusable = at_once(connection.is_in_order());
    }
    reading
}

async fn read_answer(connection: &mut Http1Connection, reading: &mut Reading) -> Result<bool, Http1Error> {
    // A wait for more ends at once: it is late already.
    let until = Instant::now();
    connection.write(b"GET / HTTP/1.1\r\n\r\n", until).await?;
    let ReadHead { head, .. } = connection.head(false, until).await?;
    reading.status = Some(head.status.as_u16());
    let take = async |piece: &[u8]| {
        reading.body.extend_from_slice(piece);
        More::Wanted
    };
    connection.body(&head, || until, take).await
}

/// The result of work that waits for nothing.
fn at_once<T>(work: impl Future<Output = T>) -> T {
    match pin!(work).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => unreachable!("what is silent is late"),
    }
}

/// Bytes of heads parsed by this thread since it was asked last, those parsed again included.
pub fn parsed_bytes() -> usize {
    PARSED_BYTES.take()
}

/// The result of unpacking a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unpacked {
    /// The whole body.
    Whole(Vec<u8>),
    /// As much of it as the limits allow.
    Cut(Vec<u8>),
    /// It is larger than the ratio of the limits allows.
    Bomb,
    /// It cannot be decoded.
    Corrupt,
}

/// The content codings that [`unpack`] knows: none, gzip, brotli, zstd.
pub const CODINGS: usize = 4;

/// Unpacks a body that comes in these pieces. Keeps at most `kept` bytes of at most `wire`.
pub fn unpack<'a>(
    coding: usize,
    pieces: impl IntoIterator<Item = &'a [u8]>,
    (wire, kept, ratio): (u64, usize, u64),
) -> Unpacked {
    const KNOWN: [Coding; CODINGS] = [Coding::Identity, Coding::Gzip, Coding::Brotli, Coding::Zstd];
    let limits = BodyLimits { wire, kept, ratio };
    let mut unpacker = Unpacker::new(KNOWN[coding], limits, 0, BodyRoom::alone()).expect("there is memory");
    let mut pieces = pieces.into_iter();
    let taken = pieces.try_for_each(|piece| match unpacker.take(piece) {
        Ok(More::Wanted) => Ok(()),
        Ok(More::Cut) => Err(None),
        Err(problem) => Err(Some(problem)),
    });
    let unpacked = match taken {
        Ok(()) | Err(None) => unpacker.finish(false),
        Err(Some(problem)) => Err(problem),
    };
    match unpacked {
        Ok((body, false)) => Unpacked::Whole(body),
        Ok((body, true)) => Unpacked::Cut(body),
        Err(BodyProblem::Bomb) => Unpacked::Bomb,
        Err(BodyProblem::Corrupt(_)) => Unpacked::Corrupt,
        Err(BodyProblem::NoMemory) => unreachable!("nobody else takes memory"),
    }
}

/// The heads of an exchange as an archive keeps them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptHeads {
    /// The head of the request, in the bytes of the wire.
    pub request: Vec<u8>,
    /// The head of the answer, in the bytes of the wire.
    pub response: Vec<u8>,
    /// Whether one of them was longer than is kept.
    pub is_cut: bool,
    /// Whether the answer began with a head. Otherwise all of it was kept like one.
    pub is_head: bool,
}

/// Sends a request with a password and the given ETag, and returns the heads of the exchange as they are archived. `None` if
/// a request with such an ETag is refused.
pub fn keep_heads(etag: &str, answer: &[u8], max_head: usize) -> Option<KeptHeads> {
    static HOST: LazyLock<(CanonicalUrl, Common)> = LazyLock::new(|| {
        let url = CanonicalUrl::parse("http://a.test/page").expect("it is an address");
        let overrides = [("fetch.authentication".to_owned(), "http://a.test=Aladdin:open sesame".to_owned())];
        let settings = Settings::from_layers(Layers { files: &[], environment: [], overrides: &overrides });
        let rules = FetcherRules::new(&settings.expect("they are in order")).expect("there is TLS");
        let common = Common::new(&url, &RequestTarget::Path, &rules).expect("the name is a header value");
        (url, common)
    });
    let known = Validators { etag: Some(etag.to_owned()), ..Validators::default() };
    let (url, common) = &*HOST;
    let wanted = RequestedResource::Page { known: &known, fresh: false, headers: &[] };
    let request = request::head(url, wanted, &RequestTarget::Path, common, None).ok()?;
    let stream = Box::new(Pieces::new([answer], true));
    let mut connection = Http1Connection::new(stream, Rc::new(Buffers::for_heads_of(max_head)), max_head);
    let until = Instant::now();
    let read = at_once(async {
        connection.write(&request.bytes, until).await?;
        connection.head(true, until).await
    });
    let raw = read.ok().and_then(|read| read.raw);
    let is_head = raw.is_some();
    let Heads { request, response, is_cut } = Heads::sent(request, raw.unwrap_or_else(|| answer.to_vec()));
    Some(KeptHeads { request, response, is_cut, is_head })
}
