//! Evenly spaced fetches at fixed rates: earliest deadline first, without drift.
//!
//! The next deadline counts from the last deadline, not from the time of the fetch, so a page served late keeps its
//! phase and its rate (Liu & Layland 1973 for the rule; even spacing is worth more than exact rates). With rates from
//! [`revisit::allocate`] and true change rates this is the oracle that learned policies are measured against.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A page's next deadline; ties go to the page with the lower number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deadline {
    /// Days since the start.
    pub days: f64,
    /// Index of the page among the given rates.
    pub page: usize,
}

impl Eq for Deadline {}

impl Ord for Deadline {
    fn cmp(&self, other: &Self) -> Ordering {
        self.days.total_cmp(&other.days).then(self.page.cmp(&other.page))
    }
}

impl PartialOrd for Deadline {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Pages in the order of their deadlines, for ever. Pages with rate zero never come.
#[derive(Clone, Debug)]
pub struct EarliestDeadline {
    intervals_days: Vec<f64>,
    queue: BinaryHeap<Reverse<Deadline>>,
}

impl EarliestDeadline {
    /// All pages have just been looked at: the first deadline is one interval away.
    pub fn new(fetch_rates_per_day: &[f64]) -> Self {
        Self::with_phases(fetch_rates_per_day, |_| 1.0)
    }

    /// First deadlines at `phase(page)` of each page's interval; phases spread over 0..1 avoid a rush at the start.
    pub fn with_phases(fetch_rates_per_day: &[f64], phase: impl Fn(usize) -> f64) -> Self {
        let intervals_days: Vec<f64> = fetch_rates_per_day.iter().map(|rate| 1.0 / rate).collect();
        let fetched = |interval: &f64| *interval > 0.0 && interval.is_finite();
        let queue = intervals_days
            .iter()
            .enumerate()
            .filter(|(_, interval)| fetched(interval))
            .map(|(page, interval)| Reverse(Deadline { days: phase(page) * interval, page }))
            .collect();
        Self { intervals_days, queue }
    }

    /// The next deadline, without serving it.
    pub fn peek(&self) -> Option<Deadline> {
        self.queue.peek().map(|Reverse(deadline)| *deadline)
    }
}

/// Serves the page with the earliest deadline.
impl Iterator for EarliestDeadline {
    type Item = Deadline;

    fn next(&mut self) -> Option<Deadline> {
        let Reverse(deadline) = self.queue.pop()?;
        let days = deadline.days + self.intervals_days[deadline.page];
        self.queue.push(Reverse(Deadline { days, ..deadline }));
        Some(deadline)
    }
}
