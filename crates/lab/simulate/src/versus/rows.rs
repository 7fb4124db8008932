//! The rows of a comparison.

/// The spending of a peer, and ours for the same freshness.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct PeerRow {
    pub population: &'static str,
    pub policy: &'static str,
    /// Name of the learner of its rates; `none` where it needs none.
    pub estimator: &'static str,
    /// Maximum of fetches per page and day; `None`: no limit.
    pub budget_fetches_per_page_per_day: Option<f64>,
    /// Fetches it spent, per page and day.
    pub fetches_per_page_per_day: f64,
    /// Fetches in the scored time, all seeds together.
    pub fetches: u64,
    /// Freshness it reached, mean over pages.
    pub freshness: f64,
    /// The same, pages weighted by importance.
    pub weighted_freshness: f64,
    /// Standard error of the weighted freshness over the seeds.
    pub standard_error: f64,
    /// Days since the first unseen change, mean over time and pages.
    pub age_days: f64,
    /// Fetches per page and day that we need for that.
    pub our_fetches_per_page_per_day: f64,
    /// Its spending over our need, mean over the seeds.
    pub fetch_ratio: f64,
    /// Standard error of that ratio.
    pub fetch_ratio_standard_error: f64,
    /// Its spending over the need of the known-rate optimum, mean over the seeds.
    pub fetch_ratio_to_optimum: f64,
    pub seeds: u64,
    /// The ratio that we claim.
    pub claimed_ratio: Option<f64>,
}

/// How close ours comes to the optimum with known rates.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct OurRow {
    pub population: &'static str,
    /// Name of the policy, with `+fill` where idle slots are filled.
    pub policy: String,
    /// The preset, where it is a published system.
    pub preset: Option<&'static str>,
    /// Name of the learner of the rates.
    pub estimator: &'static str,
    /// Budget of the run, as an average over all pages.
    pub budget_fetches_per_page_per_day: f64,
    /// Fetches in the scored time, all seeds together.
    pub fetches: u64,
    /// Freshness we reached, mean over pages.
    pub freshness: f64,
    /// The same, pages weighted by importance.
    pub weighted_freshness: f64,
    /// Standard error of the weighted freshness over the seeds.
    pub standard_error: f64,
    /// Days since the first unseen change, mean over time and pages.
    pub age_days: f64,
    /// Freshness of the known-rate optimum at this budget.
    pub optimum_weighted_freshness: f64,
    /// Fetches that the optimum needs for our freshness, over ours; mean over the seeds.
    pub share_of_optimum: f64,
    /// Standard error of that share.
    pub share_of_optimum_standard_error: f64,
    pub seeds: u64,
    /// The share that we claim at this budget.
    pub claimed_share: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct VersusReport {
    /// Ours, by population and budget.
    pub ours: Vec<OurRow>,
    /// The peers, by population.
    pub peers: Vec<PeerRow>,
}
