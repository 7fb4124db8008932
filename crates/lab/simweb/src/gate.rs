//! A gate in front of the pages, for tests that decide how far a crawl may get.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Semaphore;

/// Holds the answers to requests for pages back until they are let through.
pub struct PageGate {
    permits: Semaphore,
    held: AtomicUsize,
}

impl PageGate {
    /// A gate that lets nothing through yet.
    pub fn closed() -> Self {
        Self { permits: Semaphore::new(0), held: AtomicUsize::new(0) }
    }

    /// Lets this many more requests through. A request whose client leaves while it waits does not count.
    pub fn let_through(&self, requests: usize) {
        self.permits.add_permits(requests);
    }

    /// Lets everything through from now on.
    pub fn open(&self) {
        self.permits.close();
    }

    /// Requests that wait to be let through.
    pub fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    pub(crate) async fn pass(&self) {
        let _held = Held::enter(&self.held);
        // An error means that the gate is open.
        if let Ok(permit) = self.permits.acquire().await {
            permit.forget();
        }
    }
}

/// Counts a request until it has passed or its client has left.
struct Held<'a>(&'a AtomicUsize);

impl<'a> Held<'a> {
    fn enter(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl fmt::Debug for PageGate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("PageGate").field("permits", &self.permits.available_permits()).finish()
    }
}
