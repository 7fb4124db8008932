//! The rate from the times that pages give for their last change.
//!
//! A look that finds a change `age` days old shows that nothing happened for `age` days. One that finds none shows it
//! for the whole interval. With X changed looks of N, and T the sum of those days,
//!
//! ```text
//! λ = X' / T,     X' = (X - 1) - X / (N ln(1 - X / N))
//! ```
//!
//! X' corrects the bias of X (X = 0 gives 0, X = N gives N - 1). Sources: Cho & Garcia-Molina, TOIT 2003; Castillo &
//! Baeza-Yates 2002. Some printings multiply T by the number of days, giving a rate per day squared. B5 of the
//! algorithm notes.

use crate::estimator::{
    ChangeRateEstimator, LookOutcome, sane_age_days, sane_interval_days, sane_rate_per_day, sane_share,
};

/// The bias-corrected estimator for known times of the last change.
///
/// A changed look without a known time counts half its interval. Of k known changes in an interval, the last is assumed
/// to be 1/(k+1) of it old.
#[derive(Clone, Copy, Debug, Default)]
pub struct LastModified;

/// Sums over a page's looks. Two states can be added.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LastModifiedState {
    /// N, the looks with a comparable previous look.
    pub looks: f32,
    /// X, the looks that found a change.
    pub changed_looks: f32,
    /// T, the days from the last change, or from the previous look if there was none, to each look.
    pub exposure_days: f32,
}

impl LastModified {
    /// The rate from N `looks`, X `changed` ones and T `exposure_days`.
    pub fn rate_per_day(looks: f64, changed: f64, exposure_days: f64) -> f64 {
        corrected_changes(looks, changed) / exposure_days
    }

    /// The rate from the age of the last change at the first visit alone: 1 / age.
    pub fn rate_at_first_visit_per_day(age_days: f64) -> f64 {
        sane_rate_per_day(age_days.max(0.0).recip())
    }
}

/// X'.
fn corrected_changes(looks: f64, changed: f64) -> f64 {
    if changed <= 0.0 {
        return 0.0;
    }
    // Faded sums hold fractions of looks, and may be below one look.
    let corrected =
        if changed >= looks { changed - 1.0 } else { (changed - 1.0) - changed / (looks * (-changed / looks).ln_1p()) };
    corrected.max(0.0)
}

impl ChangeRateEstimator for LastModified {
    type State = LastModifiedState;

    fn update(&self, state: &mut LastModifiedState, interval_days: f64, outcome: LookOutcome) {
        let interval_days = sane_interval_days(interval_days);
        let exposure_days = match outcome {
            LookOutcome::Unchanged => interval_days,
            LookOutcome::Changed => interval_days / 2.0,
            LookOutcome::ChangedAt { age_days } => sane_age_days(age_days, interval_days),
            LookOutcome::ChangeCount(count) => interval_days / (f64::from(count) + 1.0),
        };
        state.looks += 1.0;
        state.changed_looks += f32::from(u8::from(outcome.is_change()));
        state.exposure_days += exposure_days as f32;
    }

    fn fade(&self, state: &mut LastModifiedState, kept: f64) {
        let kept = sane_share(kept) as f32;
        state.looks *= kept;
        state.changed_looks *= kept;
        state.exposure_days *= kept;
    }

    /// Exact: the state of all looks together.
    fn merge(&self, state: &mut LastModifiedState, other: &LastModifiedState) {
        state.looks += other.looks;
        state.changed_looks += other.changed_looks;
        state.exposure_days += other.exposure_days;
    }

    fn change_rate_per_day(&self, state: &LastModifiedState) -> f64 {
        let (looks, changed) = (f64::from(state.looks), f64::from(state.changed_looks));
        sane_rate_per_day(Self::rate_per_day(looks, changed, f64::from(state.exposure_days)))
    }
}
