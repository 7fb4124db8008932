//! A page belongs to one of a few classes, each with a known rate; each look is further evidence for one of them.
//!
//! The weight of a class is the logarithm of its probability, up to a constant. A look adds the log-likelihood of its
//! outcome at the class's rate λ:
//!
//! ```text
//! unchanged  -λ I      changed  ln(1 - e^(-λ I))      changed `age` ago  ln λ - λ age      k changes  k ln λ - λ I
//! ```
//!
//! With many classes, evenly spaced in the logarithm of the rate, this is a belief of any shape. Sources: Cho &
//! Garcia-Molina, TOIT 2003, section on the Bayesian estimator; B6 of the algorithm notes.

use crate::estimator::{
    ChangeRateEstimator, LookOutcome, RATE_MAX_PER_DAY, sane_age_days, sane_interval_days, sane_share,
};
use crate::gamma::Gamma;
use thiserror::Error;

/// Weights stay this close to the largest, so that a class ruled out by one odd look can come back.
const LN_WEIGHT_RANGE: f64 = 60.0;

#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum InvalidClasses {
    /// No class, or more than an index byte can name.
    #[error("{0} rate classes given; give 1 to 256")]
    Count(usize),
    /// A rate that is invalid or out of order.
    #[error("rate class {index} is {rate_per_day} a day; rates must be positive, at most 10,000 and ascending")]
    Rate {
        /// Index in the list, from 0.
        index: usize,
        rate_per_day: f64,
    },
    /// A probability that is not positive and finite.
    #[error("rate class {index} has probability {probability}; it must be positive and finite")]
    Probability {
        /// Index in the list, from 0.
        index: usize,
        probability: f64,
    },
}

/// Bayesian classification by change rate.
#[derive(Clone, Debug, PartialEq)]
pub struct RateClasses {
    rates_per_day: Box<[f64]>,
    ln_rates: Box<[f64]>,
    ln_prior: Box<[f64]>,
}

/// Logarithms of a page's class probabilities, four bytes each; none before the first look.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassState {
    ln_weights: Box<[f32]>,
}

impl ClassState {
    /// A state with these weights. There must be as many as the estimator has classes, or none.
    pub(crate) fn of(ln_weights: &[f32]) -> Self {
        Self { ln_weights: ln_weights.into() }
    }

    /// The logarithms of the class probabilities; none before the first look.
    pub fn ln_weights(&self) -> &[f32] {
        &self.ln_weights
    }
}

impl RateClasses {
    /// Classes with these rates, ascending, and these prior probabilities (up to a common factor).
    pub fn new(classes: &[(f64, f64)]) -> Result<Self, InvalidClasses> {
        if !(1..=256).contains(&classes.len()) {
            return Err(InvalidClasses::Count(classes.len()));
        }
        let mut last = 0.0;
        for (index, &(rate_per_day, probability)) in classes.iter().enumerate() {
            if !(rate_per_day > last && rate_per_day <= RATE_MAX_PER_DAY) {
                return Err(InvalidClasses::Rate { index, rate_per_day });
            }
            if !(probability > 0.0 && probability.is_finite()) {
                return Err(InvalidClasses::Probability { index, probability });
            }
            last = rate_per_day;
        }
        Ok(Self::of(classes.iter().map(|&(rate, probability)| (rate, probability.ln()))))
    }

    /// `count` classes, evenly spaced in the logarithm from `lowest_per_day` to `highest_per_day`, with the
    /// probabilities of the prior. Without a prior they are equally likely, which leaves much room for high rates while
    /// every look finds a change.
    pub fn log_spaced(
        count: usize,
        lowest_per_day: f64,
        highest_per_day: f64,
        prior: Option<Gamma>,
    ) -> Result<Self, InvalidClasses> {
        let step = (highest_per_day / lowest_per_day).ln() / count.saturating_sub(1).max(1) as f64;
        let rates: Vec<_> = (0..count.min(257)).map(|class| lowest_per_day * (step * class as f64).exp()).collect();
        let equal: Vec<_> = rates.iter().map(|rate| (rate.min(RATE_MAX_PER_DAY), 1.0)).collect();
        let classes = Self::new(&equal)?;
        let Some(prior) = prior else { return Ok(classes) };
        // The density of ln λ.
        let ln_density = |rate: f64| prior.alpha() * rate.ln() - prior.beta_days() * rate;
        Ok(Self::of(rates.iter().map(|&rate| (rate, ln_density(rate)))))
    }

    fn of(classes: impl Iterator<Item = (f64, f64)>) -> Self {
        let (rates_per_day, mut ln_prior): (Vec<f64>, Vec<f64>) = classes.unzip();
        normalise(&mut ln_prior);
        Self {
            ln_rates: rates_per_day.iter().map(|rate| rate.ln()).collect(),
            rates_per_day: rates_per_day.into(),
            ln_prior: ln_prior.into(),
        }
    }

    /// The classes' rates, ascending.
    pub fn rates_per_day(&self) -> &[f64] {
        &self.rates_per_day
    }

    /// The probabilities of the classes after these looks (interval in days, outcome), in double precision throughout.
    pub fn probabilities_after(&self, looks: &[(f64, LookOutcome)]) -> Vec<f64> {
        let mut ln_weights = self.ln_prior.to_vec();
        for &(interval_days, outcome) in looks {
            self.learn(&mut ln_weights, interval_days, outcome);
        }
        ln_weights.into_iter().map(f64::exp).collect()
    }

    /// The probabilities of the classes of one page.
    pub fn probabilities(&self, state: &ClassState) -> Vec<f64> {
        self.ln_weights(state).map(f64::exp).collect()
    }

    /// The mean of a function of the rate over the belief.
    fn mean_of(&self, state: &ClassState, of_rate: impl Fn(f64) -> f64) -> f64 {
        let terms = self.ln_weights(state).zip(&self.rates_per_day);
        let (sum, weights) = terms.fold((0.0, 0.0), |(sum, weights), (ln, rate)| {
            let weight = ln.exp();
            (sum + weight * of_rate(*rate), weights + weight)
        });
        sum / weights
    }

    /// A(t) = ∫ S: expected days of freshness of a copy within `days` of taking it.
    pub fn fresh_days(&self, state: &ClassState, days: f64) -> f64 {
        let days = days.max(0.0);
        self.mean_of(state, |rate| -(-rate * days).exp_m1() / rate)
    }

    /// U(t) for the mixed objective, (1 - theta)(A - t S) + theta (t - A), theta in 0..=1, in days: the value of a
    /// fetch now, `days` after the last.
    pub fn crawl_value(&self, state: &ClassState, days: f64, theta: f64) -> f64 {
        let days = days.max(0.0);
        self.mean_of(state, |rate| {
            let (binary, harmonic) = crawl_values(rate * days);
            ((1.0 - theta) * binary + theta * harmonic) / rate
        })
    }

    /// The Gamma belief with the same mean and variance.
    pub fn as_gamma(&self, state: &ClassState) -> Gamma {
        let mean = self.change_rate_per_day(state);
        let variance = self.mean_of(state, |rate| (rate - mean) * (rate - mean));
        // A single class has no variance; the belief is then as sharp as useful.
        let alpha = (mean * mean / variance.max(f64::MIN_POSITIVE)).min(1e6);
        Gamma::of(alpha, alpha / mean)
    }

    /// The weights of a page; those of the prior if it has none, or not as many as there are classes.
    fn ln_weights(&self, state: &ClassState) -> impl Iterator<Item = f64> {
        let own = if state.ln_weights.len() == self.ln_prior.len() { &*state.ln_weights } else { &[] };
        let prior = if own.is_empty() { &*self.ln_prior } else { &[] };
        own.iter().map(|weight| f64::from(*weight)).chain(prior.iter().copied())
    }

    fn learn(&self, ln_weights: &mut [f64], interval_days: f64, outcome: LookOutcome) {
        let interval_days = sane_interval_days(interval_days);
        let likelihood = |rate: f64, ln_rate: f64| match outcome {
            LookOutcome::Unchanged => -rate * interval_days,
            // An instant has room for one change only, with a likelihood proportional to the rate.
            LookOutcome::Changed if interval_days < 1e-12 => ln_rate,
            LookOutcome::Changed => (-(-rate * interval_days).exp_m1()).ln(),
            LookOutcome::ChangedAt { age_days } => ln_rate - rate * sane_age_days(age_days, interval_days),
            LookOutcome::ChangeCount(count) => f64::from(count) * ln_rate - rate * interval_days,
        };
        for ((weight, rate), ln_rate) in ln_weights.iter_mut().zip(&self.rates_per_day).zip(&self.ln_rates) {
            *weight += likelihood(*rate, *ln_rate);
        }
        normalise(ln_weights);
    }

    /// Replaces the weights of a page with the result of `change`.
    fn replace(&self, state: &mut ClassState, change: impl FnOnce(&mut [f64])) {
        let mut ln_weights: Vec<f64> = self.ln_weights(state).collect();
        change(&mut ln_weights);
        if state.ln_weights.len() == ln_weights.len() {
            state.ln_weights.iter_mut().zip(&ln_weights).for_each(|(kept, weight)| *kept = *weight as f32);
        } else {
            state.ln_weights = ln_weights.iter().map(|weight| *weight as f32).collect();
        }
    }
}

impl ChangeRateEstimator for RateClasses {
    type State = ClassState;

    fn update(&self, state: &mut ClassState, interval_days: f64, outcome: LookOutcome) {
        self.replace(state, |ln_weights| self.learn(ln_weights, interval_days, outcome));
    }

    fn fade(&self, state: &mut ClassState, kept: f64) {
        let kept = sane_share(kept);
        self.replace(state, |ln_weights| {
            ln_weights
                .iter_mut()
                .zip(&self.ln_prior)
                .for_each(|(weight, prior)| *weight = prior + kept * (*weight - prior));
            normalise(ln_weights);
        });
    }

    /// The state of all looks together, except for classes ruled out further than the weights reach.
    fn merge(&self, state: &mut ClassState, other: &ClassState) {
        if state.ln_weights.is_empty() || other.ln_weights.is_empty() {
            if state.ln_weights.is_empty() {
                state.clone_from(other);
            }
            return;
        }
        self.replace(state, |ln_weights| {
            let more = self.ln_weights(other).zip(&self.ln_prior);
            ln_weights.iter_mut().zip(more).for_each(|(weight, (other, prior))| *weight += other - prior);
            normalise(ln_weights);
        });
    }

    fn change_rate_per_day(&self, state: &ClassState) -> f64 {
        self.mean_of(state, |rate| rate)
    }

    fn fresh_probability(&self, state: &ClassState, days: f64) -> f64 {
        let days = days.max(0.0);
        self.mean_of(state, |rate| (-rate * days).exp())
    }
}

/// Normalises the exponentials to sum 1, then raises the smallest.
fn normalise(ln_weights: &mut [f64]) {
    let peak = ln_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = ln_weights.iter().map(|weight| (weight - peak).exp()).sum();
    let shift = peak + sum.ln();
    ln_weights.iter_mut().for_each(|weight| *weight = (*weight - shift).max(peak - shift - LN_WEIGHT_RANGE));
}

/// 1 - e^-x - x e^-x and x - (1 - e^-x).
fn crawl_values(x: f64) -> (f64, f64) {
    if x < 0.05 {
        // Term k of the series of e^-x, with the factor k - 1 and without; each is at most 1/60 of the last.
        let (mut term, mut binary, mut harmonic) = (-x, 0.0, 0.0);
        for k in 2..=9 {
            let k = f64::from(k);
            term *= -x / k;
            harmonic += term;
            binary += (k - 1.0) * term;
        }
        return (binary, harmonic);
    }
    let seen = -(-x).exp_m1();
    (seen - x * (1.0 - seen), x - seen)
}
