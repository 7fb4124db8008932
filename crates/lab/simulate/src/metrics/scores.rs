//! The averages that a run comes to.

use super::Peaks;

/// What one section's pages had on average over the scored time.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SectionScores {
    /// Its name.
    pub section: String,
    /// Its pages.
    pub pages: usize,
    /// Share of the time that a copy is current, mean over the pages.
    pub freshness: f64,
    /// Days since the first change not yet seen (0 while current), mean over time and pages.
    pub age_days: f64,
    /// Looks at its pages.
    pub fetches: u64,
}

/// What a policy achieved over the scored time.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Scores {
    /// Pages.
    pub pages: usize,
    /// Share of the time that a copy is current, mean over the pages.
    pub freshness: f64,
    /// The same, pages counted by weight.
    pub weighted_freshness: f64,
    /// The freshness to expect of the same looks where changes are Poisson: e^(-rate × days since the look), integrated.
    /// It has the mean of `freshness` and varies less, since when pages changed between two looks is averaged over.
    /// `None` for other changes.
    pub expected_freshness: Option<f64>,
    /// The same, pages counted by weight.
    pub expected_weighted_freshness: Option<f64>,
    /// Days since the first change not yet seen (0 while current), mean over time and pages.
    pub age_days: f64,
    /// The same, pages counted by weight.
    pub weighted_age_days: f64,
    /// Harmonic penalty, mean over time, pages counted by weight.
    pub weighted_harmonic_penalty: f64,
    /// Changes that the copies are behind, mean over time, pages counted by weight.
    pub weighted_missed_changes: f64,
    /// Share of time and pages with an age above 30 days.
    pub over_30_days_share: f64,
    /// Changes in the scored time.
    pub changes: u64,
    /// Share of them that no copy ever held: the next change came before a look.
    pub overwritten_share: f64,
    /// Share of them not yet noticed at the end.
    pub unnoticed_share: f64,
    /// Days from a change to the look that noticed it, over the changes noticed.
    pub delay_days: Delays,
    /// Looks.
    pub fetches: u64,
    /// Share of the looks that found a true change.
    pub useful_fetches_share: f64,
    /// Budget spent over the budget there was.
    pub budget_used_share: f64,
    /// The most fetches at once.
    pub peaks: Peaks,
    /// By section.
    pub by_section: Vec<SectionScores>,
    /// Share of the copies that are current, mean over each day since the start.
    #[serde(skip)]
    pub freshness_by_day: Vec<f64>,
}

/// How long changes stay unnoticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Delays {
    /// Mean.
    pub mean: f64,
    /// Half of the changes are noticed sooner (within 9 %).
    pub p50: f64,
    /// 95 % of them are (within 9 %).
    pub p95: f64,
}

impl Scores {
    /// Freshness, and the same with pages counted by weight: as expected where that can be said, else as it was.
    pub fn least_varying_freshness(&self) -> (f64, f64) {
        let plain = self.expected_freshness.unwrap_or(self.freshness);
        (plain, self.expected_weighted_freshness.unwrap_or(self.weighted_freshness))
    }
}
