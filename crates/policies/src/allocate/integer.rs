//! Whole numbers of looks within a horizon: the marked point process model.
//!
//! Wolf et al., WWW 2002 (C11): page i gets x looks, evenly spaced, and is stale for the share a(x) of the time.
//! Minimise Σ weight × a(x) under Σ x = R. The staleness is convex in x, so repeatedly taking the best single look is
//! exact (Fox 1966). Every look counts as one; costs are ignored.

use revisit::allocate::{Objective, PageTerms, optimal_for};
use revisit::kernels::{self, VisitOrder};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// The ends of the horizon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Horizon {
    /// It happens once: copies are fresh at its start, and looks lie inside it.
    Once,
    /// It repeats: looks are evenly spaced for ever, and a page without looks is always stale.
    Repeated,
}

/// Share of the time that a page is stale when it changes `changes_per_horizon` times per horizon and has `looks`
/// looks.
pub fn staleness(horizon: Horizon, changes_per_horizon: f64, looks: u32) -> f64 {
    let intervals = match horizon {
        Horizon::Once => f64::from(looks) + 1.0,
        Horizon::Repeated => f64::from(looks),
    };
    if changes_per_horizon > 0.0 {
        1.0 - kernels::average_freshness(VisitOrder::Fixed, changes_per_horizon / intervals)
    } else {
        0.0
    }
}

/// A look that could be added or removed, with its gain. Ties go to the page with the lower number.
#[derive(Clone, Copy, Debug, PartialEq)]
struct NextLook {
    gain: f64,
    page: Reverse<usize>,
}

impl Eq for NextLook {}

impl Ord for NextLook {
    fn cmp(&self, other: &Self) -> Ordering {
        self.gain.total_cmp(&other.gain).then(self.page.cmp(&other.page))
    }
}

impl PartialOrd for NextLook {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The pages, the horizon, and the maximum of looks per page.
struct AllocationProblem<'a> {
    pages: &'a [PageTerms],
    horizon_days: f64,
    horizon: Horizon,
    max_looks: u32,
}

impl AllocationProblem<'_> {
    /// Gain of look number `looks + 1` at a page.
    fn gain(&self, page: usize, looks: u32) -> f64 {
        let terms = &self.pages[page];
        if looks >= self.max_looks || !terms.competes() {
            return 0.0;
        }
        let stale = |looks| staleness(self.horizon, terms.change_rate_per_day * self.horizon_days, looks);
        terms.weight * (stale(looks) - stale(looks + 1))
    }

    fn addable(&self, page: usize, looks: &[u32]) -> Option<NextLook> {
        let gain = self.gain(page, looks[page]);
        (gain > 0.0).then_some(NextLook { gain, page: Reverse(page) })
    }

    fn removable(&self, page: usize, looks: &[u32]) -> Option<NextLook> {
        let before = looks[page].checked_sub(1)?;
        Some(NextLook { gain: self.gain(page, before), page: Reverse(page) })
    }

    /// Spends what is left on the best looks, one after the other.
    fn add_best(&self, looks: &mut [u32], left: u64) -> BinaryHeap<NextLook> {
        let mut addable: BinaryHeap<NextLook> = (0..looks.len()).filter_map(|page| self.addable(page, looks)).collect();
        for _ in 0..left {
            let Some(NextLook { page: Reverse(page), .. }) = addable.pop() else { break };
            looks[page] += 1;
            addable.extend(self.addable(page, looks));
        }
        addable
    }

    /// Moves looks to where they buy more, until no move does.
    fn exchange(&self, looks: &mut [u32], mut addable: BinaryHeap<NextLook>) {
        let mut removable: BinaryHeap<Reverse<NextLook>> =
            (0..looks.len()).filter_map(|page| self.removable(page, looks)).map(Reverse).collect();
        while let (Some(&best), Some(&Reverse(worst))) = (addable.peek(), removable.peek()) {
            let (Reverse(to), Reverse(from)) = (best.page, worst.page);
            // Entries of looks moved since are outdated.
            if self.addable(to, looks) != Some(best) {
                addable.pop();
            } else if self.removable(from, looks) != Some(worst) {
                removable.pop();
            } else if best.gain > worst.gain && to != from {
                (looks[to], looks[from]) = (looks[to] + 1, looks[from] - 1);
                for page in [to, from] {
                    addable.extend(self.addable(page, looks));
                    removable.extend(self.removable(page, looks).map(Reverse));
                }
            } else {
                break;
            }
        }
    }
}

/// The best whole numbers of looks, by taking the best look `looks` times: O(looks × log pages). Returns fewer where
/// more would gain nothing. One page gets at most `max_looks`.
pub fn integer_looks_greedy(
    pages: &[PageTerms],
    horizon_days: f64,
    horizon: Horizon,
    looks: u64,
    max_looks: u32,
) -> Vec<u32> {
    let problem = AllocationProblem { pages, horizon_days, horizon, max_looks };
    let mut planned = vec![0; pages.len()];
    problem.add_best(&mut planned, looks);
    planned
}

/// The same looks as [`integer_looks_greedy`] (up to ties), at a cost that does not grow with their number: the best
/// fractional numbers rounded down, then the rest by gain, then exchanges while they help.
pub fn integer_looks(pages: &[PageTerms], horizon_days: f64, horizon: Horizon, looks: u64, max_looks: u32) -> Vec<u32> {
    // The horizon's own interval is one more look for every page.
    let given = if horizon == Horizon::Once { 1.0 } else { 0.0 };
    let fractional: Vec<PageTerms> = pages
        .iter()
        .map(|page| PageTerms {
            change_rate_per_day: page.change_rate_per_day * horizon_days,
            cost: 1.0,
            min_fetches_per_day: given,
            max_fetches_per_day: given + f64::from(max_looks),
            ..*page
        })
        .collect();
    let budget = looks as f64 + given * pages.len() as f64;
    let best = optimal_for(&Objective::FRESHNESS, &fractional, budget).fetch_rates_per_day;
    let mut planned: Vec<u32> = best.iter().map(|looks| (looks - given).floor().max(0.0) as u32).collect();
    let spent: u64 = planned.iter().copied().map(u64::from).sum();
    let problem = AllocationProblem { pages, horizon_days, horizon, max_looks };
    let addable = problem.add_best(&mut planned, looks.saturating_sub(spent));
    problem.exchange(&mut planned, addable);
    planned
}
