//! Policies and estimators by the names that the settings have.

use change_rate::EstimatorChoice;
use policies::{BeliefSource, PolicyKind};
use settings::{Draft, Settings};

/// Refuses unknown policies and estimators, and an estimator that the policy cannot work with.
pub fn check_names(draft: &mut Draft) {
    let policies: Vec<_> = PolicyKind::for_operators().into_iter().map(|(name, _)| name).collect();
    draft.check_name(("policy", "name"), &policies, |name| {
        PolicyKind::parse(name).map(|_| "which only a simulation can follow")
    });
    let estimators: Vec<_> = EstimatorChoice::for_operators().into_iter().map(|(name, _)| name).collect();
    draft.check_name(("estimator", "name"), &estimators, |_| None);
    let Settings { policy, estimator, .. } = draft.settings();
    let needs_sweeps = PolicyKind::parse(&policy.name).is_some_and(|it| it.beliefs() == BeliefSource::Itself);
    if needs_sweeps && estimator.name != EstimatorChoice::Sweeps.name() {
        let problem = format!(
            "the policy {:?} needs sweep forecasts, which the estimator {:?} does not make",
            policy.name, estimator.name
        );
        draft.contradiction(
            &[("estimator", "name"), ("policy", "name")],
            problem,
            "write estimator.name = \"sweeps\", or policy.name = \"crawl-value\"",
        );
    }
}

/// The policy of these settings, which [`check_names`] has accepted.
pub(crate) fn policy(settings: &Settings) -> PolicyKind {
    PolicyKind::parse(&settings.policy.name).expect("the policy was checked when the settings were loaded")
}

/// The estimator of these settings, which [`check_names`] has accepted.
pub(crate) fn estimator(settings: &Settings) -> EstimatorChoice {
    EstimatorChoice::parse(&settings.estimator.name).expect("the estimator was checked when the settings were loaded")
}
