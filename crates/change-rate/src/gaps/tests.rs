use super::*;
use proptest::prelude::*;

fn weibull(shape: f64) -> GapDistribution {
    GapDistribution::weibull(shape).expect("a good shape")
}

fn gamma(shape: f64) -> GapDistribution {
    GapDistribution::gamma(shape).expect("a good shape")
}

/// Simpson's rule, in the variable u of v = u^4, which smooths a pole of the hazard at 0.
fn integral(from: f64, to: f64, of: impl Fn(f64) -> f64) -> f64 {
    const STEPS: u32 = 4_000;
    let (low, high) = (from.powf(0.25), to.powf(0.25));
    let step = (high - low) / f64::from(STEPS);
    let at = |i: u32| {
        let u = low + step * f64::from(i);
        4.0 * u.powi(3) * of(u.powi(4))
    };
    let inner: f64 = (1..STEPS).map(|i| if i % 2 == 1 { 4.0 * at(i) } else { 2.0 * at(i) }).sum();
    step / 3.0 * (at(0) + inner + at(STEPS))
}

#[test]
fn closed_forms_agree_with_quadrature_of_the_survival_function() {
    for gaps in [weibull(0.5), weibull(0.8), weibull(2.0), weibull(4.0), gamma(0.5), gamma(2.5), gamma(9.0)] {
        // Gaps of mean 1.
        assert!((integral(0.0, 400.0, |v| gaps.survival(v)) - 1.0).abs() < 1e-7, "{gaps:?}");
        assert!((integral(0.0, 2_000.0, |v| v * gaps.survival(v)) - gaps.highest_value()).abs() < 1e-6, "{gaps:?}");
        for x in [0.02, 0.3, 1.0, 2.2] {
            let left = 1.0 - integral(0.0, x, |v| gaps.survival(v));
            assert!((gaps.fresh_probability(x) - left).abs() < 1e-9, "{gaps:?} {x}");
            let value = integral(0.0, x, |v| v * gaps.survival(v));
            assert!((gaps.look_value(x) - value).abs() < 1e-9, "{gaps:?} {x}");
            let fresh = integral(0.0, x, |v| gaps.fresh_probability(v));
            assert!((gaps.fresh_time(x) - fresh).abs() < 1e-8, "{gaps:?} {x}");
            let fresh = integral(0.0, x, |v| gaps.residual_survival(0.7, v));
            assert!((gaps.fresh_time_at(0.7, x) - fresh).abs() < 1e-8, "{gaps:?} {x}");
        }
    }
}

#[test]
fn shape_1_of_either_family_is_exponential() {
    for gaps in [weibull(1.0), gamma(1.0), GapDistribution::EXPONENTIAL] {
        for x in [1e-4, 0.1, 1.0, 3.0, 9.0] {
            for (ours, exact) in [
                (gaps.survival(x), (-x).exp()),
                (gaps.fresh_probability(x), (-x).exp()),
                (gaps.residual_survival(0.4, x), (-x).exp()),
                (gaps.fresh_time(x), -(-x).exp_m1()),
                (gaps.fresh_time_at(2.0, x), -(-x).exp_m1()),
                (gaps.look_value(x), regularised_lower_gamma(2.0, x)),
            ] {
                assert!((ours - exact).abs() <= 1e-12 * (1.0 + exact), "{gaps:?} {x}: {ours} {exact}");
            }
        }
    }
}

#[test]
fn whole_numbers_of_looks_are_as_computed_for_poisson() {
    // C11 of the algorithm notes, λT = 2.
    let reference = [0.567_667_641_618, 0.367_879_441_171, 0.270_125_678_549, 0.213_061_319_425, 0.175_800_115_089];
    for (looks, expected) in (0..).zip(reference) {
        assert!((GapDistribution::EXPONENTIAL.staleness(2.0, looks) - expected).abs() < 1e-12);
    }
}

#[test]
fn gaps_all_alike_are_missed_for_half_a_gap_less_half_an_interval() {
    // A copy of a page that changes after exactly 1 is current for x with probability 1 - x.
    let regular = weibull(100.0);
    assert!((regular.fresh_probability(0.3) - 0.7).abs() < 1e-3);
    assert!((regular.average_freshness(0.5) - 0.75).abs() < 1e-3);
    assert!((regular.highest_value() - 0.5).abs() < 1e-3);
}

#[test]
fn shapes_that_mean_nothing_are_refused() {
    for shape in [0.0, -1.0, 101.0, f64::NAN] {
        assert!(GapDistribution::weibull(shape).is_err() && GapDistribution::gamma(shape).is_err());
    }
    assert!(GapDistribution::gamma(0.0).unwrap_err().to_string().contains("0.1 to 100"));
}

proptest! {
    #[test]
    fn a_look_is_worth_more_the_later_it_is_and_the_time_of_a_value_is_found(
        shape in 0.3..8.0, x in 1e-3..20.0, is_gamma: bool,
    ) {
        let gaps = if is_gamma { gamma(shape) } else { weibull(shape) };
        let (value, later) = (gaps.look_value(x), gaps.look_value(1.1 * x));
        prop_assert!(value <= later * (1.0 + 1e-12) && later <= gaps.highest_value() * (1.0 + 1e-12));
        if value < gaps.highest_value() * (1.0 - 1e-6) {
            let found = gaps.time_of_value(value);
            prop_assert!((gaps.look_value(found) - value).abs() <= 1e-12 * (1.0 + value), "{found} for {x}");
        }
        prop_assert_eq!(gaps.time_of_value(gaps.highest_value()), f64::INFINITY);
        let (fresh, probability) = (gaps.fresh_time(x), gaps.fresh_probability(x));
        prop_assert!((0.0..=1.0).contains(&probability) && fresh <= x && fresh <= gaps.highest_value() * (1.0 + 1e-12));
    }
}
