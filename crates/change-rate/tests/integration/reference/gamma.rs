//! The Gamma belief and its filter against values computed elsewhere to 25 digits and more (B7).

use crate::reference::{LOOKS, close};
use chance::{Draws, Lcg};
use change_rate::{ChangeRateEstimator, Gamma, GammaFilter, GammaPrior, LookOutcome};

fn gamma(alpha: f64, beta_days: f64) -> Gamma {
    Gamma::new(alpha, beta_days).expect("both positive")
}

#[test]
fn one_look_moves_the_belief_as_computed() {
    let check = |(alpha, beta, interval): (f64, f64, f64), outcome, (alpha_after, beta_after)| {
        let after = gamma(alpha, beta).after(interval, outcome);
        close(after.alpha(), alpha_after, 1e-9);
        close(after.beta_days(), beta_after, 1e-9);
    };
    check((1.0, 1.0, 1.0), LookOutcome::Changed, (1.8, 1.2));
    check((0.5, 2.0, 0.5), LookOutcome::Changed, (1.48465930378, 2.20404441989));
    check((3.0, 10.0, 1.0), LookOutcome::Changed, (3.985021105, 10.4212180157));
    check((2.0, 4.0, 100.0), LookOutcome::Changed, (2.00824087074, 4.01076839618));
    check((1.2, 6.0, 2.0), LookOutcome::Unchanged, (1.2, 8.0));
    check((1.2, 6.0, 2.0), LookOutcome::ChangedAt { age_days: 0.5 }, (2.2, 6.5));
    check((1.2, 6.0, 2.0), LookOutcome::ChangedAt { age_days: 5.0 }, (2.2, 8.0));
    check((1.2, 6.0, 2.0), LookOutcome::ChangeCount(4), (5.2, 8.0));
    check((1.2, 6.0, 0.0), LookOutcome::Changed, (2.2, 6.0));
}

/// The first two moments of Gamma × (1 - clear e^(-rate I)), straight from their definition.
#[test]
fn a_shared_change_keeps_the_exact_mean_and_variance() {
    for (alpha, beta, days) in [(0.4, 100.0, 3.0), (2.0, 4.0, 100.0), (3.0, 10.0, 1.0), (0.05, 7.0, 0.5)] {
        for clear in [0.0, 0.1, 0.5, 0.9, 0.999] {
            let before = gamma(alpha, beta);
            let left = |shape: f64| 1.0 - clear * (beta / (beta + days)).powf(shape);
            let m1 = alpha / beta * left(alpha + 1.0) / left(alpha);
            let m2 = alpha * (alpha + 1.0) / (beta * beta) * left(alpha + 2.0) / left(alpha);
            let after = before.after_shared(days, true, clear);
            close(after.mean(), m1, 1e-11);
            close(after.mean() / after.beta_days(), m2 - m1 * m1, 1e-10);
            assert_eq!(before.after_shared(days, false, clear), before.after(days, LookOutcome::Unchanged));
        }
        assert_eq!(
            gamma(alpha, beta).after_shared(days, true, 1.0),
            gamma(alpha, beta).after(days, LookOutcome::Changed)
        );
        assert_eq!(gamma(alpha, beta).after_shared(days, true, 0.0), gamma(alpha, beta));
    }
}

#[test]
fn a_sequence_of_looks_ends_where_computed() {
    let after = LOOKS.iter().fold(gamma(1.0, 2.0), |belief, &(days, outcome)| belief.after(days, outcome));
    close(after.alpha(), 3.78158614269, 1e-9);
    close(after.beta_days(), 11.4731244769, 1e-9);
    close(after.mean(), 0.329603862514, 1e-9);
    // The exact posterior, for which the filter stands.
    close(after.mean(), 0.332297999106, 0.01);
}

/// Posterior mean by summing over rates from e^-20 to e^10 times the prior's, evenly in the logarithm.
fn exact_mean(prior: Gamma, looks: &[(f64, LookOutcome)]) -> f64 {
    let ln_density = |rate: f64| {
        let evidence = looks.iter().map(|&(days, outcome)| match outcome {
            LookOutcome::Changed => (-(-rate * days).exp_m1()).ln(),
            _ => -rate * days,
        });
        prior.alpha() * rate.ln() - prior.beta_days() * rate + evidence.sum::<f64>()
    };
    let rates = (0..6000).map(|step| (f64::from(step) / 200.0 - 20.0).exp() * prior.mean());
    let points: Vec<_> = rates.map(|rate| (rate, ln_density(rate))).collect();
    let peak = points.iter().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
    let moment = |power| points.iter().map(|&(rate, ln)| rate.powi(power) * (ln - peak).exp()).sum::<f64>();
    moment(1) / moment(0)
}

#[test]
fn the_filter_stays_close_to_the_exact_posterior() {
    let mut numbers = Lcg(5);
    let errors: Vec<f64> = (0..300)
        .map(|_| {
            let prior = gamma(0.3 + 3.0 * numbers.uniform(), (4.0 * numbers.uniform() - 1.0).exp());
            let rate = prior.mean() * (2.0 * numbers.uniform() - 1.0).exp();
            let looks: Vec<_> = (0..3 + (38.0 * numbers.uniform()) as usize)
                .map(|_| {
                    let days = prior.beta_days() * (3.0 * numbers.uniform() - 2.0).exp();
                    let changed = numbers.uniform() < -(-rate * days).exp_m1();
                    (days, if changed { LookOutcome::Changed } else { LookOutcome::Unchanged })
                })
                .collect();
            let filtered = looks.iter().fold(prior, |belief, &(days, outcome)| belief.after(days, outcome));
            (filtered.mean() / exact_mean(prior, &looks) - 1.0).abs()
        })
        .collect();
    let average = errors.iter().sum::<f64>() / errors.len() as f64;
    let worst = errors.iter().copied().fold(0.0, f64::max);
    assert!(average < 0.015 && worst < 0.13, "average {average}, worst {worst}");
}

#[test]
fn eight_bytes_per_page_are_precise_enough() {
    let filter = GammaFilter::new(GammaPrior::new(1.0, 2.0).unwrap(), None).unwrap();
    let mut state = Default::default();
    for (days, outcome) in LOOKS {
        filter.update(&mut state, days, outcome);
    }
    close(filter.posterior(&state).alpha(), 3.78158614269, 1e-6);
    close(filter.change_rate_per_day(&state), 0.329603862514, 1e-6);
}

#[test]
fn freshness_and_crawl_value_are_as_computed() {
    let check = |(alpha, beta, days): (f64, f64, f64), fresh, binary, mixed, fresh_days| {
        let belief = gamma(alpha, beta);
        close(belief.fresh_probability(days), fresh, 1e-9);
        close(belief.crawl_value_binary(days), binary, 1e-9);
        close(belief.crawl_value(days, 0.05), mixed, 1e-9);
        close(belief.fresh_days(days), fresh_days, 1e-9);
        close(belief.crawl_value_harmonic(days), days - fresh_days, 1e-8);
    };
    check((2.0, 4.0, 3.0), 0.326530612245, 0.734693877551, 0.762244897959, 1.71428571429);
    check((0.8, 4.0, 3.0), 0.639101094126, 0.451235012026, 0.460246346704, 2.3685382944);
    check((1.0, 4.0, 3.0), 0.571428571429, 0.524177437456, 0.536045407996, 2.23846315174);
    check((5.0, 10.0, 1.0), 0.620921323059, 0.171545038528, 0.173344468522, 0.792466361587);
    check((1.5, 10.0, 200.0), 0.0103913281065, 13.557376574, 22.0977256355, 15.6356421953);
}

#[test]
fn crawl_value_keeps_its_digits_soon_after_a_look_and_near_alpha_one() {
    // mpmath, 40 digits: A(t) - t S(t) and t - A(t).
    let check = |(alpha, beta, days): (f64, f64, f64), binary, harmonic| {
        close(gamma(alpha, beta).crawl_value_binary(days), binary, 1e-11);
        close(gamma(alpha, beta).crawl_value_harmonic(days), harmonic, 1e-11);
    };
    check((0.4, 100.0, 0.01), 1.99981335013181e-7, 1.999906672266286e-7);
    check((0.4, 100.0, 4.9), 0.04591661620535888, 0.04695318713277614);
    check((0.4, 100.0, 5.1), 0.04965248257073885, 0.05081854255013079);
    check((0.4, 100.0, 10000.0), 912.0417238618657, 7509.360631462233);
    check((1.0000001, 50.0, 30.0), 4.750181791285042, 6.499819089971743);
    check((0.9995, 50.0, 30.0), 4.748536169439107, 6.497057028753785);
    check((1.0, 50.0, 0.001), 9.999733339333206e-9, 9.999866668666635e-9);
    check((30.0, 10.0, 0.1), 0.01224145064715118, 0.01356625757413639);
    check((30.0, 10.0, 0.016), 0.0003715427998342597, 0.0003777316142042037);
    check((10000.0, 2000.0, 0.001), 2.491681442197015e-6, 2.495838121355487e-6);
    check((0.001, 3.0, 1000.0), 0.9777966738814922, 4.817484024215847);
}

#[test]
fn evidence_fades_by_1_over_e_in_the_forgetting_time() {
    let check = |interval: f64, tau: f64, kept: f64| {
        let filter = GammaFilter::new(GammaPrior::new(1.0, 2.0).unwrap(), Some(tau)).unwrap();
        let mut state = change_rate::GammaState { delta_alpha: 8.0, delta_beta_days: 16.0 };
        filter.update(&mut state, interval, LookOutcome::Unchanged);
        close(f64::from(state.delta_alpha), 8.0 * kept, 1e-6);
        close(f64::from(state.delta_beta_days), 16.0 * kept + interval, 1e-6);
    };
    check(10.0, 30.0, 0.716531310574);
    check(30.0, 30.0, 0.367879441171);
    check(1.0, 100.0, 0.990049833749);
    check(60.0, 30.0, 0.135335283237);
    check(0.0, 30.0, 1.0);
}

#[test]
fn a_belief_knows_its_range() {
    let belief = gamma(1.0, 20.0);
    close(belief.quantile(0.05), 0.051293294387550583 / 20.0, 1e-9);
    close(belief.quantile(0.95), 2.995732273553991 / 20.0, 1e-9);
    close(gamma(5.0, 2.0).quantile(0.95), 18.307038053275146 / 4.0, 1e-9);
    assert_eq!(gamma(0.4, 100.0).mode(), 0.0);
    close(gamma(3.0, 4.0).mode(), 0.5, 1e-15);
}

#[test]
fn the_running_system_starts_from_the_measured_prior() {
    let filter = GammaFilter::default();
    assert_eq!((filter.prior().alpha(), filter.prior().beta_days()), (0.4, 100.0));
    assert_eq!(filter.forgetting_days(), Some(1000.0));
}

#[test]
fn parameters_that_cannot_work_are_refused_by_name() {
    let refusal = |result: Result<GammaPrior, change_rate::InvalidParameter>| result.unwrap_err().to_string();
    assert_eq!(refusal(GammaPrior::new(0.0, 1.0)), "alpha is 0; it must be a positive, finite number");
    assert_eq!(refusal(GammaPrior::new(1.0, f64::NAN)), "beta_days is NaN; it must be a positive, finite number");
    assert!(GammaFilter::new(GammaPrior::default(), Some(-1.0)).is_err());
}
