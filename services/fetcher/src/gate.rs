//! The seat-belt: whatever is asked for, a host is never asked more often than its delay allows.
//!
//! The scheduler owns the next permitted time and puts it into each request. This gate holds even if two schedulers, a
//! replayed request or a clock that jumped should disagree with it.

use governor::clock::Clock as GovernorClock;
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use page::Timestamp;
use std::sync::Arc;
use std::time::Duration;
use stream::Clock;

/// Time of the web, for governor.
#[derive(Clone)]
struct WebTime(Arc<dyn Clock>);

impl GovernorClock for WebTime {
    type Instant = Duration;

    fn now(&self) -> Duration {
        since_epoch(self.0.now())
    }
}

fn since_epoch(moment: Timestamp) -> Duration {
    Duration::from_micros(moment.as_micros().max(0) as u64)
}

type Limiter = RateLimiter<NotKeyed, InMemoryState, WebTime, NoOpMiddleware<Duration>>;

/// One host's gate.
pub(crate) struct Gate {
    clock: Arc<dyn Clock>,
    delay: Duration,
    limiter: Option<Limiter>,
    /// When the last answer was complete.
    last_end: Option<Timestamp>,
}

impl Gate {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, delay: Duration::ZERO, limiter: None, last_end: None }
    }

    /// The gate of a host that another process, or this one in an earlier life, may have asked just now: what it asked
    /// for and did not answer comes again at once.
    pub(crate) fn after_others(clock: Arc<dyn Clock>) -> Self {
        let last_end = Some(clock.now());
        Self { last_end, ..Self::new(clock) }
    }

    /// Sets the delay that holds from now on.
    pub(crate) fn set_delay(&mut self, delay: Duration) {
        if delay != self.delay {
            self.delay = delay;
            let limiter = |quota| RateLimiter::direct_with_clock(quota, WebTime(self.clock.clone()));
            self.limiter = Quota::with_period(delay).map(limiter);
            // A new limiter starts full; what the old one knew is in `last_end`.
        }
    }

    /// Waits until a request may go out: `delay` after the end of the last one, and not before `not_before`.
    pub(crate) async fn wait(&self, not_before: Timestamp) {
        loop {
            let earliest = self.last_end.map_or(not_before, |end| not_before.max(end + self.delay));
            let now = self.clock.now();
            if now < earliest {
                self.sleep(earliest.saturating_since(now)).await;
                continue;
            }
            match self.limiter.as_ref().map(RateLimiter::check) {
                Some(Err(not_until)) => self.sleep(not_until.wait_time_from(since_epoch(now))).await,
                Some(Ok(())) | None => return,
            }
        }
    }

    /// An exchange is over.
    pub(crate) fn ended(&mut self) {
        self.last_end = Some(self.clock.now());
    }

    async fn sleep(&self, time_of_the_web: Duration) {
        // At least a little, or a fast clock would make this spin.
        tokio::time::sleep(self.clock.to_real(time_of_the_web).max(Duration::from_micros(50))).await;
    }
}
