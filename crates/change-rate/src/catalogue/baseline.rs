//! The textbook estimators, kept for comparison. Source: B1 and B2 of the algorithm notes.

use crate::counts::{CheckCounts, FromCounts};
use crate::estimator::sane_rate_per_day;

/// Changes seen per day watched, X / T. It sees at most one change per look, so it saturates at the look rate (Cho &
/// Garcia-Molina, TOIT 2003, section 4.1). Zero before the first look.
#[derive(Clone, Copy, Debug, Default)]
pub struct NaiveRatio;

impl FromCounts for NaiveRatio {
    fn rate_of_counts_per_day(&self, state: &CheckCounts) -> f64 {
        sane_rate_per_day(f64::from(state.changes) / f64::from(state.watched_days))
    }
}

/// -(n / T) ln((n - X + ½) / (n + ½)): allows for changes hidden behind the last one, without bias for *regular* looks,
/// and stays finite when every look found a change (Cho & Garcia-Molina, TOIT 2003, section 4.2). Zero before the first
/// change. Too low for irregular looks.
#[derive(Clone, Copy, Debug, Default)]
pub struct HalfCount;

impl FromCounts for HalfCount {
    fn rate_of_counts_per_day(&self, state: &CheckCounts) -> f64 {
        let (looks, changed) = (f64::from(state.looks), f64::from(state.changed_looks));
        // Rounding of faded sums may leave slightly more changed looks than looks.
        let unchanged = (looks - changed).max(0.0);
        sane_rate_per_day(looks / f64::from(state.watched_days) * (changed / (unchanged + 0.5)).ln_1p())
    }
}
