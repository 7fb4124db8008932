//! Any estimator behind one interface.

use super::baseline::NaiveRatio;
use super::classes::{ClassState, RateClasses};
use super::last_modified::{LastModified, LastModifiedState};
use super::likelihood::{LikelihoodState, MaximumLikelihood};
use super::moments::{MomentMatching, MomentState};
use super::poisson_looks::{ApproximationState, StochasticApproximation};
use super::{EstimatorKind, Keeps};
use crate::counts::CheckCounts;
use crate::estimator::{ChangeRateEstimator, Outcome, sane_interval_days};
use crate::filter::{GammaFilter, GammaPrior, GammaState};
use crate::forgetting::kept_share;
use crate::gamma::{Gamma, InvalidParameter};
use crate::intervals::IntervalHistogram;
use thiserror::Error;

/// Options of an estimator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EstimatorOptions {
    /// Belief about a page before its first look.
    pub prior: GammaPrior,
    /// The time in which evidence fades by 1/e; `None` for no fading.
    pub forgetting_days: Option<f64>,
}

/// Prior 0.4 in 100 days, forgetting 1000 days.
impl Default for EstimatorOptions {
    fn default() -> Self {
        let filter = GammaFilter::default();
        Self { prior: filter.prior(), forgetting_days: filter.forgetting_days() }
    }
}

/// One estimator, shared by all pages.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimator {
    kind: EstimatorKind,
    // For the Gamma filter, which fades by itself.
    filter: GammaFilter,
    classes: RateClasses,
    approximation: StochasticApproximation,
}

/// The state of one page: 24 bytes, and more on the heap for estimators with a histogram or weights.
#[derive(Clone, Debug, PartialEq)]
pub struct EstimatorState(State);

#[derive(Clone, Debug, PartialEq)]
enum State {
    Counts(CheckCounts),
    Evidence(GammaState),
    LastModified(LastModifiedState),
    Approximation(ApproximationState),
    Likelihood(Box<LikelihoodState>),
    Moments(Box<MomentState>),
    Classes(ClassState),
}

/// Stored numbers that are no valid state of the estimator.
#[derive(Clone, Copy, Debug, Error, Eq, PartialEq)]
#[error("{count} numbers are not a valid state of the estimator `{kind}`; reset the state of the page")]
pub struct MalformedState {
    kind: EstimatorKind,
    count: usize,
}

/// Number of rate classes.
const CLASSES: usize = 32;
/// The alpha of a point estimate as a belief: the freshness it predicts is within 1e-6 of the exponential.
const POINT_ALPHA: f64 = 1e6;
/// Minimum of changes assumed in the time watched for a page never seen to change; otherwise it would be abandoned.
const CHANGES_AT_LEAST: f64 = 0.05;

impl Estimator {
    /// The estimator of this kind.
    pub fn new(kind: EstimatorKind, options: EstimatorOptions) -> Result<Self, InvalidParameter> {
        let belief = options.prior.belief();
        let classes = RateClasses::log_spaced(CLASSES, 1e-6, 1e2, Some(belief));
        Ok(Self {
            kind,
            filter: GammaFilter::new(options.prior, options.forgetting_days)?,
            classes: classes.expect("32 rates ascend from 1e-6 to 100"),
            approximation: StochasticApproximation::new(belief.mean(), None, 0.0)?,
        })
    }

    /// The kind it was made as.
    pub fn kind(&self) -> EstimatorKind {
        self.kind
    }

    /// The belief about every page before its first look.
    pub fn prior(&self) -> GammaPrior {
        self.filter.prior()
    }

    /// The state of a page with no more than one look.
    pub fn start(&self) -> EstimatorState {
        EstimatorState::start(self.kind)
    }

    /// Takes in one look, `interval_days` after the previous one. A state of another kind of estimator is reset first.
    #[inline]
    pub fn update(&self, state: &mut EstimatorState, interval_days: f64, outcome: Outcome) {
        self.update_from(self.prior(), state, interval_days, outcome);
    }

    /// Like [`Estimator::update`], for a page with its own prior, learned from its groups. Only the Gamma filter uses
    /// the prior.
    #[inline]
    pub fn update_from(&self, prior: GammaPrior, state: &mut EstimatorState, interval_days: f64, outcome: Outcome) {
        if !state.is_of(self.kind) {
            *state = self.start();
        }
        match &mut state.0 {
            State::Evidence(state) => self.filter.with_prior(prior).update(state, interval_days, outcome),
            State::Counts(state) => self.learn(&NaiveRatio, state, interval_days, outcome),
            State::LastModified(state) => self.learn(&LastModified, state, interval_days, outcome),
            State::Approximation(state) => self.learn(&self.approximation, state, interval_days, outcome),
            State::Likelihood(state) => self.learn(&LIKELIHOOD, state, interval_days, outcome),
            State::Moments(state) => self.learn(&MOMENTS, state, interval_days, outcome),
            State::Classes(state) => self.learn(&self.classes, state, interval_days, outcome),
        }
    }

    fn learn<E: ChangeRateEstimator>(&self, estimator: &E, state: &mut E::State, interval_days: f64, outcome: Outcome) {
        if let Some(days) = self.filter.forgetting_days() {
            estimator.fade(state, kept_share(sane_interval_days(interval_days), days));
        }
        estimator.update(state, interval_days, outcome);
    }

    /// The belief about the page; the prior before its first look. Estimators that give only a rate return a nearly
    /// exact belief in it, with at least 0.05 changes in the time watched.
    pub fn belief(&self, state: &EstimatorState) -> Gamma {
        self.belief_from(self.prior(), state)
    }

    /// Like [`Estimator::belief`], for a page with its own prior, learned from its groups.
    pub fn belief_from(&self, prior: GammaPrior, state: &EstimatorState) -> Gamma {
        let (rate, watched_days) = match &state.0 {
            _ if !state.is_of(self.kind) => return prior.belief(),
            State::Evidence(state) => return self.filter.with_prior(prior).posterior(state),
            State::Classes(state) if state.ln_weights().is_empty() => return prior.belief(),
            State::Classes(state) => return self.classes.as_gamma(state),
            State::Counts(state) => match self.kind.keeps() {
                Keeps::Counts(rate_of) => (rate_of(state), f64::from(state.watched_days)),
                Keeps::Evidence(_)
                | Keeps::LastModified
                | Keeps::Approximation
                | Keeps::Likelihood
                | Keeps::Moments
                | Keeps::Classes => return prior.belief(),
            },
            State::LastModified(state) => (LastModified.change_rate_per_day(state), f64::from(state.exposure_days)),
            State::Approximation(state) if state.looks == 0.0 => return prior.belief(),
            State::Approximation(state) => {
                (self.approximation.change_rate_per_day(state), f64::from(state.watched_days))
            }
            State::Likelihood(state) => (LIKELIHOOD.change_rate_per_day(state), f64::from(state.watched_days)),
            State::Moments(state) => (MOMENTS.change_rate_per_day(state), state.intervals.totals().1),
        };
        let at_least = if watched_days > 0.0 { CHANGES_AT_LEAST / watched_days } else { 0.0 };
        if rate <= 0.0 && at_least <= 0.0 {
            return prior.belief();
        }
        let rate = rate.max(at_least).clamp(1e-6, 1e4);
        Gamma::of(POINT_ALPHA, POINT_ALPHA / rate)
    }

    /// Adds what was learned from other looks at the same page. States of other kinds add nothing.
    pub fn merge(&self, state: &mut EstimatorState, other: &EstimatorState) {
        match (&mut state.0, &other.0) {
            (State::Counts(state), State::Counts(other)) => state.merge(other),
            (State::Evidence(state), State::Evidence(other)) => self.filter.merge(state, other),
            (State::LastModified(state), State::LastModified(other)) => LastModified.merge(state, other),
            (State::Approximation(state), State::Approximation(other)) => self.approximation.merge(state, other),
            (State::Likelihood(state), State::Likelihood(other)) => LIKELIHOOD.merge(state, other),
            (State::Moments(state), State::Moments(other)) => MOMENTS.merge(state, other),
            (State::Classes(state), State::Classes(other)) => self.classes.merge(state, other),
            (
                State::Counts(_)
                | State::Evidence(_)
                | State::LastModified(_)
                | State::Approximation(_)
                | State::Likelihood(_)
                | State::Moments(_)
                | State::Classes(_),
                _,
            ) => {}
        }
    }
}

const LIKELIHOOD: MaximumLikelihood = MaximumLikelihood::HALF_INTERVAL;
const MOMENTS: MomentMatching = MomentMatching { half_counts: true };

impl EstimatorState {
    fn start(kind: EstimatorKind) -> Self {
        Self(match kind.keeps() {
            Keeps::Counts(_) => State::Counts(CheckCounts::default()),
            Keeps::Evidence(_) => State::Evidence(GammaState::default()),
            Keeps::LastModified => State::LastModified(LastModifiedState::default()),
            Keeps::Approximation => State::Approximation(ApproximationState::default()),
            Keeps::Likelihood => State::Likelihood(Box::default()),
            Keeps::Moments => State::Moments(Box::default()),
            Keeps::Classes => State::Classes(ClassState::default()),
        })
    }

    #[inline]
    fn is_of(&self, kind: EstimatorKind) -> bool {
        match self.0 {
            State::Counts(_) => matches!(kind.keeps(), Keeps::Counts(_)),
            State::Evidence(_) => matches!(kind.keeps(), Keeps::Evidence(_)),
            State::LastModified(_) => matches!(kind.keeps(), Keeps::LastModified),
            State::Approximation(_) => matches!(kind.keeps(), Keeps::Approximation),
            State::Likelihood(_) => matches!(kind.keeps(), Keeps::Likelihood),
            State::Moments(_) => matches!(kind.keeps(), Keeps::Moments),
            State::Classes(_) => matches!(kind.keeps(), Keeps::Classes),
        }
    }

    /// The evidence of the Gamma filter, for [`GroupSums`](crate::GroupSums); `None` for other estimators.
    pub fn evidence(&self) -> Option<GammaState> {
        match self.0 {
            State::Evidence(evidence) => Some(evidence),
            _ => None,
        }
    }

    /// The state as numbers for storage, without loss: 2 to 101 of them.
    pub fn to_numbers(&self) -> Vec<f32> {
        match &self.0 {
            State::Counts(s) => vec![s.looks, s.changed_looks, s.changes, s.watched_days],
            State::Evidence(s) => vec![s.delta_alpha, s.delta_beta_days],
            State::LastModified(s) => vec![s.looks, s.changed_looks, s.exposure_days],
            State::Approximation(s) => vec![s.rate_per_day, s.previous_per_day, s.looks, s.watched_days],
            State::Likelihood(s) => {
                let sums = [s.known_changes, s.exposure_days, s.looks, s.watched_days];
                sums.into_iter().chain(s.changed.to_numbers()).collect()
            }
            State::Moments(s) => [s.changed_looks].into_iter().chain(s.intervals.to_numbers()).collect(),
            State::Classes(s) => s.ln_weights().to_vec(),
        }
    }

    /// Reads the state of an estimator of this kind from its numbers. Fails on numbers that cannot be its state; kinds
    /// with equally many numbers cannot be told apart.
    pub fn from_numbers(kind: EstimatorKind, numbers: &[f32]) -> Result<Self, MalformedState> {
        let usable = numbers
            .iter()
            .all(|number| number.is_finite() && (*number >= 0.0 || matches!(kind.keeps(), Keeps::Classes)));
        let state = match (Self::start(kind).0, numbers) {
            _ if !usable => None,
            (State::Counts(_), &[looks, changed_looks, changes, watched_days]) => {
                Some(State::Counts(CheckCounts { looks, changed_looks, changes, watched_days }))
            }
            (State::Evidence(_), &[delta_alpha, delta_beta_days]) => {
                Some(State::Evidence(GammaState { delta_alpha, delta_beta_days }))
            }
            (State::LastModified(_), &[looks, changed_looks, exposure_days]) => {
                Some(State::LastModified(LastModifiedState { looks, changed_looks, exposure_days }))
            }
            (State::Approximation(_), &[rate_per_day, previous_per_day, looks, watched_days]) => {
                Some(State::Approximation(ApproximationState { rate_per_day, previous_per_day, looks, watched_days }))
            }
            (State::Likelihood(_), &[known_changes, exposure_days, looks, watched_days, ref changed @ ..]) => {
                IntervalHistogram::from_numbers(changed).map(|changed| {
                    let state = LikelihoodState { changed, known_changes, exposure_days, looks, watched_days };
                    State::Likelihood(Box::new(state))
                })
            }
            (State::Moments(_), &[changed_looks, ref intervals @ ..]) => IntervalHistogram::from_numbers(intervals)
                .map(|intervals| State::Moments(Box::new(MomentState { intervals, changed_looks }))),
            (State::Classes(_), _) if [0, CLASSES].contains(&numbers.len()) => {
                Some(State::Classes(ClassState::of(numbers)))
            }
            (
                State::Counts(_)
                | State::Evidence(_)
                | State::LastModified(_)
                | State::Approximation(_)
                | State::Likelihood(_)
                | State::Moments(_)
                | State::Classes(_),
                _,
            ) => None,
        };
        state.map(Self).ok_or(MalformedState { kind, count: numbers.len() })
    }
}
