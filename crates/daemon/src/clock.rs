//! The clock of the running system: real time, or scaled for a replay.

use page::Timestamp;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use stream::Clock;

/// Time of the web = origin + speed × (real time − anchor). With speed 1 and no origin, it is real time.
///
/// Over Kafka, real time is that of the brokers ([`crate::broker_clock`]): all processes of a crawl must agree on when a lease ends.
///
/// A replay may [hold](Self::hold) it, so that a slow machine goes through the same days as a fast one.
#[derive(Debug)]
pub struct WebClock {
    started: Instant,
    /// Real time at `started`, in seconds since the epoch.
    started_at_s: f64,
    speed: f64,
    /// Time of the web at `anchor_s`, and the real time it is tied to, both in seconds since the epoch.
    origin_s: f64,
    anchor_s: f64,
    held: Mutex<HeldTime>,
    /// Microseconds by which this machine's clock is believed to be ahead.
    ahead_us: AtomicI64,
}

/// Total real time during which a clock was held.
#[derive(Debug, Default)]
struct HeldTime {
    /// Sum of the finished holds.
    total: Duration,
    /// Start of the current hold, measured from the clock's start.
    since: Option<Duration>,
}

impl WebClock {
    pub fn new(settings: &settings::Clock) -> Self {
        let started_at_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
        let anchor_s = settings.anchor.unwrap_or(started_at_s);
        Self {
            started: Instant::now(),
            started_at_s,
            speed: settings.speed,
            origin_s: settings.origin.unwrap_or(anchor_s),
            anchor_s,
            held: Mutex::default(),
            ahead_us: AtomicI64::new(0),
        }
    }

    /// Whether it is real time, and not that of a replay.
    pub fn is_real(&self) -> bool {
        self.speed == 1.0 && self.origin_s == self.anchor_s
    }

    /// The time by this machine alone.
    pub fn uncorrected(&self) -> Timestamp {
        let running = {
            let held = self.held();
            held.since.unwrap_or_else(|| self.started.elapsed()).saturating_sub(held.total)
        };
        let real_s = self.started_at_s + running.as_secs_f64();
        let since_anchor_s = (real_s - self.anchor_s).max(0.0);
        Timestamp::from_micros(((self.origin_s + self.speed * since_anchor_s) * 1e6) as i64)
    }

    /// Seconds by which the machine's clock is ahead of [`WebClock::uncorrected`], because it was set since this process started,
    /// or the machine was suspended. Meaningful only in [real time](WebClock::is_real).
    pub fn machine_ahead_s(&self) -> f64 {
        let machine_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
        machine_s - self.uncorrected().as_micros() as f64 / 1e6
    }

    /// Sets the seconds by which this machine's clock is ahead (below zero: behind). [`Clock::now`] subtracts them, so it jumps.
    pub fn correct(&self, ahead_s: f64) {
        self.ahead_us.store((ahead_s * 1e6) as i64, Ordering::Relaxed);
    }

    /// The seconds that [`Clock::now`] subtracts.
    pub fn correction_s(&self) -> f64 {
        self.ahead_us.load(Ordering::Relaxed) as f64 / 1e6
    }

    /// Stops the time of the web until [go on](Self::go_on).
    pub fn hold(&self) {
        let mut held = self.held();
        // Read under the lock, so that no later time has been returned.
        held.since.get_or_insert_with(|| self.started.elapsed());
    }

    /// Lets time pass again.
    pub fn go_on(&self) {
        let mut held = self.held();
        if let Some(since) = held.since.take() {
            held.total += self.started.elapsed().saturating_sub(since);
        }
    }

    fn held(&self) -> MutexGuard<'_, HeldTime> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Seconds of the web per real second.
    pub fn speed(&self) -> f64 {
        self.speed
    }
}

impl Clock for WebClock {
    /// Runs backwards only if it is corrected, not if the system's clock is changed. Before the anchor a replay has not begun,
    /// and its time stands still.
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.uncorrected().as_micros() - self.ahead_us.load(Ordering::Relaxed))
    }

    fn monotonic(&self) -> Duration {
        self.started.elapsed()
    }

    fn pause(&self, duration: Duration) {
        std::thread::sleep(duration);
    }

    fn to_real(&self, duration: Duration) -> Duration {
        duration.div_f64(self.speed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scaled_clock_starts_at_its_origin_and_runs_at_its_speed() {
        let real_now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
        let clock = WebClock::new(&settings::Clock { speed: 1_000.0, origin: Some(5e8), anchor: Some(real_now) });
        let first = clock.now();
        assert!((0.0..1e5).contains(&(first.as_micros() as f64 / 1e6 - 5e8)));
        assert!(clock.now() >= first);
        assert_eq!(clock.to_real(Duration::from_secs(1_000)), Duration::from_secs(1));
    }

    #[test]
    fn a_clock_that_is_held_stands_still_and_goes_on_where_it_stood() {
        let clock = WebClock::new(&settings::Clock { speed: 1e6, origin: Some(0.0), anchor: None });
        clock.hold();
        let stood = clock.now();
        let later = || (0..1_000).map(|_| clock.now()).max();
        assert_eq!(later(), Some(stood));
        clock.hold();
        assert_eq!(later(), Some(stood), "held once or twice is the same");
        clock.go_on();
        let went_on = clock.now();
        assert!(went_on >= stood && later() > Some(went_on));
    }

    #[test]
    fn a_clock_that_is_ahead_is_corrected() {
        let clock = WebClock::new(&settings::Clock { speed: 1.0, origin: None, anchor: None });
        assert!(clock.is_real() && clock.correction_s() == 0.0);
        clock.correct(660.0);
        assert!(clock.machine_ahead_s().abs() < 1.0, "nobody has set the machine's clock");
        let (machine, corrected) = (clock.uncorrected(), clock.now());
        let ahead_s = (machine.as_micros() - corrected.as_micros()) as f64 / 1e6;
        assert!((ahead_s - 660.0).abs() < 1.0, "{ahead_s}");
        let replay = WebClock::new(&settings::Clock { speed: 1.0, origin: Some(0.0), anchor: None });
        assert!(!replay.is_real());
    }
}
