//! Counts what comes over a connection, and ends one that brings too much of it.
//!
//! TLS passes over what is not for its user: a server may send tickets or empty records as fast as they are read, until
//! the time is up. hyper limits heads and the frames that make it answer, but passes over hints and frames that nobody
//! knows. So it does with what a proxy sends before it opens a tunnel.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Why a connection that brings too much is ended.
pub(crate) const TOO_MUCH: &str = "more comes over the connection than an answer needs";

/// Most bytes that may come over a connection between two requests: settings, pings, and what ends the last answer.
const BETWEEN_REQUESTS: u64 = 64 << 10;

/// Bytes that have come over a connection and are not told yet. One thread counts, but hyper hands on only streams that
/// could be sent to others.
#[derive(Clone)]
pub(crate) struct Meter(Arc<Count>);

struct Count {
    received: AtomicU64,
    limit: AtomicU64,
}

impl Meter {
    /// A meter that allows this many bytes.
    pub(crate) fn new(limit: u64) -> Self {
        Self(Arc::new(Count { received: AtomicU64::new(0), limit: AtomicU64::new(limit) }))
    }

    /// A meter that allows any number of bytes.
    pub(crate) fn without_limit() -> Self {
        Self::new(u64::MAX)
    }

    /// Allows this many bytes for a request, together with those that came before it.
    pub(crate) fn allow(&self, limit: u64) {
        self.0.limit.store(limit, Relaxed);
    }

    /// Ends a request: the bytes that have come for it, and before it. Few may come before the next.
    pub(crate) fn take(&self) -> u64 {
        self.allow(BETWEEN_REQUESTS);
        self.0.received.swap(0, Relaxed)
    }

    /// Begins anew for another request.
    pub(crate) fn reset(&self) {
        self.0.received.store(0, Relaxed);
    }

    /// Allows any number of bytes from now on.
    pub(crate) fn lift(&self) {
        self.allow(u64::MAX);
    }

    /// Bytes that have come.
    pub(crate) fn received_bytes(&self) -> u64 {
        self.0.received.load(Relaxed)
    }

    /// Whether too much has come.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.0.received.load(Relaxed) > self.0.limit.load(Relaxed)
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
        self.meter.0.received.fetch_add((room.filled().len() - before) as u64, Relaxed);
        Poll::Ready(if self.meter.is_exceeded() { Err(io::Error::new(io::ErrorKind::InvalidData, TOO_MUCH)) } else { Ok(()) })
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
