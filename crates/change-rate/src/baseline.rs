//! The textbook estimators, kept to measure the others against.

use crate::estimator::{ChangeRateEstimator, Outcome, sane_interval_days};

/// What both baselines remember: how often they looked, what they saw, over how long.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CheckCounts {
    /// Looks that could be compared with one before.
    pub looks: u32,
    /// Looks that found a change.
    pub changed_looks: u32,
    /// Changes seen; more than `changed_looks` only where a full list of changes is known.
    pub changes: u32,
    /// Days watched.
    pub watched_days: f64,
}

impl CheckCounts {
    fn add(&mut self, interval_days: f64, outcome: Outcome) {
        let changes = match outcome {
            Outcome::Unchanged => 0,
            Outcome::Changed | Outcome::ChangedAt { .. } => 1,
            Outcome::ChangeCount(count) => count,
        };
        self.looks = self.looks.saturating_add(1);
        self.changed_looks = self.changed_looks.saturating_add(u32::from(changes > 0));
        self.changes = self.changes.saturating_add(changes);
        self.watched_days += sane_interval_days(interval_days);
    }
}

/// Changes seen per day watched, X / T. Blind to all but one change per look, so it saturates at the look rate
/// (Cho & Garcia-Molina, TOIT 2003, section 4.1). Zero before the first look.
#[derive(Clone, Copy, Debug, Default)]
pub struct NaiveRatio;

impl ChangeRateEstimator for NaiveRatio {
    type State = CheckCounts;

    fn update(&self, state: &mut CheckCounts, interval_days: f64, outcome: Outcome) {
        state.add(interval_days, outcome);
    }

    fn change_rate_per_day(&self, state: &CheckCounts) -> f64 {
        if state.watched_days > 0.0 { f64::from(state.changes) / state.watched_days } else { 0.0 }
    }

    fn fresh_probability(&self, state: &CheckCounts, days: f64) -> f64 {
        (-self.change_rate_per_day(state) * days.max(0.0)).exp()
    }
}

/// -(n / T) ln((n - X + ½) / (n + ½)): allows for changes hidden behind the last one, without bias for *regular*
/// looks, and stays finite when every look found a change (Cho & Garcia-Molina, TOIT 2003, section 4.2). Zero before
/// the first change. With irregular looks it comes out too low.
#[derive(Clone, Copy, Debug, Default)]
pub struct HalfCount;

impl ChangeRateEstimator for HalfCount {
    type State = CheckCounts;

    fn update(&self, state: &mut CheckCounts, interval_days: f64, outcome: Outcome) {
        state.add(interval_days, outcome);
    }

    fn change_rate_per_day(&self, state: &CheckCounts) -> f64 {
        if state.watched_days <= 0.0 {
            return 0.0;
        }
        let (looks, changed) = (f64::from(state.looks), f64::from(state.changed_looks));
        looks / state.watched_days * (changed / (looks - changed + 0.5)).ln_1p()
    }

    fn fresh_probability(&self, state: &CheckCounts, days: f64) -> f64 {
        (-self.change_rate_per_day(state) * days.max(0.0)).exp()
    }
}
