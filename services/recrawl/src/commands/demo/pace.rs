//! How fast the days of a demo may pass: as fast as asked for, but no faster than the machine can live through them.
//!
//! On a fast clock a loop that is short of CPU misses fetches that a crawler in real time would have made; how fresh its
//! copies are would then say more of the machine than of the crawler. So the clock slows down while the loop is behind.
//! It never stands still for long: what the loop does next may wait for the clock.

use daemon::WebClock;
use std::sync::Arc;

/// The clock slows down when more than so many days' budget waits to be fetched, or to be learned from.
const BEHIND_DAYS: f64 = 0.2;
/// The clock goes on for at least one in so many turns.
const SLOWEST: f64 = 50.0;

/// Slows a clock down while the loop is behind it.
pub(super) struct Pace {
    clock: Arc<WebClock>,
    budget_per_day: f64,
    /// Fetches that the loop had a budget for when it last had nothing to do: it keeps them for better pages.
    saved: f64,
    /// Part of a turn for which the clock may go on.
    turn: f64,
}

impl Pace {
    /// The pace of a loop with this budget, in fetches a day of the clock.
    pub(super) fn new(clock: Arc<WebClock>, budget_per_day: f64) -> Self {
        Self { clock, budget_per_day, saved: 0.0, turn: 1.0 }
    }

    /// One turn: the clock is held or goes on until the next, after so many days with so many fetches made and so many
    /// records waiting for a stage.
    pub(super) fn keep(&mut self, days: f64, fetches: u64, lag_records: u64) {
        let unspent = days * self.budget_per_day - fetches as f64;
        if lag_records == 0 {
            self.saved = unspent;
        }
        let behind = (unspent - self.saved).max(0.0) + lag_records as f64;
        // A few fetches are always under way.
        let slack = (BEHIND_DAYS * self.budget_per_day).max(20.0);
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
    use page::Timestamp;
    use stream::Clock;

    /// Whether the clock goes on in each of so many turns.
    fn turns(pace: &mut Pace, number: usize, days: f64, fetches: u64, lag_records: u64) -> Vec<bool> {
        let mut turn = || {
            pace.keep(days, fetches, lag_records);
            let before = pace.clock.now();
            (0..1_000).any(|_| pace.clock.now() > before)
        };
        (0..number).map(|_| turn()).collect()
    }

    #[test]
    fn the_clock_slows_down_for_a_loop_that_is_behind_and_never_stops() {
        let settings = settings::Clock { speed: 1e6, origin: Some(0.0), anchor: None };
        let clock = Arc::new(WebClock::new(&settings));
        assert!(clock.now() >= Timestamp::from_secs(0));
        let mut pace = Pace::new(clock, 1_000.0);
        assert!(turns(&mut pace, 50, 3.0, 2_900, 50).iter().all(|goes| *goes), "a little behind is no reason");
        let goes_on = |turns: Vec<bool>| turns.iter().filter(|goes| **goes).count();
        assert!(turns(&mut pace, 50, 5.0, 3_000, 0).iter().all(|goes| *goes), "it may save its budget");
        let lagging = goes_on(turns(&mut pace, 400, 5.0, 3_000, 400));
        assert!((90..=110).contains(&lagging), "twice the slack, a quarter of the speed: {lagging}");
        let behind = goes_on(turns(&mut pace, 400, 5.3, 3_000, 100));
        assert!((90..=110).contains(&behind), "what was to be fetched since counts: {behind}");
        let never = goes_on(turns(&mut pace, 400, 50.0, 3_000, 10));
        assert!((8..=20).contains(&never), "it never stops: {never}");
    }
}
