//! One page at a time in fixed shares, no page ever a whole fetch ahead or behind.
//!
//! The chairman assignment (Tijdeman, Discrete Mathematics 1980), with which Azar et al. (PNAS 2018) turn rates into a
//! schedule (C13): after s fetches, a page of share p has had between p s - 1 and p s + 1 of them.

use crate::edf::Deadline;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Pages in the order of the assignment, for ever. Pages with rate zero never come; if there are no others, the
/// iterator is empty.
#[derive(Clone, Debug)]
pub struct Chairman {
    /// Slots between two fetches of each page.
    intervals: Vec<f64>,
    fetches: Vec<u64>,
    /// Minimum delay of a page after it becomes possible, as a fraction of its interval.
    slack: f64,
    slot: u64,
    /// Pages by the slot from which they may be chosen.
    early: BinaryHeap<Reverse<Deadline>>,
    /// Pages that may be chosen, by the slot before which they must be.
    eligible: BinaryHeap<Reverse<Deadline>>,
}

impl Chairman {
    /// Shares proportional to these rates; only ratios count.
    pub fn new(fetch_rates_per_day: &[f64]) -> Self {
        let positive = |rate: &f64| *rate > 0.0 && rate.is_finite();
        let total: f64 = fetch_rates_per_day.iter().filter(|rate| positive(rate)).sum();
        let pages = fetch_rates_per_day.iter().filter(|rate| positive(rate)).count();
        let mut chairman = Self {
            intervals: fetch_rates_per_day.iter().map(|rate| total / rate).collect(),
            fetches: vec![0; fetch_rates_per_day.len()],
            slack: slack(pages),
            slot: 0,
            early: BinaryHeap::with_capacity(pages),
            eligible: BinaryHeap::with_capacity(pages),
        };
        for page in (0..fetch_rates_per_day.len()).filter(|&page| positive(&fetch_rates_per_day[page])) {
            chairman.early.push(Reverse(chairman.at(page, chairman.slack)));
        }
        chairman
    }

    /// The time, in slots, at which a page is this fraction of a fetch behind.
    fn at(&self, page: usize, behind: f64) -> Deadline {
        Deadline { days: (self.fetches[page] as f64 + behind) * self.intervals[page], page }
    }
}

/// How far behind a page must be to be chosen, of `pages`: 1 / (2 × pages - 2) of a fetch.
pub(crate) fn slack(pages: usize) -> f64 {
    if pages > 1 { 0.5 / (pages as f64 - 1.0) } else { 0.0 }
}

/// The page of the next slot.
impl Iterator for Chairman {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        // Makes eligibility exact to the slot in spite of rounding.
        const ROUNDING: f64 = 1e-12;
        self.slot += 1;
        let now = self.slot as f64 * (1.0 + ROUNDING);
        while let Some(&Reverse(Deadline { days, page })) = self.early.peek()
            && (days <= now || self.eligible.is_empty())
        {
            self.early.pop();
            self.eligible.push(Reverse(self.at(page, 1.0 - self.slack)));
        }
        let Reverse(Deadline { page, .. }) = self.eligible.pop()?;
        self.fetches[page] += 1;
        self.early.push(Reverse(self.at(page, self.slack)));
        Some(page)
    }
}
