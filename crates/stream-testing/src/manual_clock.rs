//! A clock that stands still unless a test moves it.

use page::Timestamp;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use stream::Clock;

/// A clock that a test moves by hand.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that starts at `start`.
    pub fn at(start: Timestamp) -> Arc<Self> {
        Arc::new(Self(AtomicI64::new(start.as_micros())))
    }

    /// Moves the clock forward.
    pub fn advance(&self, duration: Duration) {
        self.0.fetch_add(duration.as_micros() as i64, Ordering::SeqCst);
    }

    /// Sets the clock back, as an operator or a time server may.
    pub fn set_back(&self, duration: Duration) {
        self.0.fetch_sub(duration.as_micros() as i64, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> Duration {
        Duration::from_micros(self.0.load(Ordering::SeqCst).max(0) as u64)
    }

    /// Moves the clock, so that a test never sleeps.
    fn pause(&self, duration: Duration) {
        self.advance(duration);
    }
}
