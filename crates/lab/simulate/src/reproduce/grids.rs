//! C17: alternatives to the histogram of 256 bins for finding a price.

use revisit::allocate::{DemandByPrice, PageTerms};

/// Range of ln(change rate / weight) in a histogram.
const LN_RATIO: (f64, f64) = (-16.0, 16.0);
/// Ranges of ln(change rate per day) and ln(weight) in a table of both.
const LN_RATE: (f64, f64) = (-12.0, 8.0);
const LN_WEIGHT: (f64, f64) = (-6.0, 14.0);

/// Values out of range count in the outermost cells.
fn cell(value: f64, range: (f64, f64), cells: usize) -> usize {
    // Below the range the number is negative, which becomes 0.
    (((value - range.0) / (range.1 - range.0) * cells as f64) as usize).min(cells - 1)
}

fn at(position: f64, range: (f64, f64), cells: usize) -> f64 {
    range.0 + position * (range.1 - range.0) / cells as f64
}

/// A table that summarises pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Grid {
    /// This many cells in each direction over change rate and weight; pages count as the middles of their cells.
    RateAndWeight(usize),
    /// This many bins over the ratio of both, each evaluated at this many points.
    Ratio { bins: usize, points: usize },
}

impl Grid {
    /// The price of a budget, solved on the cells.
    pub(super) fn price(self, demand: &impl DemandByPrice, pages: &[PageTerms], budget_per_day: f64) -> f64 {
        let cells = self.cells(pages);
        let spending = |ln_price: f64| -> f64 {
            cells.iter().map(|(mass, ln_ratio)| mass * demand.fetches_per_change(ln_price + ln_ratio)).sum()
        };
        let (mut low, mut high) = (-30.0, 30.0);
        while high - low > 1e-11 {
            let middle = 0.5 * (low + high);
            if spending(middle) > budget_per_day {
                low = middle;
            } else {
                high = middle;
            }
        }
        f64::exp(0.5 * (low + high))
    }

    /// Changes per day and ln(change rate / weight) of every non-empty cell.
    fn cells(self, pages: &[PageTerms]) -> Vec<(f64, f64)> {
        let mut masses;
        let cells: Vec<(f64, f64)> = match self {
            Grid::RateAndWeight(side) => {
                masses = vec![0.0; side * side];
                for page in pages {
                    let rate = cell(page.change_rate_per_day.ln(), LN_RATE, side);
                    masses[rate * side + cell(page.weight.ln(), LN_WEIGHT, side)] += 1.0;
                }
                let middle = |(index, pages): (usize, &f64)| {
                    let ln_rate = at((index / side) as f64 + 0.5, LN_RATE, side);
                    let ln_weight = at((index % side) as f64 + 0.5, LN_WEIGHT, side);
                    (pages * ln_rate.exp(), ln_rate - ln_weight)
                };
                masses.iter().enumerate().map(middle).collect()
            }
            Grid::Ratio { bins, points } => {
                masses = vec![0.0; bins];
                for page in pages {
                    let ratio = page.change_rate_per_day / page.weight;
                    masses[cell(ratio.ln(), LN_RATIO, bins)] += page.change_rate_per_day;
                }
                let share = |(bin, mass): (usize, &f64)| {
                    let mass = mass / points as f64;
                    (0..points)
                        .map(move |point| (mass, at(bin as f64 + (point as f64 + 0.5) / points as f64, LN_RATIO, bins)))
                };
                masses.iter().enumerate().flat_map(share).collect()
            }
        };
        cells.into_iter().filter(|(mass, _)| *mass > 0.0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::papers::pages;
    use super::*;
    use revisit::allocate::Objective;
    use revisit::histogram::RatioHistogram;

    #[test]
    fn with_256_bins_and_8_points_it_is_the_histogram_in_use() {
        let pages = pages((0..1000).map(|i| (0.01 * 1.01_f64.powi(i), f64::from(1 + 37 * i % 101))));
        let mut histogram = RatioHistogram::default();
        pages.iter().for_each(|page| histogram.add(page.change_rate_per_day, page.weight, page.cost));
        let grid = Grid::Ratio { bins: 256, points: 8 };
        for budget in [50.0, 500.0] {
            let price = grid.price(&Objective::FRESHNESS, &pages, budget);
            assert!((price / histogram.price(&Objective::FRESHNESS, budget) - 1.0).abs() < 1e-9, "{price}");
        }
    }

    #[test]
    fn pages_in_the_middles_of_cells_have_their_exact_price() {
        // Middles of the cells of a table of 20 by 20: half-integers on both scales.
        let middle = |i: i32| (f64::from(i) + 0.5).exp();
        let pages = pages((0..8).map(|i| (middle(i - 6), middle(i % 3))));
        let exact = revisit::allocate::optimal(&pages, 4.0, 0.0).price;
        let price = Grid::RateAndWeight(20).price(&Objective::FRESHNESS, &pages, 4.0);
        assert!((price / exact - 1.0).abs() < 1e-9, "{price}, not {exact}");
    }
}
