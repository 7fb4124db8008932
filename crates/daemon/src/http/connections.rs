//! The places of open connections. A new connection always gets one, so that probes are answered whatever others hold.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::task::AbortHandle;

/// Most open connections.
pub(super) const MAX_CONNECTIONS: usize = 64;

/// The open connections. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Connections(Arc<Mutex<Open>>);

#[derive(Default)]
struct Open {
    next: u64,
    /// By number, so the oldest first.
    tasks: BTreeMap<u64, Task>,
}

struct Task {
    handle: AbortHandle,
    is_answering: bool,
}

impl Connections {
    /// Runs the task of a new connection. If all places are taken, the oldest connection whose request is not being
    /// answered is closed: its client is silent, slow, or does not take the answer.
    pub(super) fn open<F>(&self, serve: impl FnOnce(Place) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let mut open = self.lock();
        if open.tasks.len() >= MAX_CONNECTIONS {
            let oldest = open.tasks.iter().find(|(_, task)| !task.is_answering).map(|(number, _)| *number);
            if let Some(closed) = oldest.and_then(|number| open.tasks.remove(&number)) {
                closed.handle.abort();
            }
        }
        let number = open.next;
        open.next += 1;
        let place = Place { number, connections: self.clone() };
        let handle = tokio::spawn(serve(place)).abort_handle();
        open.tasks.insert(number, Task { handle, is_answering: false });
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection's place. Dropping it frees the place.
pub(super) struct Place {
    number: u64,
    connections: Connections,
}

impl Place {
    /// Keeps the place until the returned value is dropped.
    pub(super) fn answering(&self) -> Answering<'_> {
        self.set_answering(true);
        Answering(self)
    }

    fn set_answering(&self, is_answering: bool) {
        if let Some(task) = self.connections.lock().tasks.get_mut(&self.number) {
            task.is_answering = is_answering;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.lock().tasks.remove(&self.number);
    }
}

/// A request is being answered.
pub(super) struct Answering<'a>(&'a Place);

impl Drop for Answering<'_> {
    fn drop(&mut self) {
        self.0.set_answering(false);
    }
}
