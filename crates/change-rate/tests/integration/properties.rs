//! Properties of the Gamma filter for every history.

use change_rate::{ChangeRateEstimator, Gamma, GammaFilter, GammaPrior, GammaState, LookOutcome};
use proptest::prelude::*;

fn outcome() -> impl Strategy<Value = LookOutcome> {
    prop_oneof![
        Just(LookOutcome::Unchanged),
        Just(LookOutcome::Changed),
        (0.0..1e3).prop_map(|age_days| LookOutcome::ChangedAt { age_days }),
        (0..100_000u32).prop_map(LookOutcome::ChangeCount),
    ]
}

fn interval_days() -> impl Strategy<Value = f64> {
    prop_oneof![4 => (-12.0..8.0f64).prop_map(f64::exp), 1 => prop::sample::select(vec![
        0.0, -1.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE, 1e-30, 1e300,
    ])]
}

fn prior() -> impl Strategy<Value = GammaPrior> {
    (-4.0..3.0f64, -5.0..8.0f64)
        .prop_map(|(alpha, beta)| GammaPrior::new(alpha.exp(), beta.exp()).expect("both positive"))
}

fn forgetting() -> impl Strategy<Value = Option<f64>> {
    prop::option::of((1.0..8.0f64).prop_map(f64::exp))
}

fn after(filter: &GammaFilter, looks: &[(f64, LookOutcome)]) -> GammaState {
    let mut state = GammaState::default();
    for &(days, outcome) in looks {
        filter.update(&mut state, days, outcome);
    }
    state
}

proptest! {
    #[test]
    fn the_rate_is_always_finite_and_positive(
        prior in prior(), forgetting in forgetting(), days in 0.0..1e5f64,
        looks in prop::collection::vec((interval_days(), outcome()), 0..60),
    ) {
        let filter = GammaFilter::new(prior, forgetting).unwrap();
        let state = after(&filter, &looks);
        let belief = filter.posterior(&state);
        prop_assert!(belief.mean() > 0.0 && belief.mean().is_finite(), "{belief:?}");
        prop_assert!(belief.alpha() <= 1e4 * 1.001, "{belief:?}");
        prop_assert!((0.0..=1.0).contains(&filter.fresh_probability(&state, days)));
        for value in [belief.crawl_value(days, 0.0), belief.crawl_value(days, 0.05), belief.crawl_value(days, 1.0)] {
            prop_assert!(value >= 0.0 && value.is_finite(), "{belief:?} at {days}: {value}");
        }
    }

    // Of the last look. For an earlier one it is nearly, but not always, so: see the README.
    #[test]
    fn turning_unchanged_into_changed_never_lowers_the_rate(
        prior in prior(), forgetting in forgetting(), days in interval_days(),
        looks in prop::collection::vec((interval_days(), outcome()), 0..20),
    ) {
        let filter = GammaFilter::new(prior, forgetting).unwrap();
        let rate = |outcome| {
            let mut state = after(&filter, &looks);
            filter.update(&mut state, days, outcome);
            filter.change_rate_per_day(&state)
        };
        prop_assert!(rate(LookOutcome::Changed) >= rate(LookOutcome::Unchanged) * (1.0 - 1e-6));
    }

    #[test]
    fn more_changes_never_lower_the_rate(
        prior in prior(), forgetting in forgetting(), days in interval_days(), fewer in 0..10_000u32, more in 0..10_000u32,
        looks in prop::collection::vec((interval_days(), outcome()), 0..20),
    ) {
        let filter = GammaFilter::new(prior, forgetting).unwrap();
        let rate = |count| {
            let mut state = after(&filter, &looks);
            filter.update(&mut state, days, LookOutcome::ChangeCount(count));
            filter.change_rate_per_day(&state)
        };
        prop_assert!(rate(fewer.max(more)) >= rate(fewer.min(more)) * (1.0 - 1e-6));
    }

    #[test]
    fn one_look_counts_for_at_most_one_change(
        alpha in (-3.0..5.0f64).prop_map(f64::exp), beta in (-6.0..6.0f64).prop_map(f64::exp),
        days in (-8.0..8.0f64).prop_map(f64::exp),
    ) {
        let before = Gamma::new(alpha, beta).unwrap();
        let after = before.after(days, LookOutcome::Changed);
        prop_assert!((-1e-9..=1.0 + 1e-9).contains(&(after.alpha() - alpha)), "{after:?}");
        prop_assert!((-1e-9 * beta..=0.41 * beta).contains(&(after.beta_days() - beta)), "{after:?}");
    }

    // What others may have done weighs between a change of the page's own and no look at all.
    #[test]
    fn a_shared_change_counts_for_less_than_an_own_one(
        alpha in (-3.0..5.0f64).prop_map(f64::exp), beta in (-6.0..6.0f64).prop_map(f64::exp),
        days in interval_days().prop_filter("the caller's to check", |days| (0.0..1e6).contains(days)),
        clear in prop_oneof![0.0..=1.0f64, Just(f64::NAN), Just(-1.0), Just(7.0), Just(1.0 - 1e-16)],
    ) {
        let before = Gamma::new(alpha, beta).unwrap();
        let shared = before.after_shared(days, true, clear);
        prop_assert!(shared.mean() >= before.mean() * (1.0 - 1e-9), "{shared:?}");
        prop_assert!(shared.mean() <= before.after(days, LookOutcome::Changed).mean() * (1.0 + 1e-9), "{shared:?}");
        prop_assert!(shared.beta_days().is_finite() && shared.alpha() > 0.0, "{shared:?}");
    }

    #[test]
    fn unchanged_never_raises_the_rate(
        prior in prior(), forgetting in forgetting(), days in interval_days(),
        looks in prop::collection::vec((interval_days(), outcome()), 0..20),
    ) {
        let filter = GammaFilter::new(prior, forgetting).unwrap();
        let mut state = after(&filter, &looks);
        let before = filter.change_rate_per_day(&state);
        filter.update(&mut state, days, LookOutcome::Unchanged);
        // What is forgotten falls back to the prior, and no further.
        let bound = match forgetting {
            None => before,
            Some(_) => before.max(prior.alpha() / prior.beta_days()),
        };
        prop_assert!(filter.change_rate_per_day(&state) <= bound * (1.0 + 1e-6));
    }

    #[test]
    fn crawl_value_grows_with_time_and_stays_below_half_the_rate_times_time_squared(
        alpha in (-5.0..9.0f64).prop_map(f64::exp), beta in (-5.0..9.0f64).prop_map(f64::exp),
        days in (-15.0..10.0f64).prop_map(f64::exp), theta in 0.0..=1.0f64,
    ) {
        let belief = Gamma::new(alpha, beta).unwrap();
        let value = belief.crawl_value(days, theta);
        prop_assert!(value <= 0.5 * belief.mean() * days * days * (1.0 + 1e-12));
        prop_assert!(belief.crawl_value(days * 1.001, theta) >= value * (1.0 - 1e-11));
        prop_assert!(value <= days);
    }

    #[test]
    fn a_quantile_is_where_its_share_of_the_belief_ends(
        alpha in (-3.0..8.0f64).prop_map(f64::exp), low in 0.001..0.5f64, high in 0.5..0.999f64,
    ) {
        let belief = Gamma::new(alpha, 3.0).unwrap();
        prop_assert!(belief.quantile(low) <= belief.quantile(high));
        prop_assert!(alpha < 1.0 || (belief.quantile(0.001) < belief.mean() && belief.mean() < belief.quantile(0.999)));
    }
}
