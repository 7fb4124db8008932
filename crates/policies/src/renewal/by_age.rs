//! The best looks at a page of which the age of the present version is known.
//!
//! If the hazard is not constant, a look does more than renew the copy: it shows how old the version is, and the best time of the
//! next look follows from that. With the age at a look as its state, a page under a price for looks is a semi-Markov decision process.
//! It is solved by policy iteration on a grid of ages and waits (Howard 1960; Puterman, Markov Decision Processes, 1994, 11.4), in
//! mean gaps, so that one solution serves all pages of a shape. For exponential gaps all ages are alike, and it is the known optimum:
//! the net rates agree within 2e-4, and from a price of .01 on the waits within 1 % (the tests; that is the error of the grid).

use change_rate::gaps::GapDistribution;

/// Ages at a look, in mean gaps. Beyond the last, the hazard is taken as constant.
pub const AGES: [f64; 17] = [0.0, 0.03, 0.07, 0.13, 0.2, 0.3, 0.45, 0.65, 0.9, 1.2, 1.6, 2.2, 3.0, 4.2, 6.0, 8.5, 12.0];
/// Cells of a mean gap in the lattice on which changes after the first are counted.
const CELLS: usize = 48;
/// The shortest wait of the grid, in mean gaps.
pub(super) const SHORTEST: f64 = 1.0 / CELLS as f64;
/// The longest wait, in mean gaps.
const LONGEST: f64 = 12.0;
/// Each wait of the grid beside the one before.
const STEP: f64 = 1.12;
/// Rounds of policy iteration. A few suffice.
const ROUNDS: usize = 60;

/// A page's ages, waits and the transitions between ages, for one distribution of gaps.
#[derive(Clone, Debug)]
pub struct AgeModel {
    waits: Vec<f64>,
    /// By age and wait: expected fresh time, …
    fresh: Vec<Vec<f64>>,
    /// … and the distribution of the age at the look after it.
    next: Vec<Vec<[f64; AGES.len()]>>,
}

/// The best plan at a price.
#[derive(Clone, Debug, PartialEq)]
pub struct AgePlan {
    /// Waits after a look that found a version of each of [`AGES`], in mean gaps. All infinite: the page is given up.
    pub waits: [f64; AGES.len()],
    /// Fresh time less the price of looks, per mean gap; 0 for a page that is given up.
    pub net_rate: f64,
    /// Share of the time that the copy is current.
    pub freshness: f64,
    /// Looks in a mean gap.
    pub looks_per_gap: f64,
}

impl AgeModel {
    pub fn new(gaps: &GapDistribution) -> Self {
        let waits: Vec<f64> = {
            let mut cells = vec![1_usize];
            while let Some(&last) = cells.last().filter(|last| (**last as f64) < LONGEST * CELLS as f64) {
                cells.push(((last as f64 * STEP) as usize).max(last + 1));
            }
            cells.into_iter().map(|cells| cells as f64 / CELLS as f64).collect()
        };
        let lattice = Lattice::new(gaps, cell_of(*waits.last().unwrap_or(&LONGEST)) + 1);
        let (mut fresh, mut next) = (Vec::new(), Vec::new());
        for age in AGES {
            let changes = lattice.changes_after(gaps, age);
            fresh.push(waits.iter().map(|wait| gaps.fresh_time_at(age, *wait)).collect());
            next.push(waits.iter().map(|wait| lattice.age_after(&changes, gaps, age, *wait)).collect());
        }
        Self { waits, fresh, next }
    }

    /// The best plan where a look costs `price` mean gaps of freshness (positive).
    pub fn best(&self, price: f64) -> AgePlan {
        let middle = self.waits.partition_point(|wait| *wait < (2.0 * price).sqrt()).min(self.waits.len() - 1);
        let mut choice = [middle; AGES.len()];
        let mut rate = 0.0;
        let mut values = [0.0; AGES.len()];
        for _ in 0..ROUNDS {
            (rate, values) = self.evaluate(&choice, |age, wait| self.fresh[age][wait] - price);
            let mut better = choice;
            for (age, chosen) in better.iter_mut().enumerate() {
                let gain = |wait: usize| self.gain(age, wait, price, rate, &values);
                let best = (0..self.waits.len()).max_by(|one, other| gain(*one).total_cmp(&gain(*other)));
                if let Some(best) = best.filter(|best| gain(*best) > gain(*chosen) + 1e-12) {
                    *chosen = best;
                }
            }
            if better == choice {
                break;
            }
            choice = better;
        }
        if rate <= 0.0 {
            let waits = [f64::INFINITY; AGES.len()];
            return AgePlan { waits, net_rate: 0.0, freshness: 0.0, looks_per_gap: 0.0 };
        }
        let waits = std::array::from_fn(|age| self.refined(age, choice[age], price, rate, &values));
        let freshness = self.evaluate(&choice, |age, wait| self.fresh[age][wait]).0;
        let looks_per_gap = self.evaluate(&choice, |_, _| 1.0).0;
        AgePlan { waits, net_rate: rate, freshness, looks_per_gap }
    }

    fn gain(&self, age: usize, wait: usize, price: f64, rate: f64, values: &[f64; AGES.len()]) -> f64 {
        let after: f64 = self.next[age][wait].iter().zip(values).map(|(probability, value)| probability * value).sum();
        self.fresh[age][wait] - price - rate * self.waits[wait] + after
    }

    /// The wait between those of the grid: the top of the parabola through the best and its neighbours, in ln wait.
    fn refined(&self, age: usize, best: usize, price: f64, rate: f64, values: &[f64; AGES.len()]) -> f64 {
        if best == 0 || best + 1 >= self.waits.len() {
            return self.waits[best];
        }
        let at = |wait: usize| (self.waits[wait].ln(), self.gain(age, wait, price, rate, values));
        let ((x0, y0), (x1, y1), (x2, y2)) = (at(best - 1), at(best), at(best + 1));
        let (left, right) = ((x1 - x0) * (y1 - y2), (x1 - x2) * (y1 - y0));
        let top = x1 - 0.5 * ((x1 - x0) * left - (x1 - x2) * right) / (left - right);
        if top.is_finite() { top.clamp(x0, x2).exp() } else { self.waits[best] }
    }

    /// The mean of a reward per time under these choices, and the relative value of each age: v + rate × wait = reward + P v, where
    /// the value of the first age is 0.
    fn evaluate(&self, choice: &[usize; AGES.len()], reward: impl Fn(usize, usize) -> f64) -> (f64, [f64; AGES.len()]) {
        const N: usize = AGES.len();
        // Unknowns: the rate in the place of the first value, then the other values.
        let mut rows = [[0.0; N + 1]; N];
        for (age, row) in rows.iter_mut().enumerate() {
            let wait = choice[age];
            for (other, cell) in row.iter_mut().enumerate().take(N).skip(1) {
                *cell = f64::from(u8::from(other == age)) - self.next[age][wait][other];
            }
            row[0] = self.waits[wait];
            row[N] = reward(age, wait);
        }
        let solved = solve(rows);
        let mut values = solved;
        values[0] = 0.0;
        (solved[0], values)
    }
}

/// Gaussian elimination with pivots.
fn solve<const N: usize, const M: usize>(mut rows: [[f64; M]; N]) -> [f64; N] {
    for column in 0..N {
        let pivot = (column..N).max_by(|one, other| rows[*one][column].abs().total_cmp(&rows[*other][column].abs()));
        rows.swap(column, pivot.unwrap_or(column));
        let lead = rows[column];
        for row in rows.iter_mut().skip(column + 1) {
            let factor = row[column] / lead[column];
            row.iter_mut().zip(lead).skip(column).for_each(|(cell, of_lead)| *cell -= factor * of_lead);
        }
    }
    let mut solution = [0.0; N];
    for row in (0..N).rev() {
        let known: f64 = (row + 1..N).map(|column| rows[row][column] * solution[column]).sum();
        solution[row] = (rows[row][M - 1] - known) / rows[row][row];
    }
    solution
}

fn cell_of(time: f64) -> usize {
    (time * CELLS as f64).round() as usize
}

/// The renewal process on a lattice: each gap is rounded to whole cells.
struct Lattice {
    /// Probability that a gap is longer than this many cells.
    longer: Vec<f64>,
    /// Expected changes in each cell after a change in cell 0, that one not counted.
    after_change: Vec<f64>,
}

impl Lattice {
    fn new(gaps: &GapDistribution, cells: usize) -> Self {
        let longer: Vec<f64> = (0..cells).map(|cell| gaps.survival((cell as f64 + 0.5) / CELLS as f64)).collect();
        let gap = |cell: usize| if cell == 0 { 1.0 - longer[0] } else { longer[cell - 1] - longer[cell] };
        let mut after_change = Vec::with_capacity(cells);
        for cell in 0..cells {
            let earlier: f64 = (1..=cell).map(|first| gap(first) * after_change[cell - first]).sum();
            after_change.push((gap(cell) + earlier) / longer[0]);
        }
        Self { longer, after_change }
    }

    /// Expected changes in each cell after a look at a version of this age; cell 1 begins with the look.
    fn changes_after(&self, gaps: &GapDistribution, age: f64) -> Vec<f64> {
        let cells = self.longer.len();
        let left = |cell: usize| gaps.residual_survival(age, cell as f64 / CELLS as f64);
        let mut before = 1.0;
        let first: Vec<f64> = (0..cells)
            .map(|cell| {
                let ended = before - left(cell);
                before -= ended;
                ended
            })
            .collect();
        let later = |cell: usize| (0..=cell).map(|at| first[at] * self.after_change[cell - at]).sum::<f64>();
        (0..cells).map(|cell| first[cell] + later(cell)).collect()
    }

    /// The distribution over [`AGES`] after a wait: the version is the old one, or the last change made it.
    fn age_after(&self, changes: &[f64], gaps: &GapDistribution, age: f64, wait: f64) -> [f64; AGES.len()] {
        let end = cell_of(wait);
        let mut ages = [0.0; AGES.len()];
        for (cell, expected) in changes.iter().enumerate().take(end + 1) {
            // From the middle of its cell.
            spread(&mut ages, ((end - cell) as f64 + 0.5) / CELLS as f64, expected * self.longer[end - cell]);
        }
        spread(&mut ages, age + wait, gaps.residual_survival(age, wait));
        let sum: f64 = ages.iter().sum();
        ages.map(|probability| probability / sum)
    }
}

/// Adds a probability at an age to the ages of the grid beside it.
fn spread(ages: &mut [f64; AGES.len()], age: f64, probability: f64) {
    let (below, share) = place(age);
    ages[below] += (1.0 - share) * probability;
    if share > 0.0 {
        ages[below + 1] += share * probability;
    }
}

/// The last age of the grid that is not above this one, and the part of the way to the next.
pub(super) fn place(age: f64) -> (usize, f64) {
    let below = AGES.partition_point(|grid| *grid <= age).max(1) - 1;
    match AGES.get(below + 1) {
        Some(above) => (below, ((age - AGES[below]) / (above - AGES[below])).clamp(0.0, 1.0)),
        None => (below, 0.0),
    }
}
