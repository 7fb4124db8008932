//! The best evenly spaced looks at pages whose changes are renewal processes (Meng et al. 2006, eq 28 with 36; Wolf et al., WWW 2002).
//!
//! A schedule that ignores the results of looks meets each page at a random age. Then a look is worth more the later it is, whatever
//! the hazard ([`GapDistribution::look_value`]), so that even spacing is best, and frequency and interval follow together from one
//! price for all pages. For exponential gaps this is the optimum of [`revisit::allocate`].

use change_rate::gaps::GapDistribution;
use revisit::allocate::{PageTerms, meet_budget};

/// A page with the distribution of its gaps, which are measured in its mean gap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RenewalPage {
    pub terms: PageTerms,
    pub gaps: GapDistribution,
}

/// The best intervals for a budget.
#[derive(Clone, Debug, PartialEq)]
pub struct EvenPlan {
    /// Days of weighted freshness that the last unit of the budget buys.
    pub price: f64,
    /// Looks per day of each page; 0 for pages that are given up.
    pub fetches_per_day: Vec<f64>,
}

impl RenewalPage {
    /// Looks per day at this price, within the page's bounds.
    pub fn fetches_per_day(&self, price: f64) -> f64 {
        let terms = &self.terms;
        let best = if terms.competes() {
            let value = price * terms.cost * terms.change_rate_per_day / terms.weight;
            terms.change_rate_per_day / self.gaps.time_of_value(value)
        } else {
            0.0
        };
        best.min(terms.max_fetches_per_day).max(terms.min_fetches_per_day)
    }

    /// Share of the time that a copy is current at this many looks a day.
    pub fn freshness(&self, fetches_per_day: f64) -> f64 {
        if self.terms.change_rate_per_day > 0.0 {
            self.gaps.average_freshness(self.terms.change_rate_per_day / fetches_per_day)
        } else {
            1.0
        }
    }
}

/// Looks per day that make the most of a budget in units of cost per day (positive).
pub fn best_even_looks(pages: &[RenewalPage], budget_per_day: f64) -> EvenPlan {
    let spending = |ln_price: f64| -> f64 {
        pages.iter().map(|page| page.terms.cost * page.fetches_per_day(ln_price.exp())).sum()
    };
    let price = meet_budget(0.0, 1.0, budget_per_day, spending).high.exp();
    EvenPlan { price, fetches_per_day: pages.iter().map(|page| page.fetches_per_day(price)).collect() }
}
