//! Properties of the allocations for all pages and budgets.

use super::*;
use proptest::prelude::*;

/// Pages that cannot compete for a reason of each kind.
fn hopeless() -> Vec<PageTerms> {
    pages([(0.0, 1.0), (1.0, 0.0), (f64::NAN, 1.0), (1.0, f64::NAN), (f64::INFINITY, 1.0), (-1.0, 1.0)])
}

#[test]
fn pages_that_cannot_compete_get_nothing_and_spoil_nothing() {
    let mixed = [hopeless(), five_equal()].concat();
    let hosts = vec![7; mixed.len()];
    let nothing = vec![0.0; hopeless().len()];
    for objective in OBJECTIVES {
        let alone = allocate::optimal_for(&objective, &five_equal(), 5.0);
        let best = allocate::optimal_for(&objective, &mixed, 5.0);
        assert_eq!(best.fetch_rates_per_day[..6], nothing);
        assert_eq!(best.fetch_rates_per_day[6..], alone.fetch_rates_per_day);
        let none = allocate::optimal_for(&objective, &hopeless(), 5.0);
        assert_eq!((none.price, none.fetch_rates_per_day), (0.0, nothing.clone()));
        assert_eq!(allocate::optimal_for(&objective, &[], 5.0).fetch_rates_per_day, [0.0; 0]);
        for budget in [0.0, -1.0, f64::NAN] {
            assert_eq!(allocate::optimal_for(&objective, &mixed, budget).fetch_rates_per_day, [0.0; 11]);
            let capped = literature::host_capped(&objective, &mixed, &hosts, |_| 1.0, budget);
            assert_eq!(capped.fetch_rates_per_day, [0.0; 11]);
        }
        let capped = literature::host_capped(&objective, &mixed, &hosts, |_| 1.0, 5.0);
        close(capped.fetch_rates_per_day.iter().sum(), 1.0, 1e-9);
    }
    assert_eq!(literature::azar(&hopeless(), 5.0).fetch_rates_per_day, nothing);
    assert_eq!(literature::azar(&mixed, f64::NAN).fetch_rates_per_day, [0.0; 11]);
    assert_eq!(literature::partitioned(&hopeless(), 5.0, PartitionKey::Weight, 3, Distance::Raw, 2), nothing);
    assert_eq!(
        literature::partitioned(&mixed, 0.0, PartitionKey::PerceivedFreshness, 3, Distance::Logarithms, 2),
        [0.0; 11]
    );
    assert_eq!(literature::integer_looks(&mixed, 1.0, Horizon::Repeated, 5, 9)[6..], [1, 1, 2, 1, 0]);
    assert_eq!(literature::integer_looks(&hopeless(), 1.0, Horizon::Once, 5, 9), [0; 6]);
    assert_eq!(literature::integer_looks_greedy(&five_equal(), 1.0, Horizon::Once, 50, 2), [2; 5]);
    assert_eq!(literature::integer_looks(&five_equal(), 1.0, Horizon::Once, 50, 2), [2; 5]);
}

fn any_page() -> impl Strategy<Value = PageTerms> {
    let log = |range: std::ops::Range<f64>| range.prop_map(f64::exp);
    (log(-9.0..5.0), log(-4.0..4.0), log(-2.0..2.0)).prop_map(|(rate, weight, cost)| PageTerms {
        weight,
        cost,
        ..PageTerms::new(rate)
    })
}

fn some_pages() -> impl Strategy<Value = Vec<PageTerms>> {
    prop::collection::vec(any_page(), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_objective_spends_the_budget_and_no_exchange_betters_it(all in some_pages(), ln_budget in -5.0..5.0f64) {
        for objective in OBJECTIVES {
            let budget = ln_budget.exp();
            let mut rates = allocate::optimal_for(&objective, &all, budget).fetch_rates_per_day;
            close(all.iter().zip(&rates).map(|(page, rate)| page.cost * rate).sum(), budget, 1e-9);
            let best = allocate::average_penalty(objective, &all, &rates);
            for (from, to) in [(0, all.len() - 1), (all.len() / 2, 0), (all.len() - 1, all.len() / 2)] {
                let before = rates.clone();
                let moved = 0.05 * rates[from] * all[from].cost;
                rates[from] -= moved / all[from].cost;
                rates[to] += moved / all[to].cost;
                let worse = allocate::average_penalty(objective, &all, &rates);
                prop_assert!(worse.is_nan() || worse >= best * (1.0 - 1e-12), "{objective:?}: {worse} < {best}");
                rates = before;
            }
        }
    }

    #[test]
    fn sorting_and_searching_find_the_same(all in some_pages(), ln_budget in -5.0..5.0f64) {
        let (sorted, searched) = (
            literature::azar(&all, ln_budget.exp()),
            allocate::optimal_for(&Objective::RandomFreshness, &all, ln_budget.exp()),
        );
        close(sorted.price, searched.price, 1e-9);
        for (got, expected) in sorted.fetch_rates_per_day.iter().zip(searched.fetch_rates_per_day) {
            prop_assert!((got - expected).abs() <= 1e-8 * ln_budget.exp());
        }
    }

    #[test]
    fn host_limits_are_kept_and_the_rest_is_spent(
        all in some_pages(), ln_budget in -3.0..5.0f64, ln_limit in -5.0..3.0f64, theta in 0.01..1.0f64,
    ) {
        let hosts: Vec<u32> = (0..all.len() as u32).map(|i| i * 7 % 5).collect();
        let (budget, limit) = (ln_budget.exp(), ln_limit.exp());
        let best = literature::host_capped(&Objective::Mixed { theta }, &all, &hosts, |_| limit, budget);
        let mut spent = [0.0; 5];
        for ((page, rate), &host) in all.iter().zip(&best.fetch_rates_per_day).zip(&hosts) {
            spent[host as usize] += page.cost * rate;
        }
        prop_assert!(spent.iter().all(|spent| *spent <= limit * (1.0 + 1e-9)));
        let used = hosts.iter().collect::<std::collections::BTreeSet<_>>().len() as f64;
        close(spent.iter().sum(), budget.min(limit * used), 1e-9);
        prop_assert!(best.full_hosts.iter().all(|(_, price)| *price >= best.price * (1.0 - 1e-9)));
    }

    #[test]
    fn the_fast_whole_looks_are_the_greedy_ones(all in some_pages(), looks in 0..300u64, max_looks in 1..40u32) {
        for horizon in [Horizon::Once, Horizon::Repeated] {
            let cost = |looks: &[u32]| -> f64 {
                all.iter().zip(looks).map(|(page, &looks)| page.weight * literature::staleness(horizon, page.change_rate_per_day * 3.0, looks)).sum()
            };
            let greedy = literature::integer_looks_greedy(&all, 3.0, horizon, looks, max_looks);
            let fast = literature::integer_looks(&all, 3.0, horizon, looks, max_looks);
            close(cost(&fast), cost(&greedy), 1e-12);
            prop_assert!(fast.iter().all(|&looks| looks <= max_looks));
            prop_assert!(fast.iter().copied().map(u64::from).sum::<u64>() <= looks);
        }
    }

    #[test]
    fn the_chairman_keeps_every_page_within_a_fetch_of_its_share(
        rates in prop::collection::vec((-3.0..3.0f64).prop_map(f64::exp), 1..12),
    ) {
        let total: f64 = rates.iter().sum();
        let mut counts = vec![0.0; rates.len()];
        for (slot, page) in Chairman::new(&rates).take(500).enumerate() {
            counts[page] += 1.0;
            for (count, rate) in counts.iter().zip(&rates) {
                prop_assert!((count - rate / total * (slot + 1) as f64).abs() < 1.0);
            }
        }
    }

    #[test]
    fn more_weight_never_lowers_a_rate(all in some_pages(), ln_more in 0.0..3.0f64) {
        for objective in OBJECTIVES {
            let before = allocate::optimal_for(&objective, &all, 3.0).fetch_rates_per_day[0];
            let mut heavier = all.clone();
            heavier[0].weight *= ln_more.exp();
            let after = allocate::optimal_for(&objective, &heavier, 3.0).fetch_rates_per_day[0];
            prop_assert!(after >= before * (1.0 - 1e-9), "{objective:?}: {before} to {after}");
        }
    }
}

#[test]
fn tables_agree_with_what_they_tabulate() {
    let mut chance = SplitMix64(1);
    for objective in OBJECTIVES {
        let curve = DemandCurve::new(objective);
        assert_eq!(curve.objective(), objective);
        for _ in 0..5_000 {
            let ln_y = 80.0 * chance.uniform() - 40.0;
            let exact = objective.fetches_per_change(ln_y);
            assert!((curve.fetches_per_change(ln_y) - exact).abs() <= 2e-9 * exact, "{objective:?} at {ln_y}");
        }
        assert_eq!(curve.fetches_per_change(f64::INFINITY), 0.0);
    }
}
