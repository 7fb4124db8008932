//! What one look at a page tells, and what every estimator does with it.

use std::fmt;

/// What a look found, compared with the look before. A page that is gone or could not be fetched is no observation of
/// its changes and never reaches an estimator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// The same content (or a trusted 304).
    Unchanged,
    /// Different content; it changed once or more, at unknown times since the last look.
    Changed,
    /// Different content, and we trust the page when it says how long ago it last changed. Earlier changes since the
    /// last look stay unseen.
    ChangedAt {
        /// Days from the last change to this look, at most the interval.
        age_days: f64,
    },
    /// The complete list of changes is known (a feed, a site's history): this many since the last look.
    ChangeCount(u32),
}

impl Outcome {
    /// Whether the page changed at all.
    pub fn is_change(self) -> bool {
        !matches!(self, Outcome::Unchanged | Outcome::ChangeCount(0))
    }

    /// Changes known to have happened: of those between two looks we see one.
    pub fn changes_seen(self) -> u32 {
        match self {
            Outcome::Unchanged => 0,
            Outcome::Changed | Outcome::ChangedAt { .. } => 1,
            Outcome::ChangeCount(count) => count,
        }
    }
}

/// Learns one page's change rate from its looks. The estimator holds the parameters, shared by many pages; the state
/// is what is kept for each.
pub trait ChangeRateEstimator {
    /// What is remembered of one page. The default is a page never looked at twice.
    type State: Clone + Default + fmt::Debug + PartialEq;

    /// Takes in one look, `interval_days` after the previous one. A negative interval counts as none, what is not a
    /// number too.
    fn update(&self, state: &mut Self::State, interval_days: f64, outcome: Outcome);

    /// Multiplies the weight of all that was learned by `kept` (0..=1): section B11 of the algorithm notes.
    fn fade(&self, state: &mut Self::State, kept: f64);

    /// Adds what was learned from other looks at the same page (or a page taken for the same). Where the state is a
    /// set of sums, the result is that of all looks together; elsewhere the estimator says how far off it is.
    fn merge(&self, state: &mut Self::State, other: &Self::State);

    /// Expected changes per day, finite and not negative.
    fn change_rate_per_day(&self, state: &Self::State) -> f64;

    /// Probability that a copy is still current `days` after it was taken.
    fn fresh_probability(&self, state: &Self::State, days: f64) -> f64 {
        (-self.change_rate_per_day(state) * days.max(0.0)).exp()
    }
}

/// No page is believed to change more often than this: every nine seconds. What divides by no time at all ends here.
pub(crate) const RATE_MAX_PER_DAY: f64 = 1e4;

/// A rate fit for use: not negative, finite, at most [`RATE_MAX_PER_DAY`]; 0 / 0 is a page of which nothing is known.
#[inline]
pub(crate) fn sane_rate_per_day(rate_per_day: f64) -> f64 {
    if rate_per_day.is_nan() { 0.0 } else { rate_per_day.clamp(0.0, RATE_MAX_PER_DAY) }
}

/// An interval fit for the formulas: clocks step back, and no two looks are further apart than 2,700 years. What is not
/// a number counts as no time at all.
#[inline]
pub(crate) fn sane_interval_days(interval_days: f64) -> f64 {
    if interval_days.is_nan() { 0.0 } else { interval_days.clamp(0.0, 1e6) }
}

/// The age of the last change, between nothing and the interval; what is not a number tells nothing more than that.
#[inline]
pub(crate) fn sane_age_days(age_days: f64, interval_days: f64) -> f64 {
    if age_days.is_nan() { interval_days } else { age_days.clamp(0.0, interval_days) }
}

/// A share to keep, between none and all; what is not a number keeps all.
#[inline]
pub(crate) fn sane_share(kept: f64) -> f64 {
    if kept.is_nan() { 1.0 } else { kept.clamp(0.0, 1.0) }
}
