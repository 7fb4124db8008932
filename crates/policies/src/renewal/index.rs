//! The value of a look at a page of known age, as an index: the price at which looking now and waiting are equally good.
//!
//! [`AgeModel`] gives the best wait for each age and price. Read the other way round, a wait is worth a price, and the page of the
//! highest one is looked at first (Whittle 1988). For exponential gaps this is the crawl value P(2, λt).

use super::by_age::{AGES, AgeModel, SHORTEST, place};
use change_rate::gaps::GapDistribution;

/// Prices of the table, in mean gaps of freshness; each is this much higher than the one before.
const PRICE_STEP: f64 = 1.5;
/// The wait for it is two cells of the grid without memory.
const FIRST_PRICE: f64 = 1e-3;
const PRICES: usize = 24;

/// Values of looks for one distribution of gaps.
#[derive(Clone, Debug)]
pub struct AgeIndex {
    /// By price: the best wait of each age, never falling with the price.
    waits: Vec<[f64; AGES.len()]>,
}

impl AgeIndex {
    pub fn new(gaps: &GapDistribution) -> Self {
        let model = AgeModel::new(gaps);
        let mut waits: Vec<[f64; AGES.len()]> = Vec::with_capacity(PRICES);
        for number in 0..PRICES {
            let mut best = model.best(price(number as f64)).waits;
            if let Some(before) = waits.last() {
                best.iter_mut().zip(before).for_each(|(wait, before)| *wait = wait.max(*before));
            }
            waits.push(best);
        }
        Self { waits }
    }

    /// Value of a look `wait` after one that found a version of this age, in mean gaps of freshness.
    pub fn value(&self, age: f64, wait: f64) -> f64 {
        if wait.is_nan() || wait <= 0.0 {
            return 0.0;
        }
        // Soon after a look the value rises with the square of the wait.
        if wait < SHORTEST {
            return self.value(age, SHORTEST) * (wait / SHORTEST).powi(2);
        }
        let (below, share) = place(age);
        let best = |number: usize| {
            let waits = &self.waits[number];
            // A page that is given up is so at every age.
            let is_between = share > 0.0 && waits[below].is_finite();
            if is_between { waits[below] + share * (waits[below + 1] - waits[below]) } else { waits[below] }
        };
        // The first price whose wait is longer.
        let (mut low, mut high) = (0, PRICES);
        while low < high {
            let middle = usize::midpoint(low, high);
            if best(middle) > wait {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        let Some(before) = low.checked_sub(1) else {
            return FIRST_PRICE * (wait / best(0)).powi(2);
        };
        let from = best(before);
        let part = match (before + 1 < PRICES).then(|| best(before + 1)) {
            Some(to) if to.is_finite() => (wait / from).ln() / (to / from).ln(),
            // Beyond, the page is given up: the value approaches that price.
            _ => 1.0 - from / wait,
        };
        price(before as f64 + part)
    }
}

fn price(number: f64) -> f64 {
    FIRST_PRICE * PRICE_STEP.powf(number)
}
