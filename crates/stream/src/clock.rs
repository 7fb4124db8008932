//! Time, as a stage is given it.

use page::Timestamp;
use std::time::Duration;

pub trait Clock: Send + Sync {
    /// The time of the web: real, scaled for a replay, or set by a test.
    fn now(&self) -> Timestamp;
    /// Monotonic real time, for waits and intervals.
    fn monotonic(&self) -> Duration;
    /// Sleeps in real time.
    fn pause(&self, duration: Duration);
    /// Converts a duration of the web's time to real time.
    fn to_real(&self, duration: Duration) -> Duration {
        duration
    }
}
