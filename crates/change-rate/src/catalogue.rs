//! Every estimator by its name in the configuration, behind one face.

use crate::baseline::{HalfCount, NaiveRatio};
use crate::classes::{ClassState, RateClasses};
use crate::counts::CheckCounts;
use crate::estimator::{ChangeRateEstimator, Outcome, sane_interval_days};
use crate::filter::{GammaFilter, GammaPrior, GammaState};
use crate::forgetting::kept_share;
use crate::gamma::{Gamma, InvalidParameter};
use crate::intervals::IntervalHistogram;
use crate::last_modified::{LastModified, LastModifiedState};
use crate::likelihood::{LikelihoodState, MaximumLikelihood};
use crate::moments::{MomentMatching, MomentState};
use crate::poisson_looks::{ApproximationState, LawOfLargeNumbers, StochasticApproximation};
use std::{fmt, str::FromStr};
use thiserror::Error;

/// An estimator's name.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum EstimatorKind {
    /// [`NaiveRatio`].
    Naive,
    /// [`HalfCount`].
    HalfCount,
    /// [`MaximumLikelihood`] with half an interval added.
    MaximumLikelihood,
    /// [`MomentMatching`] with half counts.
    MomentMatching,
    /// [`LastModified`].
    LastModified,
    /// [`RateClasses`]: 32 from one change in 2,700 years to 100 a day, as likely as the prior makes them.
    BayesClasses,
    /// [`GammaFilter`] with one prior for all pages.
    Gamma,
    /// [`GammaFilter`] with a prior learned per site and cell ([`GroupSums`](crate::GroupSums)).
    GammaGrouped,
    /// [`LawOfLargeNumbers`].
    LawOfLargeNumbers,
    /// [`StochasticApproximation`] from the prior's mean rate.
    StochasticApproximation,
}

/// A name that is no estimator's.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[error("there is no estimator `{name}`; there are {}", EstimatorKind::ALL.map(EstimatorKind::name).join(", "))]
pub struct UnknownEstimator {
    name: String,
}

impl EstimatorKind {
    /// All of them, the simplest first.
    pub const ALL: [EstimatorKind; 10] = [
        EstimatorKind::Naive,
        EstimatorKind::HalfCount,
        EstimatorKind::MaximumLikelihood,
        EstimatorKind::MomentMatching,
        EstimatorKind::LastModified,
        EstimatorKind::BayesClasses,
        EstimatorKind::Gamma,
        EstimatorKind::GammaGrouped,
        EstimatorKind::LawOfLargeNumbers,
        EstimatorKind::StochasticApproximation,
    ];

    /// The name in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            EstimatorKind::Naive => "naive",
            EstimatorKind::HalfCount => "half-count",
            EstimatorKind::MaximumLikelihood => "maximum-likelihood",
            EstimatorKind::MomentMatching => "moment-matching",
            EstimatorKind::LastModified => "last-modified",
            EstimatorKind::BayesClasses => "bayes-classes",
            EstimatorKind::Gamma => "gamma",
            EstimatorKind::GammaGrouped => "gamma-grouped",
            EstimatorKind::LawOfLargeNumbers => "lln",
            EstimatorKind::StochasticApproximation => "stochastic-approximation",
        }
    }

    /// What it does, in a line.
    pub const fn summary(self) -> &'static str {
        match self {
            EstimatorKind::Naive => "changes seen per day watched",
            EstimatorKind::HalfCount => "log ratio with half counts, unbiased for regular looks",
            EstimatorKind::MaximumLikelihood => "the likeliest rate for irregular looks, half an interval added",
            EstimatorKind::MomentMatching => "the rate that expects as many changed looks as there were",
            EstimatorKind::LastModified => "from the times pages give for their last change, bias taken out",
            EstimatorKind::BayesClasses => "probabilities of 32 classes of rates",
            EstimatorKind::Gamma => "a Gamma belief updated by each look, one prior for all pages",
            EstimatorKind::GammaGrouped => "a Gamma belief with a prior learned from site and directory",
            EstimatorKind::LawOfLargeNumbers => "share of changed looks, right only for looks at random times",
            EstimatorKind::StochasticApproximation => {
                "a running rate corrected by each look, for looks at random times"
            }
        }
    }

    /// The estimator of this name.
    pub fn parse(name: &str) -> Result<Self, UnknownEstimator> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| UnknownEstimator { name: name.to_owned() })
    }
}

impl fmt::Display for EstimatorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for EstimatorKind {
    type Err = UnknownEstimator;

    fn from_str(name: &str) -> Result<Self, UnknownEstimator> {
        Self::parse(name)
    }
}

/// What can be set of an estimator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EstimatorOptions {
    /// What is believed of a page before its first look.
    pub prior: GammaPrior,
    /// The time in which evidence fades by 1/e, if it does.
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
    // Of the Gamma filter it forgets by itself.
    filter: GammaFilter,
    classes: RateClasses,
    approximation: StochasticApproximation,
}

/// What is kept of one page: 24 bytes, and more on the heap for the estimators that need a histogram or weights.
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

/// Numbers that are not what an estimator stores.
#[derive(Clone, Copy, Debug, Error, Eq, PartialEq)]
#[error("these {count} numbers are no state of the estimator `{kind}`; start the page anew")]
pub struct MalformedState {
    kind: EstimatorKind,
    count: usize,
}

/// How many classes of rates there are.
const CLASSES: usize = 32;
/// How sharp a point estimate is as a belief: the freshness it predicts is within 1e-6 of the exponential.
const POINT_ALPHA: f64 = 1e6;
/// A page never seen to change is taken to have changed by this much in the time watched, or it would be given up.
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

    /// Which one it is.
    pub fn kind(&self) -> EstimatorKind {
        self.kind
    }

    /// What is believed of every page before its first look.
    pub fn prior(&self) -> GammaPrior {
        self.filter.prior()
    }

    /// The state of a page never looked at twice.
    pub fn start(&self) -> EstimatorState {
        EstimatorState::start(self.kind)
    }

    /// Takes in one look, `interval_days` after the previous one. A state of another kind of estimator is started anew.
    #[inline]
    pub fn update(&self, state: &mut EstimatorState, interval_days: f64, outcome: Outcome) {
        self.update_from(self.prior(), state, interval_days, outcome);
    }

    /// As [`Estimator::update`], for a page whose prior is another one, learned from its groups. Only the Gamma filter
    /// asks for it.
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

    /// What is believed of the page. The prior before its first look; of estimators that give a rate without doubt, a
    /// belief too sharp to matter, of at least 0.05 changes in the time watched.
    pub fn belief(&self, state: &EstimatorState) -> Gamma {
        self.belief_from(self.prior(), state)
    }

    /// As [`Estimator::belief`], for a page whose prior is another one, learned from its groups.
    pub fn belief_from(&self, prior: GammaPrior, state: &EstimatorState) -> Gamma {
        let (rate, watched_days) = match &state.0 {
            _ if !state.is_of(self.kind) => return prior.belief(),
            State::Evidence(state) => return self.filter.with_prior(prior).posterior(state),
            State::Classes(state) if state.ln_weights().is_empty() => return prior.belief(),
            State::Classes(state) => return self.classes.as_gamma(state),
            State::Counts(state) => {
                let rate = match self.kind {
                    EstimatorKind::HalfCount => HalfCount.change_rate_per_day(state),
                    EstimatorKind::LawOfLargeNumbers => LawOfLargeNumbers.change_rate_per_day(state),
                    _ => NaiveRatio.change_rate_per_day(state),
                };
                (rate, f64::from(state.watched_days))
            }
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
            _ => {}
        }
    }
}

const LIKELIHOOD: MaximumLikelihood = MaximumLikelihood::HALF_INTERVAL;
const MOMENTS: MomentMatching = MomentMatching { half_counts: true };

impl EstimatorState {
    fn start(kind: EstimatorKind) -> Self {
        Self(match kind {
            EstimatorKind::Naive | EstimatorKind::HalfCount | EstimatorKind::LawOfLargeNumbers => {
                State::Counts(CheckCounts::default())
            }
            EstimatorKind::Gamma | EstimatorKind::GammaGrouped => State::Evidence(GammaState::default()),
            EstimatorKind::LastModified => State::LastModified(LastModifiedState::default()),
            EstimatorKind::StochasticApproximation => State::Approximation(ApproximationState::default()),
            EstimatorKind::MaximumLikelihood => State::Likelihood(Box::default()),
            EstimatorKind::MomentMatching => State::Moments(Box::default()),
            EstimatorKind::BayesClasses => State::Classes(ClassState::default()),
        })
    }

    #[inline]
    fn is_of(&self, kind: EstimatorKind) -> bool {
        use EstimatorKind as Kind;
        match self.0 {
            State::Counts(_) => matches!(kind, Kind::Naive | Kind::HalfCount | Kind::LawOfLargeNumbers),
            State::Evidence(_) => matches!(kind, Kind::Gamma | Kind::GammaGrouped),
            State::LastModified(_) => kind == Kind::LastModified,
            State::Approximation(_) => kind == Kind::StochasticApproximation,
            State::Likelihood(_) => kind == Kind::MaximumLikelihood,
            State::Moments(_) => kind == Kind::MomentMatching,
            State::Classes(_) => kind == Kind::BayesClasses,
        }
    }

    /// The evidence of the Gamma filter, for [`GroupSums`](crate::GroupSums); nothing for other estimators.
    pub fn evidence(&self) -> Option<GammaState> {
        match self.0 {
            State::Evidence(evidence) => Some(evidence),
            _ => None,
        }
    }

    /// The state as numbers to store, without loss. From 2 to 101 of them.
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

    /// The state of an estimator of this kind from its numbers. Numbers that cannot be its are refused; those of a kind
    /// that stores as many cannot be told apart.
    pub fn from_numbers(kind: EstimatorKind, numbers: &[f32]) -> Result<Self, MalformedState> {
        let usable =
            numbers.iter().all(|number| number.is_finite() && (*number >= 0.0 || kind == EstimatorKind::BayesClasses));
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
            _ => None,
        };
        state.map(Self).ok_or(MalformedState { kind, count: numbers.len() })
    }
}
