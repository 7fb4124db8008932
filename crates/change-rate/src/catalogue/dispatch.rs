//! Any estimator behind one interface.

use super::baseline::NaiveRatio;
use super::classes::{ClassState, RateClasses};
use super::last_modified::{LastModified, LastModifiedState};
use super::likelihood::{LikelihoodState, MaximumLikelihood};
use super::moments::{MomentMatching, MomentState};
use super::poisson_looks::{ApproximationState, StochasticApproximation};
use super::{EstimatorKind, Keeps};
use crate::counts::CheckCounts;
use crate::estimator::{ChangeRateEstimator, LookOutcome, sane_interval_days};
use crate::filter::{GammaFilter, GammaPrior, GammaState};
use crate::forgetting::kept_share;
use crate::gamma::{Gamma, InvalidParameter};
use crate::intervals::IntervalHistogram;
use thiserror::Error;

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
pub struct RateEstimator {
    kind: EstimatorKind,
    // For the Gamma filter, which fades by itself.
    filter: GammaFilter,
    classes: RateClasses,
    approximation: StochasticApproximation,
}

/// The state of one page: 24 bytes, and more on the heap for estimators with a histogram or weights.
#[derive(Clone, Debug, PartialEq)]
pub struct EstimatorState(KindState);

#[derive(Clone, Debug, PartialEq)]
enum KindState {
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

const CLASSES: usize = 32;
/// The alpha of a point estimate as a belief: the freshness it predicts is within 1e-6 of the exponential.
const POINT_ALPHA: f64 = 1e6;
/// Minimum of changes assumed in the time watched for a page never seen to change; otherwise it would be abandoned.
const CHANGES_AT_LEAST: f64 = 0.05;

impl RateEstimator {
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
    pub fn update(&self, state: &mut EstimatorState, interval_days: f64, outcome: LookOutcome) {
        self.update_from(self.prior(), state, interval_days, outcome);
    }

    /// Like [`RateEstimator::update`], for a page with its own prior, learned from its groups. Only the Gamma filter
    /// uses the prior.
    #[inline]
    pub fn update_from(&self, prior: GammaPrior, state: &mut EstimatorState, interval_days: f64, outcome: LookOutcome) {
        if !state.is_of(self.kind) {
            *state = self.start();
        }
        match &mut state.0 {
            KindState::Evidence(state) => self.filter.with_prior(prior).update(state, interval_days, outcome),
            KindState::Counts(state) => self.learn(&NaiveRatio, state, interval_days, outcome),
            KindState::LastModified(state) => self.learn(&LastModified, state, interval_days, outcome),
            KindState::Approximation(state) => self.learn(&self.approximation, state, interval_days, outcome),
            KindState::Likelihood(state) => self.learn(&LIKELIHOOD, state, interval_days, outcome),
            KindState::Moments(state) => self.learn(&MOMENTS, state, interval_days, outcome),
            KindState::Classes(state) => self.learn(&self.classes, state, interval_days, outcome),
        }
    }

    fn learn<E: ChangeRateEstimator>(
        &self,
        estimator: &E,
        state: &mut E::State,
        interval_days: f64,
        outcome: LookOutcome,
    ) {
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

    /// Like [`RateEstimator::belief`], for a page with its own prior, learned from its groups.
    pub fn belief_from(&self, prior: GammaPrior, state: &EstimatorState) -> Gamma {
        let (rate, watched_days) = match &state.0 {
            _ if !state.is_of(self.kind) => return prior.belief(),
            KindState::Evidence(state) => return self.filter.with_prior(prior).posterior(state),
            KindState::Classes(state) if state.ln_weights().is_empty() => return prior.belief(),
            KindState::Classes(state) => return self.classes.as_gamma(state),
            KindState::Counts(state) => match self.kind.keeps() {
                Keeps::Counts(rate_of) => (rate_of(state), f64::from(state.watched_days)),
                Keeps::Evidence(_)
                | Keeps::LastModified
                | Keeps::Approximation
                | Keeps::Likelihood
                | Keeps::Moments
                | Keeps::Classes => return prior.belief(),
            },
            KindState::LastModified(state) => (LastModified.change_rate_per_day(state), f64::from(state.exposure_days)),
            KindState::Approximation(state) if state.looks == 0.0 => return prior.belief(),
            KindState::Approximation(state) => {
                (self.approximation.change_rate_per_day(state), f64::from(state.watched_days))
            }
            KindState::Likelihood(state) => (LIKELIHOOD.change_rate_per_day(state), f64::from(state.watched_days)),
            KindState::Moments(state) => (MOMENTS.change_rate_per_day(state), state.intervals.totals().1),
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
            (KindState::Counts(state), KindState::Counts(other)) => state.merge(other),
            (KindState::Evidence(state), KindState::Evidence(other)) => self.filter.merge(state, other),
            (KindState::LastModified(state), KindState::LastModified(other)) => LastModified.merge(state, other),
            (KindState::Approximation(state), KindState::Approximation(other)) => {
                self.approximation.merge(state, other)
            }
            (KindState::Likelihood(state), KindState::Likelihood(other)) => LIKELIHOOD.merge(state, other),
            (KindState::Moments(state), KindState::Moments(other)) => MOMENTS.merge(state, other),
            (KindState::Classes(state), KindState::Classes(other)) => self.classes.merge(state, other),
            (
                KindState::Counts(_)
                | KindState::Evidence(_)
                | KindState::LastModified(_)
                | KindState::Approximation(_)
                | KindState::Likelihood(_)
                | KindState::Moments(_)
                | KindState::Classes(_),
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
            Keeps::Counts(_) => KindState::Counts(CheckCounts::default()),
            Keeps::Evidence(_) => KindState::Evidence(GammaState::default()),
            Keeps::LastModified => KindState::LastModified(LastModifiedState::default()),
            Keeps::Approximation => KindState::Approximation(ApproximationState::default()),
            Keeps::Likelihood => KindState::Likelihood(Box::default()),
            Keeps::Moments => KindState::Moments(Box::default()),
            Keeps::Classes => KindState::Classes(ClassState::default()),
        })
    }

    #[inline]
    fn is_of(&self, kind: EstimatorKind) -> bool {
        match self.0 {
            KindState::Counts(_) => matches!(kind.keeps(), Keeps::Counts(_)),
            KindState::Evidence(_) => matches!(kind.keeps(), Keeps::Evidence(_)),
            KindState::LastModified(_) => matches!(kind.keeps(), Keeps::LastModified),
            KindState::Approximation(_) => matches!(kind.keeps(), Keeps::Approximation),
            KindState::Likelihood(_) => matches!(kind.keeps(), Keeps::Likelihood),
            KindState::Moments(_) => matches!(kind.keeps(), Keeps::Moments),
            KindState::Classes(_) => matches!(kind.keeps(), Keeps::Classes),
        }
    }

    /// The evidence of the Gamma filter, for [`GroupSums`](crate::GroupSums); `None` for other estimators.
    pub fn evidence(&self) -> Option<GammaState> {
        match self.0 {
            KindState::Evidence(evidence) => Some(evidence),
            _ => None,
        }
    }

    /// The state as numbers for storage, without loss: 2 to 101 of them.
    pub fn to_numbers(&self) -> Vec<f32> {
        match &self.0 {
            KindState::Counts(s) => vec![s.looks, s.changed_looks, s.changes, s.watched_days],
            KindState::Evidence(s) => vec![s.delta_alpha, s.delta_beta_days],
            KindState::LastModified(s) => vec![s.looks, s.changed_looks, s.exposure_days],
            KindState::Approximation(s) => vec![s.rate_per_day, s.previous_per_day, s.looks, s.watched_days],
            KindState::Likelihood(s) => {
                let sums = [s.known_changes, s.exposure_days, s.looks, s.watched_days];
                sums.into_iter().chain(s.changed.to_numbers()).collect()
            }
            KindState::Moments(s) => [s.changed_looks].into_iter().chain(s.intervals.to_numbers()).collect(),
            KindState::Classes(s) => s.ln_weights().to_vec(),
        }
    }

    /// Reads the state of an estimator of this kind from its numbers. Fails on numbers that cannot be its state; kinds
    /// with equally many numbers cannot be distinguished.
    pub fn from_numbers(kind: EstimatorKind, numbers: &[f32]) -> Result<Self, MalformedState> {
        let usable = numbers
            .iter()
            .all(|number| number.is_finite() && (*number >= 0.0 || matches!(kind.keeps(), Keeps::Classes)));
        let state = match (Self::start(kind).0, numbers) {
            _ if !usable => None,
            (KindState::Counts(_), &[looks, changed_looks, changes, watched_days]) => {
                Some(KindState::Counts(CheckCounts { looks, changed_looks, changes, watched_days }))
            }
            (KindState::Evidence(_), &[delta_alpha, delta_beta_days]) => {
                Some(KindState::Evidence(GammaState { delta_alpha, delta_beta_days }))
            }
            (KindState::LastModified(_), &[looks, changed_looks, exposure_days]) => {
                Some(KindState::LastModified(LastModifiedState { looks, changed_looks, exposure_days }))
            }
            (KindState::Approximation(_), &[rate_per_day, previous_per_day, looks, watched_days]) => {
                Some(KindState::Approximation(ApproximationState {
                    rate_per_day,
                    previous_per_day,
                    looks,
                    watched_days,
                }))
            }
            (KindState::Likelihood(_), &[known_changes, exposure_days, looks, watched_days, ref changed @ ..]) => {
                IntervalHistogram::from_numbers(changed).map(|changed| {
                    let state = LikelihoodState { changed, known_changes, exposure_days, looks, watched_days };
                    KindState::Likelihood(Box::new(state))
                })
            }
            (KindState::Moments(_), &[changed_looks, ref intervals @ ..]) => IntervalHistogram::from_numbers(intervals)
                .map(|intervals| KindState::Moments(Box::new(MomentState { intervals, changed_looks }))),
            (KindState::Classes(_), _) if [0, CLASSES].contains(&numbers.len()) => {
                Some(KindState::Classes(ClassState::of(numbers)))
            }
            (
                KindState::Counts(_)
                | KindState::Evidence(_)
                | KindState::LastModified(_)
                | KindState::Approximation(_)
                | KindState::Likelihood(_)
                | KindState::Moments(_)
                | KindState::Classes(_),
                _,
            ) => None,
        };
        state.map(Self).ok_or(MalformedState { kind, count: numbers.len() })
    }
}
