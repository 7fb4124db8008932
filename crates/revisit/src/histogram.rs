//! One price for many shards, from a kilobyte each.
//!
//! A page's best fetch rate is λ φ(L z): it depends on the price L through the one ratio z = cost × λ / weight. So a
//! histogram over ln z with Σ cost × λ per bin gives how much a set of pages would spend at any price. Histograms add
//! up: every shard publishes its own, sums the latest of all, and solves for the same price alone. The error affects
//! only the budget, never the mix, because each page then uses its own exact numbers. It is some 0.1 % for pages with
//! known rates. Pages with uncertain rates are entered with their mean rate; 2,000 of them spent 0 to 12 % less than
//! the budget after ten looks each, and 4 to 27 % less before the first (theta .05, most at the smallest budget). So
//! use the price to rank pages and share the budget, not to hold back fetches that are already paid for. C17 of the
//! algorithm notes.

use crate::allocate::{DemandByPrice, LN_PRICE_LIMIT, Objective, meet_budget};
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

    /// Adds a page. A page with no weight or no changes has no demand.
    #[inline]
    pub fn add(&mut self, change_rate_per_day: f64, weight: f64, cost: f64) {
        self.change(change_rate_per_day, weight, cost, 1.0);
    }

    /// Removes a page; the numbers must be those it was added with.
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

    /// Adds a page by its ratio z ([`DemandByPrice::ln_ratio`] for the objective) and its mass cost × change rate.
    /// Histograms for age differ from those for the other objectives.
    pub fn add_ratio(&mut self, z: f64, mass: f64) {
        if mass > 0.0 && mass.is_finite() && z > 0.0 {
            self.masses[Self::bin(z)] += mass;
        }
    }

    /// The bin of a ratio z, which must not be negative.
    #[inline]
    pub fn bin(z: f64) -> usize {
        static TABLE: LazyLock<BinTable> = LazyLock::new(BinTable::new);
        TABLE.bin(z)
    }

    /// ln z in the middle of a bin.
    pub(crate) fn ln_middle(bin: usize) -> f64 {
        Self::LN_MIN + (bin as f64 + 0.5) / Self::BINS_PER_UNIT
    }

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

    /// Budget per day that these pages would spend at this ln price.
    fn spending(&self, demand: &impl DemandByPrice, ln_price: f64) -> f64 {
        let bins = self.masses.iter().enumerate().filter(|(_, mass)| **mass > 0.0);
        bins.map(|(bin, mass)| mass * Self::fetches_per_change(demand, bin, ln_price)).sum()
    }

    /// φ(price × z), averaged over a bin. Several points per bin are needed where φ drops to zero with an infinite
    /// slope.
    fn fetches_per_change(demand: &impl DemandByPrice, bin: usize, ln_price: f64) -> f64 {
        let points = (0..Self::POINTS_PER_BIN).map(|point| {
            let inside = (f64::from(point) + 0.5) / f64::from(Self::POINTS_PER_BIN);
            demand.fetches_per_change(ln_price + Self::LN_MIN + (bin as f64 + inside) / Self::BINS_PER_UNIT)
        });
        points.sum::<f64>() / f64::from(Self::POINTS_PER_BIN)
    }

    /// The price at which these pages spend the budget: days of weighted freshness per unit of cost (for the uniform
    /// policy: days between looks). Zero when there is no demand, infinite when there is no budget. To solve often,
    /// keep a [`DemandCurve`] and use [`RatioHistogram::price`].
    pub fn solve(&self, policy: &Policy, budget_per_day: f64) -> f64 {
        match *policy {
            Policy::Optimal { theta } => self.price(&DemandCurve::new(Objective::Mixed { theta }), budget_per_day),
            Policy::Uniform if budget_per_day > 0.0 => self.demand(policy, 1.0) / budget_per_day,
            Policy::Uniform => f64::INFINITY,
        }
    }

    /// The price at which these pages spend the budget, for any objective. Zero when there is no demand, infinite when
    /// there is no budget. Takes a fraction of a millisecond with a [`DemandCurve`], however many pages there are.
    pub fn price(&self, demand: &impl DemandByPrice, budget_per_day: f64) -> f64 {
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

    /// The serialized form: one number per bin.
    pub fn to_bins(&self) -> Vec<f32> {
        self.masses.iter().map(|&mass| mass as f32).collect()
    }

    /// Reads the serialized form. `None` unless it has [`RatioHistogram::BINS`] finite numbers, none negative.
    pub fn from_bins(bins: &[f32]) -> Option<Self> {
        let masses: [f32; Self::BINS] = bins.try_into().ok()?;
        masses.iter().all(|mass| *mass >= 0.0 && mass.is_finite()).then(|| Self { masses: masses.map(f64::from) })
    }

    /// Adds a page under the uniform policy, where all pages are equal.
    pub(crate) fn add_uniform(&mut self) {
        self.masses[Self::bin(1.0)] += 1.0;
    }
}

/// Finds the bin of a number by its leading bits. This is four times as fast as by its logarithm, and takes most of the
/// time of building a histogram.
struct BinTable {
    /// Where each bin begins; the last is open.
    edges: [f64; RatioHistogram::BINS + 1],
    /// The first bin of each cell of numbers with the same leading bits. A cell is a fraction of a bin wide.
    first_bins: Vec<u8>,
}

impl BinTable {
    /// Bits of the mantissa used: 2^7 cells per octave.
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
