//! Are the times between changes exponential? A test for pages that are seen at looks only, so that each time is known between two
//! looks.
//!
//! A version lives from the look that shows it first. Without memory, the rest of its life is exponential from there, however old it
//! is already and whenever looks are made. Its life lies between the last look that saw it and the first that saw another, and is
//! spread over classes of λ·life by the exponential distribution between these two: then the expected number in a class is its
//! probability, whatever the looks (the law of total expectation).
//!
//! The rate is fitted page by page, which draws the observed numbers towards the expected ones. What remains under the hypothesis is
//! found by permutation: given N looks of which K found a change, every order of them is equally likely if changes have no memory and looks
//! are even. So the mean and the covariance of a page's sums are those over random orders of its own looks. The sums of all pages are
//! compared with them by Pearson's statistic in its general form. Its degrees of freedom are the classes between which looks can distinguish, less
//! one: all that lies between two looks is one class to them. Where looks are uneven, the means hold to first order.

use crate::intervals::zero_of_falling_convex;
use crate::special::regularised_lower_gamma;
use chance::{Draws, SplitMix64, splitmix64};

/// Classes of life that are tested, equally probable without memory. More of them would be narrower than the time between two looks.
const CLASSES: usize = 4;
/// Finer classes, of which [`MemorylessResult::curve`] is made. Those of a class follow each other.
const STEPS: usize = 12;
/// Sums that are free; the last follows from them.
const FREE: usize = CLASSES - 1;
/// Random orders drawn for each page.
const ORDERS: usize = 128;
/// The most looks and changes of a page that are put into random orders.
const MOST_LOOKS: u32 = 1 << 24;
const MOST_CHANGES: usize = 1_000;
/// Changes, and looks without one, that a page needs.
const LEAST_OF_EACH: usize = 2;
/// Lives that have ended for each class, all pages together: the usual rule for Pearson's statistic.
const LEAST_IN_CLASS: u64 = 5;
/// A class counts if the classes before it leave at least this part of its variance unexplained.
const LEAST_OF_ITS_OWN: f64 = 0.2;

/// How long a version of a page was there after the look that showed it first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lifetime {
    /// From that look to the last one that saw it.
    pub at_least_days: f64,
    /// From that look to the first one that saw another. `None`: no look has.
    pub at_most_days: Option<f64>,
}

impl Lifetime {
    fn is_sane(&self) -> bool {
        let end = self.at_most_days.unwrap_or(f64::MAX);
        self.at_least_days >= 0.0 && end.is_finite() && end > self.at_least_days
    }
}

/// Sums over the lives of any number of histories.
#[derive(Clone, Debug, Default, PartialEq)]
struct LifeSums {
    looks: u64,
    /// Lives that have ended.
    ended: u64,
    observed: [f64; STEPS],
    /// Mean over random orders.
    expected: [f64; STEPS],
    covariance: [[f64; FREE]; FREE],
}

impl LifeSums {
    fn add(&mut self, other: &Self) {
        self.looks += other.looks;
        self.ended += other.ended;
        self.observed.iter_mut().zip(other.observed).for_each(|(sum, more)| *sum += more);
        self.expected.iter_mut().zip(other.expected).for_each(|(sum, more)| *sum += more);
        let sums = self.covariance.as_flattened_mut().iter_mut();
        sums.zip(other.covariance.as_flattened()).for_each(|(sum, more)| *sum += more);
    }
}

/// A page's contribution to the test, fitted and put into random orders.
#[derive(Clone, Debug, PartialEq)]
pub struct PageLives {
    change_rate_per_day: f64,
    sums: LifeSums,
}

impl PageLives {
    /// A page of which `looks` looks have followed the one that showed the first of these versions. All but one have ended: the one
    /// that is still there, if only since the last look. `seed` is that of the random orders: another one for each page. `None` if the
    /// page says nothing: it needs two changes and two looks without one.
    pub fn new(lives: &[Lifetime], looks: u32, seed: u64) -> Option<Self> {
        let ended = lives.iter().filter(|life| life.at_most_days.is_some()).count();
        let is_usable = (LEAST_OF_EACH..=MOST_CHANGES).contains(&ended)
            && lives.len() == ended + 1
            && looks as usize >= ended + LEAST_OF_EACH
            && looks <= MOST_LOOKS
            && lives.iter().all(Lifetime::is_sane);
        if !is_usable {
            return None;
        }
        let rate = fitted_rate_per_day(lives)?;
        let mut observed = [0.0; STEPS];
        for life in lives {
            add(&mut observed, rate * life.at_least_days, life.at_most_days.map(|days| rate * days));
        }
        let (expected, covariance) = over_random_orders(looks, ended, seed);
        let sums = LifeSums { looks: u64::from(looks), ended: ended as u64, observed, expected, covariance };
        Some(Self { change_rate_per_day: rate, sums })
    }

    /// The rate of changes by maximum likelihood.
    pub fn change_rate_per_day(&self) -> f64 {
        self.change_rate_per_day
    }
}

/// A point of the distribution of lives.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct LifePoint {
    /// Time, as a multiple of the page's mean time between changes.
    pub mean_intervals: f64,
    /// Share of all lives that end by then, …
    pub observed_share: f64,
    /// … and the same without memory: 1 - e^(-λt), drawn a little towards the mean because λ is fitted.
    pub expected_share: f64,
}

/// The outcome of the test.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct MemorylessResult {
    /// Histories tested: one for a page, or more if it was away in between.
    pub pages: u64,
    pub looks: u64,
    pub changes: u64,
    pub chi_square: f64,
    pub degrees_of_freedom: u32,
    /// Probability of so large a statistic if changes have no memory.
    pub p_value: f64,
    /// Observed less expected share of lives of at most 0.29 mean times between changes. Above 0 changes come in bursts, below 0
    /// they are more regular than chance.
    pub excess_of_short_lives: f64,
    /// The distribution of lives.
    pub curve: Vec<LifePoint>,
}

/// The test over any number of pages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemorylessTest {
    pages: u64,
    sums: LifeSums,
}

impl MemorylessTest {
    pub fn add(&mut self, page: &PageLives) {
        self.pages += 1;
        self.sums.add(&page.sums);
    }

    /// Number of changes so far.
    pub fn changes(&self) -> u64 {
        self.sums.ended
    }

    /// Changes that [`MemorylessTest::result`] needs.
    pub const LEAST_CHANGES: u64 = LEAST_IN_CLASS * CLASSES as u64;

    /// `None` if there are too few changes, or looks are so rare that every look finds one.
    pub fn result(&self) -> Option<MemorylessResult> {
        let sums = &self.sums;
        if sums.ended < Self::LEAST_CHANGES {
            return None;
        }
        let (observed, expected) = (in_classes(&sums.observed), in_classes(&sums.expected));
        let differences: [f64; FREE] = std::array::from_fn(|class| observed[class] - expected[class]);
        let (form, degrees_of_freedom) = quadratic_form(&sums.covariance, &differences);
        if degrees_of_freedom == 0 {
            return None;
        }
        // The mean over random orders is itself drawn.
        let chi_square = form / (1.0 + 1.0 / ORDERS as f64);
        let all: f64 = sums.expected.iter().sum();
        let (mut ended, mut ended_in_theory) = (0.0, 0.0);
        // The last step has no end.
        let curve = (0..STEPS - 1).map(|step| {
            ended += sums.observed[step];
            ended_in_theory += sums.expected[step];
            LifePoint {
                mean_intervals: end_of(step),
                observed_share: ended / all,
                expected_share: ended_in_theory / all,
            }
        });
        Some(MemorylessResult {
            pages: self.pages,
            looks: sums.looks,
            changes: sums.ended,
            chi_square,
            degrees_of_freedom,
            p_value: 1.0 - regularised_lower_gamma(0.5 * f64::from(degrees_of_freedom), 0.5 * chi_square),
            excess_of_short_lives: differences[0] / all,
            curve: curve.collect(),
        })
    }
}

/// The rate of greatest likelihood for exponential lives between two looks. `None` if none is greatest: no life ended, or no look
/// ever saw a version again.
pub fn fitted_rate_per_day(lives: &[Lifetime]) -> Option<f64> {
    let survived: f64 = lives.iter().map(|life| life.at_least_days).sum();
    let widths = || lives.iter().filter_map(|life| Some(life.at_most_days? - life.at_least_days));
    let most: f64 = survived + widths().sum::<f64>();
    let ended = widths().count() as f64;
    if ended == 0.0 || survived <= 0.0 || !most.is_finite() {
        return None;
    }
    // The likelihood falls with every rate above this one.
    let end = ended / survived;
    let rate = zero_of_falling_convex(ended / most, end, |rate| {
        let (mut value, mut slope) = (-survived, 0.0);
        for width in widths() {
            let growth = (rate * width).exp_m1();
            value += width / growth;
            slope -= width * width * (growth + 1.0) / (growth * growth);
        }
        (value, slope)
    });
    (rate.is_finite() && rate > 0.0).then_some(rate)
}

/// The end of a step, in mean times between changes.
fn end_of(step: usize) -> f64 {
    -(1.0 - (step + 1) as f64 / STEPS as f64).ln()
}

/// The sums of classes.
fn in_classes(steps: &[f64; STEPS]) -> [f64; CLASSES] {
    std::array::from_fn(|class| steps[class * STEPS / CLASSES..(class + 1) * STEPS / CLASSES].iter().sum())
}

/// Spreads one life over the steps, by the exponential distribution of mean 1 between its bounds.
fn add(sums: &mut [f64; STEPS], at_least: f64, at_most: Option<f64>) {
    let beyond = |time: f64| (at_least - time).exp();
    let last = at_most.map_or(0.0, beyond);
    let all = 1.0 - last;
    // Bounds so near that they differ by rounding only.
    if all < 1e-12 {
        let step = (0..STEPS - 1).find(|step| at_least < end_of(*step)).unwrap_or(STEPS - 1);
        sums[step] += 1.0;
        return;
    }
    let mut left = 1.0;
    for (step, sum) in sums.iter_mut().enumerate() {
        let after = beyond(end_of(step)).clamp(last, 1.0);
        *sum += (left - after) / all;
        left = after;
    }
}

/// Mean and covariance of the sums of a page over random orders of its looks.
fn over_random_orders(looks: u32, changes: usize, seed: u64) -> ([f64; STEPS], [[f64; FREE]; FREE]) {
    // The fitted λ·gap of even looks.
    let gap = -(-(changes as f64 / f64::from(looks))).ln_1p();
    let mut draws = SplitMix64(splitmix64(seed));
    let (mut means, mut products) = ([0.0; STEPS], [[0.0; FREE]; FREE]);
    let mut found = Vec::with_capacity(changes);
    for _ in 0..ORDERS {
        draw_places(&mut found, looks, changes, &mut draws);
        let (mut sums, mut from) = ([0.0; STEPS], 0);
        for place in &found {
            let looks_seen = f64::from(*place - from);
            add(&mut sums, gap * (looks_seen - 1.0), Some(gap * looks_seen));
            from = *place;
        }
        add(&mut sums, gap * f64::from(looks - from), None);
        means.iter_mut().zip(sums).for_each(|(mean, sum)| *mean += sum / ORDERS as f64);
        let classes = in_classes(&sums);
        for (row, one) in products.iter_mut().zip(classes) {
            row.iter_mut().zip(classes).for_each(|(product, other)| *product += one * other);
        }
    }
    let of_classes = in_classes(&means);
    let covariance = |row: usize, column: usize| {
        (products[row][column] - ORDERS as f64 * of_classes[row] * of_classes[column]) / (ORDERS - 1) as f64
    };
    (means, std::array::from_fn(|row| std::array::from_fn(|column| covariance(row, column))))
}

/// Places of the looks that find a change, from 1, in order: all choices are equally likely (Floyd's algorithm, in Bentley, CACM
/// 1987).
fn draw_places(places: &mut Vec<u32>, looks: u32, changes: usize, draws: &mut SplitMix64) {
    places.clear();
    for end in looks - changes as u32 + 1..=looks {
        let place = 1 + draws.below(end);
        match places.binary_search(&place) {
            Err(at) => places.insert(at, place),
            // All others are smaller.
            Ok(_) => places.push(end),
        }
    }
}

/// The form dᵀ C⁻¹ d by Cholesky's decomposition, and its rank. Classes that follow from those before them are left out.
fn quadratic_form(matrix: &[[f64; FREE]; FREE], differences: &[f64; FREE]) -> (f64, u32) {
    let mut lower: [[f64; FREE]; FREE] = [[0.0; FREE]; FREE];
    let (mut form, mut solved, mut rank): (f64, [f64; FREE], u32) = (0.0, [0.0; FREE], 0);
    for (row, (covariances, difference)) in matrix.iter().zip(differences).enumerate() {
        for (column, covariance) in covariances.iter().enumerate().take(row) {
            let known: f64 = (0..column).map(|k| lower[row][k] * lower[column][k]).sum();
            let pivot = lower[column][column];
            lower[row][column] = if pivot > 0.0 { (covariance - known) / pivot } else { 0.0 };
        }
        let explained: f64 = lower[row][..row].iter().map(|number| number * number).sum();
        let rest = covariances[row] - explained;
        if rest <= LEAST_OF_ITS_OWN * covariances[row] {
            continue;
        }
        lower[row][row] = rest.sqrt();
        let known: f64 = (0..row).map(|k| lower[row][k] * solved[k]).sum();
        solved[row] = (difference - known) / lower[row][row];
        form += solved[row] * solved[row];
        rank += 1;
    }
    (form, rank)
}

#[cfg(test)]
mod tests;
