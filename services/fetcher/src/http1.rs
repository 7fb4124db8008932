//! HTTP/1.1 over a connection, one request at a time (RFC 9112).
//!
//! httparse parses the heads; this module moves bytes. hyper's client needs a task per connection, channels to it and a
//! timer per wait. It took more CPU than everything else a page needs.

#[cfg(test)]
mod against_hyper;
mod framing;
mod head;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod work;

pub(crate) use crate::http1::head::ResponseHead;

use crate::codings::More;
use crate::http1::framing::Framing;
use crate::http1::head::ParsedHead;
use crate::network::Buffers;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep_until};

/// Most interim responses before the final one, and most bytes of them.
const MAX_INTERIM: usize = 10;
const MAX_INTERIM_BYTES: usize = 64 << 10;

#[cfg(any(test, feature = "fuzzing"))]
thread_local! {
    /// Bytes of heads parsed by this thread, those parsed again included.
    pub(crate) static PARSED_BYTES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// A byte stream to a host.
pub(crate) trait Io: AsyncRead + AsyncWrite + Unpin {}

impl<T: AsyncRead + AsyncWrite + Unpin> Io for T {}

/// Why an exchange failed.
#[derive(Debug)]
pub(crate) enum Http1Error {
    /// The deadline passed.
    Late,
    /// The peer closed the connection too early.
    Closed,
    /// Input or output failed.
    Broken(io::Error),
    /// The response is not valid HTTP.
    Malformed(String),
}

/// A parsed head with its raw bytes.
pub(crate) struct ReadHead {
    pub(crate) head: Box<ResponseHead>,
    /// The bytes as received, if they are to be recorded.
    pub(crate) raw: Option<Vec<u8>>,
}

/// An open connection.
pub(crate) struct Http1Connection {
    io: Box<dyn Io>,
    input: Input,
    alarm: Alarm,
    max_head: usize,
    /// Whether the last exchange left the connection reusable.
    is_reusable: bool,
    /// Bytes that have arrived since the last request was sent.
    received_bytes: u64,
}

impl Http1Connection {
    /// Wraps a stream. Heads of more than `max_head` bytes are rejected.
    pub(crate) fn new(io: Box<dyn Io>, buffers: Rc<Buffers>, max_head: usize) -> Self {
        let input = Input { buffers, bytes: None, start: 0, end: 0 };
        Self { io, input, alarm: Alarm::default(), max_head, is_reusable: true, received_bytes: 0 }
    }

    /// Whether another request may be sent. The last response must have been read to its end, and the host must not
    /// have closed the connection or sent unsolicited bytes since.
    pub(crate) async fn is_in_order(&mut self) -> bool {
        let is_silent = poll_fn(|context| Poll::Ready(self.input.poll_fill(&mut *self.io, context).is_pending())).await;
        self.is_reusable && is_silent
    }

    /// Bytes that have arrived since the last request was sent, framing included.
    pub(crate) fn received_bytes(&self) -> u64 {
        self.received_bytes
    }

    /// Gives the read buffer back, for a while in which nothing is read. Unread bytes are kept in a buffer of their own
    /// length.
    pub(crate) fn keep_only_unread(&mut self) {
        self.input.shrink();
    }

    /// Sends the head of a request. Requests have no body.
    pub(crate) async fn write(&mut self, mut request: &[u8], until: Instant) -> Result<(), Http1Error> {
        (self.is_reusable, self.received_bytes) = (false, 0);
        let Self { io, alarm, .. } = self;
        poll_fn(|context| {
            while !request.is_empty() {
                match Pin::new(&mut **io).poll_write(context, request) {
                    Poll::Ready(Ok(0)) => return Poll::Ready(Err(Http1Error::Closed)),
                    Poll::Ready(Ok(written)) => request = &request[written..],
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(Http1Error::Broken(error))),
                    Poll::Pending => return alarm.or_pending(context, until),
                }
            }
            let flushed = Pin::new(&mut **io).poll_flush(context);
            if flushed.is_pending() { alarm.or_pending(context, until) } else { flushed.map_err(Http1Error::Broken) }
        })
        .await
    }

    /// Waits for the head of the final response. Interim responses are skipped.
    pub(crate) async fn head(&mut self, records: bool, until: Instant) -> Result<ReadHead, Http1Error> {
        let (mut interim, mut interim_bytes, mut has_odd_interim) = (0, 0, false);
        // Empty lines before the head, bytes seen so far, and bytes seen when the head was last parsed.
        let (mut before, mut seen, mut parsed) = (0, 0, 0);
        loop {
            let rest = self.input.rest();
            before += rest[before..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            // A head that comes in small pieces is not parsed at each of them.
            let is_worth_parsing = rest.len() >= 2 * parsed || has_empty_line(&rest[seen.max(before)..]);
            // An empty line may have begun in the bytes before.
            seen = rest.len().saturating_sub(2);
            if !is_worth_parsing && rest.len() < self.max_head {
                self.fill(until).await.map_err(|problem| self.malformed_or(problem))?;
                continue;
            }
            parsed = rest.len();
            #[cfg(any(test, feature = "fuzzing"))]
            PARSED_BYTES.set(PARSED_BYTES.get() + parsed);
            match ParsedHead::of(rest).map_err(Http1Error::Malformed)? {
                ParsedHead::Whole(mut head, length) if length <= self.max_head => {
                    head.keeps_alive &= !has_odd_interim;
                    let raw = records.then(|| rest[..length].to_vec());
                    self.input.consume(length);
                    return Ok(ReadHead { head, raw });
                }
                ParsedHead::Interim { length, is_odd } if length <= self.max_head => {
                    has_odd_interim |= is_odd;
                    (interim, interim_bytes) = (interim + 1, interim_bytes + length);
                    if interim > MAX_INTERIM || interim_bytes > MAX_INTERIM_BYTES {
                        return Err(Http1Error::Malformed("too many interim responses".to_owned()));
                    }
                    self.input.consume(length);
                    (before, seen, parsed) = (0, 0, 0);
                }
                ParsedHead::Partial if rest.len() < self.max_head => self.fill(until).await?,
                ParsedHead::Whole(..) | ParsedHead::Interim { .. } | ParsedHead::Partial => {
                    return Err(Http1Error::Malformed(format!("the head has more than {} bytes", self.max_head)));
                }
            }
        }
    }

    /// Why half a head is not read: it is malformed, however small the pieces were that it came in, or no more of it came.
    fn malformed_or(&self, problem: Http1Error) -> Http1Error {
        ParsedHead::of(self.input.rest()).map_or_else(Http1Error::Malformed, |_| problem)
    }

    /// Passes the body to `take` piece by piece, until it ends or `take` wants no more. Returns whether the body was
    /// read to its end. `until` gives the deadline of the next piece.
    pub(crate) async fn body(
        &mut self,
        head: &ResponseHead,
        until: impl Fn() -> Instant,
        mut take: impl AsyncFnMut(&[u8]) -> More,
    ) -> Result<bool, Http1Error> {
        let mut framing = head.framing.clone();
        loop {
            let mut rest = self.input.rest();
            let before = rest.len();
            let piece = framing.next_piece(&mut rest).map_err(|fault| Http1Error::Malformed(fault.to_owned()))?;
            let more = match piece {
                Some(piece) => Some(take(piece).await),
                None => None,
            };
            let used = before - rest.len();
            self.input.consume(used);
            if framing.has_ended() {
                self.is_reusable = head.keeps_alive && !framing.is_odd() && self.input.rest().is_empty();
                return Ok(true);
            }
            match more {
                Some(More::Wanted) => {}
                Some(More::Cut) => return Ok(false),
                None => match self.fill(until()).await {
                    Err(Http1Error::Closed) if framing == Framing::UntilClose => return Ok(true),
                    // TLS ended without close_notify, so the end may be missing.
                    Err(Http1Error::Broken(error))
                        if framing == Framing::UntilClose && error.kind() == io::ErrorKind::UnexpectedEof =>
                    {
                        return Ok(false);
                    }
                    filled => filled?,
                },
            }
        }
    }

    async fn fill(&mut self, until: Instant) -> Result<(), Http1Error> {
        let Self { io, input, alarm, received_bytes, .. } = self;
        poll_fn(|context| match input.poll_fill(&mut **io, context) {
            Poll::Ready(Ok(0)) => Poll::Ready(Err(Http1Error::Closed)),
            Poll::Ready(Ok(length)) => {
                *received_bytes += length as u64;
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(Http1Error::Broken(error))),
            Poll::Pending => alarm.or_pending(context, until),
        })
        .await
    }
}

fn has_empty_line(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, b"\n\r\n").is_some() || memchr::memmem::find(bytes, b"\n\n").is_some()
}

/// Bytes received and not yet consumed. The buffers are shared among all connections, because few connections hold
/// unread bytes for long.
struct Input {
    buffers: Rc<Buffers>,
    /// A buffer of the pool, or a shorter one of its own while nothing is read.
    bytes: Option<Box<[u8]>>,
    start: usize,
    end: usize,
}

impl Input {
    fn rest(&self) -> &[u8] {
        self.bytes.as_deref().map_or(&[], |bytes| &bytes[self.start..self.end])
    }

    fn consume(&mut self, length: usize) {
        self.start += length;
        self.give_back();
    }

    /// Appends the available bytes to the buffer. Returns 0 when the connection was closed.
    fn poll_fill(&mut self, io: &mut dyn Io, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let buffers = &self.buffers;
        let bytes = self.bytes.get_or_insert_with(|| buffers.lend());
        if bytes.len() < buffers.size() {
            let mut whole = buffers.lend();
            let unread = &bytes[self.start..self.end];
            whole[..unread.len()].copy_from_slice(unread);
            (self.start, self.end) = (0, unread.len());
            *bytes = whole;
        } else if self.start > 0 {
            bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let mut room = ReadBuf::new(&mut bytes[self.end..]);
        let polled = Pin::new(io).poll_read(context, &mut room);
        let length = room.filled().len();
        self.end += length;
        self.give_back();
        ready!(polled)?;
        Poll::Ready(Ok(length))
    }

    /// Moves the unread bytes to a buffer of their length.
    fn shrink(&mut self) {
        if let Some(whole) = self.bytes.take_if(|bytes| bytes.len() == self.buffers.size()) {
            self.bytes = Some(whole[self.start..self.end].into());
            (self.start, self.end) = (0, self.end - self.start);
            self.buffers.take_back(whole);
        }
    }

    /// Returns an empty buffer to the pool.
    fn give_back(&mut self) {
        if self.start == self.end
            && let Some(bytes) = self.bytes.take()
        {
            if bytes.len() == self.buffers.size() {
                self.buffers.take_back(bytes);
            }
            (self.start, self.end) = (0, 0);
        }
    }
}

/// A timer that is reset only when it fires, so that deadlines met in time cost nothing.
#[derive(Default)]
struct Alarm(Option<Pin<Box<Sleep>>>);

impl Alarm {
    /// Returns `Late` after the deadline. Otherwise stays pending and wakes the task at the deadline.
    fn or_pending<T>(&mut self, context: &mut Context<'_>, until: Instant) -> Poll<Result<T, Http1Error>> {
        if Instant::now() >= until {
            return Poll::Ready(Err(Http1Error::Late));
        }
        let until = until.into();
        let alarm = self.0.get_or_insert_with(|| Box::pin(sleep_until(until)));
        if alarm.deadline() > until {
            alarm.as_mut().reset(until);
        }
        while alarm.as_mut().poll(context).is_ready() {
            alarm.as_mut().reset(until);
        }
        Poll::Pending
    }
}
