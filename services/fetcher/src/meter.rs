//! Counts the bytes that come over a connection, and ends one that brings too many.
//!
//! TLS skips records that are not for its user: a server may send tickets or empty records as fast as they are read,
//! until the time is up. hyper limits heads and the frames that make it answer, but passes over hints and frames of
//! unknown types. It also passes over bytes that a proxy sends before it opens a tunnel.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Why a connection that brings too much is ended.
pub(crate) const TOO_MUCH: &str = "more comes over the connection than an answer needs";

/// Most bytes that may come over a connection between two requests: settings, pings, and the end of the last answer.
const BETWEEN_REQUESTS: u64 = 64 << 10;

/// Bytes that have come over a connection and are not reported yet. One thread counts, but hyper hands on only streams that
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

    /// Starts counting from 0 again.
    pub(crate) fn reset(&self) {
        self.0.received.store(0, Relaxed);
    }

    /// Allows any number of bytes from now on.
    pub(crate) fn lift(&self) {
        self.allow(u64::MAX);
    }

    pub(crate) fn received_bytes(&self) -> u64 {
        self.0.received.load(Relaxed)
    }

    /// Whether too many bytes have come.
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
        Poll::Ready(if self.meter.is_exceeded() {
            Err(io::Error::new(io::ErrorKind::InvalidData, TOO_MUCH))
        } else {
            Ok(())
        })
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

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    const MIB: usize = 1 << 20;

    fn pair(limit: u64) -> (Metered<DuplexStream>, Meter, DuplexStream) {
        let (near, far) = duplex(4 * MIB);
        let meter = Meter::new(limit);
        (Metered { io: near, meter: meter.clone() }, meter, far)
    }

    async fn read_all(stream: &mut Metered<DuplexStream>) -> io::Result<u64> {
        tokio::io::copy(stream, &mut tokio::io::sink()).await
    }

    #[tokio::test]
    async fn a_connection_that_brings_more_than_a_request_may_take_is_ended() {
        let (mut stream, meter, mut far) = pair(MIB as u64);
        far.write_all(&vec![0; 2 * MIB]).await.unwrap();
        let error = read_all(&mut stream).await.unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (io::ErrorKind::InvalidData, TOO_MUCH));
        assert!(meter.is_exceeded() && meter.received_bytes() < 2 * MIB as u64);
    }

    #[tokio::test]
    async fn little_may_come_between_two_requests_and_the_next_pays_for_it() {
        let (mut stream, meter, mut far) = pair(MIB as u64);
        let mut some = vec![0; 1_000];
        far.write_all(&some).await.unwrap();
        stream.read_exact(&mut some).await.unwrap();
        assert_eq!((meter.take(), meter.take()), (1_000, 0));
        far.write_all(&some).await.unwrap();
        stream.read_exact(&mut some).await.unwrap();
        meter.allow(MIB as u64);
        far.write_all(&vec![0; MIB / 2]).await.unwrap();
        stream.read_exact(&mut vec![0; MIB / 2]).await.unwrap();
        assert_eq!(meter.take(), 1_000 + MIB as u64 / 2);
        far.write_all(&vec![0; MIB / 2]).await.unwrap();
        assert!(read_all(&mut stream).await.is_err() && meter.received_bytes() < MIB as u64 / 2);
    }
}
