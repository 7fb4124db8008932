//! How fresh pages would be by the budget: the curve that an operator chooses a budget on.
//!
//! A page's best fetch rate is λ φ(L z) at the price L ([`crate::histogram`]), and the share of the time that its copy is
//! current is φ (1 - e^(-1/φ)) (Cho & Garcia-Molina, TODS 2003, eq. 4.1 with r = λ/f = 1/φ). So pages, change rates and weights by
//! ln z give the freshness of any budget. Bins of all partitions add up.
//!
//! Rates are taken as known, and weights are those by which pages compete: where bytes are limited, weight by cost. Delays of hosts and
//! sweeps are left out.

use crate::allocate::{DemandByPrice, LN_PRICE_LIMIT, Objective, meet_budget};
use crate::histogram::RatioHistogram;
use std::collections::BTreeMap;

/// Sums over the pages of one bin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RateBin {
    pub pages: f64,
    /// Their change rates.
    pub change_rate_per_day: f64,
    /// Their weights.
    pub weight: f64,
}

/// Pages by the ratio of change rate and weight.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BudgetCurve {
    bins: BTreeMap<usize, RateBin>,
}

/// A point of the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BudgetPoint {
    /// Fetches that are worth their price, at most the budget.
    pub fetches_per_day: f64,
    /// Share of the weight that is current.
    pub freshness: f64,
}

impl BudgetCurve {
    /// Adds a page. One without weight is left out.
    pub fn add(&mut self, change_rate_per_day: f64, weight: f64) {
        if weight > 0.0 && weight.is_finite() && change_rate_per_day >= 0.0 && change_rate_per_day.is_finite() {
            self.add_bin(
                RatioHistogram::bin(change_rate_per_day / weight),
                RateBin { pages: 1.0, change_rate_per_day, weight },
            );
        }
    }

    /// Adds the pages of a bin. Sums that no pages have are left out.
    pub fn add_bin(&mut self, bin: usize, more: RateBin) {
        let is_sum = |sum: f64| sum.is_finite() && sum >= 0.0;
        if bin >= RatioHistogram::BINS
            || more.pages <= 0.0
            || ![more.pages, more.change_rate_per_day, more.weight].into_iter().all(is_sum)
        {
            return;
        }
        let sums = self.bins.entry(bin).or_default();
        sums.pages += more.pages;
        sums.change_rate_per_day += more.change_rate_per_day;
        sums.weight += more.weight;
    }

    /// The bins with pages, by their numbers.
    pub fn bins(&self) -> impl Iterator<Item = (usize, &RateBin)> {
        self.bins.iter().map(|(bin, sums)| (*bin, sums))
    }

    fn mean_weight(&self) -> f64 {
        self.bins.values().map(|bin| bin.weight).sum::<f64>() / self.pages().max(1.0)
    }

    /// Number of pages.
    pub fn pages(&self) -> f64 {
        self.bins.values().map(|bin| bin.pages).sum()
    }

    /// The freshness for a budget, where no page is fetched more often than this, or for less than this worth: days of freshness of a
    /// page of mean weight. `theta` is that of [`Objective::Mixed`].
    pub fn at(
        &self,
        budget_per_day: f64,
        theta: f64,
        (most_fetches_per_day, least_worth_days): (f64, f64),
    ) -> BudgetPoint {
        let objective = Objective::Mixed { theta };
        let rate = |bin: &(usize, &RateBin), ln_price: f64| {
            let (number, sums) = *bin;
            let mean = sums.change_rate_per_day / sums.pages;
            (mean * objective.fetches_per_change(ln_price + RatioHistogram::ln_middle(number)))
                .min(most_fetches_per_day)
        };
        let competing = || self.bins().filter(|(_, sums)| sums.change_rate_per_day > 0.0);
        let spending = |ln_price: f64| competing().map(|bin| bin.1.pages * rate(&bin, ln_price)).sum::<f64>();
        let ln_price = match budget_per_day > 0.0 {
            true => {
                meet_budget(0.0, 1.0, budget_per_day, spending).high.max((least_worth_days * self.mean_weight()).ln())
            }
            false => LN_PRICE_LIMIT,
        };
        let weight: f64 = self.bins.values().map(|sums| sums.weight).sum();
        let still: f64 =
            self.bins().filter(|(_, sums)| sums.change_rate_per_day <= 0.0).map(|(_, sums)| sums.weight).sum();
        let fresh: f64 = competing()
            .map(|bin| {
                let fetches_per_change = rate(&bin, ln_price) * bin.1.pages / bin.1.change_rate_per_day;
                bin.1.weight * fresh_share(fetches_per_change)
            })
            .sum();
        BudgetPoint {
            fetches_per_day: if budget_per_day > 0.0 { spending(ln_price).min(budget_per_day) } else { 0.0 },
            freshness: if weight > 0.0 { (still + fresh) / weight } else { 0.0 },
        }
    }
}

/// Share of the time that a copy is current, for fetches at even intervals.
fn fresh_share(fetches_per_change: f64) -> f64 {
    if fetches_per_change <= 0.0 { 0.0 } else { -fetches_per_change * (-1.0 / fetches_per_change).exp_m1() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocate::{PageTerms, optimal};

    /// Change rates and weights over five orders of magnitude.
    fn pages() -> Vec<PageTerms> {
        let page = |number: i32| {
            let rate = 10f64.powf(f64::from(number % 50) / 10.0 - 3.0);
            PageTerms { weight: f64::from(number % 7 + 1), ..PageTerms::new(rate) }
        };
        (0..700).map(page).collect()
    }

    fn exact(pages: &[PageTerms], budget: f64, theta: f64) -> f64 {
        let rates = optimal(pages, budget, theta).fetch_rates_per_day;
        let fresh = pages
            .iter()
            .zip(rates)
            .map(|(page, fetches)| page.weight * fresh_share(fetches / page.change_rate_per_day));
        fresh.sum::<f64>() / pages.iter().map(|page| page.weight).sum::<f64>()
    }

    #[test]
    fn the_curve_is_that_of_the_best_rates() {
        let (pages, mut curve) = (pages(), BudgetCurve::default());
        pages.iter().for_each(|page| curve.add(page.change_rate_per_day, page.weight));
        for budget in [5.0, 50.0, 500.0, 5_000.0] {
            for theta in [0.0, 0.05] {
                let (point, exact) = (curve.at(budget, theta, (f64::INFINITY, 0.0)), exact(&pages, budget, theta));
                assert!((point.freshness - exact).abs() < 0.01, "{budget} {theta}: {point:?}, exact {exact}");
                assert!((point.fetches_per_day - budget).abs() < 0.001 * budget, "{budget}: {point:?}");
            }
        }
    }

    #[test]
    fn more_budget_is_never_worse_and_a_shortest_interval_ends_the_need() {
        let mut curve = BudgetCurve::default();
        pages().iter().for_each(|page| curve.add(page.change_rate_per_day, page.weight));
        let points: Vec<_> = (0..20).map(|step| curve.at(f64::from(1 << step), 0.05, (24.0, 0.0))).collect();
        assert!(points.windows(2).all(|pair| pair[1].freshness >= pair[0].freshness - 1e-9), "{points:?}");
        let last = points.last().unwrap();
        assert!(last.fetches_per_day <= 24.0 * 700.0 + 1e-6 && last.freshness < 1.0, "{last:?}");
        // A fetch that is worth too little is not made, whatever the budget.
        let thrifty = curve.at(1e6, 0.05, (24.0, 0.01));
        assert!(
            thrifty.fetches_per_day < 0.9 * last.fetches_per_day && thrifty.freshness < last.freshness,
            "{thrifty:?}"
        );
    }

    #[test]
    fn no_pages_and_no_budget_give_no_freshness_and_a_page_that_never_changes_is_current() {
        assert_eq!(BudgetCurve::default().at(10.0, 0.0, (1.0, 0.0)).freshness, 0.0);
        let mut curve = BudgetCurve::default();
        curve.add(1.0, 1.0);
        assert_eq!(curve.at(0.0, 0.0, (1.0, 0.0)), BudgetPoint { fetches_per_day: 0.0, freshness: 0.0 });
        curve.add(0.0, 3.0);
        curve.add(1.0, 0.0);
        curve.add_bin(RatioHistogram::BINS, RateBin { pages: 1.0, change_rate_per_day: 1.0, weight: 1.0 });
        curve.add_bin(0, RateBin { pages: f64::NAN, change_rate_per_day: 1.0, weight: 1.0 });
        assert_eq!((curve.at(0.0, 0.0, (1.0, 0.0)).freshness, curve.pages()), (0.75, 2.0));
    }

    #[test]
    fn bins_of_partitions_add_up() {
        let (mut all, mut halves) = (BudgetCurve::default(), [BudgetCurve::default(), BudgetCurve::default()]);
        for (number, page) in pages().iter().enumerate() {
            all.add(page.change_rate_per_day, page.weight);
            halves[number % 2].add(page.change_rate_per_day, page.weight);
        }
        let mut sum = halves[0].clone();
        halves[1].bins().for_each(|(bin, sums)| sum.add_bin(bin, *sums));
        let (all, sum) = (all.at(100.0, 0.05, (24.0, 0.0)), sum.at(100.0, 0.05, (24.0, 0.0)));
        assert!((all.freshness - sum.freshness).abs() < 1e-9);
    }
}
