//! The limit on open connections.

use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Own connections for each one that is kept for requests to other hosts than the worker's own (redirects).
const OWN_PLACES_PER_OTHER: usize = 16;

/// Free places are short below this share, as a divisor.
const SHORT_BELOW: usize = 4;

/// Places for open connections. A worker keeps its own while its connection is open. Places for requests to other hosts
/// are given back after the exchange.
pub(crate) struct Places {
    most_own: usize,
    own: Arc<Semaphore>,
    elsewhere: Arc<Semaphore>,
}

impl Places {
    /// Places for so many connections, at least one of each kind.
    pub(crate) fn of(connections: usize) -> Self {
        let connections = connections.min(Semaphore::MAX_PERMITS);
        let elsewhere = (connections / OWN_PLACES_PER_OTHER).max(1);
        let own = connections.saturating_sub(elsewhere).max(1);
        Self { most_own: own, own: Arc::new(Semaphore::new(own)), elsewhere: Arc::new(Semaphore::new(elsewhere)) }
    }

    /// Whether few places are free, so that a worker should give up one that it does not need for a while.
    pub(crate) fn are_short(&self) -> bool {
        self.own.available_permits() < self.most_own.div_ceil(SHORT_BELOW)
    }

    /// A place for the connection of a worker to its host, if one is free.
    pub(crate) fn try_own(&self) -> Option<OwnedSemaphorePermit> {
        self.own.clone().try_acquire_owned().ok()
    }

    /// A place for the connection of a worker to its host.
    pub(crate) async fn own(&self) -> OwnedSemaphorePermit {
        take(&self.own).await
    }

    /// A place for one exchange with another host, if one is free.
    pub(crate) fn try_elsewhere(&self) -> Option<OwnedSemaphorePermit> {
        self.elsewhere.clone().try_acquire_owned().ok()
    }

    /// A place for one exchange with another host.
    pub(crate) async fn elsewhere(&self) -> OwnedSemaphorePermit {
        take(&self.elsewhere).await
    }
}

async fn take(places: &Arc<Semaphore>) -> OwnedSemaphorePermit {
    places.clone().acquire_owned().await.expect("the semaphore is never closed")
}
