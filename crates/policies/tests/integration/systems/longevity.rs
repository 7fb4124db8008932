use super::*;
use literature::longevity::{
    DivergenceProfile, FragmentClass, LearnedDivergence, fragment_crawl_value, fragment_divergence,
};
use proptest::prelude::*;

const MEASURED: [(f64, f64); 5] = [(0.0, 0.0), (1.0, 0.3), (2.0, 0.4), (4.0, 0.45), (8.0, 0.46)];

#[test]
fn a_measured_profile_has_the_computed_crawl_values() {
    let profile = DivergenceProfile::new(&MEASURED).expect("well-formed");
    for (days, value) in [(1.0, 0.15), (2.0, 0.3), (4.0, 0.45), (6.0, 0.475), (8.0, 0.51)] {
        close(profile.crawl_value(days), value, 1e-9);
    }
    close(profile.divergence(6.0), 0.455, 1e-9);
    // Beyond what was measured nothing more is lost, and nothing more gained by waiting.
    close(profile.crawl_value(100.0), 0.51, 1e-9);
    assert_eq!(profile.crawl_value(-1.0), 0.0);
}

#[test]
fn content_that_comes_back_counts_as_lost() {
    let profile = DivergenceProfile::new(&[(1.0, 0.5), (2.0, 0.2)]).expect("well-formed");
    close(profile.divergence(2.0), 0.5, 1e-12);
}

#[test]
fn a_bad_point_is_named() {
    for points in [[(1.0, 0.1), (1.0, 0.2)], [(1.0, 0.1), (2.0, 1.2)], [(1.0, 0.1), (f64::NAN, 0.2)]] {
        let error = DivergenceProfile::new(&points).expect_err("must be refused").to_string();
        assert!(error.starts_with("point 1 of the profile is ("), "{error}");
    }
}

#[test]
fn a_page_of_one_class_is_worth_its_binary_value() {
    let class = FragmentClass { share: 0.25, belief: belief(0.3) };
    close(fragment_crawl_value(&[class, class], 2.0), 0.5 * belief(0.3).crawl_value_binary(2.0), 1e-12);
    close(fragment_divergence(&[class], 2.0), 0.25 * (1.0 - belief(0.3).fresh_probability(2.0)), 1e-12);
}

#[test]
fn learned_divergence_approaches_what_it_sees_and_forgets() {
    let mut learned = LearnedDivergence::default();
    assert_eq!(learned.profile().divergence(10.0), 0.0);
    learned.observe(1.1, 0.8);
    close(learned.profile().divergence(1.0), 0.8, 1e-6);
    for _ in 0..200 {
        learned.observe(0.9, 0.2);
        learned.observe(15.0, 0.6);
    }
    close(learned.profile().divergence(1.0), 0.2, 1e-3);
    close(learned.profile().divergence(16.0), 0.6, 1e-3);
    close(learned.profile().divergence(8.5), 0.4, 1e-3);
    let before = learned;
    learned.observe(f64::NAN, 0.5);
    learned.observe(1.0, 7.0);
    assert_eq!(learned, before);
}

proptest! {
    #[test]
    fn waiting_never_lowers_the_value(
        divergences in prop::collection::vec(0.0..1.0_f64, 1..8), a in 0.0..20.0_f64, b in 0.0..20.0_f64,
    ) {
        let points: Vec<(f64, f64)> = (1..).map(f64::from).zip(divergences).collect();
        let profile = DivergenceProfile::new(&points).expect("days increase");
        let (early, late) = (a.min(b), a.max(b));
        prop_assert!(profile.crawl_value(early) <= profile.crawl_value(late) + 1e-12);
        prop_assert!(profile.crawl_value(late) <= late);
    }
}
