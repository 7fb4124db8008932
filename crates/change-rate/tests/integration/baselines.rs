//! The simple estimators against values computed elsewhere to 25 digits (B1, B2, B5, B10, B11).

use chance::{Draws, Lcg};
use change_rate::{
    ApproximationState, ChangeRateEstimator, CheckCounts, Forgetting, HalfCount, LastModified, LastModifiedState,
    LawOfLargeNumbers, LookOutcome, NaiveRatio, StochasticApproximation, best_forgetting_days, effective_looks,
};

fn close(got: f64, expected: f64, tolerance: f64) {
    assert!((got - expected).abs() <= tolerance * expected.abs(), "got {got}, expected {expected}");
}

fn counts(looks: u32, changed: u32) -> CheckCounts {
    let mut state = CheckCounts::default();
    for look in 0..looks {
        HalfCount.update(&mut state, 1.0, if look < changed { LookOutcome::Changed } else { LookOutcome::Unchanged });
    }
    state
}

#[test]
fn half_counts_give_the_published_rates() {
    let check = |looks, changed, rate: f64| {
        close(HalfCount.change_rate_per_day(&counts(looks, changed)), rate, 1e-9);
    };
    check(1, 0, 0.0);
    check(1, 1, 1.09861228867);
    check(10, 3, 0.336472236621);
    check(10, 10, 3.04452243772);
    check(50, 20, 0.504246652668);
    check(100, 99, 4.20469261939);
}

/// Expectation of an estimator after `looks` daily looks at a page that changes `rate` times a day.
fn expected_rate<E: ChangeRateEstimator<State = CheckCounts>>(estimator: &E, looks: u32, rate: f64) -> f64 {
    let changed = -(-rate).exp_m1();
    let mut ways = 1.0;
    (0..=looks)
        .map(|x| {
            let probability = ways * changed.powi(x as i32) * (1.0 - changed).powi((looks - x) as i32);
            ways *= f64::from(looks - x) / f64::from(x + 1);
            probability * estimator.change_rate_per_day(&counts(looks, x))
        })
        .sum()
}

#[test]
fn half_counts_are_nearly_unbiased() {
    let check = |looks, rate, expected: f64| close(expected_rate(&HalfCount, looks, rate), expected, 1e-9);
    check(5, 0.5, 0.503314539251);
    check(10, 0.5, 0.500832228435);
    check(10, 1.0, 1.00307976173);
    check(10, 2.0, 1.93923044853);
    check(50, 2.0, 2.00122014816);
}

/// The constant that makes the log ratio's bias start with slope zero, in place of the half it tends to.
#[test]
fn a_half_is_the_limit_of_the_unbiased_constant() {
    let exact = |n: f64| 1.0 - n + 1.0 / (1.0 / n).exp_m1();
    for (n, expected) in [
        (1.0, 0.581976706869),
        (2.0, 0.541494082537),
        (5.0, 0.516655566127),
        (10.0, 0.508331944775),
        (100.0, 0.500833331944),
    ] {
        close(exact(n), expected, 1e-9);
        close(exact(n), 0.5 + 1.0 / (12.0 * n), 0.003);
        // So with that constant the slope n ln((n + a) / (n - 1 + a)) is 1; with the half it is nearly.
        close(n * ((n + exact(n)) / (n - 1.0 + exact(n))).ln(), 1.0, 1e-12);
        close(n * ((n + 0.5) / (n - 0.5)).ln(), 1.0, 0.1 / (n * n));
    }
}

#[test]
fn the_naive_ratio_saturates_at_the_look_rate() {
    let check = |rate, expected: f64| close(expected_rate(&NaiveRatio, 10, rate), expected, 1e-9);
    check(0.1, 0.0951625819640);
    check(0.2, 0.181269246922);
    check(0.5, 0.393469340287);
    check(1.0, 0.632120558829);
    check(2.0, 0.864664716763);
}

#[test]
fn known_changes_all_count_for_the_naive_ratio() {
    let mut state = CheckCounts::default();
    NaiveRatio.update(&mut state, 4.0, LookOutcome::ChangeCount(10));
    assert_eq!(state, CheckCounts { looks: 1.0, changed_looks: 1.0, changes: 10.0, watched_days: 4.0 });
    assert_eq!(NaiveRatio.change_rate_per_day(&state), 2.5);
}

#[test]
fn known_ages_give_the_corrected_rate() {
    let check = |(looks, changed, exposure): (f64, f64, f64), corrected: f64, rate: f64| {
        close(LastModified::rate_per_day(looks, changed, exposure), rate, 1e-9);
        close(LastModified::rate_per_day(looks, changed, exposure) * exposure, corrected, 1e-9);
        let (looks, changed_looks, exposure_days) = (looks as f32, changed as f32, exposure as f32);
        let state = LastModifiedState { looks, changed_looks, exposure_days };
        close(LastModified.change_rate_per_day(&state), rate, 1e-9);
    };
    check((10.0, 4.0, 12.5), 3.78304607559, 0.302643686047);
    check((10.0, 1.0, 30.0), 0.949122158103, 0.0316374052701);
    check((5.0, 5.0, 2.0), 4.0, 2.0);
    check((20.0, 13.0, 9.25), 12.6191525067, 1.36423270343);
    check((10.0, 0.0, 40.0), 0.0, 0.0);
    assert_eq!(LastModified::rate_at_first_visit_per_day(4.0), 0.25);
}

#[test]
fn an_age_is_the_exposure_of_a_changed_look_and_the_interval_of_any_other() {
    let mut state = LastModifiedState::default();
    LastModified.update(&mut state, 4.0, LookOutcome::ChangedAt { age_days: 1.5 });
    LastModified.update(&mut state, 4.0, LookOutcome::ChangedAt { age_days: 9.0 });
    LastModified.update(&mut state, 3.0, LookOutcome::Unchanged);
    LastModified.update(&mut state, 2.0, LookOutcome::Changed);
    LastModified.update(&mut state, 2.0, LookOutcome::ChangeCount(3));
    assert_eq!(state, LastModifiedState { looks: 5.0, changed_looks: 4.0, exposure_days: 1.5 + 4.0 + 3.0 + 1.0 + 0.5 });
}

/// Exact expectation over all outcomes would need an integral; 20,000 pages will do.
#[test]
fn the_corrected_rate_is_nearly_unbiased() {
    let mut numbers = Lcg(11);
    for (looks, rate) in [(5, 0.5), (10, 1.0), (10, 2.0), (50, 0.1)] {
        let pages = 20_000;
        let sum: f64 = (0..pages)
            .map(|_| {
                let mut state = LastModifiedState::default();
                for _ in 0..looks {
                    let age_days = numbers.exponential() / rate;
                    let changed = age_days < 1.0;
                    let outcome = if changed { LookOutcome::ChangedAt { age_days } } else { LookOutcome::Unchanged };
                    LastModified.update(&mut state, 1.0, outcome);
                }
                LastModified.change_rate_per_day(&state)
            })
            .sum();
        close(sum / f64::from(pages), rate, 0.025);
    }
}

#[test]
fn estimators_for_looks_at_random_times_are_as_computed() {
    close(LawOfLargeNumbers::rate_per_day(6.0 / 12.4, 6.0, 3.0), 0.362903225806, 1e-9);
    for (changed, rate) in [(3, 0.375), (9, 4.5), (10, 10.0), (0, 0.0)] {
        close(LawOfLargeNumbers.change_rate_per_day(&counts(10, changed)), rate, 1e-12);
    }
    assert_eq!(StochasticApproximation::step(1.0, 2.0, 0.5, true), 2.0);
    assert_eq!(StochasticApproximation::step(1.0, 2.0, 0.5, false), 0.5);
}

#[test]
fn stochastic_approximation_takes_ever_smaller_steps() {
    let known = StochasticApproximation::new(1.0, Some(2.0), 0.0).unwrap();
    let mut state = ApproximationState::default();
    assert_eq!(known.change_rate_per_day(&state), 1.0);
    known.update(&mut state, 0.5, LookOutcome::Changed);
    close(known.change_rate_per_day(&state), 3.0, 1e-6);
    known.update(&mut state, 0.5, LookOutcome::Unchanged);
    let second = 3.0 * (1.0 - 2.0_f64.powf(-0.75));
    close(known.change_rate_per_day(&state), second, 1e-6);
    // The momentum goes on from the last step, here from 3 to the second.
    let pushed = StochasticApproximation::new(1.0, Some(2.0), 0.5).unwrap();
    let mut with_momentum = state;
    pushed.update(&mut with_momentum, 0.5, LookOutcome::Changed);
    let third = second + 2.0 * 3.0_f64.powf(-0.75);
    close(pushed.change_rate_per_day(&with_momentum), third + 0.5 * (second - 3.0), 1e-6);
    assert!(StochasticApproximation::new(1.0, None, 1.0).is_err());
    assert!(StochasticApproximation::new(0.0, None, 0.0).is_err());
}

/// Both go to p (e^r - 1) on regular looks: right on Poisson looks, far off on regular ones.
#[test]
fn regular_looks_mislead_the_estimators_for_random_ones() {
    let mut numbers = Lcg(3);
    let mut regular = CheckCounts::default();
    let mut random = CheckCounts::default();
    for _ in 0..200_000 {
        let changed = |days: f64, at: f64| {
            if at < -(-2.0 * days).exp_m1() { LookOutcome::Changed } else { LookOutcome::Unchanged }
        };
        LawOfLargeNumbers.update(&mut regular, 1.0, changed(1.0, numbers.uniform()));
        let days = numbers.exponential();
        LawOfLargeNumbers.update(&mut random, days, changed(days, numbers.uniform()));
    }
    close(LawOfLargeNumbers.change_rate_per_day(&regular), 2.0_f64.exp_m1(), 0.02);
    close(LawOfLargeNumbers.change_rate_per_day(&random), 2.0, 0.02);
}

#[test]
fn the_best_forgetting_time_is_as_computed() {
    for (rate, drift, days) in
        [(0.1, 0.1, 31.6227766017), (1.0, 0.1, 10.0), (1.0, 0.05, 20.0), (0.01, 0.02, 500.0), (5.0, 0.2, 2.2360679775)]
    {
        close(best_forgetting_days(rate, drift), days, 1e-9);
    }
    close(effective_looks(0.9), 10.0, 1e-12);
}

#[test]
fn a_forgetting_estimator_counts_what_is_left() {
    let forgetting = Forgetting::new(HalfCount, 10.0).unwrap();
    let mut state = CheckCounts::default();
    for _ in 0..400 {
        forgetting.update(&mut state, 1.0, LookOutcome::Changed);
    }
    let kept = (-0.1_f64).exp();
    close(f64::from(state.looks), effective_looks(kept), 1e-5);
    close(f64::from(state.watched_days), effective_looks(kept), 1e-5);
    assert!(Forgetting::new(HalfCount, f64::NAN).is_err());
}
