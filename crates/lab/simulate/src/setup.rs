//! Policies and estimators by name, and the learner and options with which a policy of the registry runs in a simulation.

use crate::error::SimulationError;
use crate::learner::{self, KnownRates, Learner};
use crate::population::Pages;
use change_rate::{EstimatorChoice, EstimatorOptions};
use policies::{BeliefSource, PolicyKind, PolicyOptions};
use revisit::RevisitPolicy;

/// The policy with this name.
///
/// # Errors
/// On an unknown name.
pub fn policy(name: &str) -> Result<PolicyKind, SimulationError> {
    PolicyKind::parse(name).ok_or_else(|| SimulationError::Unknown {
        what: "policy",
        name: name.into(),
        known: PolicyKind::ALL.map(PolicyKind::name).join(", "),
    })
}

/// The estimator with this name.
///
/// # Errors
/// On an unknown name.
pub fn estimator(name: &str) -> Result<EstimatorChoice, SimulationError> {
    EstimatorChoice::parse(name).ok_or_else(|| SimulationError::Unknown {
        what: "estimator",
        name: name.into(),
        known: EstimatorChoice::all().map(EstimatorChoice::name).collect::<Vec<_>>().join(", "),
    })
}

/// Checks that an estimator (`None`: the true rates) goes with the policy.
///
/// # Errors
/// On combinations that do not.
pub fn check_estimator(policy: PolicyKind, estimator: Option<EstimatorChoice>) -> Result<(), SimulationError> {
    let name = policy.name();
    let fault = |text: String| Err(SimulationError::Combination(text));
    match (policy.beliefs(), estimator) {
        (BeliefSource::History, _) => {
            fault(format!("policy {name} learns from a history; only recorded traces have one"))
        }
        (BeliefSource::Future, _) => {
            fault(format!("policy {name} is told of changes as they were recorded; only recorded traces have them"))
        }
        (BeliefSource::Itself, Some(EstimatorChoice::Catalogue(kind))) => {
            fault(format!("policy {name} has its own estimator; use estimator sweeps with it, not {}", kind.name()))
        }
        (BeliefSource::Estimator | BeliefSource::Truth, Some(EstimatorChoice::Sweeps)) => {
            fault(format!("estimator sweeps works with policy live only; choose another one for {name}"))
        }
        (BeliefSource::Itself, Some(EstimatorChoice::Sweeps))
        | (BeliefSource::Estimator | BeliefSource::Truth, Some(EstimatorChoice::Catalogue(_)))
        | (BeliefSource::LooksAlone | BeliefSource::Nothing, _)
        | (_, None) => Ok(()),
    }
}

/// The learner for a policy: the estimator, or the true rates for `None`. A policy that uses no beliefs gets a learner
/// that does nothing, which saves time.
///
/// # Errors
/// On invalid options.
pub fn learner(
    policy: PolicyKind,
    estimator: Option<EstimatorChoice>,
    pages: &Pages,
    change_rates_per_day: &[f64],
    options: EstimatorOptions,
) -> Result<Box<dyn Learner>, SimulationError> {
    match estimator {
        None => Ok(Box::new(KnownRates::new(change_rates_per_day.iter().copied()))),
        Some(_) if !policy.beliefs().is_asked() => learner::learner(EstimatorChoice::Sweeps, pages, options),
        Some(estimator) => learner::learner(estimator, pages, options),
    }
}

/// Name of the learner for a policy.
pub fn learner_name(policy: PolicyKind, estimator: Option<EstimatorChoice>) -> &'static str {
    match estimator {
        None => "known",
        Some(_) if !policy.beliefs().is_asked() => "none",
        Some(estimator) => estimator.name(),
    }
}

/// Makes the policy, without pages. If its rates never change, it plans once.
pub fn build(policy: PolicyKind, options: &PolicyOptions) -> Box<dyn RevisitPolicy> {
    let replan_days = if policy.beliefs().moves() { options.replan_days } else { f64::INFINITY };
    policy.build(&PolicyOptions { replan_days, ..*options })
}

#[cfg(test)]
mod tests {
    use super::*;
    use change_rate::EstimatorKind;

    #[test]
    fn every_policy_goes_with_its_usual_estimator() {
        for kind in PolicyKind::ALL {
            assert_eq!(policy(kind.name()), Ok(kind));
            if !matches!(kind.beliefs(), BeliefSource::History | BeliefSource::Future) {
                assert_eq!(check_estimator(kind, kind.beliefs().usual_estimator()), Ok(()));
            }
        }
        let unknown = policy("optimal").expect_err("no such policy").to_string();
        assert!(unknown.starts_with("unknown policy 'optimal'; one of: live, uniform"), "{unknown}");
        assert!(estimator("gama").expect_err("unknown").to_string().contains("gamma-grouped"));
    }

    #[test]
    fn what_does_not_go_together_is_said() {
        let gamma = Some(EstimatorChoice::Catalogue(EstimatorKind::Gamma));
        let fault = |kind: PolicyKind, estimator| check_estimator(kind, estimator).expect_err("a fault").to_string();
        assert!(fault(PolicyKind::Live, gamma).contains("use estimator sweeps"));
        assert!(fault(PolicyKind::CrawlValue, Some(EstimatorChoice::Sweeps)).contains("for crawl-value"));
        assert!(fault(PolicyKind::Smoothed, None).contains("history"));
        assert!(fault(PolicyKind::Reported, None).contains("only recorded traces"));
        assert_eq!(check_estimator(PolicyKind::Uniform, Some(EstimatorChoice::Sweeps)), Ok(()));
    }
}
