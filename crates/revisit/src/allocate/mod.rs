//! The best fetch rates for pages with known change rates.
//!
//! Maximises Σ weight × freshness (or minimises another [`Objective`]) under Σ cost × rate <= budget. At the optimum
//! one price L holds for all pages. With x = change rate / fetch rate, every page has k(x) = L × cost × change rate /
//! weight, where k is the crawl-value kernel (Cho & Garcia-Molina, TODS 2003, section 4; importance-weighted). Fetch
//! rates rise with the change rate to a peak, and for freshness alone then fall to zero: pages that change too fast for
//! their weight are abandoned, unless theta > 0.
//!
//! Pages with no weight, or with a change rate that is not a positive number, get no fetches beyond their minimum.

mod objective;
mod price;

pub use objective::{DemandByPrice, Objective};
pub use price::{Bracket, LN_PRICE_LIMIT, meet_budget};

use crate::histogram::RatioHistogram;

/// One page in the competition for the budget.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageTerms {
    /// Changes per day; not negative.
    pub change_rate_per_day: f64,
    /// Importance; not negative, only ratios count.
    pub weight: f64,
    /// Budget that one fetch costs; positive.
    pub cost: f64,
    pub min_fetches_per_day: f64,
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

    /// Whether any price makes the page worth a fetch.
    pub fn competes(&self) -> bool {
        let positive = |value: f64| value > 0.0 && value.is_finite();
        positive(self.change_rate_per_day) && positive(self.weight) && positive(self.cost)
    }

    fn bounded(&self, fetches_per_day: f64) -> f64 {
        fetches_per_day.min(self.max_fetches_per_day).max(self.min_fetches_per_day)
    }
}

/// The solution for a budget.
#[derive(Clone, Debug, PartialEq)]
pub struct Allocation {
    /// Marginal value of the budget, in units of the objective (days of weighted freshness). Zero when no page wants
    /// more; infinite when nothing is left to spend beyond the minima.
    pub price: f64,
    /// Fetches per day of each page, in the order given.
    pub fetch_rates_per_day: Vec<f64>,
}

/// The best fetch rates for a budget per day, for the mixed objective (`theta` 0: freshness alone).
///
/// Spends the budget exactly, with two exceptions. When all pages reach their maximum below it, less is spent; when the
/// minima alone exceed it, the minima are spent.
pub fn optimal(pages: &[PageTerms], budget_per_day: f64, theta: f64) -> Allocation {
    optimal_for(&Objective::Mixed { theta }, pages, budget_per_day)
}

/// [`optimal`] for any objective. Exact to the last digits with an [`Objective`]; with a
/// [`DemandCurve`](crate::demand_curve::DemandCurve), accurate to one part in 10^9 in a tenth of the time.
pub fn optimal_for(demand: &impl DemandByPrice, pages: &[PageTerms], budget_per_day: f64) -> Allocation {
    let contest = Contest::new(demand, pages.iter());
    contest.allocate(budget_per_day, contest.guess(budget_per_day))
}

/// Pages competing for one budget, with everything precomputed that does not depend on the price.
pub struct Contest<'a, D, P> {
    demand: &'a D,
    pages: P,
    /// ln z by page; infinite for pages that no price makes worth a fetch.
    ln_ratios: Vec<f64>,
}

impl<'a, D: DemandByPrice, P: Iterator<Item = &'a PageTerms> + Clone> Contest<'a, D, P> {
    pub fn new(demand: &'a D, pages: P) -> Self {
        let ln_ratio = |page: &PageTerms| if page.competes() { demand.ln_ratio(page) } else { f64::INFINITY };
        let ln_ratios = pages.clone().map(ln_ratio).collect();
        Self { demand, pages, ln_ratios }
    }

    /// Fetches per day of each page at a price.
    pub fn rates(&self, ln_price: f64) -> impl Iterator<Item = f64> {
        self.pages.clone().zip(&self.ln_ratios).map(move |(page, &ln_ratio)| {
            let wanted = if ln_ratio < f64::INFINITY {
                page.change_rate_per_day * self.demand.fetches_per_change(ln_price + ln_ratio)
            } else {
                0.0
            };
            page.bounded(wanted)
        })
    }

    /// Total spending per day at a price.
    pub fn spending(&self, ln_price: f64) -> f64 {
        self.pages.clone().zip(self.rates(ln_price)).map(|(page, rate)| page.cost * rate).sum()
    }

    /// A starting price near the solution, for large sets where searching over the pages takes long.
    fn guess(&self, budget_per_day: f64) -> f64 {
        const MANY: usize = 4_096;
        if self.ln_ratios.len() < MANY {
            return 0.0;
        }
        let mut histogram = RatioHistogram::default();
        for (page, &ln_ratio) in self.pages.clone().zip(&self.ln_ratios) {
            if ln_ratio < f64::INFINITY {
                histogram.add_ratio(ln_ratio.exp(), page.cost * page.change_rate_per_day);
            }
        }
        let ln_price = histogram.price(self.demand, budget_per_day).ln();
        if ln_price.is_finite() { ln_price } else { 0.0 }
    }

    /// Rates that spend the budget, and their price, searched from `start`.
    pub fn allocate(&self, budget_per_day: f64, start: f64) -> Allocation {
        let at_most =
            |ln_price: f64, price: f64| Allocation { price, fetch_rates_per_day: self.rates(ln_price).collect() };
        // Written so that a NaN budget counts as none.
        let something_to_spend = budget_per_day > 0.0 && self.spending(f64::INFINITY) < budget_per_day;
        if !something_to_spend {
            return at_most(f64::INFINITY, f64::INFINITY);
        }
        let bracket = meet_budget(start, 0.25, budget_per_day, |ln_price| self.spending(ln_price));
        if bracket.high <= -LN_PRICE_LIMIT {
            return at_most(-LN_PRICE_LIMIT, 0.0);
        }
        // A page about to be abandoned changes its rate abruptly between two neighbouring prices. The rest of the
        // budget is spent between the two solutions.
        let (most, least) = (self.spending(bracket.low), self.spending(bracket.high));
        let share = if most > least { (budget_per_day - least) / (most - least) } else { 1.0 };
        let rates = self.rates(bracket.low).zip(self.rates(bracket.high));
        let fetch_rates_per_day = rates.map(|(generous, frugal)| frugal + share * (generous - frugal)).collect();
        Allocation { price: bracket.high.exp(), fetch_rates_per_day }
    }
}

/// The same fetch rate for every page: budget / Σ cost (C1). Zero when there is nothing to fetch.
pub fn uniform_fetches_per_day(pages: &[PageTerms], budget_per_day: f64) -> f64 {
    budget_per_unit(budget_per_day, pages.iter().map(|page| page.cost).sum())
}

/// Fetch rates in proportion to change rates (C2): every page has the same number of changes between looks. All zero
/// when no page changes.
pub fn proportional_fetches_per_day(pages: &[PageTerms], budget_per_day: f64) -> Vec<f64> {
    let per_change =
        budget_per_unit(budget_per_day, pages.iter().map(|page| page.cost * page.change_rate_per_day).sum());
    pages.iter().map(|page| per_change * page.change_rate_per_day).collect()
}

/// Budget per unit of demand; zero when there is no demand or no budget.
pub fn budget_per_unit(budget_per_day: f64, demand: f64) -> f64 {
    if demand > 0.0 && budget_per_day > 0.0 { budget_per_day / demand } else { 0.0 }
}

/// Weighted average freshness of evenly spaced fetches at these rates; 1 when nothing has weight.
pub fn freshness(pages: &[PageTerms], fetch_rates_per_day: &[f64]) -> f64 {
    1.0 - average_penalty(Objective::FRESHNESS, pages, fetch_rates_per_day)
}

/// Weighted average of an objective at these rates. 0 when nothing has weight; infinite when a page is not fetched that
/// the objective never abandons.
pub fn average_penalty(objective: Objective, pages: &[PageTerms], fetch_rates_per_day: &[f64]) -> f64 {
    let weight: f64 = pages.iter().map(|page| page.weight).sum();
    if weight <= 0.0 {
        return 0.0;
    }
    let weighted = pages.iter().zip(fetch_rates_per_day).filter(|(page, _)| page.weight > 0.0);
    let penalties =
        weighted.map(|(page, &fetches)| page.weight * objective.average_penalty(page.change_rate_per_day, fetches));
    penalties.sum::<f64>() / weight
}
