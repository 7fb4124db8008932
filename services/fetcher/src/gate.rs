//! Safety net: never asks a host more often than its delay allows, whatever the requests say.
//!
//! The scheduler decides the earliest time of each request and sends it along. This gate still holds with two
//! schedulers, a replayed request or a clock jump.

use governor::clock::Clock as GovernorClock;
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use page::{HostName, SiteKey, Timestamp};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use stream::Clock;
use tokio::sync::{Mutex, OwnedMutexGuard};

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

/// Number of new hosts, or of requests to addresses, between two sweeps of idle ones.
const SWEPT_AFTER: u32 = 1_000;

/// Most gates of a site. Its further hosts share one, so that a site that invents hosts, each with a long rest, adds none.
const GATES_OF_A_SITE: u32 = 1_000;

type Limiter = RateLimiter<NotKeyed, InMemoryState, WebTime, NoOpMiddleware<Duration>>;

/// When others may have sent their last request to the hosts.
type OthersUntil = Rc<Cell<Timestamp>>;

/// The turns of one host, or of further hosts of a site that has too many. All workers that send requests to it share them:
/// its own, and those of hosts whose robots.txt redirects to it.
pub(crate) struct HostGate {
    clock: Arc<dyn Clock>,
    others_until: OthersUntil,
    /// Whether hosts with different delays share it. The longest delay holds for all of them.
    is_shared: bool,
    one_at_a_time: Arc<Mutex<()>>,
    state: RefCell<GateState>,
}

struct GateState {
    delay: Duration,
    limiter: Option<Limiter>,
    /// When the last response was complete.
    last_end: Option<Timestamp>,
    last_latency: Duration,
    /// A host that refused gets no request until then: for its `retry-after`, or else for the scheduler's least
    /// back-off.
    left_alone_until: Timestamp,
}

/// The right to send one request to a host. The delay until the next turn begins when it is dropped.
pub(crate) struct HostTurn {
    gate: Rc<HostGate>,
    was_used: bool,
    _one_at_a_time: OwnedMutexGuard<()>,
}

impl HostTurn {
    /// The request is sent.
    pub(crate) fn is_used(&mut self) {
        self.was_used = true;
    }
}

impl Drop for HostTurn {
    fn drop(&mut self) {
        if self.was_used {
            self.gate.state.borrow_mut().last_end = Some(self.gate.clock.now());
        }
    }
}

impl HostGate {
    fn new(clock: Arc<dyn Clock>, others_until: OthersUntil, is_shared: bool) -> Rc<Self> {
        let state = GateState {
            delay: Duration::ZERO,
            limiter: None,
            last_end: None,
            last_latency: Duration::ZERO,
            left_alone_until: Timestamp::MIN,
        };
        Rc::new(Self { clock, others_until, is_shared, one_at_a_time: Arc::default(), state: RefCell::new(state) })
    }

    pub(crate) fn set_delay(&self, delay: Duration) {
        let mut state = self.state.borrow_mut();
        if delay > state.delay || delay < state.delay && !self.is_shared {
            state.delay = delay;
            let limiter = |quota| RateLimiter::direct_with_clock(quota, WebTime(self.clock.clone()));
            state.limiter = Quota::with_period(delay).map(limiter);
            // A new limiter starts full. `last_end` still enforces the delay after the last response.
        }
    }

    /// Sets the delay unless it is longer already. The host's own worker knows what the scheduler asked for.
    pub(crate) fn raise_delay(&self, delay: Duration) {
        if delay > self.state.borrow().delay {
            self.set_delay(delay);
        }
    }

    pub(crate) fn last_latency(&self) -> Duration {
        self.state.borrow().last_latency
    }

    pub(crate) fn took(&self, latency: Duration) {
        self.state.borrow_mut().last_latency = latency;
    }

    pub(crate) fn left_alone_until(&self) -> Timestamp {
        self.state.borrow().left_alone_until
    }

    pub(crate) fn leave_alone_until(&self, until: Timestamp) {
        let mut state = self.state.borrow_mut();
        state.left_alone_until = state.left_alone_until.max(until);
    }

    /// Waits until a request may be sent: `delay` after the last response if no other process asks the host, and not
    /// before `not_before`.
    pub(crate) async fn turn(self: &Rc<Self>, not_before: Timestamp) -> HostTurn {
        // Others may take their turn meanwhile.
        self.sleep_until(not_before).await;
        let one_at_a_time = self.one_at_a_time.clone().lock_owned().await;
        loop {
            let now = self.clock.now();
            let wait = {
                let state = self.state.borrow();
                let earliest = self.earliest(&state);
                if now < earliest {
                    earliest.saturating_since(now)
                } else {
                    match state.limiter.as_ref().map(RateLimiter::check) {
                        Some(Err(not_until)) => not_until.wait_time_from(since_epoch(now)),
                        Some(Ok(())) | None => break,
                    }
                }
            };
            sleep(&*self.clock, wait).await;
        }
        HostTurn { gate: self.clone(), was_used: false, _one_at_a_time: one_at_a_time }
    }

    /// The earliest time of the next turn, by the delay after the last request.
    fn earliest(&self, state: &GateState) -> Timestamp {
        let last = self.others_until.get().max(state.last_end.unwrap_or(Timestamp::MIN));
        if last == Timestamp::MIN { last } else { last + state.delay }
    }

    /// How long the next turn is away at least, on the clock of the web.
    pub(crate) fn time_to_turn(&self, not_before: Timestamp) -> Duration {
        let earliest = self.earliest(&self.state.borrow());
        earliest.max(not_before).saturating_since(self.clock.now())
    }

    async fn sleep_until(&self, moment: Timestamp) {
        loop {
            let left = moment.saturating_since(self.clock.now());
            if left.is_zero() {
                return;
            }
            sleep(&*self.clock, left).await;
        }
    }

    /// Whether a new gate would hold back as long.
    fn is_forgettable(&self) -> bool {
        let (state, now) = (self.state.borrow(), self.clock.now());
        state.left_alone_until <= now && state.last_end.is_none_or(|end| end + state.delay <= now)
    }
}

fn site_of(name: &str) -> SiteKey {
    HostName::from_name(name).site_key()
}

/// The gates of all hosts.
pub(crate) struct HostGates {
    clock: Arc<dyn Clock>,
    gates: RefCell<GatesByName>,
    others_until: OthersUntil,
    /// Hosts without a gate that were asked for.
    missed: Cell<u32>,
}

#[derive(Default)]
struct GatesByName {
    of_hosts: HashMap<String, Rc<HostGate>>,
    of_sites: HashMap<SiteKey, SiteGates>,
}

/// The gates of one site.
#[derive(Default)]
struct SiteGates {
    /// How many of its hosts have a gate of their own.
    hosts: u32,
    /// The gate of its further hosts. While it is there, no host gets one of its own: it may have used this one.
    shared: Option<Rc<HostGate>>,
}

impl GatesByName {
    /// Forgets the gates that are not in use and hold nothing back.
    fn sweep(&mut self) {
        let is_kept = |gate: &Rc<HostGate>| Rc::strong_count(gate) > 1 || !gate.is_forgettable();
        self.of_hosts.retain(|_, gate| is_kept(gate));
        self.of_sites.values_mut().for_each(|site| site.hosts = 0);
        for name in self.of_hosts.keys() {
            self.of_sites.entry(site_of(name)).or_default().hosts += 1;
        }
        self.of_sites.retain(|_, site| {
            site.shared = site.shared.take().filter(is_kept);
            site.hosts > 0 || site.shared.is_some()
        });
    }
}

impl HostGates {
    /// Gates of hosts that no other process asks.
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        let others_until = Rc::new(Cell::new(Timestamp::MIN));
        Self { clock, gates: RefCell::default(), others_until, missed: Cell::new(0) }
    }

    /// From now on only this process asks the hosts. Another, or this one before a restart, may have asked them a moment
    /// ago, and requests that it left unanswered are delivered again at once.
    pub(crate) fn after_others(&self) {
        self.others_until.set(self.clock.now());
    }

    pub(crate) fn of(&self, name: &str) -> Rc<HostGate> {
        if let Some(gate) = self.gates.borrow().of_hosts.get(name) {
            return gate.clone();
        }
        let mut gates = self.gates.borrow_mut();
        self.missed.set(self.missed.get().wrapping_add(1));
        if self.missed.get().is_multiple_of(SWEPT_AFTER) {
            gates.sweep();
        }
        let new = |is_shared| HostGate::new(self.clock.clone(), self.others_until.clone(), is_shared);
        let site = gates.of_sites.entry(site_of(name)).or_default();
        if site.shared.is_some() || site.hosts >= GATES_OF_A_SITE {
            return site.shared.get_or_insert_with(|| new(true)).clone();
        }
        site.hosts += 1;
        let gate = new(false);
        gates.of_hosts.insert(name.to_owned(), gate.clone());
        gate
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        let gates = self.gates.borrow();
        gates.of_hosts.len() + gates.of_sites.values().filter(|site| site.shared.is_some()).count()
    }
}

async fn sleep(clock: &dyn Clock, time_of_the_web: Duration) {
    // Sleep at least a little, or an accelerated clock would make this spin.
    tokio::time::sleep(clock.to_real(time_of_the_web).max(Duration::from_micros(50))).await;
}

type AddressLimiter = RateLimiter<IpAddr, DashMapStateStore<IpAddr>, WebTime, NoOpMiddleware<Duration>>;

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
    use stream_testing::ManualClock;

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
    fn a_site_of_invented_hosts_that_all_want_a_long_rest_has_a_bounded_number_of_gates() {
        let clock = ManualClock::at(Timestamp::from_secs(1_000));
        let gates = HostGates::new(clock.clone());
        let day = Duration::from_secs(86_400);
        let hosts = |count: u32| (0..count).map(|number| format!("h{number}.invented.test"));
        let until = clock.now() + day;
        for host in hosts(5 * GATES_OF_A_SITE) {
            gates.of(&host).leave_alone_until(until);
        }
        assert_eq!(gates.len(), GATES_OF_A_SITE as usize + 1);
        let all_rest = hosts(5 * GATES_OF_A_SITE).all(|host| gates.of(&host).left_alone_until() == until);
        assert!(all_rest, "a host is asked within its rest");
        assert_eq!(gates.of("www.good.test").left_alone_until(), Timestamp::MIN, "another site is not held back");
        clock.advance(day);
        for host in hosts(SWEPT_AFTER) {
            gates.of(&format!("other-{host}"));
        }
        assert!(gates.len() <= SWEPT_AFTER as usize, "gates are kept after the rest");
    }

    #[test]
    fn hosts_that_share_a_gate_have_the_longest_of_their_delays() {
        let gates = HostGates::new(ManualClock::at(Timestamp::from_secs(1_000)));
        let held: Vec<_> = (0..GATES_OF_A_SITE).map(|number| gates.of(&format!("h{number}.a.test"))).collect();
        let [slow, quick] = ["slow.a.test", "quick.a.test"].map(|host| gates.of(host));
        slow.set_delay(Duration::from_secs(9));
        quick.set_delay(Duration::from_secs(1));
        assert_eq!(slow.state.borrow().delay, Duration::from_secs(9));
        held[0].set_delay(Duration::from_secs(9));
        held[0].set_delay(Duration::from_secs(1));
        assert_eq!(held[0].state.borrow().delay, Duration::from_secs(1));
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
