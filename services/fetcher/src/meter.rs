//! Counts what comes over an HTTP/2 connection, and ends one that brings too much of it.
//!
//! hyper limits heads and the frames that make it answer, but a server may send hints, or frames that nobody knows, as fast
//! as they are read, until the time is up.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes that have come over a connection since its last request was sent.
#[derive(Clone)]
pub(crate) struct Meter(Rc<Count>);

struct Count {
    received: Cell<u64>,
    limit: u64,
}

impl Meter {
    /// A meter that allows this many bytes for each request.
    pub(crate) fn new(limit: u64) -> Self {
        Self(Rc::new(Count { received: Cell::new(0), limit }))
    }

    /// Begins anew for another request.
    pub(crate) fn reset(&self) {
        self.0.received.set(0);
    }

    /// Whether anything has come.
    pub(crate) fn is_silent(&self) -> bool {
        self.0.received.get() == 0
    }

    /// Whether too much has come.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.0.received.get() > self.0.limit
    }
}

/// A stream whose bytes are counted.
pub(crate) struct Metered<T> {
    pub(crate) io: T,
    pub(crate) meter: Meter,
}

impl<T: AsyncRead + Unpin> AsyncRead for Metered<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, room: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = room.filled().len();
        ready!(Pin::new(&mut self.io).poll_read(cx, room))?;
        let received = &self.meter.0.received;
        received.set(received.get() + (room.filled().len() - before) as u64);
        Poll::Ready(if self.meter.is_exceeded() { Err(io::ErrorKind::InvalidData.into()) } else { Ok(()) })
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Metered<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}
