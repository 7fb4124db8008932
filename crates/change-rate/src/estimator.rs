//! The outcome of one look at a page, and the interface of estimators.

use std::fmt;

/// The outcome of a look, compared with the previous one. A page that is gone or could not be fetched gives no outcome
/// and never reaches an estimator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LookOutcome {
    /// The same content (or a trusted 304).
    Unchanged,
    /// Different content: one or more changes at unknown times since the last look.
    Changed,
    /// Different content, with a trusted time of the last change. Earlier changes since the last look stay unseen.
    ChangedAt {
        /// Days from the last change to this look, at most the interval.
        age_days: f64,
    },
    /// The complete list of changes is known (from a feed or a site's history): this many since the last look.
    ChangeCount(u32),
}

impl LookOutcome {
    pub fn is_change(self) -> bool {
        !matches!(self, LookOutcome::Unchanged | LookOutcome::ChangeCount(0))
    }

    /// Number of known changes. Of the changes between two looks we normally see one.
    pub fn changes_seen(self) -> u32 {
        match self {
            LookOutcome::Unchanged => 0,
            LookOutcome::Changed | LookOutcome::ChangedAt { .. } => 1,
            LookOutcome::ChangeCount(count) => count,
        }
    }
}

/// Learns one page's change rate from its looks. The estimator holds the parameters, shared by many pages; the state is
/// kept per page.
pub trait ChangeRateEstimator {
    /// The state kept for one page. The default is the state of a page with no more than one look.
    type State: Clone + Default + fmt::Debug + PartialEq;

    /// Takes in one look, `interval_days` after the previous one. A negative interval or NaN counts as zero.
    fn update(&self, state: &mut Self::State, interval_days: f64, outcome: LookOutcome);

    /// Multiplies the weight of all evidence by `kept` (0..=1): section B11 of the algorithm notes.
    fn fade(&self, state: &mut Self::State, kept: f64);

    /// Adds what was learned from other looks at the same page (or a page treated as the same). If the state is a set
    /// of sums, the result is the state of all looks together; other estimators document their error.
    fn merge(&self, state: &mut Self::State, other: &Self::State);

    /// Expected changes per day, finite and not negative.
    fn change_rate_per_day(&self, state: &Self::State) -> f64;

    /// Probability that a copy is still current `days` after it was taken.
    fn fresh_probability(&self, state: &Self::State, days: f64) -> f64 {
        (-self.change_rate_per_day(state) * days.max(0.0)).exp()
    }
}

/// Maximum change rate: one change every nine seconds. Divisions by a zero time end here.
pub(crate) const RATE_MAX_PER_DAY: f64 = 1e4;

/// Makes a rate valid: not negative, finite, at most [`RATE_MAX_PER_DAY`]. 0 / 0 means that nothing is known of the
/// page, and becomes 0.
#[inline]
pub(crate) fn sane_rate_per_day(rate_per_day: f64) -> f64 {
    if rate_per_day.is_nan() { 0.0 } else { rate_per_day.clamp(0.0, RATE_MAX_PER_DAY) }
}

/// Makes an interval valid: clocks step back, and no two looks are further apart than 2,700 years. NaN becomes zero.
#[inline]
pub(crate) fn sane_interval_days(interval_days: f64) -> f64 {
    if interval_days.is_nan() { 0.0 } else { interval_days.clamp(0.0, 1e6) }
}

/// Limits the age of the last change to the interval. NaN becomes the whole interval.
#[inline]
pub(crate) fn sane_age_days(age_days: f64, interval_days: f64) -> f64 {
    if age_days.is_nan() { interval_days } else { age_days.clamp(0.0, interval_days) }
}

/// Limits a share to 0..=1. NaN becomes 1.
#[inline]
pub(crate) fn sane_share(kept: f64) -> f64 {
    if kept.is_nan() { 1.0 } else { kept.clamp(0.0, 1.0) }
}
