//! The averages of a run.

use super::{MissedExtent, Peaks};
use std::ops::Range;

/// Averages over one section's pages and the scored time.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SectionScores {
    pub section: String,
    pub pages: usize,
    /// Share of the time that a copy is current, mean over the pages.
    pub freshness: f64,
    /// Days since the first unseen change (0 while current), mean over time and pages.
    pub age_days: f64,
    /// Number of looks at its pages.
    pub fetches: u64,
}

/// The scores of a policy over the scored time.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Scores {
    pub pages: usize,
    /// Share of the time that a copy is current, mean over the pages.
    pub freshness: f64,
    /// The same, pages weighted by importance.
    pub weighted_freshness: f64,
    /// The expected freshness of the same looks for Poisson changes: e^(-rate × days since the look), integrated. It
    /// has the same mean as `freshness` and a lower variance, because it averages over the change times between two
    /// looks. `None` for other changes.
    pub expected_freshness: Option<f64>,
    /// The same, pages weighted by importance.
    pub expected_weighted_freshness: Option<f64>,
    /// Days since the first unseen change (0 while current), mean over time and pages.
    pub age_days: f64,
    /// The same, pages weighted by importance.
    pub weighted_age_days: f64,
    /// Harmonic penalty, mean over time, pages weighted by importance.
    pub weighted_harmonic_penalty: f64,
    /// Number of changes the copies are behind, mean over time, pages weighted by importance.
    pub weighted_missed_changes: f64,
    /// The part of their pages that copies miss, mean over time, pages weighted by importance. `None` where the extents of changes
    /// are not known.
    pub missed_extent: Option<MissedExtent>,
    /// Share of time and pages with an age above 30 days.
    pub over_30_days_share: f64,
    /// Number of changes in the scored time.
    pub changes: u64,
    /// Share of them that no copy ever held, because the next change came before a look.
    pub overwritten_share: f64,
    /// Share of them not noticed by the end.
    pub unnoticed_share: f64,
    /// Days from a change to the look that noticed it, over the noticed changes.
    pub delay_days: Delays,
    pub fetches: u64,
    /// Share of the looks that found a true change.
    pub useful_fetches_share: f64,
    /// Budget spent, as a share of the available budget.
    pub budget_used_share: f64,
    pub peaks: Peaks,
    /// Scores by section.
    pub by_section: Vec<SectionScores>,
    /// Share of the copies that are current, mean over each day since the start.
    #[serde(skip)]
    pub freshness_by_day: Vec<f64>,
}

/// How long changes stay unnoticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Delays {
    /// Mean days.
    pub mean: f64,
    /// Median (within 9 %).
    pub p50: f64,
    /// 95th percentile (within 9 %).
    pub p95: f64,
}

impl Scores {
    /// Share of the time that a copy is stale, mean over the pages and these days since the start.
    pub fn stale_share(&self, days: Range<usize>) -> f64 {
        let end = days.end.min(self.freshness_by_day.len());
        let these = &self.freshness_by_day[days.start.min(end)..end];
        1.0 - these.iter().sum::<f64>() / these.len().max(1) as f64
    }

    /// Freshness, plain and weighted: the expected value if there is one, else the measured one.
    pub fn least_varying_freshness(&self) -> (f64, f64) {
        let plain = self.expected_freshness.unwrap_or(self.freshness);
        (plain, self.expected_weighted_freshness.unwrap_or(self.weighted_freshness))
    }
}
