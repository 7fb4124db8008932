//! Safety net: never asks a host more often than its delay allows, whatever the requests say.
//!
//! The scheduler decides the earliest time of each request and sends it along. This gate still holds with two
//! schedulers, a replayed request or a clock jump.

use governor::clock::Clock as GovernorClock;
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use page::Timestamp;
use std::cell::Cell;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use stream::Clock;

/// Adapts the web clock to governor.
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

/// Rate limit of one host.
pub(crate) struct Gate {
    clock: Arc<dyn Clock>,
    delay: Duration,
    limiter: Option<Limiter>,
    /// When the last response was complete.
    last_end: Option<Timestamp>,
}

impl Gate {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, delay: Duration::ZERO, limiter: None, last_end: None }
    }

    /// The gate of a host that another process, or this one before a restart, may have asked a moment ago. Requests
    /// that it left unanswered are delivered again at once.
    pub(crate) fn after_others(clock: Arc<dyn Clock>) -> Self {
        let last_end = Some(clock.now());
        Self { last_end, ..Self::new(clock) }
    }

    pub(crate) fn set_delay(&mut self, delay: Duration) {
        if delay != self.delay {
            self.delay = delay;
            let limiter = |quota| RateLimiter::direct_with_clock(quota, WebTime(self.clock.clone()));
            self.limiter = Quota::with_period(delay).map(limiter);
            // A new limiter starts full. `last_end` still enforces the delay after the last response.
        }
    }

    /// Waits until a request may be sent: `delay` after the last response, and not before `not_before`.
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

    /// Records the end of an exchange.
    pub(crate) fn ended(&mut self) {
        self.last_end = Some(self.clock.now());
    }

    async fn sleep(&self, time_of_the_web: Duration) {
        sleep(&*self.clock, time_of_the_web).await;
    }
}

async fn sleep(clock: &dyn Clock, time_of_the_web: Duration) {
    // Sleep at least a little, or an accelerated clock would make this spin.
    tokio::time::sleep(clock.to_real(time_of_the_web).max(Duration::from_micros(50))).await;
}

type AddressLimiter = RateLimiter<IpAddr, DashMapStateStore<IpAddr>, WebTime, NoOpMiddleware<Duration>>;

/// Number of requests between two sweeps of idle addresses.
const SWEPT_AFTER: u32 = 1_000;

/// Rate limit per address. One server may have many hosts, each with a delay of its own.
pub(crate) struct AddressGate {
    clock: Arc<dyn Clock>,
    limiter: Option<AddressLimiter>,
    passed: Cell<u32>,
}

impl AddressGate {
    /// A gate with at least `delay` between two requests to an address.
    pub(crate) fn new(clock: Arc<dyn Clock>, delay: Duration) -> Self {
        let limiter = |quota| RateLimiter::dashmap_with_clock(quota, WebTime(clock.clone()));
        Self { limiter: Quota::with_period(delay).map(limiter), clock, passed: Cell::new(0) }
    }

    /// Whether a delay is set at all.
    pub(crate) fn lets_wait(&self) -> bool {
        self.limiter.is_some()
    }

    pub(crate) async fn wait(&self, address: IpAddr) {
        let Some(limiter) = &self.limiter else { return };
        self.passed.set(self.passed.get() + 1);
        if self.passed.get().is_multiple_of(SWEPT_AFTER) {
            limiter.retain_recent();
            limiter.shrink_to_fit();
        }
        while let Err(not_until) = limiter.check_key(&address) {
            sleep(&*self.clock, not_until.wait_time_from(since_epoch(self.clock.now()))).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stream::testing::ManualClock;

    #[test]
    fn hosts_of_one_address_take_turns_and_others_do_not_wait_for_them() {
        let clock = ManualClock::at(Timestamp::from_secs(1_000));
        let gate = AddressGate::new(clock.clone(), Duration::from_secs(1));
        let [one, other] = ["192.0.2.1", "2001:db8::1"].map(|address| address.parse::<IpAddr>().unwrap());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            gate.wait(one).await;
            gate.wait(other).await;
            let is_let_through = async || {
                let mut wait = Box::pin(gate.wait(one));
                std::future::poll_fn(|context| std::task::Poll::Ready(wait.as_mut().poll(context).is_ready())).await
            };
            assert!(!is_let_through().await);
            clock.advance(Duration::from_secs(1));
            assert!(is_let_through().await);
        });
    }

    #[test]
    fn addresses_not_asked_lately_are_forgotten() {
        let clock = ManualClock::at(Timestamp::from_secs(1_000));
        let gate = AddressGate::new(clock.clone(), Duration::from_secs(1));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for number in 0..2 * SWEPT_AFTER {
                gate.wait(IpAddr::from(number.to_be_bytes())).await;
                clock.advance(Duration::from_millis(10));
            }
        });
        assert!(gate.limiter.as_ref().unwrap().len() <= SWEPT_AFTER as usize);
    }
}
