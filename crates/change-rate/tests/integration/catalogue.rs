//! Every estimator by its name: states that survive storing, and properties that hold of all.

use change_rate::{
    EstimatorChoice, EstimatorKind, EstimatorOptions, EstimatorState, GammaPrior, GroupSums, LookOutcome, RateEstimator,
};
use proptest::prelude::*;

fn estimator(kind: EstimatorKind, forgetting_days: Option<f64>) -> RateEstimator {
    RateEstimator::new(kind, EstimatorOptions { forgetting_days, ..EstimatorOptions::default() }).expect("usable")
}

fn after(estimator: &RateEstimator, looks: &[(f64, LookOutcome)]) -> EstimatorState {
    let mut state = estimator.start();
    looks.iter().for_each(|&(days, outcome)| estimator.update(&mut state, days, outcome));
    state
}

fn kind() -> impl Strategy<Value = EstimatorKind> {
    prop::sample::select(&EstimatorKind::ALL[..])
}

fn interval_days() -> impl Strategy<Value = f64> {
    prop_oneof![4 => (-8.0..5.0f64).prop_map(f64::exp), 1 => prop::sample::select(vec![
        0.0, -1.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE, 1e-30, 1e300,
    ])]
}

fn outcome() -> impl Strategy<Value = LookOutcome> {
    prop_oneof![
        4 => Just(LookOutcome::Unchanged),
        4 => Just(LookOutcome::Changed),
        1 => prop::sample::select(vec![0.0, 0.5, 1e3, -1.0, f64::NAN])
            .prop_map(|age_days| LookOutcome::ChangedAt { age_days }),
        1 => prop::sample::select(vec![0, 1, 7, u32::MAX]).prop_map(LookOutcome::ChangeCount),
    ]
}

fn looks(most: usize) -> impl Strategy<Value = Vec<(f64, LookOutcome)>> {
    prop::collection::vec((interval_days(), outcome()), 0..most)
}

#[test]
fn every_estimator_has_its_name() {
    for kind in EstimatorKind::ALL {
        assert_eq!(EstimatorChoice::parse(kind.name()), Some(EstimatorChoice::Catalogue(kind)));
        assert_eq!(kind.to_string(), kind.name());
        assert!(!kind.summary().is_empty());
        assert_eq!(estimator(kind, None).kind(), kind);
    }
    assert_eq!(EstimatorChoice::parse("gama"), None);
}

#[test]
fn operators_may_choose_all_of_them_and_see_the_most_knowing_first() {
    let offered: Vec<_> = EstimatorChoice::for_operators().into_iter().map(|(name, _)| name).collect();
    assert_eq!(offered[..4], ["sweeps", "gamma-grouped", "gamma", "naive"]);
    assert_eq!(offered.len(), EstimatorChoice::all().count());
}

#[test]
fn before_the_first_look_all_believe_the_prior() {
    for kind in EstimatorKind::ALL {
        let estimator = estimator(kind, None);
        assert_eq!(estimator.belief(&estimator.start()), GammaPrior::default().belief(), "{kind}");
    }
}

/// Looks every two days at a page that changes every ten: 2 in 11 find a change.
#[test]
fn every_estimator_learns_the_rate() {
    for kind in EstimatorKind::ALL {
        let estimator = estimator(kind, None);
        let looks: Vec<_> = (0..300)
            .map(|look| (2.0, if look % 11 < 2 { LookOutcome::Changed } else { LookOutcome::Unchanged }))
            .collect();
        let belief = estimator.belief(&after(&estimator, &looks));
        assert!((belief.mean() / 0.1 - 1.0).abs() < 0.35, "{kind}: {}", belief.mean());
        if !matches!(kind, EstimatorKind::Gamma | EstimatorKind::GammaGrouped | EstimatorKind::BayesClasses) {
            let exponential = (-belief.mean() * 7.0).exp();
            assert!((belief.fresh_probability(7.0) / exponential - 1.0).abs() < 1e-6, "{kind}");
        }
    }
}

#[test]
fn a_page_never_seen_to_change_is_not_given_up() {
    for kind in EstimatorKind::ALL {
        let estimator = estimator(kind, None);
        let state = after(&estimator, &[(10.0, LookOutcome::Unchanged); 20]);
        let mean = estimator.belief(&state).mean();
        assert!((0.04 / 200.0..0.01).contains(&mean), "{kind}: {mean}");
    }
}

#[test]
fn a_prior_learned_from_siblings_moves_the_gamma_filter() {
    let estimator = estimator(EstimatorKind::GammaGrouped, None);
    let mut state = estimator.start();
    let busy = estimator.prior().within(&[GroupSums { changes: 1e4, page_days: 1e4 }]);
    assert!(estimator.belief_from(busy, &state).mean() > 0.5);
    estimator.update_from(busy, &mut state, 1.0, LookOutcome::Changed);
    let evidence = state.evidence().expect("the filter keeps evidence");
    let belief = busy.belief().after(1.0, LookOutcome::Changed);
    assert!((f64::from(evidence.delta_alpha) + busy.alpha() - belief.alpha()).abs() < 1e-6);
    assert_eq!(estimator_of_counts().start().evidence(), None);
}

fn estimator_of_counts() -> RateEstimator {
    estimator(EstimatorKind::Naive, None)
}

#[test]
fn a_state_of_another_estimator_starts_anew() {
    let (naive, gamma) = (estimator_of_counts(), estimator(EstimatorKind::Gamma, None));
    let mut state = after(&naive, &[(1.0, LookOutcome::Changed); 5]);
    assert_eq!(gamma.belief(&state), gamma.prior().belief());
    gamma.update(&mut state, 2.0, LookOutcome::Unchanged);
    assert_eq!(state, after(&gamma, &[(2.0, LookOutcome::Unchanged)]));
}

#[test]
fn numbers_that_are_no_state_are_refused() {
    for kind in EstimatorKind::ALL {
        assert!(EstimatorState::from_numbers(kind, &[1.0; 5]).is_err(), "{kind}");
        assert!(EstimatorState::from_numbers(kind, &[f32::NAN; 4]).is_err(), "{kind}");
        assert!(EstimatorState::from_numbers(kind, &[f32::INFINITY; 2]).is_err(), "{kind}");
    }
    let refusal = EstimatorState::from_numbers(EstimatorKind::Gamma, &[1.0]).unwrap_err().to_string();
    assert_eq!(refusal, "1 numbers are not a valid state of the estimator `gamma`; reset the state of the page");
    assert!(EstimatorState::from_numbers(EstimatorKind::Gamma, &[-1.0, 1.0]).is_err());
}

#[test]
fn a_state_is_small() {
    assert!(size_of::<EstimatorState>() <= 24);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_stored_state_comes_back_the_same(
        kind in kind(), looks in prop::collection::vec(((-8.0..5.0f64).prop_map(f64::exp), outcome()), 0..30),
    ) {
        let estimator = estimator(kind, Some(100.0));
        let state = after(&estimator, &looks);
        prop_assert_eq!(EstimatorState::from_numbers(kind, &state.to_numbers()), Ok(state));
    }

    #[test]
    fn whatever_is_seen_the_belief_can_be_used(
        kind in kind(), looks in looks(40), forgetting in prop::option::of((-3.0..8.0f64).prop_map(f64::exp)),
        days in 0.0..1e5f64,
    ) {
        let estimator = estimator(kind, forgetting);
        let state = after(&estimator, &looks);
        let belief = estimator.belief(&state);
        prop_assert!(belief.mean() > 0.0 && belief.mean().is_finite(), "{kind}: {belief:?}");
        prop_assert!(belief.alpha() > 0.0 && belief.beta_days().is_finite(), "{kind}: {belief:?}");
        let value = belief.crawl_value(days, 0.05);
        prop_assert!(value >= 0.0 && value.is_finite(), "{kind}: {belief:?} at {days}: {value}");
        prop_assert!((0.0..=1.0).contains(&belief.fresh_probability(days)));
        for number in state.to_numbers() {
            prop_assert!(number.is_finite(), "{kind}: {state:?}");
        }
    }

    // Of the last look, for all estimators.
    #[test]
    fn turning_unchanged_into_changed_never_lowers_a_rate(
        kind in kind(), looks in looks(25), days in interval_days(),
        forgetting in prop::option::of((1.0..8.0f64).prop_map(f64::exp)),
    ) {
        let estimator = estimator(kind, forgetting);
        let rate = |outcome| {
            let mut state = after(&estimator, &looks);
            estimator.update(&mut state, days, outcome);
            estimator.belief(&state).mean()
        };
        prop_assert!(rate(LookOutcome::Changed) >= rate(LookOutcome::Unchanged) * (1.0 - 1e-5), "{kind}");
    }

    #[test]
    fn more_known_changes_never_lower_a_rate(
        kind in kind(), looks in looks(25), days in interval_days(), fewer in 0..1000_u32, more in 0..1000_u32,
    ) {
        let estimator = estimator(kind, None);
        let rate = |count| {
            let mut state = after(&estimator, &looks);
            estimator.update(&mut state, days, LookOutcome::ChangeCount(count));
            estimator.belief(&state).mean()
        };
        prop_assert!(rate(fewer.max(more)) >= rate(fewer.min(more)) * (1.0 - 1e-5), "{kind}");
    }

    // Of any look, for the estimators whose state does not depend on the order of looks.
    #[test]
    fn turning_an_earlier_look_into_changed_never_lowers_a_rate(
        kind in prop::sample::select(vec![
            EstimatorKind::Naive, EstimatorKind::HalfCount, EstimatorKind::MaximumLikelihood,
            EstimatorKind::MomentMatching, EstimatorKind::LastModified, EstimatorKind::BayesClasses,
            EstimatorKind::LawOfLargeNumbers,
        ]),
        before in prop::collection::vec(((-3.0..3.0f64).prop_map(f64::exp), prop::bool::ANY), 0..15),
        days in (-3.0..3.0f64).prop_map(f64::exp),
        later in prop::collection::vec(((-3.0..3.0f64).prop_map(f64::exp), prop::bool::ANY), 0..15),
    ) {
        let estimator = estimator(kind, None);
        let rate = |changed| {
            let looks = before.iter().copied().chain([(days, changed)]).chain(later.iter().copied());
            let outcome = |changed| if changed { LookOutcome::Changed } else { LookOutcome::Unchanged };
            let looks = looks.map(|(days, changed)| (days, outcome(changed)));
            estimator.belief(&after(&estimator, &looks.collect::<Vec<_>>())).mean()
        };
        prop_assert!(rate(true) >= rate(false) * (1.0 - 1e-5), "{kind}");
    }

    #[test]
    fn merged_states_are_the_state_of_all_looks(
        kind in prop::sample::select(vec![
            EstimatorKind::Naive, EstimatorKind::HalfCount, EstimatorKind::MaximumLikelihood,
            EstimatorKind::MomentMatching, EstimatorKind::LastModified, EstimatorKind::LawOfLargeNumbers,
        ]),
        mine in prop::collection::vec(((-3.0..3.0f64).prop_map(f64::exp), outcome_of_sense()), 0..15),
        other in prop::collection::vec(((-3.0..3.0f64).prop_map(f64::exp), outcome_of_sense()), 0..15),
    ) {
        let estimator = estimator(kind, None);
        let mut merged = after(&estimator, &mine);
        estimator.merge(&mut merged, &after(&estimator, &other));
        let union = after(&estimator, &[mine, other].concat());
        let (merged, union) = (merged.to_numbers(), union.to_numbers());
        prop_assert_eq!(merged.len(), union.len());
        for (merged, union) in merged.into_iter().zip(union) {
            prop_assert!((merged - union).abs() <= 1e-5 * union.max(1.0), "{kind}: {merged} {union}");
        }
    }

    // The filter adds up exactly where each look leaves a Gamma, and errs on the sharp side else.
    #[test]
    fn merged_evidence_is_that_of_all_looks(
        mine in prop::collection::vec(((-3.0..3.0f64).prop_map(f64::exp), exact_outcome()), 0..15),
        other in prop::collection::vec(((-3.0..3.0f64).prop_map(f64::exp), exact_outcome()), 0..15),
    ) {
        let estimator = estimator(EstimatorKind::Gamma, None);
        let mut merged = after(&estimator, &mine);
        estimator.merge(&mut merged, &after(&estimator, &other));
        let union = after(&estimator, &[mine, other].concat());
        for (merged, union) in merged.to_numbers().into_iter().zip(union.to_numbers()) {
            prop_assert!((merged - union).abs() <= 1e-5 * union.max(1.0), "{merged} {union}");
        }
    }
}

fn outcome_of_sense() -> impl Strategy<Value = LookOutcome> {
    prop_oneof![Just(LookOutcome::Changed), exact_outcome()]
}

fn exact_outcome() -> impl Strategy<Value = LookOutcome> {
    prop_oneof![
        Just(LookOutcome::Unchanged),
        (0.01..1.0f64).prop_map(|age_days| LookOutcome::ChangedAt { age_days }),
        (0..6_u32).prop_map(LookOutcome::ChangeCount),
    ]
}
