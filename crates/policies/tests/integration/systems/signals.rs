use super::*;
use chance::{Draws, SplitMix64};
use literature::signals::{SignalCounts, SignalModel, SignalQuality, ValueTable, signal_counts};
use proptest::prelude::*;

fn model(rate: f64, recall: f64, lies: f64) -> SignalModel {
    SignalModel::new(rate, SignalQuality::from_rates(rate, recall, lies).expect("probabilities"))
}

#[test]
fn the_closed_forms_have_their_reference_values() {
    for (rate, recall, lies, iota, beta, psi, fresh, value) in [
        (1.0, 0.5, 0.2, 2.0, 2.50552593699, 1.07629005151, 0.757735038925, 0.361790056237),
        (1.0, 0.5, 1.0, 2.0, 0.810930216216, 1.00165335964, 0.667702438134, 0.29921475994),
        (0.3, 0.8, 0.05, 4.0, 29.2976319592, 2.36728903144, 2.15258010302, 0.290404595697),
        (2.0, 0.3, 0.5, 1.5, 0.563183828832, 0.992670899519, 0.44598828155, 0.324429348764),
        (0.1, 0.6, 0.4, 10.0, 3.49404855938, 4.24503420578, 3.5700490443, 0.724517520056),
    ] {
        let model = model(rate, recall, lies);
        let silent = model.silent_changes_per_day();
        close(model.stale_exponent(0.0, 1) / silent, beta, 1e-9);
        close(model.stale_exponent(iota, 2) / silent, iota + 2.0 * beta, 1e-9);
        let cycle = model.cycle(silent * iota);
        close(cycle.days, psi, 1e-9);
        close(cycle.fresh_days, fresh, 1e-9);
        close(model.crawl_value(silent * iota), value, 1e-9);
    }
}

#[test]
fn without_signals_the_value_is_that_of_plain_freshness() {
    let silent = SignalModel::new(0.5, SignalQuality::new(0.0, 0.0).expect("probabilities"));
    for days in [1e-6, 0.1, 2.0, 50.0] {
        close(silent.crawl_value(silent.stale_exponent(days, 0)), revisit::kernels::binary(0.5 * days) / 0.5, 1e-9);
    }
    assert_eq!(silent.stale_exponent(2.0, 7), 1.0, "a signal that is never true says nothing");
}

#[test]
fn a_signal_that_is_always_true_makes_a_page_certainly_stale() {
    let model = SignalModel::new(1.0, SignalQuality::new(1.0, 1.0).expect("probabilities"));
    assert_eq!(model.fresh_probability(100.0, 0), 1.0);
    assert_eq!(model.fresh_probability(0.0, 1), 0.0);
    // Worth a whole change interval: it is fetched at each change, and current until the next.
    close(model.crawl_value(f64::INFINITY), 1.0, 1e-12);
    assert_eq!(model.crawl_value(0.0), 0.0);
}

#[test]
fn a_page_that_never_changes_is_worth_nothing_and_bad_qualities_are_named() {
    let still = SignalModel::new(0.0, SignalQuality::new(0.5, 0.5).expect("probabilities"));
    assert_eq!((still.crawl_value(1.0), still.cycle(0.0).days), (0.0, f64::INFINITY));
    let error = SignalQuality::new(0.5, 1.5).expect_err("must be refused").to_string();
    assert_eq!(error, "precision is 1.5; it must lie in 0..=1");
    assert!(SignalQuality::new(f64::NAN, 0.5).is_err());
}

#[test]
fn weak_signals_act_like_passing_time() {
    // Thousands of them before the threshold: the sum is cut, and the value is that without signals.
    let weak = model(0.1, 0.05, 200.0);
    close(weak.crawl_value(1.5), revisit::kernels::binary(1.5) / 0.1, 1e-12);
    // Where the sum is still complete, it is near that.
    let weak = model(0.1, 0.05, 3.0);
    close(weak.crawl_value(1.5), revisit::kernels::binary(1.5) / 0.1, 2e-2);
}

#[test]
fn the_table_stays_within_one_percent() {
    // With a very high recall the value nearly has steps.
    let qualities =
        [(0.5, 0.2, 0.01), (0.8, 0.8, 0.01), (0.3, 0.9, 0.01), (0.1, 0.05, 0.01), (0.0, 0.0, 0.01), (0.95, 0.5, 0.03)];
    for (recall, precision, tolerance) in qualities {
        let quality = SignalQuality::new(recall, precision).expect("probabilities");
        let table = ValueTable::new(quality);
        for rate in [0.01, 2.0] {
            let exact = SignalModel::new(rate, quality);
            for exponent in (-120..=60).map(|tenth| f64::exp(f64::from(tenth) / 10.0)) {
                close(table.crawl_value(rate, exponent), exact.crawl_value(exponent), tolerance);
            }
        }
    }
    let table = ValueTable::new(SignalQuality::new(1.0, 1.0).expect("probabilities"));
    close(table.crawl_value(1.0, f64::INFINITY), 1.0, 0.02);
    assert_eq!((table.crawl_value(0.0, 1.0), table.crawl_value(1.0, f64::NAN)), (0.0, 0.0));
}

#[test]
fn signals_right_after_a_look_do_not_count() {
    assert!(!signal_counts(10.1, 10.0, 0.25));
    assert!(signal_counts(10.3, 10.0, 0.25));
}

#[test]
fn before_any_look_signals_are_trusted_a_little() {
    let quality = SignalCounts::default().quality(&SignalCounts::default());
    close(quality.recall(), 0.5, 1e-12);
    close(quality.precision(), 0.2, 1e-12);
}

#[test]
fn looks_reveal_recall_and_precision() {
    for (recall, precision) in [(0.8, 0.8), (0.3, 0.5), (0.6, 0.15)] {
        let mut chance = SplitMix64(7);
        let (mut counts, pool) = (SignalCounts::default(), SignalCounts::default());
        let (mut recalls, mut precisions) = (0.0, 0.0);
        for look in 0..40_000 {
            let rate = [0.05, 0.2, 0.6][look % 3];
            let interval_days = 0.5 + 4.0 * chance.uniform();
            let silent = chance.poisson((1.0 - recall) * rate * interval_days);
            let true_signals = chance.poisson(recall * rate * interval_days);
            let lies = chance.poisson(recall * rate * (1.0 - precision) / precision * interval_days);
            let quality = counts.quality(&pool);
            counts.observe(quality, rate, interval_days, true_signals + lies, silent + true_signals > 0);
            // The last thousand looks decide, so the estimate keeps wandering: its mean is what is asserted.
            if look >= 20_000 {
                recalls += quality.recall() / 20_000.0;
                precisions += quality.precision() / 20_000.0;
            }
        }
        assert!((recalls - recall).abs() < 0.03, "recall {recall}: {recalls}");
        assert!((precisions - precision).abs() < 0.03, "precision {precision}: {precisions}");
    }
}

#[test]
fn a_host_without_looks_is_believed_what_the_others_show() {
    let pool = SignalCounts { true_signals: 800.0, false_signals: 200.0, silent_changes: 800.0 };
    let quality = SignalCounts::default().quality(&pool);
    close(quality.precision(), 0.8, 2e-3);
    close(quality.recall(), 0.5, 1e-9);
    let own = SignalCounts { true_signals: 1.0, false_signals: 9.0, silent_changes: 0.0 };
    close(own.quality(&pool).precision(), (1.0 + 5.0 * 800.4 / 1002.0) / 15.0, 1e-9);
    assert_eq!(own.merged(&pool).true_signals, 801.0);
}

proptest! {
    #[test]
    fn value_rises_with_the_exponent_and_stays_below_a_change_interval(
        rate in 0.01..10.0_f64, recall in 0.0..=1.0_f64, precision in 0.05..=1.0_f64,
        a in -9.0..3.0_f64, more in 0.01..2.0_f64,
    ) {
        let model = SignalModel::new(rate, SignalQuality::new(recall, precision).expect("probabilities"));
        let (low, high) = (model.crawl_value(a.exp()), model.crawl_value((a + more).exp()));
        prop_assert!(low >= 0.0 && low <= high * (1.0 + 1e-6) + 1e-12, "{low} {high}");
        prop_assert!(high * rate <= 1.0 + 1e-9);
    }

    #[test]
    fn the_value_grows_by_cycle_length_times_loss(
        rate in 0.1..5.0_f64, recall in 0.0..0.9_f64, precision in 0.2..0.99_f64, exponent in 0.05..4.0_f64,
    ) {
        // V' = e^-σ ψ(σ): what a little more waiting adds.
        let model = SignalModel::new(rate, SignalQuality::new(recall, precision).expect("probabilities"));
        let step = 1e-5;
        let slope = (model.crawl_value(exponent + step) - model.crawl_value(exponent - step)) / (2.0 * step);
        let expected = (-exponent).exp() * model.cycle(exponent).days;
        prop_assert!((slope - expected).abs() <= 1e-3 * expected + 1e-6, "{slope}, expected {expected}");
    }

    #[test]
    fn counts_stay_usable_whatever_comes(
        looks in prop::collection::vec((0.0..1e3_f64, 0.0..1e4_f64, 0..1000_u32, any::<bool>()), 0..50),
    ) {
        let mut counts = SignalCounts::default();
        for (rate, interval_days, signals, changed) in looks {
            let quality = counts.quality(&SignalCounts::default());
            counts.observe(quality, rate, interval_days, signals, changed);
            let quality = counts.quality(&SignalCounts::default());
            prop_assert!((0.0..=1.0).contains(&quality.recall()) && (0.0..=1.0).contains(&quality.precision()));
            prop_assert!(quality.signal_exponent().is_finite());
        }
    }
}
