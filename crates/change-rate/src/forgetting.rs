//! Lets old looks count less, so that a page may change its habits. Source: B11 of the algorithm notes.

use crate::estimator::{ChangeRateEstimator, LookOutcome, sane_interval_days};
use crate::gamma::InvalidParameter;
use crate::special::exp_minus;

/// Any estimator, with evidence that fades by 1/e in a given time. ([`GammaFilter`](crate::GammaFilter) has this built
/// in.)
#[derive(Clone, Debug, PartialEq)]
pub struct Forgetting<E> {
    estimator: E,
    forgetting_days: f64,
}

impl<E: ChangeRateEstimator> Forgetting<E> {
    /// Makes `estimator` forget with this time constant, which must be positive and finite.
    pub fn new(estimator: E, forgetting_days: f64) -> Result<Self, InvalidParameter> {
        Ok(Self { estimator, forgetting_days: InvalidParameter::check("forgetting_days", forgetting_days)? })
    }
}

impl<E: ChangeRateEstimator> ChangeRateEstimator for Forgetting<E> {
    type State = E::State;

    fn update(&self, state: &mut E::State, interval_days: f64, outcome: LookOutcome) {
        self.estimator.fade(state, kept_share(sane_interval_days(interval_days), self.forgetting_days));
        self.estimator.update(state, interval_days, outcome);
    }

    fn fade(&self, state: &mut E::State, kept: f64) {
        self.estimator.fade(state, kept);
    }

    fn merge(&self, state: &mut E::State, other: &E::State) {
        self.estimator.merge(state, other);
    }

    fn change_rate_per_day(&self, state: &E::State) -> f64 {
        self.estimator.change_rate_per_day(state)
    }

    fn fresh_probability(&self, state: &E::State, days: f64) -> f64 {
        self.estimator.fresh_probability(state, days)
    }
}

/// e^(-interval / forgetting time): the fraction of old evidence left after an interval (not negative), to the
/// precision of the states.
#[inline]
pub(crate) fn kept_share(interval_days: f64, forgetting_days: f64) -> f64 {
    exp_minus(interval_days / forgetting_days)
}

/// The forgetting time with the least error when ln λ drifts with a standard deviation of `drift_per_sqrt_day` a day
/// (both positive): 1 / (σ √λ) days, the minimum of the variances 1 / (2 λ τ) from few changes and σ² τ / 2 from drift.
/// It assumes that every change is seen; with one change a look or more, use about twice as much.
pub fn best_forgetting_days(change_rate_per_day: f64, drift_per_sqrt_day: f64) -> f64 {
    (drift_per_sqrt_day * change_rate_per_day.sqrt()).recip()
}

/// The effective number of looks in the long run when each leaves the fraction `kept` (0..1) of those before: 1 / (1 -
/// kept).
pub fn effective_looks(kept: f64) -> f64 {
    (1.0 - kept).recip()
}
