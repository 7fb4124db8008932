//! The best fetch rates for pages whose change rates are known.
//!
//! Maximise Σ weight × freshness under Σ cost × rate <= budget. At the optimum one price L holds for all: with
//! x = change rate / fetch rate, every page has k(x) = L × cost × change rate / weight, where k is the crawl-value
//! kernel (Cho & Garcia-Molina, TODS 2003, section 4; importance-weighted). Rates rise with the change rate, peak, and
//! for freshness alone fall to zero: pages too fast for their weight are abandoned, unless theta > 0.

use crate::kernels;

/// One page in the competition for the budget.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageTerms {
    /// Changes per day; not negative.
    pub change_rate_per_day: f64,
    /// Importance; not negative, only ratios count.
    pub weight: f64,
    /// Budget that one fetch costs; positive.
    pub cost: f64,
    /// The page is fetched at least this often.
    pub min_fetches_per_day: f64,
    /// And at most this often.
    pub max_fetches_per_day: f64,
}

impl PageTerms {
    /// A page with weight 1, cost 1, and no bounds.
    pub fn new(change_rate_per_day: f64) -> Self {
        Self {
            change_rate_per_day,
            weight: 1.0,
            cost: 1.0,
            min_fetches_per_day: 0.0,
            max_fetches_per_day: f64::INFINITY,
        }
    }

    fn fetches_per_day(&self, price: f64, theta: f64) -> f64 {
        let wanted = if self.change_rate_per_day > 0.0 && self.weight > 0.0 {
            let y = price * self.cost * self.change_rate_per_day / self.weight;
            self.change_rate_per_day / kernels::inverse_mixed(y, theta)
        } else {
            0.0
        };
        wanted.min(self.max_fetches_per_day).max(self.min_fetches_per_day)
    }
}

/// How a budget is best spent.
#[derive(Clone, Debug, PartialEq)]
pub struct Allocation {
    /// What the last unit of budget buys: days of weighted freshness. Zero when no page wants more; infinite when
    /// there is nothing to spend beyond the minima.
    pub price: f64,
    /// Fetches per day of each page, in the order given.
    pub fetch_rates_per_day: Vec<f64>,
}

/// The best fetch rates for a budget per day, for the mixed objective (`theta` 0: freshness alone).
///
/// Spends the budget exactly, unless all pages reach their maximum below it (then less is spent) or their minima alone
/// exceed it (then the minima are spent).
pub fn optimal(pages: &[PageTerms], budget_per_day: f64, theta: f64) -> Allocation {
    let rates = |price: f64| pages.iter().map(|page| page.fetches_per_day(price, theta)).collect::<Vec<_>>();
    let spending = |price: f64| pages.iter().map(|page| page.cost * page.fetches_per_day(price, theta)).sum::<f64>();

    let (mut ln_low, mut ln_high) = (-100.0, 100.0);
    if spending(f64::INFINITY) >= budget_per_day {
        return Allocation { price: f64::INFINITY, fetch_rates_per_day: rates(f64::INFINITY) };
    }
    if spending(f64::exp(ln_low)) <= budget_per_day {
        return Allocation { price: 0.0, fetch_rates_per_day: rates(0.0) };
    }
    while ln_high - ln_low > 1e-14 * (1.0 + f64::abs(ln_low)) {
        let middle = 0.5 * (ln_low + ln_high);
        if middle <= ln_low || middle >= ln_high {
            break;
        }
        if spending(middle.exp()) > budget_per_day {
            ln_low = middle;
        } else {
            ln_high = middle;
        }
    }
    // Where a page is about to be abandoned its rate leaps between two neighbouring numbers; what is left of the
    // budget lies between the two solutions.
    let (mut generous, frugal) = (rates(ln_low.exp()), rates(ln_high.exp()));
    let (most, least) = (spending(ln_low.exp()), spending(ln_high.exp()));
    let share = if most > least { (budget_per_day - least) / (most - least) } else { 1.0 };
    for (rate, least) in generous.iter_mut().zip(frugal) {
        *rate = least + share * (*rate - least);
    }
    Allocation { price: ln_high.exp(), fetch_rates_per_day: generous }
}

/// The same fetch rate for every page: budget / Σ cost. Zero when there is nothing to fetch.
pub fn uniform_fetches_per_day(pages: &[PageTerms], budget_per_day: f64) -> f64 {
    let cost: f64 = pages.iter().map(|page| page.cost).sum();
    if cost > 0.0 { budget_per_day / cost } else { 0.0 }
}

/// Weighted average freshness of evenly spaced fetches at these rates.
pub fn freshness(pages: &[PageTerms], fetch_rates_per_day: &[f64]) -> f64 {
    let fresh = |page: &PageTerms, fetches: f64| match page.change_rate_per_day / fetches {
        _ if page.change_rate_per_day == 0.0 => 1.0,
        r => kernels::average_freshness(kernels::VisitOrder::Fixed, r),
    };
    let weighted: f64 = pages.iter().zip(fetch_rates_per_day).map(|(page, &f)| page.weight * fresh(page, f)).sum();
    weighted / pages.iter().map(|page| page.weight).sum::<f64>()
}
