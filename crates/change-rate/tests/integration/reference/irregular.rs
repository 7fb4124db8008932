//! Maximum likelihood, moment matching and rate classes against values computed elsewhere to 30 digits (B3, B4, B6).

use crate::reference::{LOOKS, close};
use chance::{Draws, Lcg};
use change_rate::{
    ChangeRateEstimator, CheckCounts, ClassState, Gamma, GammaPrior, HalfCount, InvalidClasses, LikelihoodState,
    LookOutcome, MaximumLikelihood, MomentMatching, MomentState, NaiveRatio, RateClasses, Regularisation,
};

fn likelihood(regularisation: Regularisation) -> MaximumLikelihood {
    MaximumLikelihood::new(regularisation).expect("usable")
}

fn with_prior(alpha: f64, beta_days: f64) -> MaximumLikelihood {
    likelihood(Regularisation::Prior(GammaPrior::new(alpha, beta_days).expect("both positive")))
}

#[test]
fn the_likeliest_rates_are_as_computed() {
    let plain = likelihood(Regularisation::None);
    close(plain.rate_of_looks(&LOOKS), 0.296734425252, 1e-9);
    // The naive ratio of the same looks: three changes in 12.4 days, counted in numbers of 7 digits.
    let mut counts = CheckCounts::default();
    LOOKS.iter().for_each(|&(interval_days, outcome)| counts.add(interval_days, outcome));
    close(NaiveRatio.change_rate_per_day(&counts), 0.241935483871, 1e-7);
    close(plain.standard_error_of_looks(&LOOKS, 0.296734425252), 0.172927277697, 1e-9);
    close(likelihood(Regularisation::HalfInterval).rate_of_looks(&LOOKS), 0.268792199786, 1e-9);
    close(likelihood(Regularisation::PseudoLooks { days: 0.5 }).rate_of_looks(&LOOKS), 0.370153503217, 1e-9);
    close(with_prior(2.0, 2.0).rate_of_looks(&LOOKS), 0.330891037872, 1e-9);
    close(with_prior(1.0, 12.4 / 12.0).rate_of_looks(&LOOKS), 0.268792199786, 1e-9);
    let regular: Vec<_> =
        (0..10).map(|look| (1.0, if look < 4 { LookOutcome::Changed } else { LookOutcome::Unchanged })).collect();
    close(plain.rate_of_looks(&regular), 0.510825623766, 1e-9);
    assert_eq!(plain.rate_of_looks(&regular[4..]), 0.0);
    assert_eq!(plain.rate_of_looks(&regular[..4]), f64::INFINITY);
    assert_eq!(plain.standard_error_of_looks(&regular[4..], 0.0), f64::INFINITY);
    close(likelihood(Regularisation::PseudoLooks { days: 0.5 }).rate_of_looks(&[]), 2.0_f64.ln() / 0.5, 1e-9);
}

#[test]
fn moments_match_as_computed() {
    close(MomentMatching { half_counts: false }.rate_of_looks(&LOOKS), 0.381967147157, 1e-9);
    assert_eq!(MomentMatching { half_counts: false }.rate_of_looks(&[(1.0, LookOutcome::Changed)]), f64::INFINITY);
    assert_eq!(MomentMatching { half_counts: true }.rate_of_looks(&[(1.0, LookOutcome::Unchanged)]), 0.0);
}

#[test]
fn for_regular_looks_all_are_the_half_count() {
    for (looks, changed) in [(1, 1), (10, 3), (10, 10), (50, 20), (100, 99)] {
        let history: Vec<_> = (0..looks)
            .map(|look| (2.0, if look < changed { LookOutcome::Changed } else { LookOutcome::Unchanged }))
            .collect();
        let mut counts = change_rate::CheckCounts::default();
        let (mut likelihood_state, mut moment_state) = (LikelihoodState::default(), MomentState::default());
        for &(days, outcome) in &history {
            HalfCount.update(&mut counts, days, outcome);
            MaximumLikelihood::HALF_INTERVAL.update(&mut likelihood_state, days, outcome);
            MomentMatching::default().update(&mut moment_state, days, outcome);
        }
        let expected = HalfCount.change_rate_per_day(&counts);
        close(MaximumLikelihood::HALF_INTERVAL.rate_of_looks(&history), expected, 1e-13);
        close(MomentMatching { half_counts: true }.rate_of_looks(&history), expected, 1e-13);
        close(MaximumLikelihood::HALF_INTERVAL.change_rate_per_day(&likelihood_state), expected, 1e-13);
        close(MomentMatching { half_counts: true }.change_rate_per_day(&moment_state), expected, 1e-13);
    }
}

#[test]
fn known_times_and_counts_enter_the_likelihood_exactly() {
    let plain = likelihood(Regularisation::None);
    // All times known: changes by days without one.
    let known = [
        (4.0, LookOutcome::ChangedAt { age_days: 1.5 }),
        (3.0, LookOutcome::Unchanged),
        (2.0, LookOutcome::ChangeCount(5)),
    ];
    close(plain.rate_of_looks(&known), 6.0 / 6.5, 1e-14);
    close(plain.standard_error_of_looks(&known, 6.0 / 6.5), 6.0_f64.sqrt() / 6.5, 1e-14);
    // A changed look beside them: the slope of the likelihood vanishes at the solution.
    let mixed: Vec<_> = known.into_iter().chain([(2.5, LookOutcome::Changed)]).collect();
    let rate = plain.rate_of_looks(&mixed);
    close(2.5 / (2.5 * rate).exp_m1() + 6.0 / rate, 6.5, 1e-12);
}

#[test]
fn without_regularisation_a_rate_is_at_most_ten_changes_a_look() {
    let (plain, moments) = (likelihood(Regularisation::None), MomentMatching { half_counts: false });
    let (mut state, mut moment_state) = (LikelihoodState::default(), MomentState::default());
    for _ in 0..5 {
        plain.update(&mut state, 2.0, LookOutcome::Changed);
        moments.update(&mut moment_state, 2.0, LookOutcome::Changed);
    }
    assert_eq!((plain.change_rate_per_day(&state), moments.change_rate_per_day(&moment_state)), (5.0, 5.0));
}

#[test]
fn a_histogram_of_intervals_is_nearly_as_good_as_a_list() {
    let mut numbers = Lcg(5);
    let (mut worst, mut sum) = (0.0_f64, 0.0);
    for _ in 0..300 {
        let rate = (3.0 * numbers.uniform() - 2.0).exp();
        let looks: Vec<_> = (0..3 + (40.0 * numbers.uniform()) as usize)
            .map(|_| {
                let days = (5.0 * numbers.uniform() - 3.0).exp();
                (
                    days,
                    if numbers.uniform() < -(-rate * days).exp_m1() {
                        LookOutcome::Changed
                    } else {
                        LookOutcome::Unchanged
                    },
                )
            })
            .collect();
        let (mut likelihood_state, mut moment_state) = (LikelihoodState::default(), MomentState::default());
        for &(days, outcome) in &looks {
            MaximumLikelihood::HALF_INTERVAL.update(&mut likelihood_state, days, outcome);
            MomentMatching::default().update(&mut moment_state, days, outcome);
        }
        for (exact, kept) in [
            (
                MaximumLikelihood::HALF_INTERVAL.rate_of_looks(&looks),
                MaximumLikelihood::HALF_INTERVAL.change_rate_per_day(&likelihood_state),
            ),
            (
                MomentMatching::default().rate_of_looks(&looks),
                MomentMatching::default().change_rate_per_day(&moment_state),
            ),
        ] {
            let error = if exact > 0.0 { (kept / exact - 1.0).abs() } else { kept };
            worst = worst.max(error);
            sum += error / 600.0;
        }
    }
    assert!(worst < 0.06 && sum < 0.01, "worst {worst}, average {sum}");
}

fn class_probabilities(classes: &RateClasses, looks: &[(f64, bool)]) -> Vec<f64> {
    let looks: Vec<_> = looks
        .iter()
        .map(|&(days, changed)| (days, if changed { LookOutcome::Changed } else { LookOutcome::Unchanged }))
        .collect();
    let exact = classes.probabilities_after(&looks);
    let mut state = ClassState::default();
    looks.iter().for_each(|&(days, outcome)| classes.update(&mut state, days, outcome));
    for (kept, exact) in classes.probabilities(&state).into_iter().zip(&exact) {
        close(kept, *exact, 1e-6);
    }
    exact
}

#[test]
fn class_probabilities_are_as_computed() {
    let two = RateClasses::new(&[(1.0 / 30.0, 0.5), (1.0 / 7.0, 0.5)]).unwrap();
    for (looks, weekly) in [
        (&[(5.0, true)][..], 0.768789635789),
        (&[(5.0, true), (5.0, true)], 0.917054171996),
        (&[(5.0, true), (5.0, false)], 0.657882109855),
        (&[(5.0, false), (5.0, false), (5.0, false)], 0.162076665507),
        (&[(1.0, true), (10.0, true), (3.0, false)], 0.886897368088),
    ] {
        close(class_probabilities(&two, looks)[1], weekly, 1e-9);
    }
    close(class_probabilities(&two, &[(5.0, true)])[0], 0.231210364211, 1e-9);

    let rates = [1.0 / 365.0, 1.0 / 120.0, 1.0 / 30.0, 1.0 / 7.0, 1.0];
    let five = RateClasses::new(&rates.map(|rate| (rate, 0.2))).unwrap();
    let got = class_probabilities(&five, &[(2.0, true), (4.0, false), (8.0, true)]);
    let expected = [0.000931589412499, 0.00819710575393, 0.105037716711, 0.759966037403, 0.125867550719];
    got.iter().zip(expected).for_each(|(got, expected)| close(*got, expected, 1e-9));
    close(got.iter().zip(rates).map(|(p, rate)| p * rate).sum(), 0.238006246229, 1e-9);
}

#[test]
fn known_times_and_counts_enter_the_class_weights() {
    let two = RateClasses::new(&[(0.1, 0.5), (1.0, 0.5)]).unwrap();
    let ratio = |outcome| {
        let probabilities = two.probabilities_after(&[(3.0, outcome)]);
        probabilities[1] / probabilities[0]
    };
    close(ratio(LookOutcome::ChangedAt { age_days: 2.0 }), 10.0 * (-2.0 * 0.9_f64).exp(), 1e-12);
    close(ratio(LookOutcome::ChangeCount(4)), 1e4 * (-3.0 * 0.9_f64).exp(), 1e-12);
    close(ratio(LookOutcome::ChangeCount(0)), ratio(LookOutcome::Unchanged), 1e-12);
}

#[test]
fn classes_value_a_fetch_as_the_average_over_their_rates() {
    let two = RateClasses::new(&[(0.001, 0.25), (0.5, 0.75)]).unwrap();
    let state = ClassState::default();
    let average = |of: &dyn Fn(f64) -> f64| 0.25 * of(0.001) + 0.75 * of(0.5);
    for days in [0.5, 3.0, 40.0] {
        let fresh = |rate: f64| (-rate * days).exp();
        let fresh_days = |rate: f64| -(-rate * days).exp_m1() / rate;
        close(two.fresh_probability(&state, days), average(&fresh), 1e-12);
        close(two.fresh_days(&state, days), average(&fresh_days), 1e-12);
        let (binary, harmonic) = (average(&|l| fresh_days(l) - days * fresh(l)), average(&|l| days - fresh_days(l)));
        close(two.crawl_value(&state, days, 0.0), binary, 1e-9);
        close(two.crawl_value(&state, days, 1.0), harmonic, 1e-9);
        close(two.crawl_value(&state, days, 0.05), 0.95 * binary + 0.05 * harmonic, 1e-9);
    }
    // Soon after a look: half the rate times the time squared, where differences would have lost all digits.
    close(two.crawl_value(&state, 1e-9, 0.0), 0.5 * (0.25 * 0.001 + 0.75 * 0.5) * 1e-18, 1e-8);
}

/// The value of one class is that of an exponential; a sharp Gamma belief has nearly the same.
#[test]
fn many_classes_follow_a_gamma_belief() {
    let prior = Gamma::new(0.4, 100.0).unwrap();
    let classes = RateClasses::log_spaced(250, 1e-9, 1.0, Some(prior)).unwrap();
    let looks = [(10.0, LookOutcome::Changed), (30.0, LookOutcome::Unchanged), (5.0, LookOutcome::Changed)];
    let mut state = ClassState::default();
    looks.iter().for_each(|&(days, outcome)| classes.update(&mut state, days, outcome));
    let filtered = looks.iter().fold(prior, |belief, &(days, outcome)| belief.after(days, outcome));
    close(classes.change_rate_per_day(&ClassState::default()), 0.004, 3e-3);
    close(classes.change_rate_per_day(&state), filtered.mean(), 0.02);
    close(classes.as_gamma(&state).mean(), classes.change_rate_per_day(&state), 1e-12);
    close(classes.as_gamma(&state).alpha(), filtered.alpha(), 0.05);
    close(classes.crawl_value(&state, 20.0, 0.05), filtered.crawl_value(20.0, 0.05), 0.02);
}

#[test]
fn merged_class_weights_are_those_of_all_looks() {
    let classes = RateClasses::log_spaced(12, 0.003, 3.0, Some(Gamma::new(0.4, 10.0).unwrap())).unwrap();
    let of = |looks: &[(f64, LookOutcome)]| {
        let mut state = ClassState::default();
        looks.iter().for_each(|&(days, outcome)| classes.update(&mut state, days, outcome));
        state
    };
    for split in 0..=LOOKS.len() {
        let mut merged = of(&LOOKS[..split]);
        classes.merge(&mut merged, &of(&LOOKS[split..]));
        for (merged, union) in classes.probabilities(&merged).into_iter().zip(classes.probabilities_after(&LOOKS)) {
            close(merged, union, 1e-5);
        }
    }
}

#[test]
fn faded_class_weights_go_back_to_the_prior() {
    let two = RateClasses::new(&[(0.1, 0.25), (1.0, 0.75)]).unwrap();
    let mut state = ClassState::default();
    two.update(&mut state, 3.0, LookOutcome::Unchanged);
    let odds = |state: &ClassState| {
        let probabilities = two.probabilities(state);
        probabilities[1] / probabilities[0]
    };
    close(odds(&state), 3.0 * (-2.7_f64).exp(), 1e-6);
    two.fade(&mut state, 0.5);
    close(odds(&state), 3.0 * (-1.35_f64).exp(), 1e-6);
    two.fade(&mut state, 0.0);
    close(odds(&state), 3.0, 1e-6);
}

#[test]
fn a_class_ruled_out_can_come_back() {
    let two = RateClasses::new(&[(1e-4, 0.5), (100.0, 0.5)]).unwrap();
    let mut state = ClassState::default();
    two.update(&mut state, 1e4, LookOutcome::Unchanged);
    assert!(two.change_rate_per_day(&state) < 1.001e-4);
    for _ in 0..20 {
        two.update(&mut state, 0.01, LookOutcome::Changed);
    }
    assert!(two.change_rate_per_day(&state) > 99.0);
}

#[test]
fn classes_that_cannot_work_are_refused() {
    assert_eq!(RateClasses::new(&[]).unwrap_err(), InvalidClasses::Count(0));
    assert_eq!(
        RateClasses::new(&[(1.0, 0.5), (1.0, 0.5)]).unwrap_err(),
        InvalidClasses::Rate { index: 1, rate_per_day: 1.0 }
    );
    let negative = RateClasses::new(&[(-1.0, 0.5)]).unwrap_err().to_string();
    assert!(negative.contains("rate class 0 is -1 a day"), "{negative}");
    assert!(matches!(RateClasses::new(&[(1.0, f64::NAN)]), Err(InvalidClasses::Probability { index: 0, .. })));
    assert!(RateClasses::log_spaced(32, 0.0, 1.0, None).is_err());
    assert!(RateClasses::log_spaced(300, 0.1, 1.0, None).is_err());
    assert_eq!(RateClasses::log_spaced(3, 0.1, 10.0, None).unwrap().rates_per_day().len(), 3);
}

#[test]
fn regularisations_that_cannot_work_are_refused() {
    let below_one = Regularisation::Prior(GammaPrior::new(0.4, 100.0).unwrap());
    let message = MaximumLikelihood::new(below_one).unwrap_err().to_string();
    assert_eq!(message, "alpha is 0.4; it must be at least 1; otherwise the most likely rate is 0");
    assert!(MaximumLikelihood::new(Regularisation::PseudoLooks { days: 0.0 }).is_err());
}
