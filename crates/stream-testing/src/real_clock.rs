//! The clock of the machine, for logs that live in real time.

use page::Timestamp;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use stream::Clock;

/// Real time.
#[derive(Clone, Copy, Debug)]
pub struct RealClock(Instant);

impl Default for RealClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for RealClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is past 1970");
        Timestamp::from_micros(since.as_micros() as i64)
    }

    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }

    fn pause(&self, duration: Duration) {
        std::thread::sleep(duration);
    }
}
