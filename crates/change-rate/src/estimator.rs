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
}

/// Learns one page's change rate from its looks. The estimator holds the parameters, shared by many pages; the state
/// is what is kept for each.
pub trait ChangeRateEstimator {
    /// What is remembered of one page. The default is a page never looked at twice.
    type State: Clone + Default + fmt::Debug + PartialEq;

    /// Takes in one look, `interval_days` after the previous one.
    fn update(&self, state: &mut Self::State, interval_days: f64, outcome: Outcome);

    /// Expected changes per day.
    fn change_rate_per_day(&self, state: &Self::State) -> f64;

    /// Probability that a copy is still current `days` after it was taken.
    fn fresh_probability(&self, state: &Self::State, days: f64) -> f64;
}

/// An interval fit for the formulas: clocks step back, and no two looks are further apart than 2,700 years. What is not
/// a number counts as no time at all.
pub(crate) fn sane_interval_days(interval_days: f64) -> f64 {
    if interval_days.is_nan() { 0.0 } else { interval_days.clamp(0.0, 1e6) }
}
