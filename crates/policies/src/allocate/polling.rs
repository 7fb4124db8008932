//! One server that polls pages one by one, never idle.
//!
//! Coffman, Liu & Weber, Journal of Scheduling 1998 (C10). A page is the next one accessed with frequency f (Σ f = 1);
//! an access takes a time X; h = E e^(-change rate × X) is the probability that nothing changes meanwhile.

use revisit::allocate::{Objective, PageTerms, optimal_for};

/// Distribution of the access time, at a given mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessTime {
    Constant,
    /// Exponentially distributed.
    Exponential,
}

/// Order of accesses, at given frequencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PollingOrder {
    /// As even as possible.
    Even,
    /// Each drawn independently at random.
    Random,
}

/// A page of the polling model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolledPage {
    /// Changes per mean access time; positive.
    pub changes_per_access: f64,
    /// h: probability that the page does not change during an access.
    pub unchanged_probability: f64,
    /// Cost of a stale copy per change rate; not negative, only ratios count.
    pub weight: f64,
}

impl PolledPage {
    /// A page of weight 1.
    pub fn new(changes_per_access: f64, access_time: AccessTime) -> Self {
        let unchanged_probability = match access_time {
            AccessTime::Constant => (-changes_per_access).exp(),
            AccessTime::Exponential => 1.0 / (1.0 + changes_per_access),
        };
        Self { changes_per_access, unchanged_probability, weight: 1.0 }
    }

    /// Share of the time that the copy is stale. For [`PollingOrder::Even`] a lower bound, reached where the order can
    /// be perfectly even.
    pub fn staleness(&self, order: PollingOrder, frequency: f64) -> f64 {
        let (changes, h) = (self.changes_per_access, self.unchanged_probability);
        if frequency <= 0.0 {
            return 1.0;
        }
        match order {
            PollingOrder::Even => 1.0 + frequency / changes * (h.ln() / frequency).exp_m1(),
            PollingOrder::Random => 1.0 - frequency * (1.0 - h) / (changes * (1.0 - h + frequency * h)),
        }
    }

    /// Effective changes per access in this order.
    fn effective_changes(&self, order: PollingOrder) -> f64 {
        match order {
            PollingOrder::Even => -self.unchanged_probability.ln(),
            PollingOrder::Random => 1.0 / self.unchanged_probability - 1.0,
        }
    }
}

/// The access frequencies (Σ = 1) that minimise Σ weight × change rate × staleness. With equal weights they are
/// proportional to ln 1/h (even order) or 1/h - 1 (random order).
pub fn polling_frequencies(pages: &[PolledPage], order: PollingOrder) -> Vec<f64> {
    let terms: Vec<PageTerms> = pages
        .iter()
        .map(|page| {
            let changes = page.effective_changes(order);
            PageTerms { weight: page.weight * changes, ..PageTerms::new(changes) }
        })
        .collect();
    let objective = match order {
        PollingOrder::Even => Objective::FRESHNESS,
        PollingOrder::Random => Objective::RandomFreshness,
    };
    optimal_for(&objective, &terms, 1.0).fetch_rates_per_day
}
