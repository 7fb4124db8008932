use super::*;
use policies::webfountain::{
    Bucket, Cohort, NewPages, Period, SolveError, WebFountain, WebFountainModel, WebFountainOptions,
};
use revisit::allocate::{self, PageTerms};

fn model(capacity: f64, weights: [f64; 8]) -> WebFountainModel {
    let buckets = [(0.05, 40.0), (0.2, 30.0), (0.5, 20.0), (1.0, 15.0), (3.0, 10.0)].map(|(rate, pages)| Bucket {
        change_rate_per_period: rate,
        weight: 1.0,
        cost: 1.0,
        cohorts: vec![Cohort { age_periods: 0.0, pages }],
    });
    let periods = weights.map(|weight| Period { capacity, weight, arrivals: 0.0 });
    WebFountainModel { buckets: buckets.to_vec(), periods: periods.to_vec(), new_pages: None }
}

#[test]
fn the_reference_models_have_their_objectives() {
    let equal = model(20.0, [1.0; 8]);
    let best = equal.solve().expect("feasible");
    close(best.objective, 289.5640525801, 1e-9);
    for period in 0..8 {
        let fetched: f64 = best.fetches.iter().map(|bucket| bucket[period]).sum();
        assert!(fetched <= 20.0 + 1e-6, "period {period}: {fetched}");
    }
    close(equal.myopic().expect("valid").objective, 314.859538, 1e-8);
    close(model(0.0, [1.0; 8]).solve().expect("feasible").objective, 515.136044, 1e-8);
    close(model(0.0, [1.0; 8]).myopic().expect("valid").objective, 515.136044, 1e-8);
}

#[test]
fn weight_on_the_last_period_drives_a_sprint() {
    let best = model(20.0, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 20.0]).solve().expect("feasible");
    close(best.objective, 905.8855168018, 1e-9);
    let last: Vec<f64> = best.fetches.iter().map(|bucket| bucket[7]).collect();
    for (fetched, expected) in last.iter().zip([0.0, 0.0, 0.0, 10.0, 10.0]) {
        assert!((fetched - expected).abs() < 1e-6, "{last:?}");
    }
}

#[test]
fn new_pages_are_fetched_when_that_saves_more() {
    // One page a period can be fetched. A new page costs 1 a period; the known one is obsolete half of the time.
    let known = Bucket {
        change_rate_per_period: std::f64::consts::LN_2,
        weight: 1.0,
        cost: 1.0,
        cohorts: vec![Cohort { age_periods: 0.0, pages: 1.0 }],
    };
    let period = |arrivals| Period { capacity: 1.0, weight: 1.0, arrivals };
    let model = WebFountainModel {
        buckets: vec![known],
        periods: vec![period(0.0), period(1.0)],
        new_pages: Some(NewPages { waiting: 1.0, weight: 1.0, cost: 1.0, bucket: 0 }),
    };
    let best = model.solve().expect("feasible");
    assert!(best.new_fetches.iter().all(|fetched| (fetched - 1.0).abs() < 1e-7), "{best:?}");
    // The known page is obsolete with 1/2, then 3/4; the first new one with 1/2 in the second period.
    close(best.objective, 1.75, 1e-9);
    close(model.myopic().expect("valid").objective, 1.75, 1e-9);
}

#[test]
fn bad_numbers_are_named() {
    let mut bad = model(20.0, [1.0; 8]);
    bad.buckets[2].change_rate_per_period = f64::NAN;
    let error = bad.solve().expect_err("must be refused");
    assert!(error.to_string().starts_with("a bucket's change rate is NaN"), "{error}");
    bad = model(20.0, [1.0; 8]);
    bad.new_pages = Some(NewPages { waiting: 1.0, weight: 1.0, cost: 1.0, bucket: 5 });
    assert_eq!(bad.solve(), Err(SolveError::NoSuchBucket { bucket: 5, buckets: 5 }));
}

/// Expected freshness over 40 days of 400 pages that change 0.01 to 27 times a day, with `fetches` four times a day.
fn freshness_of(policy: &mut dyn RevisitPolicy, fetches: usize) -> f64 {
    let rate = |index: usize| 0.01 * 1.02_f64.powi(index as i32);
    for index in 0..400 {
        policy.insert(slot(index), &page(rate(index as usize)), 0.0);
    }
    let fresh_days = |index: usize, days: f64| -(-rate(index) * days).exp_m1() / rate(index);
    let (mut last_days, mut fresh) = ([0.0; 400], 0.0);
    for quarter in 1..=160 {
        let now_days = 0.25 * f64::from(quarter);
        policy.begin(&tick(now_days, 0.25, 4.0 * fetches as f64));
        let offered = offers(policy, now_days, fetches);
        assert_eq!(offered.len(), fetches, "the budget is spent on day {now_days}");
        for index in offered {
            fresh += fresh_days(index, now_days - last_days[index]);
            last_days[index] = now_days;
            policy.looked(slot(index as u32), &look(now_days, Some(LookOutcome::Unchanged), rate(index)));
        }
    }
    (fresh + (0..400).map(|index| fresh_days(index, 40.0 - last_days[index])).sum::<f64>()) / 400.0 / 40.0
}

#[test]
fn its_plan_closes_most_of_the_gap_from_uniform_to_the_optimum() {
    let pages: Vec<PageTerms> = (0..400).map(|index| PageTerms::new(0.01 * 1.02_f64.powi(index))).collect();
    for (fetches, least_share) in [(10, 0.9), (25, 0.8)] {
        let per_day = 4.0 * fetches as f64;
        let optimal = allocate::freshness(&pages, &allocate::optimal(&pages, per_day, 0.0).fetch_rates_per_day);
        let uniform = allocate::freshness(&pages, &[per_day / 400.0; 400]);
        let got = freshness_of(&mut WebFountain::new(WebFountainOptions::default()), fetches);
        assert!(got > uniform + least_share * (optimal - uniform), "{got}, uniform {uniform}, optimal {optimal}");
    }
}

/// Fetches of known pages among the first 400, beside 1,480 new pages, where 40 known pages change this often and were fetched so
/// long ago.
fn known_fetches(change_rate_per_day: f64, age_days: f64, new_page_cost: f64) -> usize {
    let mut policy = WebFountain::new(WebFountainOptions { new_page_cost, ..WebFountainOptions::default() });
    for index in 0..1_520 {
        let known = index < 40;
        let page = if known { page(change_rate_per_day) } else { new_page(0.1) };
        policy.insert(slot(index), &page, 0.0);
    }
    let mut known = 0;
    for fetch in 0..400 {
        let now_days = age_days + f64::from(fetch) / 40.0;
        policy.begin(&PolicyTick { now_days, days: 1.0 / 40.0, budget_per_day: 40.0 });
        let chosen = policy.next(now_days).expect("the budget is spent");
        known += usize::from(chosen.index() < 40);
        let rate = if chosen.index() < 40 { change_rate_per_day } else { 0.1 };
        policy.looked(chosen, &look(now_days, Some(LookOutcome::Changed), rate));
    }
    known
}

#[test]
fn new_pages_compete_with_known_ones_by_their_cost() {
    // Fetched once in a period of five days, a page that changes twice a day is obsolete for most of it: the new ones save more.
    let (fast, fast_at_a_fifth) = (known_fetches(2.0, 10.0, 1.0), known_fetches(2.0, 10.0, 0.2));
    assert!(fast < 20 && fast_at_a_fifth > 40, "{fast} {fast_at_a_fifth}");
    // Old copies of pages that then stay current for longer than new pages come first.
    let slow = known_fetches(0.03, 60.0, 1.0);
    assert_eq!(slow, 40);
}
