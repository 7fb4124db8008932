//! Estimators for looks that are themselves a Poisson process. Then a look finds a change with probability λ / (λ + p),
//! where p is the look rate, and this is solved for λ. On evenly spaced looks both converge to p (e^r - 1) instead of p
//! r, with r = λ / p: wrong for a scheduler that spaces its fetches. Here for comparison only. Source: Avrachenkov,
//! Patil & Thoppe, *Change rate estimation and optimal freshness in web page crawling*, VALUETOOLS 2020; B10 of the
//! algorithm notes.

use crate::counts::{CheckCounts, FromCounts};
use crate::estimator::{
    ChangeRateEstimator, LookOutcome, RATE_MAX_PER_DAY, sane_interval_days, sane_rate_per_day, sane_share,
};
use crate::gamma::InvalidParameter;

/// p X / (n + 1 - X), by the law of large numbers, with p measured as n / T. Zero before the first change.
#[derive(Clone, Copy, Debug, Default)]
pub struct LawOfLargeNumbers;

impl LawOfLargeNumbers {
    /// The rate for `looks` looks at `look_rate_per_day`, `changed` of which found a change.
    pub fn rate_per_day(look_rate_per_day: f64, looks: f64, changed: f64) -> f64 {
        look_rate_per_day * changed / (looks + 1.0 - changed)
    }
}

impl FromCounts for LawOfLargeNumbers {
    fn rate_of_counts_per_day(&self, state: &CheckCounts) -> f64 {
        let (looks, changed) = (f64::from(state.looks), f64::from(state.changed_looks));
        sane_rate_per_day(Self::rate_per_day(looks / f64::from(state.watched_days), looks, changed))
    }
}

/// State of stochastic approximation for one page.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ApproximationState {
    /// The current estimate, changes per day.
    pub rate_per_day: f32,
    /// The estimate before the last look, for the momentum.
    pub previous_per_day: f32,
    pub looks: f32,
    pub watched_days: f32,
}

/// Stochastic approximation: y += (k+1)^-¾ (z (y + p) - y) + ζ (y - y before), with z = 1 for a changed look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StochasticApproximation {
    start_per_day: f64,
    look_rate_per_day: Option<f64>,
    momentum: f64,
}

impl StochasticApproximation {
    /// Starts every page at `start_per_day` changes per day. The look rate p is `look_rate_per_day` if given, else
    /// looks / days so far. `momentum` is ζ; it must be below 1, and 0 means none.
    pub fn new(start_per_day: f64, look_rate_per_day: Option<f64>, momentum: f64) -> Result<Self, InvalidParameter> {
        if !(0.0..1.0).contains(&momentum) {
            return Err(InvalidParameter::new("momentum", momentum, "at least 0 and less than 1"));
        }
        Ok(Self {
            start_per_day: InvalidParameter::check("start_per_day", start_per_day)?,
            look_rate_per_day: look_rate_per_day
                .map(|rate| InvalidParameter::check("look_rate_per_day", rate))
                .transpose()?,
            momentum,
        })
    }

    /// One step of size `step` without momentum from the estimate `rate_per_day`.
    pub fn step(rate_per_day: f64, look_rate_per_day: f64, step: f64, changed: bool) -> f64 {
        let target = if changed { rate_per_day + look_rate_per_day } else { 0.0 };
        rate_per_day + step * (target - rate_per_day)
    }
}

impl ChangeRateEstimator for StochasticApproximation {
    type State = ApproximationState;

    fn update(&self, state: &mut ApproximationState, interval_days: f64, outcome: LookOutcome) {
        if state.looks == 0.0 {
            state.rate_per_day = self.start_per_day as f32;
            state.previous_per_day = state.rate_per_day;
        }
        let step = (f64::from(state.looks) + 1.0).powf(-0.75);
        state.looks += 1.0;
        state.watched_days += sane_interval_days(interval_days) as f32;
        let measured = f64::from(state.looks) / f64::from(state.watched_days);
        let look_rate = self.look_rate_per_day.unwrap_or(measured).min(RATE_MAX_PER_DAY);
        let (rate, previous) = (f64::from(state.rate_per_day), f64::from(state.previous_per_day));
        let next = Self::step(rate, look_rate, step, outcome.is_change()) + self.momentum * (rate - previous);
        state.previous_per_day = state.rate_per_day;
        state.rate_per_day = next.clamp(1e-6, RATE_MAX_PER_DAY) as f32;
    }

    /// Reduces the number of looks, so that the next one has a larger step.
    fn fade(&self, state: &mut ApproximationState, kept: f64) {
        state.looks *= sane_share(kept) as f32;
        state.watched_days *= sane_share(kept) as f32;
    }

    /// The mean of the two estimates, weighted by their looks: as accurate, but not what the looks in turn would give.
    fn merge(&self, state: &mut ApproximationState, other: &ApproximationState) {
        let looks = state.looks + other.looks;
        if looks > 0.0 {
            let share = other.looks / looks;
            state.rate_per_day += (other.rate_per_day - state.rate_per_day) * share;
            state.previous_per_day = state.rate_per_day;
            state.looks = looks;
            state.watched_days += other.watched_days;
        }
    }

    fn change_rate_per_day(&self, state: &ApproximationState) -> f64 {
        if state.looks == 0.0 { self.start_per_day.min(RATE_MAX_PER_DAY) } else { f64::from(state.rate_per_day) }
    }
}
