//! One price for many shards, from a kilobyte each.
//!
//! A page's best fetch rate is λ φ(L z): it depends on the price L through the one ratio z = cost × λ / weight. So a
//! histogram over ln z that holds Σ cost × λ per bin says how much a set of pages would spend at any price.
//! Histograms add up: every shard publishes its own, sums the latest of all, and solves for the same price alone. The
//! error is one of budget only, never of mix, because each page then uses its own exact numbers: some 0.1 % for pages of
//! known rates. Pages whose rates are still in doubt are entered with their mean rate; 2,000 such spent 0 to 12 % less
//! than the budget after ten looks each, 4 to 27 % less before the first (theta .05, most at the smallest budget). So
//! let the price rank and share, not hold back fetches that are already paid for. C17 of the algorithm notes.

use crate::allocate::{Demand, LN_PRICE_LIMIT, Objective, meet_budget};
use crate::demand_curve::DemandCurve;
use crate::policy::Policy;
use std::sync::LazyLock;

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
    #[inline]
    pub fn add(&mut self, change_rate_per_day: f64, weight: f64, cost: f64) {
        self.change(change_rate_per_day, weight, cost, 1.0);
    }

    /// Takes a page out again; its numbers must be those it was added with.
    pub fn remove(&mut self, change_rate_per_day: f64, weight: f64, cost: f64) {
        self.change(change_rate_per_day, weight, cost, -1.0);
    }

    #[inline]
    fn change(&mut self, change_rate_per_day: f64, weight: f64, cost: f64, sign: f64) {
        let mass = cost * change_rate_per_day;
        if mass > 0.0 && mass.is_finite() && weight > 0.0 {
            self.masses[Self::bin(mass / weight)] += sign * mass;
        }
    }

    /// Adds a page by its ratio z (as [`Demand::ln_ratio`] has it for the objective) and its mass cost × change rate.
    /// Histograms for age are not those for the other objectives.
    pub fn add_ratio(&mut self, z: f64, mass: f64) {
        if mass > 0.0 && mass.is_finite() && z > 0.0 {
            self.masses[Self::bin(z)] += mass;
        }
    }

    /// The bin of the ratio z, not negative.
    #[inline]
    pub fn bin(z: f64) -> usize {
        static TABLE: LazyLock<BinTable> = LazyLock::new(BinTable::new);
        TABLE.bin(z)
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
            Policy::Optimal { theta } => self.spending(&Objective::Mixed { theta }, price.ln()),
        }
    }

    /// Budget per day that these pages would spend at the price with this logarithm.
    fn spending(&self, demand: &impl Demand, ln_price: f64) -> f64 {
        let bins = self.masses.iter().enumerate().filter(|(_, mass)| **mass > 0.0);
        bins.map(|(bin, mass)| mass * Self::fetches_per_change(demand, bin, ln_price)).sum()
    }

    /// φ(price × z), averaged over a bin. Points inside it matter where φ drops to zero with an infinite slope.
    fn fetches_per_change(demand: &impl Demand, bin: usize, ln_price: f64) -> f64 {
        let points = (0..Self::POINTS_PER_BIN).map(|point| {
            let inside = (f64::from(point) + 0.5) / f64::from(Self::POINTS_PER_BIN);
            demand.fetches_per_change(ln_price + Self::LN_MIN + (bin as f64 + inside) / Self::BINS_PER_UNIT)
        });
        points.sum::<f64>() / f64::from(Self::POINTS_PER_BIN)
    }

    /// The price at which these pages spend the budget: days of weighted freshness per unit of cost (for the uniform
    /// policy: days between looks). Zero when nothing is wanted, infinite when there is no budget. Whoever solves often
    /// keeps a [`DemandCurve`] and asks [`RatioHistogram::price`].
    pub fn solve(&self, policy: &Policy, budget_per_day: f64) -> f64 {
        match *policy {
            Policy::Optimal { theta } => self.price(&DemandCurve::new(Objective::Mixed { theta }), budget_per_day),
            Policy::Uniform if budget_per_day > 0.0 => self.demand(policy, 1.0) / budget_per_day,
            Policy::Uniform => f64::INFINITY,
        }
    }

    /// The price at which these pages spend the budget, for any objective. Zero when nothing is wanted, infinite when
    /// there is no budget. A fraction of a millisecond with a [`DemandCurve`], however many pages there are.
    pub fn price(&self, demand: &impl Demand, budget_per_day: f64) -> f64 {
        if budget_per_day <= 0.0 || budget_per_day.is_nan() {
            return f64::INFINITY;
        }
        let mass: f64 = self.masses.iter().sum();
        if mass.is_nan() || mass <= 0.0 {
            return 0.0;
        }
        let bracket = meet_budget(0.0, 1.0, budget_per_day, |ln_price| self.spending(demand, ln_price));
        if bracket.high <= -LN_PRICE_LIMIT { 0.0 } else { bracket.high.exp() }
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

/// Finds the bin of a number by its leading bits: four times as fast as by its logarithm, and building a histogram does
/// little else.
struct BinTable {
    /// Where each bin begins; the last is open.
    edges: [f64; RatioHistogram::BINS + 1],
    /// The bin in which each cell of numbers with the same leading bits begins. A cell is a fraction of a bin wide.
    first_bins: Vec<u8>,
}

impl BinTable {
    /// Cells per octave: so many bits of the mantissa count.
    const MANTISSA_BITS: u32 = 7;
    const SHIFT: u32 = f64::MANTISSA_DIGITS - 1 - Self::MANTISSA_BITS;
    /// Octaves on either side of 1, beyond e^-16..e^16.
    const OCTAVES: u64 = 24;
    const FIRST_CELL: u64 = (f64::MAX_EXP as u64 - 1 - Self::OCTAVES) << Self::MANTISSA_BITS;

    fn new() -> Self {
        let begin = |bin: usize| (RatioHistogram::LN_MIN + bin as f64 / RatioHistogram::BINS_PER_UNIT).exp();
        let mut edges: [f64; RatioHistogram::BINS + 1] = std::array::from_fn(begin);
        edges[RatioHistogram::BINS] = f64::INFINITY;
        let first_bin = |cell: u64| {
            let number = f64::from_bits((Self::FIRST_CELL + cell) << Self::SHIFT);
            edges[1..RatioHistogram::BINS].partition_point(|&edge| edge <= number) as u8
        };
        let cells = (2 * Self::OCTAVES) << Self::MANTISSA_BITS;
        Self { edges, first_bins: (0..cells).map(first_bin).collect() }
    }

    #[inline]
    fn bin(&self, z: f64) -> usize {
        let cell = (z.to_bits() >> Self::SHIFT).saturating_sub(Self::FIRST_CELL) as usize;
        let bin = usize::from(self.first_bins[cell.min(self.first_bins.len() - 1)]);
        (bin + usize::from(z >= self.edges[bin + 1])).min(RatioHistogram::BINS - 1)
    }
}
