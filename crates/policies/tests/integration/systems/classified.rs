use super::*;
use policies::classified::{rates, rates_from_base, tuned_rates};
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

#[test]
fn at_a_budget_the_rule_keeps_its_proportions() {
    let at_budget = rates(&pages(), 5.0 / 3.0);
    let from_base = rates_from_base(&pages(), 1.0 / 6.0);
    for (at_budget, from_base) in at_budget.iter().zip(from_base) {
        close(*at_budget, 0.25 * from_base, 1e-12);
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
