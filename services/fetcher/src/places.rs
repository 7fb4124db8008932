//! The limit on open connections.

use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Of so many places, one is for connections to other hosts than the worker's own.
const OWN_PLACES_PER_OTHER: usize = 16;

/// Places for open connections. A worker keeps its own while its connection is open, and waits for its host's turn with
/// it. Places for requests to other hosts are taken after the turn and given back after the exchange, so that neither
/// waits for the other.
pub(crate) struct Places {
    own: Arc<Semaphore>,
    elsewhere: Arc<Semaphore>,
}

impl Places {
    /// Places for so many connections, at least one of each kind.
    pub(crate) fn of(connections: usize) -> Self {
        let connections = connections.min(Semaphore::MAX_PERMITS);
        let elsewhere = (connections / OWN_PLACES_PER_OTHER).max(1);
        let own = connections.saturating_sub(elsewhere).max(1);
        Self { own: Arc::new(Semaphore::new(own)), elsewhere: Arc::new(Semaphore::new(elsewhere)) }
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
