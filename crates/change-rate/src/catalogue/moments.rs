//! The rate at which the expected number of changed looks is the observed one.
//!
//! ```text
//! sum over all looks of 1 - e^(-λ I)   [ + ½ (1 - e^(-λ mean I)) with half counts ]   =   changed looks
//! ```
//!
//! Equal to maximum likelihood for regular looks, and with half counts to [`HalfCount`](crate::HalfCount); slightly
//! less efficient otherwise. Without half counts there is no solution while every look found a change. Source:
//! Upadhyay, Busa-Fekete, Kotlowski, Pal & Szorenyi, *Learning to crawl*, AAAI 2020 (from memory); B4 of the algorithm
//! notes.

use crate::estimator::{ChangeRateEstimator, LookOutcome, sane_interval_days, sane_rate_per_day, sane_share};
use crate::intervals::{IntervalHistogram, zero_of_falling_convex};

/// Moment matching. Uses only whether a look found a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MomentMatching {
    /// Whether half an unchanged look of mean length is added. Without it, the rate is limited to ten changes a look.
    pub half_counts: bool,
}

/// With half counts.
impl Default for MomentMatching {
    fn default() -> Self {
        Self { half_counts: true }
    }
}

/// Statistics of the looks at one page that moment matching needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MomentState {
    /// All looks, by interval.
    pub intervals: IntervalHistogram,
    /// Looks that found a change.
    pub changed_looks: f32,
}

impl MomentMatching {
    /// The exact rate from a list of looks (interval in days, outcome). Infinite if all found a change and there are no
    /// half counts.
    pub fn rate_of_looks(&self, looks: &[(f64, LookOutcome)]) -> f64 {
        let intervals = looks.iter().map(|(interval_days, _)| (1.0, sane_interval_days(*interval_days)));
        let changed = looks.iter().filter(|(_, outcome)| outcome.is_change()).count();
        let (count, days) = intervals.clone().fold((0.0, 0.0), |(n, sum), (_, days)| (n + 1.0, sum + days));
        self.solve(intervals, (count, days), changed as f64)
    }

    fn solve(
        &self,
        intervals: impl Iterator<Item = (f64, f64)> + Clone,
        (count, days): (f64, f64),
        changed: f64,
    ) -> f64 {
        if changed <= 0.0 || days <= 0.0 {
            return if changed <= 0.0 { 0.0 } else { f64::INFINITY };
        }
        if !self.half_counts && changed >= count {
            return f64::INFINITY;
        }
        let half = self.half_counts.then_some((0.5, days / count));
        let looks = intervals.chain(half);
        let expected_at_most: f64 = looks.clone().map(|(count, days)| count * days).sum();
        zero_of_falling_convex(changed / expected_at_most, f64::MAX, |rate| {
            looks.clone().fold((changed, 0.0), |(value, slope), (count, days)| {
                let seen = (-rate * days).exp_m1();
                (value + count * seen, slope - count * days * (seen + 1.0))
            })
        })
    }
}

impl ChangeRateEstimator for MomentMatching {
    type State = MomentState;

    fn update(&self, state: &mut MomentState, interval_days: f64, outcome: LookOutcome) {
        state.intervals.add(sane_interval_days(interval_days));
        state.changed_looks += f32::from(u8::from(outcome.is_change()));
    }

    fn fade(&self, state: &mut MomentState, kept: f64) {
        state.intervals.fade(kept);
        state.changed_looks *= sane_share(kept) as f32;
    }

    /// Exact: the state of all looks together.
    fn merge(&self, state: &mut MomentState, other: &MomentState) {
        state.intervals.merge(&other.intervals);
        state.changed_looks += other.changed_looks;
    }

    fn change_rate_per_day(&self, state: &MomentState) -> f64 {
        let (count, days) = state.intervals.totals();
        // Rounding of faded sums may leave slightly more changed looks than looks.
        let rate = self.solve(state.intervals.means(), (count, days), f64::from(state.changed_looks).min(count));
        if self.half_counts { sane_rate_per_day(rate) } else { sane_rate_per_day(rate.min(10.0 * count / days)) }
    }
}
