//! Counts the pool's jobs: waiting for their host's turn, or in flight.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The counts of one network. Its thread writes them; other threads read them.
#[derive(Default)]
pub(crate) struct Traffic(Mutex<TrafficState>);

#[derive(Default)]
struct TrafficState {
    /// Start of each wait, with a sequence number that makes it unique.
    waiting: BTreeSet<(Duration, u64)>,
    entered: u64,
    on_the_wire: usize,
    is_draining: bool,
    is_held_back: bool,
}

impl TrafficState {
    fn drops_jobs(&self) -> bool {
        self.is_draining || self.is_held_back
    }
}

impl Traffic {
    fn state(&self) -> MutexGuard<'_, TrafficState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a job as waiting since a monotonic time, until the guard is dropped.
    pub(crate) fn enter(self: &Arc<Self>, since: Duration) -> Waiting {
        let mut state = self.state();
        state.entered += 1;
        let key = (since, state.entered);
        if !state.drops_jobs() {
            state.waiting.insert(key);
        }
        Waiting { traffic: self.clone(), key }
    }

    /// Counts a request as in flight until the guard is dropped. Returns `None` once no request is sent any more.
    pub(crate) fn go_out(self: &Arc<Self>) -> Option<OnTheWire> {
        let mut state = self.state();
        if state.drops_jobs() {
            return None;
        }
        state.on_the_wire += 1;
        Some(OnTheWire(self.clone()))
    }

    /// From now on no request is sent, and waiting jobs are dropped.
    pub(crate) fn drain(&self) {
        let mut state = self.state();
        state.is_draining = true;
        state.waiting.clear();
    }

    /// Until [`Self::resume`], no request is sent, and waiting jobs are dropped.
    pub(crate) fn hold_back(&self) {
        let mut state = self.state();
        state.is_held_back = true;
        state.waiting.clear();
    }

    /// Requests are sent again, unless this is drained.
    pub(crate) fn resume(&self) {
        self.state().is_held_back = false;
    }

    /// Whether jobs are dropped instead of being sent.
    pub(crate) fn drops_jobs(&self) -> bool {
        self.state().drops_jobs()
    }

    pub(crate) fn waiting(&self) -> usize {
        self.state().waiting.len()
    }

    /// Start of the longest wait.
    pub(crate) fn waiting_since(&self) -> Option<Duration> {
        self.state().waiting.first().map(|(since, _)| *since)
    }

    pub(crate) fn on_the_wire(&self) -> usize {
        self.state().on_the_wire
    }
}

/// Guard of a waiting job.
pub(crate) struct Waiting {
    traffic: Arc<Traffic>,
    key: (Duration, u64),
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.traffic.state().waiting.remove(&self.key);
    }
}

/// Guard of a request in flight.
pub(crate) struct OnTheWire(Arc<Traffic>);

impl Drop for OnTheWire {
    fn drop(&mut self) {
        self.0.state().on_the_wire -= 1;
    }
}
