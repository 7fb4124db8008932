//! One price for many shards, from a kilobyte each.
//!
//! A page's best fetch rate is λ φ(L z): it depends on the price L through the one ratio z = cost × λ / weight. So a
//! histogram over ln z that holds Σ cost × λ per bin says how much a set of pages would spend at any price.
//! Histograms add up: every shard publishes its own, sums the latest of all, and solves for the same price alone. The
//! error is one of budget only, never of mix, because each page then uses its own exact numbers: some 0.1 % for pages of
//! known rates. Pages whose rates are still in doubt are entered with their mean rate; 2,000 such spent 0 to 12 % less
//! than the budget after ten looks each, 4 to 27 % less before the first (theta .05, most at the smallest budget). So
//! let the price rank and share, not hold back fetches that are already paid for.

use crate::kernels;
use crate::policy::Policy;

/// Demand of a set of pages, by ln z. Adding and merging commute; an empty histogram is the neutral element.
#[derive(Clone, Debug, PartialEq)]
pub struct RatioHistogram {
    /// Σ cost × change rate of the pages in each bin, budget units per day.
    masses: [f64; RatioHistogram::BINS],
}

impl Default for RatioHistogram {
    fn default() -> Self {
        Self { masses: [0.0; Self::BINS] }
    }
}

impl RatioHistogram {
    /// Number of bins, equally wide in ln z over -16..16; the first and the last are open.
    pub const BINS: usize = 256;
    const LN_MIN: f64 = -16.0;
    const BINS_PER_UNIT: f64 = 8.0;
    const POINTS_PER_BIN: u32 = 8;

    /// Adds a page. One with no weight or no changes demands nothing.
    pub fn add(&mut self, change_rate_per_day: f64, weight: f64, cost: f64) {
        self.change(change_rate_per_day, weight, cost, 1.0);
    }

    /// Takes a page out again; its numbers must be those it was added with.
    pub fn remove(&mut self, change_rate_per_day: f64, weight: f64, cost: f64) {
        self.change(change_rate_per_day, weight, cost, -1.0);
    }

    fn change(&mut self, change_rate_per_day: f64, weight: f64, cost: f64, sign: f64) {
        let mass = cost * change_rate_per_day;
        if mass > 0.0 && mass.is_finite() && weight > 0.0 {
            self.masses[Self::bin(mass / weight)] += sign * mass;
        }
    }

    /// The bin of the ratio z.
    pub fn bin(z: f64) -> usize {
        // The cast saturates: zero and infinity land in the open bins.
        (((z.ln() - Self::LN_MIN) * Self::BINS_PER_UNIT) as usize).min(Self::BINS - 1)
    }

    /// Adds another set's demand.
    pub fn merge(&mut self, other: &RatioHistogram) {
        for (mass, more) in self.masses.iter_mut().zip(other.masses) {
            *mass += more;
        }
    }

    /// Budget per day that these pages would spend at a price (positive).
    pub fn demand(&self, policy: &Policy, price: f64) -> f64 {
        match *policy {
            // One fetch per `price` days each; the masses are plain counts (see [`crate::columns`]).
            Policy::Uniform => self.masses.iter().sum::<f64>() / price,
            Policy::Optimal { theta } => {
                let bins = self.masses.iter().enumerate().filter(|(_, mass)| **mass > 0.0);
                bins.map(|(bin, mass)| mass * Self::demand_per_mass(bin, price, theta)).sum()
            }
        }
    }

    /// φ(price × z), averaged over a bin. Points inside it matter where φ drops to zero with an infinite slope.
    fn demand_per_mass(bin: usize, price: f64, theta: f64) -> f64 {
        let points = (0..Self::POINTS_PER_BIN).map(|point| {
            let inside = (f64::from(point) + 0.5) / f64::from(Self::POINTS_PER_BIN);
            let ln_z = Self::LN_MIN + (bin as f64 + inside) / Self::BINS_PER_UNIT;
            1.0 / kernels::inverse_mixed(price * ln_z.exp(), theta)
        });
        points.sum::<f64>() / f64::from(Self::POINTS_PER_BIN)
    }

    /// The price at which these pages spend the budget: days of weighted freshness per unit of cost (for the uniform
    /// policy: days between looks). Zero when nothing is wanted, infinite when there is no budget.
    pub fn solve(&self, policy: &Policy, budget_per_day: f64) -> f64 {
        if budget_per_day <= 0.0 || budget_per_day.is_nan() {
            return f64::INFINITY;
        }
        if !self.masses.iter().any(|&mass| mass > 0.0) {
            return 0.0;
        }
        let (mut ln_low, mut ln_high) = (-60.0_f64, 60.0_f64);
        while ln_high - ln_low > 1e-12 {
            let middle = 0.5 * (ln_low + ln_high);
            if self.demand(policy, middle.exp()) > budget_per_day {
                ln_low = middle;
            } else {
                ln_high = middle;
            }
        }
        ln_high.exp()
    }

    /// The form that travels: one number per bin.
    pub fn to_bins(&self) -> Vec<f32> {
        self.masses.iter().map(|&mass| mass as f32).collect()
    }

    /// From the form that travels. `None` when it does not have [`RatioHistogram::BINS`] finite numbers, none negative.
    pub fn from_bins(bins: &[f32]) -> Option<Self> {
        let masses: [f32; Self::BINS] = bins.try_into().ok()?;
        masses.iter().all(|mass| *mass >= 0.0 && mass.is_finite()).then(|| Self { masses: masses.map(f64::from) })
    }

    /// Adds the numbers of one uniform demand: a page is a page.
    pub(crate) fn add_uniform(&mut self) {
        self.masses[Self::bin(1.0)] += 1.0;
    }
}
