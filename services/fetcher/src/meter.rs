//! Counts what comes over a connection that hyper reads, and ends one that brings too much of it.
//!
//! hyper limits heads and the frames that make it answer, but a server may send hints, or frames that nobody knows, as fast
//! as they are read, until the time is up. So may a proxy before it opens a tunnel.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes that have come over a connection since its last request was sent. One thread counts, but hyper hands on only
/// streams that could be sent to others.
#[derive(Clone)]
pub(crate) struct Meter(Arc<Count>);

struct Count {
    received: AtomicU64,
    limit: AtomicU64,
}

impl Meter {
    /// A meter that allows this many bytes for each request.
    pub(crate) fn new(limit: u64) -> Self {
        Self(Arc::new(Count { received: AtomicU64::new(0), limit: AtomicU64::new(limit) }))
    }

    /// Begins anew for another request.
    pub(crate) fn reset(&self) {
        self.0.received.store(0, Relaxed);
    }

    /// Allows any number of bytes from now on.
    pub(crate) fn lift(&self) {
        self.0.limit.store(u64::MAX, Relaxed);
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
