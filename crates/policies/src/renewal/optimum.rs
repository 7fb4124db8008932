//! The most that a budget can buy where the ages of versions are known at each look: what a policy is judged by.
//!
//! It takes all rates and the distribution of gaps as known, and lets looks fall as one price wants them, so it is an upper bound
//! for any policy that sees pages only when it looks, dates of changes included (Lagrange's bound; up to the error of the grid in
//! [`super::by_age`]).

use super::by_age::AgeModel;
use change_rate::gaps::GapDistribution;
use revisit::allocate::{PageTerms, meet_budget};

/// Plans by ln price, in mean gaps, from [`FIRST_LN_PRICE`] up.
const PLANS: usize = 240;
const FIRST_LN_PRICE: f64 = -9.0;
const LN_PRICE_STEP: f64 = 0.05;

/// Freshness and looks of the best plans, for one distribution of gaps.
#[derive(Clone, Debug)]
pub struct AgeOptimum {
    /// By price: share of fresh time, and looks per mean gap.
    plans: Vec<(f64, f64)>,
}

impl AgeOptimum {
    pub fn new(gaps: &GapDistribution) -> Self {
        let model = AgeModel::new(gaps);
        let plan = |number: usize| {
            let plan = model.best((FIRST_LN_PRICE + LN_PRICE_STEP * number as f64).exp());
            (plan.freshness, plan.looks_per_gap)
        };
        Self { plans: (0..PLANS).map(plan).collect() }
    }

    fn at(&self, ln_price: f64) -> (f64, f64) {
        let place = ((ln_price - FIRST_LN_PRICE) / LN_PRICE_STEP).clamp(0.0, (PLANS - 1) as f64);
        let (below, share) = (place as usize, place.fract());
        let (fresh, looks) = self.plans[below];
        let (fresh_above, looks_above) = self.plans[(below + 1).min(PLANS - 1)];
        (fresh + share * (fresh_above - fresh), looks + share * (looks_above - looks))
    }

    /// The mean freshness of these pages, by weight, at a budget in units of cost per day (positive). Pages that never change are fresh.
    pub fn weighted_freshness(&self, pages: &[PageTerms], budget_per_day: f64) -> f64 {
        let at = |page: &PageTerms, ln_price: f64| {
            self.at(ln_price + (page.cost * page.change_rate_per_day / page.weight).ln())
        };
        let competing = || pages.iter().filter(|page| page.competes());
        let spending = |ln_price: f64| -> f64 {
            competing().map(|page| page.cost * page.change_rate_per_day * at(page, ln_price).1).sum()
        };
        let price = meet_budget(0.0, 1.0, budget_per_day, spending).high;
        let weights: f64 = pages.iter().map(|page| page.weight).sum();
        let still: f64 = pages.iter().filter(|page| page.change_rate_per_day <= 0.0).map(|page| page.weight).sum();
        let fresh: f64 = competing().map(|page| page.weight * at(page, price).0).sum();
        (fresh + still) / weights
    }
}
