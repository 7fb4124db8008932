//! Paces the demo's clock: as fast as requested, but not faster than the machine can keep up.
//!
//! A loop that lacks CPU on a fast clock misses fetches that it would make in real time. Its freshness would then
//! measure the machine rather than the crawler. So the clock slows down while the loop is behind. It never stops for
//! long, because the loop's next step may wait for the clock.

use daemon::WebClock;
use std::sync::Arc;
use std::time::Duration;

/// Backlog above which the clock slows down, in days of budget. Counts both overdue fetches and unprocessed records.
const BEHIND_DAYS: f64 = 0.2;
/// Budget that a scheduler may save for better pages, in days.
const SAVED_DAYS: f64 = 1.0;
/// Time constant, in real time, after which budget that stays unspent is written off.
const PATIENCE: Duration = Duration::from_secs(10);
/// The clock runs in at least one of this many ticks.
const SLOWEST: f64 = 50.0;

/// Slows a clock down while the loop is behind.
pub(super) struct Pace {
    clock: Arc<WebClock>,
    budget_per_day: f64,
    /// Budgeted fetches that are written off.
    lost: f64,
    /// Accumulated fraction of a tick for which the clock may run.
    turn: f64,
}

impl Pace {
    /// A pace for a budget in fetches per day of the clock.
    pub(super) fn new(clock: Arc<WebClock>, budget_per_day: f64) -> Self {
        Self { clock, budget_per_day, lost: 0.0, turn: 1.0 }
    }

    /// Runs one tick: lets the clock run or holds it until the next tick. `elapsed` is the real time since the last
    /// tick, `days` the virtual time so far, `fetches` the number made so far, and `lag_records` the records waiting
    /// for a stage.
    pub(super) fn keep(&mut self, elapsed: Duration, days: f64, fetches: u64, lag_records: u64) {
        let earned = (days - SAVED_DAYS) * self.budget_per_day;
        let overdue = (earned - self.lost - fetches as f64).max(0.0);
        self.lost += overdue * (elapsed.as_secs_f64() / PATIENCE.as_secs_f64()).min(1.0);
        // A few fetches are always in flight.
        let slack = (BEHIND_DAYS * self.budget_per_day).max(20.0);
        let behind = overdue + lag_records as f64;
        self.turn += (slack / behind.max(1.0)).powi(2).clamp(1.0 / SLOWEST, 1.0);
        if self.turn >= 1.0 {
            self.turn -= 1.0;
            self.clock.go_on();
        } else {
            self.clock.hold();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stream::Clock;

    /// Number of ticks, out of `number`, in which the clock runs.
    fn turns(pace: &mut Pace, number: usize, elapsed: Duration, days: f64, fetches: u64, lag_records: u64) -> usize {
        let mut goes_on = || {
            pace.keep(elapsed, days, fetches, lag_records);
            let before = pace.clock.now();
            (0..1_000).any(|_| pace.clock.now() > before)
        };
        (0..number).filter(|_| goes_on()).count()
    }

    #[test]
    fn the_clock_slows_down_for_a_loop_that_is_behind_and_never_stops() {
        let settings = settings::Clock { speed: 1e6, origin: Some(0.0), anchor: None };
        let mut pace = Pace::new(Arc::new(WebClock::new(&settings)), 1_000.0);
        let now = Duration::ZERO;
        assert_eq!(turns(&mut pace, 50, now, 3.0, 2_000, 50), 50, "a day may be saved, and a little wait");
        let lagging = turns(&mut pace, 400, now, 5.0, 4_000, 400);
        assert!((90..=110).contains(&lagging), "twice the slack, a quarter of the speed: {lagging}");
        let behind = turns(&mut pace, 400, now, 5.0, 3_700, 100);
        assert!((90..=110).contains(&behind), "what was to be fetched counts: {behind}");
        let never = turns(&mut pace, 400, now, 50.0, 4_000, 10);
        assert!((8..=20).contains(&never), "it never stops: {never}");
        turns(&mut pace, 400, PATIENCE / 20, 50.0, 4_000, 0);
        assert_eq!(turns(&mut pace, 50, now, 50.0, 4_000, 0), 50, "it does not wait for ever");
    }
}
