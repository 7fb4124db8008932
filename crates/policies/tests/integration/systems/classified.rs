use super::*;
use policies::classified::{AlikePages, ClassifiedPlan, ClassifiedRule, rates_from_base, tuned_rates};
use proptest::prelude::*;
use revisit::allocate::{self, PageTerms};

/// The example of Wen & Lu, per hour.
const CHANGES: [f64; 10] = [1.0, 0.8, 0.9, 1.1, 1.2, 1.0 / 12.0, 1.0 / 10.0, 1.0 / 9.0, 1.0 / 11.0, 1.0 / 8.0];

fn pages() -> Vec<PageTerms> {
    CHANGES.map(PageTerms::new).to_vec()
}

fn sum(rates: &[f64]) -> f64 {
    rates.iter().sum()
}

#[test]
fn the_example_of_wen_and_lu_has_its_true_freshness() {
    let pages = pages();
    close(allocate::freshness(&pages, &[1.0 / 6.0; 10]), 0.4590393384, 1e-9);
    let classified = rates_from_base(&pages, 1.0 / 6.0);
    close(sum(&classified), 20.0 / 3.0, 1e-12);
    close(allocate::freshness(&pages, &classified), 0.7107442452, 1e-9);
    let replaced: Vec<f64> = CHANGES.iter().map(|&rate| if rate >= 1.0 / 3.0 { 1.0 } else { 1.0 / 6.0 }).collect();
    close(allocate::freshness(&pages, &replaced), 0.6911723415, 1e-9);
    close(allocate::freshness(&pages, &[2.0 / 3.0; 10]), 0.7238759006, 1e-9);
    let proportional = CHANGES.map(|rate| rate * 20.0 / 3.0 / sum(&CHANGES));
    close(allocate::freshness(&pages, &proportional), 0.6804706424, 1e-9);
    let optimal = |budget: f64| allocate::optimal(&pages, budget, 0.0).fetch_rates_per_day;
    close(allocate::freshness(&pages, &optimal(20.0 / 3.0)), 0.7495044105, 1e-9);
    close(allocate::freshness(&pages, &optimal(5.0 / 3.0)), 0.4660202195, 1e-9);
}

fn plan(rule: ClassifiedRule, budget: f64) -> ClassifiedPlan {
    let alike: Vec<_> = pages().iter().map(AlikePages::from).collect();
    rule.plan(&alike, budget)
}

fn rates(pages: &[PageTerms], budget: f64) -> Vec<f64> {
    let alike: Vec<_> = pages.iter().map(AlikePages::from).collect();
    let plan = ClassifiedRule::default().plan(&alike, budget);
    pages.iter().map(|page| plan.fetches_per_day(page.change_rate_per_day)).collect()
}

#[test]
fn the_base_rate_follows_from_the_budget() {
    // Ten pages at f0 and five of them at 1 more spend 10 f0 + 5.
    for base in [1.0 / 6.0, 0.25, 0.35] {
        let plan = plan(ClassifiedRule::default(), 10.0 * base + 5.0);
        close(plan.slow_fetches_per_day, base, 1e-9);
        close(plan.fast_fetches_per_day, base + 1.0, 1e-9);
        close(plan.fast_from_per_day, 2.0 * base, 1e-9);
        let rates = rates(&pages(), 10.0 * base + 5.0);
        for (rate, change_rate) in rates.iter().zip(CHANGES) {
            close(*rate, if change_rate > 0.5 { base + 1.0 } else { base }, 1e-9);
        }
    }
}

#[test]
fn the_rule_beats_uniform_at_some_budgets_as_published_and_not_at_all() {
    // Freshness of the rule and of uniform looks, by base rate (003; computed again from eq 10).
    for (base, rule, uniform) in [(1.0 / 6.0, 0.7107, 0.7239), (0.25, 0.7555, 0.7448), (0.35, 0.7875, 0.7661)] {
        let budget = 10.0 * base + 5.0;
        close(allocate::freshness(&pages(), &rates(&pages(), budget)), rule, 1e-3);
        close(allocate::freshness(&pages(), &[budget / 10.0; 10]), uniform, 1e-3);
    }
}

#[test]
fn where_the_fast_pages_alone_would_take_too_much_the_rule_keeps_its_proportions() {
    let at_budget = rates(&pages(), 5.0 / 3.0);
    let from_base = rates_from_base(&pages(), 1.0 / 6.0);
    for (at_budget, from_base) in at_budget.iter().zip(from_base) {
        close(*at_budget, 0.25 * from_base, 1e-12);
    }
}

#[test]
fn both_parameters_can_be_set() {
    let rule = ClassifiedRule { fast_from_per_day: Some(1.05), fast_fetches_per_day: None };
    let set = plan(rule, 6.0);
    // The fast ones change 1.1 and 1.2 times.
    close(set.slow_fetches_per_day, (6.0 - 2.0 * 1.15) / 10.0, 1e-9);
    close(set.fast_fetches_per_day, set.slow_fetches_per_day + 1.15, 1e-9);
    let rule = ClassifiedRule { fast_from_per_day: Some(1.05), fast_fetches_per_day: Some(0.5) };
    let set = plan(rule, 6.0);
    close(set.slow_fetches_per_day, 0.5, 1e-9);
    close(set.fast_fetches_per_day, 1.0, 1e-9);
}

proptest! {
    #[test]
    fn the_budget_is_spent_and_equal_pages_are_of_one_class(
        rates in prop::collection::vec(0.0..5.0_f64, 1..40),
        budget in 0.01..200.0_f64,
    ) {
        let alike: Vec<_> = rates.iter().map(|rate| AlikePages { change_rate_per_day: *rate, pages: 2.0, cost: 1.5 }).collect();
        let plan = ClassifiedRule::default().plan(&alike, budget);
        let spent: f64 = rates.iter().map(|rate| 3.0 * plan.fetches_per_day(*rate)).sum();
        prop_assert!((spent - budget).abs() < 1e-9 * budget, "{spent} of {budget}");
        prop_assert!(plan.slow_fetches_per_day > 0.0 && plan.fast_fetches_per_day >= plan.slow_fetches_per_day);
    }
}

#[test]
fn two_tuned_classes_come_near_the_optimum() {
    let tuned = tuned_rates(&pages(), 20.0 / 3.0);
    close(sum(&tuned), 20.0 / 3.0, 1e-9);
    assert!(tuned[..5].iter().all(|rate| *rate == tuned[0]) && tuned[5..].iter().all(|rate| *rate == tuned[5]));
    close(tuned[0], 0.946, 5e-3);
    close(tuned[5], 0.387, 1e-2);
    // The best of a grid of rates for the same split, which knows every page's own rate.
    close(allocate::freshness(&pages(), &tuned), 0.7491544132, 1e-5);
}

#[test]
fn hostile_pages_get_no_nonsense() {
    for budget in [0.0, 1.0] {
        for function in [rates, tuned_rates] {
            assert!(function(&[], budget).is_empty());
            let pages: Vec<PageTerms> = [(0.0, 1.0), (1.0, 0.0), (1e9, 1.0), (0.0, 0.0)]
                .map(|(rate, weight)| PageTerms { weight, ..PageTerms::new(rate) })
                .to_vec();
            let found = function(&pages, budget);
            assert!(found.iter().all(|rate| rate.is_finite() && *rate >= 0.0), "{found:?}");
            assert!(sum(&found) <= budget + 1e-9);
        }
    }
}
