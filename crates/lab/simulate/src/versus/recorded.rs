//! The comparison on recorded change times: ours is the live default as it runs.

use super::fetches_for;
use crate::error::SimulationError;
use crate::metrics::Scores;
use crate::trace::{JudgedTrace, Knowledge, TraceReplay};
use policies::PolicyKind;

/// A policy with its budget: a run of a [`RecordedVersus`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecordedRun {
    pub policy: PolicyKind,
    /// Fetches per page and day.
    pub budget: f64,
    /// Whether idle slots are filled.
    pub fill: bool,
}

/// A comparison on a recording. All learn from their own fetches of the first year; the second is scored.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedVersus {
    pub ours: PolicyKind,
    /// Budgets at which ours is run, rising; fetches per page and day.
    pub budgets: Vec<f64>,
    /// The crawlers that ours is compared with.
    pub peers: Vec<RecordedRun>,
}

/// The live default against the peers, filled, at the budgets of the published tables.
impl Default for RecordedVersus {
    fn default() -> Self {
        let days = [60.0, 15.0, 5.0];
        let kinds = [PolicyKind::Uniform, PolicyKind::StormCrawler, PolicyKind::Nutch];
        let peers = kinds.into_iter().flat_map(|policy| {
            days.into_iter().map(move |days| RecordedRun { policy, budget: 1.0 / days, fill: true })
        });
        Self {
            ours: PolicyKind::Live,
            budgets: [1440.0, 720.0, 360.0, 180.0, 90.0, 60.0, 30.0, 15.0, 7.5, 5.0].map(|days| 1.0 / days).to_vec(),
            peers: peers.collect(),
        }
    }
}

/// The fetches of a peer on a recording, and those that ours needs for the same freshness.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RecordedRow {
    /// The peer's policy, with `+fill` where its idle slots are filled.
    pub policy: String,
    /// Budget of the run, in fetches per page and day.
    pub budget_fetches_per_page_per_day: f64,
    /// Fetches it spent, per page and day.
    pub fetches_per_page_per_day: f64,
    /// Freshness it reached, mean over pages.
    pub freshness: f64,
    pub ours: &'static str,
    /// Fetches per page and day that ours needs for that; the nearest that was run where there is a bound.
    pub our_fetches_per_page_per_day: f64,
    /// Its spending over our need.
    pub fetch_ratio: f64,
    /// `at least` or `at most` if no run of ours reaches the freshness, so that the ratio is a bound.
    pub bound: Option<&'static str>,
}

impl RecordedVersus {
    /// All runs: ours by budget, then the peers.
    pub fn runs(&self) -> Vec<RecordedRun> {
        let ours = self.budgets.iter().map(|&budget| RecordedRun { policy: self.ours, budget, fill: true });
        ours.chain(self.peers.iter().copied()).collect()
    }

    /// Compares, with the scores of [`RecordedVersus::runs`] on one trace.
    ///
    /// # Errors
    /// With fewer than two budgets, or when there is not a score for every run.
    pub fn rows(&self, scores: &[Scores]) -> Result<Vec<RecordedRow>, SimulationError> {
        let runs = self.runs();
        if self.budgets.len() < 2 || runs.len() != scores.len() {
            let text = "a comparison needs two budgets or more for ours, and every run finished";
            return Err(SimulationError::Combination(text.into()));
        }
        let reached: Vec<(f64, f64)> = runs
            .iter()
            .zip(scores)
            .map(|(run, scores)| (run.budget * scores.budget_used_share, scores.freshness))
            .collect();
        let (ours, peers) = reached.split_at(self.budgets.len());
        let (least, most) = (ours[0].1, ours[ours.len() - 1].1);
        let rows = self.peers.iter().zip(peers).map(|(peer, &(fetches, freshness))| {
            let needed = fetches_for(ours, freshness);
            RecordedRow {
                policy: peer.policy.filled_name(peer.fill),
                budget_fetches_per_page_per_day: peer.budget,
                fetches_per_page_per_day: fetches,
                freshness,
                ours: self.ours.name(),
                our_fetches_per_page_per_day: needed,
                fetch_ratio: fetches / needed,
                bound: match freshness {
                    less if less < least => Some("at least"),
                    more if more > most => Some("at most"),
                    _ => None,
                },
            }
        });
        Ok(rows.collect())
    }
}

impl RecordedRun {
    /// Runs it on a trace. `watch` as in [`TraceReplay::run`].
    ///
    /// # Errors
    /// As [`TraceReplay::run`].
    pub fn run(
        &self,
        trace: &JudgedTrace,
        watch: &mut dyn FnMut(f64) -> std::ops::ControlFlow<()>,
    ) -> Result<Scores, SimulationError> {
        let replay = TraceReplay {
            policy: self.policy,
            estimator: None,
            knowledge: Knowledge::Fetches,
            frozen: false,
            dates_share: 0.0,
            fill: self.fill,
            fetches_per_page_per_day: self.budget,
            importance_shape: None,
            extent_share: 0.0,
            lists: None,
            until_days: None,
            seed: 1,
        };
        replay.run(trace, watch)
    }
}
