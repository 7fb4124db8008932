//! The beliefs about the pages' change rates during a simulation.

mod grouped;

pub use self::grouped::GammaLearner;

use crate::error::SimulationError;
use crate::population::Pages;
use change_rate::{
    EstimatorChoice, EstimatorKind, EstimatorOptions, EstimatorState, Gamma, LookOutcome, RateEstimator,
};

/// Learns from looks. One for all pages, so that pages may learn from each other.
pub trait Learner: Send {
    /// The current belief about a page.
    fn belief(&self, page: usize) -> Gamma;

    /// Takes in a look, `interval_days` after the previous one. Returns the belief about the page after it.
    fn look(&mut self, page: usize, interval_days: f64, outcome: LookOutcome) -> Gamma;

    /// Whether a look at one page may change the beliefs about others.
    fn teaches_siblings(&self) -> bool {
        false
    }
}

/// A learner that uses an estimator for these pages. For [`EstimatorChoice::Sweeps`] it learns nothing, because the
/// policy does.
///
/// # Errors
/// On invalid options.
pub fn learner(
    estimator: EstimatorChoice,
    pages: &Pages,
    options: EstimatorOptions,
) -> Result<Box<dyn Learner>, SimulationError> {
    Ok(match estimator {
        EstimatorChoice::Sweeps => Box::new(Unlearned(options.prior.belief())),
        EstimatorChoice::Catalogue(kind) if kind.keeps_evidence() => {
            Box::new(GammaLearner::new(pages, options, kind.learns_from_siblings())?)
        }
        EstimatorChoice::Catalogue(kind) => Box::new(CatalogueLearner::new(kind, pages.len(), options)?),
    })
}

/// Any estimator of the catalogue, each page separately.
#[derive(Clone, Debug)]
pub struct CatalogueLearner {
    estimator: RateEstimator,
    states: Vec<EstimatorState>,
}

impl CatalogueLearner {
    /// For this many pages.
    pub fn new(kind: EstimatorKind, pages: usize, options: EstimatorOptions) -> Result<Self, SimulationError> {
        let estimator =
            RateEstimator::new(kind, options).map_err(|fault| SimulationError::Combination(fault.to_string()))?;
        Ok(Self { states: vec![estimator.start(); pages], estimator })
    }
}

impl Learner for CatalogueLearner {
    fn belief(&self, page: usize) -> Gamma {
        self.estimator.belief(&self.states[page])
    }

    fn look(&mut self, page: usize, interval_days: f64, outcome: LookOutcome) -> Gamma {
        self.estimator.update(&mut self.states[page], interval_days, outcome);
        self.belief(page)
    }
}

/// One fixed belief about every page, for policies that learn themselves.
#[derive(Clone, Copy, Debug)]
struct Unlearned(Gamma);

impl Learner for Unlearned {
    fn belief(&self, _page: usize) -> Gamma {
        self.0
    }

    fn look(&mut self, _page: usize, _interval_days: f64, _outcome: LookOutcome) -> Gamma {
        self.0
    }
}

/// Fixed, known rates: the oracle's, or those learned from a history that ends when the schedule begins.
#[derive(Clone, Debug)]
pub struct KnownRates(Vec<f32>);

/// Number of changes that a known rate counts for, so large that uncertainty has no effect.
const CERTAIN: f64 = 1e6;

impl KnownRates {
    /// These rates per day, one per page. The minimum is one change in 27,000 years.
    pub fn new(change_rates_per_day: impl IntoIterator<Item = f64>) -> Self {
        Self(change_rates_per_day.into_iter().map(|rate| rate.clamp(1e-7, 1e7) as f32).collect())
    }
}

impl Learner for KnownRates {
    fn belief(&self, page: usize) -> Gamma {
        Gamma::new(CERTAIN, CERTAIN / f64::from(self.0[page])).expect("rates are clamped to positive numbers")
    }

    fn look(&mut self, page: usize, _interval_days: f64, _outcome: LookOutcome) -> Gamma {
        self.belief(page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::population::PopulationKind;

    #[test]
    fn every_estimator_learns_a_busy_page_from_a_quiet_one() {
        let pages = PopulationKind::Hosts.draw(3, 1).expect("pages").pages;
        for choice in EstimatorChoice::all() {
            let mut learner = learner(choice, &pages, EstimatorOptions::default()).expect("good options");
            for _ in 0..20 {
                learner.look(0, 1.0, LookOutcome::Changed);
                learner.look(1, 1.0, LookOutcome::Unchanged);
            }
            let (busy, quiet) = (learner.belief(0).mean(), learner.belief(1).mean());
            if choice == EstimatorChoice::Sweeps {
                assert_eq!(busy, quiet);
            } else {
                assert!(busy > 0.1 && quiet < 0.05 && busy > 10.0 * quiet, "{}: {busy} {quiet}", choice.name());
            }
        }
    }

    #[test]
    fn known_rates_stay() {
        let mut known = KnownRates::new([0.25, 0.0]);
        for _ in 0..3 {
            let belief = known.look(0, 1.0, LookOutcome::Changed);
            assert!((belief.mean() - 0.25).abs() < 1e-9);
            assert!((belief.fresh_probability(4.0) - (-1.0f64).exp()).abs() < 1e-5);
        }
        assert!(known.belief(1).mean() > 0.0);
    }
}
