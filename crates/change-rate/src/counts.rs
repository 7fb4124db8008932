//! Sums over a page's looks: the whole state of the simplest estimators.

use crate::estimator::{ChangeRateEstimator, LookOutcome, sane_interval_days, sane_share};

/// Number of looks, what they found, and over how long. Two sets can be added; faded ones hold fractions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CheckCounts {
    /// Looks with a comparable previous look.
    pub looks: f32,
    /// Looks that found a change.
    pub changed_looks: f32,
    /// Changes seen; more than `changed_looks` only when a full list of changes is known.
    pub changes: f32,
    pub watched_days: f32,
}

impl CheckCounts {
    /// Counts one look, `interval_days` after the previous one.
    pub fn add(&mut self, interval_days: f64, outcome: LookOutcome) {
        self.looks += 1.0;
        self.changed_looks += f32::from(u8::from(outcome.is_change()));
        self.changes += outcome.changes_seen() as f32;
        self.watched_days += sane_interval_days(interval_days) as f32;
    }

    /// Multiplies all sums by `kept` (0..=1).
    pub fn fade(&mut self, kept: f64) {
        let kept = sane_share(kept) as f32;
        self.looks *= kept;
        self.changed_looks *= kept;
        self.changes *= kept;
        self.watched_days *= kept;
    }

    pub fn merge(&mut self, other: &CheckCounts) {
        self.looks += other.looks;
        self.changed_looks += other.changed_looks;
        self.changes += other.changes;
        self.watched_days += other.watched_days;
    }
}

/// An estimator whose whole state is [`CheckCounts`]; it only defines the rate.
pub(crate) trait FromCounts {
    /// Expected changes per day, finite and not negative.
    fn rate_of_counts_per_day(&self, counts: &CheckCounts) -> f64;
}

/// Merging is exact: the result is the state of all looks together.
impl<E: FromCounts> ChangeRateEstimator for E {
    type State = CheckCounts;

    fn update(&self, state: &mut CheckCounts, interval_days: f64, outcome: LookOutcome) {
        state.add(interval_days, outcome);
    }

    fn fade(&self, state: &mut CheckCounts, kept: f64) {
        state.fade(kept);
    }

    fn merge(&self, state: &mut CheckCounts, other: &CheckCounts) {
        state.merge(other);
    }

    fn change_rate_per_day(&self, state: &CheckCounts) -> f64 {
        self.rate_of_counts_per_day(state)
    }
}
