//! Virtual time of the web, as injected by the caller.

use page::Timestamp;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

/// Returns the current time on the web.
pub type SimwebClock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// A clock that shows `origin` at the real time `started_at` and runs `speed` times as fast as real time. Two processes
/// with the same three numbers share one time.
pub fn scaled_clock(origin: Timestamp, started_at: SystemTime, speed: f64) -> SimwebClock {
    Arc::new(move || {
        let elapsed = started_at.elapsed().unwrap_or(Duration::ZERO);
        Timestamp::from_micros(origin.as_micros().saturating_add((elapsed.as_nanos() as f64 / 1e3 * speed) as i64))
    })
}

/// A clock that stands still until its number (microseconds since the epoch) is set.
pub fn manual_clock(start: Timestamp) -> (Arc<AtomicI64>, SimwebClock) {
    let micros = Arc::new(AtomicI64::new(start.as_micros()));
    let read = Arc::clone(&micros);
    (micros, Arc::new(move || Timestamp::from_micros(read.load(Ordering::SeqCst))))
}
