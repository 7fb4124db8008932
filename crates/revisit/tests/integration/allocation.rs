//! Fetch rates and prices against computed references, and what holds of them for all pages and budgets.

use chance::{Draws, Lcg};
use proptest::prelude::*;
use revisit::Policy;
use revisit::allocate::{self, DemandByPrice, Objective, PageTerms};
use revisit::demand_curve::DemandCurve;
use revisit::histogram::RatioHistogram;

fn close(got: f64, expected: f64, tolerance: f64) {
    assert!((got - expected).abs() <= tolerance * expected.abs(), "got {got}, expected {expected}");
}

fn pages(terms: impl IntoIterator<Item = (f64, f64)>) -> Vec<PageTerms> {
    terms.into_iter().map(|(rate, weight)| PageTerms { weight, ..PageTerms::new(rate) }).collect()
}

fn five_equal() -> Vec<PageTerms> {
    pages([1.0, 2.0, 3.0, 4.0, 5.0].map(|rate| (rate, 1.0)))
}

fn five_weighted() -> Vec<PageTerms> {
    pages([(0.1, 1.0), (0.5, 2.0), (1.0, 3.0), (2.0, 4.0), (10.0, 5.0)])
}

fn thousand() -> Vec<PageTerms> {
    pages((0..1000).map(|i| (0.01 * 1.01_f64.powi(i), f64::from(1 + 37 * i % 101))))
}

const FRESHNESS: Policy = Policy::Optimal { theta: 0.0 };

#[test]
fn five_pages_get_the_published_rates() {
    let best = allocate::optimal(&five_equal(), 5.0, 0.0);
    close(best.price, 0.216431826102, 1e-9);
    let expected = [1.14989227348, 1.35841194741, 1.35383531792, 1.13786046119, 0.0];
    best.fetch_rates_per_day.iter().zip(expected).for_each(|(&got, expected)| close(got, expected, 1e-9));
    close(allocate::freshness(&five_equal(), &best.fetch_rates_per_day), 0.373888699274, 1e-9);
}

#[test]
fn weights_move_the_rates_as_computed() {
    let best = allocate::optimal(&five_weighted(), 3.0, 0.0);
    close(best.price, 0.893977932065, 1e-9);
    let expected = [0.201070502394, 0.562430879275, 0.915860269403, 1.32063834893, 0.0];
    best.fetch_rates_per_day.iter().zip(expected).for_each(|(&got, expected)| close(got, expected, 1e-9));
    close(allocate::freshness(&five_weighted(), &best.fetch_rates_per_day), 0.399915000766, 1e-9);
}

#[test]
fn uniform_beats_proportional_and_optimal_beats_both() {
    let uniform = allocate::uniform_fetches_per_day(&five_equal(), 5.0);
    close(allocate::freshness(&five_equal(), &[uniform; 5]), 0.365052812393, 1e-9);
    let proportional = allocate::proportional_fetches_per_day(&five_equal(), 5.0);
    close(allocate::freshness(&five_equal(), &proportional), 0.316737643877, 1e-9);
}

#[test]
fn web_classes_get_the_published_freshness() {
    let classes = [(1.0, 0.23), (1.0 / 7.0, 0.15), (1.0 / 30.0, 0.16), (1.0 / 120.0, 0.16), (1.0 / 365.0, 0.30)];
    // One page stands for its class: its share is both what it weighs and what a fetch of all of it costs.
    let classes: Vec<_> =
        classes.map(|(rate, share)| PageTerms { weight: share, cost: share, ..PageTerms::new(rate) }).to_vec();
    let best = allocate::optimal(&classes, 1.0 / 30.0, 0.0);
    close(allocate::freshness(&classes, &best.fetch_rates_per_day), 0.6162, 1e-4);
    let uniform = allocate::uniform_fetches_per_day(&classes, 1.0 / 30.0);
    close(allocate::freshness(&classes, &[uniform; 5]), 0.5729, 1e-4);
    let expected = [0.0, 2.627, 1.744, 0.965, 0.575];
    best.fetch_rates_per_day.iter().zip(expected).for_each(|(got, want)| close(got * 30.0, want, 1e-3));
}

#[test]
fn a_thousand_pages_are_allocated_as_computed() {
    let check = |budget, price, freshness, abandoned, uniform, proportional: f64| {
        let best = allocate::optimal(&thousand(), budget, 0.0);
        close(best.price, price, 1e-9);
        close(allocate::freshness(&thousand(), &best.fetch_rates_per_day), freshness, 1e-9);
        assert_eq!(best.fetch_rates_per_day.iter().filter(|&&rate| rate == 0.0).count(), abandoned);
        let rate = allocate::uniform_fetches_per_day(&thousand(), budget);
        close(allocate::freshness(&thousand(), &[rate; 1000]), uniform, 1e-9);
        let rates = allocate::proportional_fetches_per_day(&thousand(), budget);
        // A reference of ten decimals.
        assert!((allocate::freshness(&thousand(), &rates) - proportional).abs() < 6e-11);
    };
    check(50.0, 85.4636829426, 0.3009745090, 616, 0.2137388410, 0.0023857061);
    check(500.0, 9.6495951687, 0.5083699311, 399, 0.4361561025, 0.0238570611);
}

fn histogram(pages: &[PageTerms]) -> RatioHistogram {
    let mut histogram = RatioHistogram::default();
    pages.iter().for_each(|page| histogram.add(page.change_rate_per_day, page.weight, page.cost));
    histogram
}

/// Fetches per day of the pages when each uses its own numbers at a common price.
fn spent(pages: &[PageTerms], price: f64) -> f64 {
    let fetches = |page: &PageTerms| {
        let y = price * page.cost * page.change_rate_per_day / page.weight;
        page.change_rate_per_day / revisit::kernels::inverse_binary(y)
    };
    pages.iter().map(fetches).sum()
}

#[test]
fn histogram_prices_are_as_computed() {
    let check = |pages: &[PageTerms], budget, price, total| {
        let got = histogram(pages).solve(&FRESHNESS, budget);
        close(got, price, 1e-9);
        close(spent(pages, got), total, 1e-9);
    };
    check(&five_equal(), 5.0, 0.2175856951, 4.9664790038);
    check(&five_weighted(), 3.0, 0.8904778808, 3.0092602867);
    check(&thousand(), 50.0, 86.0353514393, 49.66640226);
    check(&thousand(), 500.0, 9.7015905728, 497.27900544);
    let bins = |pages: &[PageTerms]| -> Vec<usize> {
        pages.iter().map(|page| RatioHistogram::bin(page.change_rate_per_day / page.weight)).collect()
    };
    assert_eq!(bins(&five_equal()), [128, 133, 136, 139, 140]);
    assert_eq!(bins(&five_weighted()), [109, 116, 119, 122, 133]);
}

#[test]
fn bins_are_equally_wide_in_the_logarithm() {
    for step in 0..4_000 {
        let ln_z = -20.0 + f64::from(step) / 100.0 + 1e-9;
        let expected = ((ln_z + 16.0) * 8.0).clamp(0.0, 255.0) as usize;
        assert_eq!(RatioHistogram::bin(ln_z.exp()), expected, "at {ln_z}");
    }
    assert_eq!([0.0, f64::MIN_POSITIVE / 2.0, f64::MAX, f64::INFINITY].map(RatioHistogram::bin), [0, 0, 255, 255]);
}

#[test]
fn the_price_survives_the_wire() {
    let sent = histogram(&thousand());
    let received = RatioHistogram::from_bins(&sent.to_bins()).unwrap();
    close(received.solve(&FRESHNESS, 50.0), sent.solve(&FRESHNESS, 50.0), 1e-6);
    assert_eq!(RatioHistogram::from_bins(&[0.0; 255]), None);
    assert_eq!(RatioHistogram::from_bins(&[f32::NAN; 256]), None);
    assert_eq!(RatioHistogram::from_bins(&[-1.0; 256]), None);
}

/// How far the price from the histogram alone is from the best: each page uses its own numbers, and all rates are
/// scaled so that the budget is spent.
#[test]
fn the_histogram_loses_next_to_nothing_against_the_exact_objective() {
    let mut chance = Lcg(5);
    let many = pages((0..5_000).map(|_| (0.1 * (1.8 * chance.normal()).exp(), chance.pareto(1.2) - 0.95)));
    for objective in [
        Objective::FRESHNESS,
        Objective::Mixed { theta: 0.05 },
        Objective::Age,
        Objective::RandomFreshness,
        Objective::RandomHarmonic,
    ] {
        let curve = DemandCurve::new(objective);
        let mut histogram = RatioHistogram::default();
        many.iter().for_each(|page| histogram.add_ratio(curve.ln_ratio(page).exp(), page.change_rate_per_day));
        for per_page in [0.02, 0.1, 0.5] {
            let budget = per_page * many.len() as f64;
            let ln_price = histogram.price(&curve, budget).ln();
            let mut rates: Vec<f64> = many
                .iter()
                .map(|page| page.change_rate_per_day * curve.fetches_per_change(ln_price + curve.ln_ratio(page)))
                .collect();
            let spent: f64 = rates.iter().sum();
            assert!((spent / budget - 1.0).abs() < 1e-2, "{objective:?} spends {spent} of {budget}");
            rates.iter_mut().for_each(|rate| *rate *= budget / spent);
            let best = allocate::optimal_for(&objective, &many, budget).fetch_rates_per_day;
            let average = |rates: &[f64]| allocate::average_penalty(objective, &many, rates);
            let (got, exact) = (average(&rates), average(&best));
            assert!(got <= exact * (1.0 + 1e-5), "{objective:?} at {per_page}: {got} for {exact}");
            // The table is as good as what it tabulates.
            let tabulated = allocate::optimal_for(&curve, &many, budget).fetch_rates_per_day;
            close(average(&tabulated), exact, 1e-9);
        }
    }
}

#[test]
fn the_ends_of_the_budget_have_prices_too() {
    assert_eq!(RatioHistogram::default().solve(&FRESHNESS, 1.0), 0.0);
    assert_eq!(histogram(&thousand()).solve(&FRESHNESS, 0.0), f64::INFINITY);
    let none = allocate::optimal(&five_equal(), 0.0, 0.05);
    assert_eq!((none.price, none.fetch_rates_per_day), (f64::INFINITY, vec![0.0; 5]));
    let static_pages = allocate::optimal(&pages([(0.0, 1.0), (1.0, 0.0)]), 1.0, 0.05);
    assert_eq!((static_pages.price, static_pages.fetch_rates_per_day), (0.0, vec![0.0; 2]));
    assert_eq!(allocate::uniform_fetches_per_day(&[], 1.0), 0.0);
}

fn any_page() -> impl Strategy<Value = PageTerms> {
    let log = |range: std::ops::Range<f64>| range.prop_map(f64::exp);
    (log(-9.0..5.0), log(-4.0..4.0), log(-2.0..2.0), log(-9.0..0.0), log(0.0..5.0)).prop_map(
        |(change_rate_per_day, weight, cost, min_fetches_per_day, max_fetches_per_day)| PageTerms {
            change_rate_per_day,
            weight,
            cost,
            min_fetches_per_day,
            max_fetches_per_day,
        },
    )
}

proptest! {
    #[test]
    fn the_budget_is_spent_and_no_page_starves(
        bounded in prop::collection::vec(any_page(), 1..60), ln_budget in -9.0..5.0f64, theta in 0.001..1.0f64,
    ) {
        let budget = ln_budget.exp();
        let free: Vec<_> =
            bounded.iter().map(|page| PageTerms { weight: page.weight, cost: page.cost, ..PageTerms::new(page.change_rate_per_day) }).collect();
        for theta in [0.0, theta] {
            let best = allocate::optimal(&free, budget, theta);
            let spent: f64 = free.iter().zip(&best.fetch_rates_per_day).map(|(page, rate)| page.cost * rate).sum();
            close(spent, budget, 1e-9);
            prop_assert!(best.fetch_rates_per_day.iter().all(|rate| *rate >= 0.0));
            prop_assert!(theta == 0.0 || best.fetch_rates_per_day.iter().all(|rate| *rate > 0.0));
        }
    }

    #[test]
    fn bounds_are_kept(bounded in prop::collection::vec(any_page(), 1..60), share in 0.0..1.2f64, theta in 0.0..1.0f64) {
        let total = |bound: fn(&PageTerms) -> f64| bounded.iter().map(|page| page.cost * bound(page)).sum::<f64>();
        let (least, most) = (total(|page| page.min_fetches_per_day), total(|page| page.max_fetches_per_day));
        let budget = share * most;
        let best = allocate::optimal(&bounded, budget, theta);
        for (page, &rate) in bounded.iter().zip(&best.fetch_rates_per_day) {
            prop_assert!(rate >= page.min_fetches_per_day * (1.0 - 1e-12));
            prop_assert!(rate <= page.max_fetches_per_day * (1.0 + 1e-12));
        }
        let spent: f64 = bounded.iter().zip(&best.fetch_rates_per_day).map(|(page, rate)| page.cost * rate).sum();
        close(spent, budget.clamp(least, most), 1e-9);
    }

    #[test]
    fn no_nearby_exchange_of_budget_buys_more_freshness(rates in prop::collection::vec((-3.0..3.0f64).prop_map(f64::exp), 2..8)) {
        let pages = pages(rates.into_iter().map(|rate| (rate, 1.0)));
        let best = allocate::optimal(&pages, 3.0, 0.0);
        let fresh = allocate::freshness(&pages, &best.fetch_rates_per_day);
        for from in 0..pages.len() {
            for to in 0..pages.len() {
                let mut moved = best.fetch_rates_per_day.clone();
                let step = 0.01 * moved[from];
                moved[from] -= step;
                moved[to] += step;
                prop_assert!(allocate::freshness(&pages, &moved) <= fresh + 1e-12);
            }
        }
    }

    #[test]
    fn a_merged_histogram_is_that_of_the_union(one in prop::collection::vec(any_page(), 0..40), other in prop::collection::vec(any_page(), 0..40)) {
        let mut merged = histogram(&one);
        merged.merge(&histogram(&other));
        let union = histogram(&[one.clone(), other.clone()].concat());
        for (got, expected) in merged.to_bins().into_iter().zip(union.to_bins()) {
            close(got.into(), expected.into(), 1e-6);
        }
        other.iter().for_each(|page| merged.remove(page.change_rate_per_day, page.weight, page.cost));
        let left = histogram(&one).to_bins();
        prop_assert!(merged.to_bins().into_iter().zip(left).all(|(got, expected)| (got - expected).abs() < 1e-3));
    }

    #[test]
    fn the_histogram_price_spends_its_own_demand(all in prop::collection::vec(any_page(), 1..40), ln_budget in -6.0..6.0f64, theta in 0.01..1.0f64) {
        for policy in [Policy::Uniform, Policy::Optimal { theta }] {
            let histogram = histogram(&all);
            let price = histogram.solve(&policy, ln_budget.exp());
            close(histogram.demand(&policy, price), ln_budget.exp(), 1e-9);
        }
    }
}
