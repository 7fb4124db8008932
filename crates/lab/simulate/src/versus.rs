//! The cost of other crawlers for the same freshness: the fetches a peer spends, divided by those we need for the weighted
//! freshness it reaches, without knowing any rate beforehand.
//!
//! Ours is run at several budgets; its freshness in between is interpolated linearly in the logarithm of the budget.
//! The fetches that the known-rate optimum (C8 of the algorithm notes, evenly spaced) needs are computed. Changes are
//! Poisson, every look finds the truth, and there is nothing to discover: this measures the value of learning and
//! choosing, not the real web. [`RecordedVersus`] compares on recorded change times instead.

mod optimum;
mod recorded;
mod rows;

pub use self::recorded::{RecordedRow, RecordedRun, RecordedVersus};
pub use self::rows::{OurRow, PeerRow, VersusReport};

use self::optimum::Optimum;
use crate::changes::{ChangeModel, SyntheticChanges};
use crate::contender::{Contender, Options};
use crate::engine::{self, Run};
use crate::error::SimulationError;
use crate::metrics::Scores;
use crate::parallel;
use crate::population::{PopulationKind, SyntheticPopulation};
use crate::setup;
use crate::study::{SampleMean, StudyProgress};
use policies::{PolicyKind, PolicyOptions};
use revisit::kernels::{VisitOrder, average_age, average_freshness};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A crawler that ours is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PeerCrawler {
    pub policy: PolicyKind,
    /// Maximum of fetches per page and day; `None`: no limit.
    pub cap: Option<f64>,
    /// Days before the scored time: its intervals need this long to settle.
    pub warm_up_days: f64,
    /// Length of the scored time, in days.
    pub scored_days: f64,
    /// The ratio of fetches that we aim for, on every population. (On `gamma` even the known-rate optimum saves less
    /// than some of these.)
    pub claimed_ratio: Option<f64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Versus {
    /// Populations on which all crawlers are run.
    pub populations: Vec<PopulationKind>,
    /// Pages per population.
    pub pages: usize,
    /// Our policy, or a published system in its place.
    pub ours: Contender,
    /// Budgets at which ours is run, rising; fetches per page and day.
    pub budgets: Vec<f64>,
    /// Days before our scored time.
    pub warm_up_days: f64,
    /// Length of our scored time, in days.
    pub scored_days: f64,
    /// Length of our ticks, in days.
    pub tick_days: f64,
    /// The crawlers that ours is compared with.
    pub peers: Vec<PeerCrawler>,
    /// Number of seeds, from `seed` on.
    pub seeds: u64,
    pub seed: u64,
}

/// The headline: populations `wide` and `gamma`, six seeds.
impl Default for Versus {
    fn default() -> Self {
        let peer = |policy, cap, claimed_ratio| PeerCrawler {
            policy,
            cap,
            warm_up_days: 200.0,
            scored_days: 200.0,
            claimed_ratio: Some(claimed_ratio),
        };
        let nutch = peer(PolicyKind::Nutch, Some(0.1), 5.0);
        Self {
            populations: vec![PopulationKind::Wide, PopulationKind::Gamma],
            pages: 8_000,
            ours: Contender { options: Self::options(), ..Contender::usual(PolicyKind::CrawlValue) },
            budgets: vec![0.013, 0.03, 0.06, 0.1, 0.14, 0.2],
            warm_up_days: 250.0,
            scored_days: 250.0,
            // Freshness at the larger budgets gains from ticks shorter than the usual quarter of a day.
            tick_days: 1.0 / 12.0,
            peers: vec![
                peer(PolicyKind::StormCrawler, Some(0.1), 1.6),
                peer(PolicyKind::StormCrawler, None, 3.0),
                // Its intervals grow to a year.
                PeerCrawler { warm_up_days: 900.0, scored_days: 600.0, ..nutch },
                peer(PolicyKind::Uniform, Some(0.1), 1.9),
                peer(PolicyKind::Uniform, Some(0.03), 1.9),
            ],
            seeds: 6,
            seed: 1,
        }
    }
}

impl Versus {
    /// Options of ours: freshness alone is the objective, as it is for the optimum that it is compared with.
    pub fn options() -> Options {
        Options { policy: PolicyOptions { theta: 0.0, ..PolicyOptions::default() }, ..Options::default() }
    }
}

/// Shares of the known-rate optimum's fetches that we claim: (budget, share).
const CLAIMED_SHARES: [(f64, f64); 2] = [(0.1, 0.95), (0.03, 0.85)];

/// Fetches per page and day of a peer without a limit; none needs this many.
const UNLIMITED: f64 = 24.0;
/// Tick of peers with due times: an hour.
const PEER_TICK_DAYS: f64 = 1.0 / 24.0;

#[derive(Clone, Copy)]
enum VersusJob {
    Ours { population: usize, seed: u64, budget: f64 },
    Peer { population: usize, seed: u64, peer: PeerCrawler },
}

/// The spending of a run, its scores, and the optimum's need for the same freshness. Fetches are per page and day,
/// except `total_fetches`.
#[derive(Clone, Copy, Debug, Default)]
struct Reached {
    total_fetches: u64,
    fetches: f64,
    freshness: f64,
    weighted_freshness: f64,
    age_days: f64,
    optimum_needs: f64,
    optimum_reaches: f64,
}

impl Versus {
    /// Runs everything on this many threads; the result does not depend on their number.
    pub fn run(
        &self,
        threads: usize,
        watch: &(dyn Fn(StudyProgress) -> ControlFlow<()> + Sync),
    ) -> Result<VersusReport, SimulationError> {
        self.check()?;
        let mut jobs = Vec::new();
        for population in 0..self.populations.len() {
            for seed in self.seed..self.seed.saturating_add(self.seeds) {
                jobs.extend(self.budgets.iter().map(|&budget| VersusJob::Ours { population, seed, budget }));
                jobs.extend(self.peers.iter().map(|&peer| VersusJob::Peer { population, seed, peer }));
            }
        }
        let done = AtomicUsize::new(0);
        let reached = parallel::in_order(&jobs, threads, |job| {
            let reached = self.reach(job, &mut |progress: engine::RunProgress| {
                let runs_done = done.load(Ordering::Relaxed);
                watch(StudyProgress { runs_done, runs: jobs.len(), done: runs_done as f64 + progress.done })
            });
            done.fetch_add(1, Ordering::Relaxed);
            reached
        })?;
        let runs_of_seed = self.budgets.len() + self.peers.len();
        let seeds: Vec<&[Reached]> = reached.chunks(runs_of_seed).collect();
        let mut report = VersusReport { ours: Vec::new(), peers: Vec::new() };
        for (population, seeds) in self.populations.iter().zip(seeds.chunks(self.seeds as usize)) {
            report.ours.extend((0..self.budgets.len()).map(|i| self.our_row(*population, i, seeds)));
            report.peers.extend((0..self.peers.len()).map(|i| self.peer_row(*population, i, seeds)));
        }
        Ok(report)
    }

    fn check(&self) -> Result<(), SimulationError> {
        let fault = |text: &str| Err(SimulationError::Combination(text.into()));
        if self.populations.is_empty() || self.seeds == 0 {
            return fault("a comparison needs a population and a seed; give at least one of each");
        }
        if self.budgets.len() < 2 || self.budgets.windows(2).any(|pair| pair[0] >= pair[1]) {
            return fault("a comparison needs two budgets or more for ours, each above the one before");
        }
        for &budget in &self.budgets {
            SimulationError::positive("budget in fetches per page and day", budget)?;
        }
        setup::check_estimator(self.ours.policy, self.ours.estimator)
    }

    fn reach(
        &self,
        job: &VersusJob,
        watch: &mut dyn FnMut(engine::RunProgress) -> ControlFlow<()>,
    ) -> Result<Reached, SimulationError> {
        let (population, seed) = match *job {
            VersusJob::Ours { population, seed, .. } | VersusJob::Peer { population, seed, .. } => (population, seed),
        };
        let population = self.populations[population].draw(self.pages, seed)?;
        let optimum = Optimum::of(&population);
        let (from_days, days, tick_days, budget) = match *job {
            VersusJob::Ours { budget, .. } => (self.warm_up_days, self.scored_days, self.tick_days, budget),
            VersusJob::Peer { peer, .. } => {
                (peer.warm_up_days, peer.scored_days, PEER_TICK_DAYS, peer.cap.unwrap_or(UNLIMITED))
            }
        };
        let reached = match *job {
            VersusJob::Peer { peer: PeerCrawler { policy: PolicyKind::Uniform, cap: Some(cap), .. }, .. } => {
                uniform(&population, cap, days)
            }
            VersusJob::Ours { .. } | VersusJob::Peer { .. } => {
                let budget_per_day = budget * self.pages as f64;
                let run = Run { tick_days, seed, ..Run::new(from_days, from_days + days, budget_per_day) };
                let contender = match job {
                    VersusJob::Peer { peer, .. } => Contender::usual(peer.policy),
                    VersusJob::Ours { .. } => self.ours,
                };
                let scores = simulate(&population, &contender, &run, watch)?;
                let (freshness, weighted_freshness) = scores.least_varying_freshness();
                Reached {
                    total_fetches: scores.fetches,
                    fetches: scores.fetches as f64 / (days * scores.pages as f64),
                    freshness,
                    weighted_freshness,
                    age_days: scores.age_days,
                    ..Reached::default()
                }
            }
        };
        Ok(Reached {
            optimum_needs: optimum.needs(reached.weighted_freshness),
            optimum_reaches: optimum.freshness(reached.fetches),
            ..reached
        })
    }

    fn our_row(&self, population: PopulationKind, i: usize, seeds: &[&[Reached]]) -> OurRow {
        let budget = self.budgets[i];
        let of_runs = |value: fn(&Reached) -> f64| SampleMean::of(seeds.iter().map(|runs| value(&runs[i])));
        let weighted_freshness = of_runs(|run| run.weighted_freshness);
        let share = of_runs(|run| run.optimum_needs / run.fetches);
        OurRow {
            population: population.name(),
            policy: self.ours.name(),
            preset: self.ours.preset_name(),
            estimator: self.ours.estimator_name(),
            budget_fetches_per_page_per_day: budget,
            fetches: seeds.iter().map(|runs| runs[i].total_fetches).sum(),
            freshness: of_runs(|run| run.freshness).mean,
            weighted_freshness: weighted_freshness.mean,
            standard_error: weighted_freshness.standard_error,
            age_days: of_runs(|run| run.age_days).mean,
            optimum_weighted_freshness: of_runs(|run| run.optimum_reaches).mean,
            share_of_optimum: share.mean,
            share_of_optimum_standard_error: share.standard_error,
            seeds: self.seeds,
            claimed_share: CLAIMED_SHARES.iter().find(|claim| claim.0 == budget).map(|claim| claim.1),
        }
    }

    fn peer_row(&self, population: PopulationKind, i: usize, seeds: &[&[Reached]]) -> PeerRow {
        let ours = self.budgets.len();
        let peer = self.peers[i];
        let of_runs = |value: &dyn Fn(&[Reached]) -> f64| {
            SampleMean::of(seeds.iter().map(|runs| value(runs)).collect::<Vec<f64>>().into_iter())
        };
        let needs = |runs: &[Reached]| {
            let curve: Vec<(f64, f64)> = runs[..ours].iter().map(|run| (run.fetches, run.weighted_freshness)).collect();
            fetches_for(&curve, runs[ours + i].weighted_freshness)
        };
        let weighted_freshness = of_runs(&|runs| runs[ours + i].weighted_freshness);
        let ratio = of_runs(&|runs| runs[ours + i].fetches / needs(runs));
        PeerRow {
            population: population.name(),
            policy: peer.policy.name(),
            estimator: Contender::usual(peer.policy).estimator_name(),
            budget_fetches_per_page_per_day: peer.cap,
            fetches_per_page_per_day: of_runs(&|runs| runs[ours + i].fetches).mean,
            fetches: seeds.iter().map(|runs| runs[ours + i].total_fetches).sum(),
            freshness: of_runs(&|runs| runs[ours + i].freshness).mean,
            weighted_freshness: weighted_freshness.mean,
            standard_error: weighted_freshness.standard_error,
            age_days: of_runs(&|runs| runs[ours + i].age_days).mean,
            our_fetches_per_page_per_day: of_runs(&needs).mean,
            fetch_ratio: ratio.mean,
            fetch_ratio_standard_error: ratio.standard_error,
            fetch_ratio_to_optimum: of_runs(&|runs| runs[ours + i].fetches / runs[ours + i].optimum_needs).mean,
            seeds: self.seeds,
            claimed_ratio: peer.claimed_ratio,
        }
    }
}

fn simulate(
    population: &SyntheticPopulation,
    contender: &Contender,
    run: &Run,
    watch: &mut dyn FnMut(engine::RunProgress) -> ControlFlow<()>,
) -> Result<Scores, SimulationError> {
    let SyntheticPopulation { pages, change_rates_per_day } = population;
    let mut changes =
        SyntheticChanges::new(pages, change_rates_per_day, ChangeModel::default(), run.seed, run.end_days)?;
    let mut learner = contender.learner(pages, change_rates_per_day)?;
    let mut policy = contender.build();
    engine::run(pages, &mut changes, policy.as_mut(), learner.as_mut(), run, watch)
}

/// Evenly spaced looks at every page, computed without a run: the mean over all phases.
fn uniform(population: &SyntheticPopulation, fetches_per_page_per_day: f64, days: f64) -> Reached {
    let (mut freshness, mut weighted_freshness, mut age_days) = (0.0, 0.0, 0.0);
    for (page, rate_per_day) in population.change_rates_per_day.iter().enumerate() {
        let changes = rate_per_day / fetches_per_page_per_day;
        let fresh = average_freshness(VisitOrder::Fixed, changes);
        freshness += fresh;
        weighted_freshness += population.pages.weight(page) * fresh;
        age_days += average_age(VisitOrder::Fixed, changes) / fetches_per_page_per_day;
    }
    let pages = population.pages.len() as f64;
    Reached {
        total_fetches: (fetches_per_page_per_day * pages * days).round() as u64,
        fetches: fetches_per_page_per_day,
        freshness: freshness / pages,
        weighted_freshness: weighted_freshness / population.pages.total_weight(),
        age_days: age_days / pages,
        ..Reached::default()
    }
}

/// The fetches at which a curve of (fetches, freshness), rising in both, reaches a freshness. Linear in the logarithm
/// of the fetches; beyond the ends of the curve, the value at the end. The curve must have a point.
pub fn fetches_for(curve: &[(f64, f64)], freshness: f64) -> f64 {
    let after = curve.partition_point(|run| run.1 < freshness);
    let (Some(low), Some(high)) = (after.checked_sub(1).and_then(|i| curve.get(i)), curve.get(after)) else {
        return if after == 0 { curve[0].0 } else { curve[curve.len() - 1].0 };
    };
    let part = (freshness - low.1) / (high.1 - low.1);
    (low.0.ln() + part * (high.0 / low.0).ln()).exp()
}

#[cfg(test)]
mod tests;
