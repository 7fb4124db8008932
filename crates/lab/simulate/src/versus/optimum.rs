//! The best that is possible with known rates.

use crate::population::SyntheticPopulation;
use revisit::allocate::{self, Objective, PageTerms};
use revisit::demand_curve::DemandCurve;

/// Upper bound of fetches per page and day for any requested freshness.
const MOST_FETCHES: f64 = 24.0;

/// The best evenly spaced schedule of a population with known rates.
pub(super) struct Optimum {
    pages: Vec<PageTerms>,
    curve: DemandCurve,
}

impl Optimum {
    pub(super) fn of(population: &SyntheticPopulation) -> Self {
        let terms =
            |(page, &rate): (usize, &f64)| PageTerms { weight: population.pages.weight(page), ..PageTerms::new(rate) };
        Self {
            pages: population.change_rates_per_day.iter().enumerate().map(terms).collect(),
            curve: DemandCurve::new(Objective::FRESHNESS),
        }
    }

    pub(super) fn freshness(&self, fetches_per_page_per_day: f64) -> f64 {
        let budget_per_day = fetches_per_page_per_day * self.pages.len() as f64;
        let rates = allocate::optimal_for(&self.curve, &self.pages, budget_per_day).fetch_rates_per_day;
        allocate::freshness(&self.pages, &rates)
    }

    /// Fetches per page and day for a weighted freshness, within 1e-4.
    pub(super) fn needs(&self, weighted_freshness: f64) -> f64 {
        let (mut low, mut high) = (1e-6f64, MOST_FETCHES);
        while high / low > 1.0001 {
            let middle = (low * high).sqrt();
            if self.freshness(middle) < weighted_freshness {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}
