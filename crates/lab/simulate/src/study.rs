//! Every policy against every population: the same pages and the same changes for all, over several seeds. Measures how
//! far each gets from uniform to the policy that knows the true rates.

use crate::changes::{ChangeModel, SyntheticChanges};
use crate::contender::{Contender, Options};
use crate::engine::{self, Run, RunProgress};
use crate::error::SimulationError;
use crate::metrics::Scores;
use crate::parallel;
use crate::population::{PopulationKind, SyntheticPopulation};
use crate::setup;
use change_rate::EstimatorChoice;
use policies::PolicyKind;
use std::ops::ControlFlow;
use std::sync::Mutex;

/// The runs: the product of all lists.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    /// Populations to draw pages from.
    pub populations: Vec<PopulationKind>,
    /// The change behaviour of their pages.
    pub changes: ChangeModel,
    /// Number of pages per population.
    pub pages: usize,
    /// Policies; those that use no estimator run once.
    pub policies: Vec<PolicyKind>,
    /// Estimators. Empty: the usual one of each policy.
    pub estimators: Vec<EstimatorChoice>,
    /// Published systems, which bring their own estimators and options.
    pub systems: Vec<Contender>,
    /// Fetches per page and day.
    pub budgets: Vec<f64>,
    /// Days before the scored time.
    pub warm_up_days: f64,
    /// Length of the scored time, in days.
    pub scored_days: f64,
    pub tick_days: f64,
    /// Share of the pages that give the true time of their last change.
    pub last_modified_share: f64,
    /// If set, idle slots of policies that wait for due dates go to the page due earliest.
    pub fill: bool,
    /// Options of policies and estimators.
    pub options: Options,
    /// Number of seeds; the first is `seed`.
    pub seeds: u64,
    pub seed: u64,
}

/// 10,000 pages of every population for 60 days after 60 days, six seeds, at 0.03 and 0.1 fetches a page and day.
impl Default for Study {
    fn default() -> Self {
        Self {
            populations: vec![PopulationKind::Lognormal, PopulationKind::Hosts, PopulationKind::WebClasses],
            changes: ChangeModel::default(),
            pages: 10_000,
            policies: vec![PolicyKind::Live],
            estimators: Vec::new(),
            systems: Vec::new(),
            budgets: vec![0.03, 0.1],
            warm_up_days: 60.0,
            scored_days: 60.0,
            tick_days: 0.25,
            last_modified_share: 0.0,
            fill: false,
            options: Options::default(),
            seeds: 6,
            seed: 1,
        }
    }
}

/// One policy with one estimator on one population at one budget, averaged over the seeds.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct StudyRow {
    pub population: &'static str,
    /// Name of the policy, with `+fill` where idle slots are filled.
    pub policy: String,
    /// The preset, where it is a published system with the preset's estimator and options.
    pub preset: Option<&'static str>,
    /// Name of the estimator; `known` for true rates, `none` where the policy uses none.
    pub estimator: &'static str,
    /// Budget of the run, as an average over all pages.
    pub budget_fetches_per_page_per_day: f64,
    /// Pages of one seed.
    pub pages: usize,
    pub seeds: u64,
    /// Share of the time that a copy is current, mean over pages: the expected one where changes are Poisson.
    pub freshness: f64,
    /// Standard error of that mean over the seeds.
    pub freshness_standard_error: f64,
    /// The same, pages weighted by importance.
    pub weighted_freshness: f64,
    /// Standard error of the weighted freshness over the seeds.
    pub standard_error: f64,
    /// Days since the first unseen change, mean over time and pages.
    pub age_days: f64,
    /// The same, pages weighted by importance.
    pub weighted_age_days: f64,
    /// Harmonic penalty, pages weighted by importance.
    pub weighted_harmonic_penalty: f64,
    /// Share of time and pages with an age above 30 days.
    pub over_30_days_share: f64,
    /// Fetches in the scored time, all seeds together.
    pub fetches: u64,
    /// Budget spent, as a share of the available budget.
    pub budget_used_share: f64,
    /// Share of the looks that found a change.
    pub useful_fetches_share: f64,
    /// Weighted freshness missing to the policy that knows the true rates.
    pub regret: f64,
    /// Share of the gap in weighted freshness, between uniform and that policy, that this one closes.
    pub gap_closed_share: f64,
    /// Standard error of that share over the seeds.
    pub gap_closed_standard_error: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StudyProgress {
    pub runs_done: usize,
    pub runs: usize,
    /// Finished runs, plus the finished parts of those under way.
    pub done: f64,
}

/// The ends of the scale for every policy, from the lower to the upper.
const ENDS: [PolicyKind; 2] = [PolicyKind::Uniform, PolicyKind::Oracle];

#[derive(Clone, Copy, Debug, PartialEq)]
struct StudyJob {
    population: PopulationKind,
    budget: f64,
    contender: Contender,
    seed: u64,
}

impl Study {
    /// Runs everything on this many threads. Returns one row for each population, budget, policy and estimator, in this
    /// order, whatever the number of threads. `watch` is called often and may stop the study.
    pub fn run(
        &self,
        threads: usize,
        watch: &(dyn Fn(StudyProgress) -> ControlFlow<()> + Sync),
    ) -> Result<Vec<StudyRow>, SimulationError> {
        self.check()?;
        let jobs = self.jobs();
        let progress = Mutex::new((0usize, 0.0f64));
        let scores = parallel::in_order(&jobs, threads, |job| {
            let mut so_far = 0.0;
            let scores = self.run_one(job, &mut |of_run| {
                let mut total = progress.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                total.1 += of_run.done - so_far;
                so_far = of_run.done;
                watch(StudyProgress { runs_done: total.0, runs: jobs.len(), done: total.1 })
            })?;
            let mut total = progress.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            total.0 += 1;
            total.1 += 1.0 - so_far;
            Ok(scores)
        })?;
        Ok(self.rows(&jobs, &scores))
    }

    fn check(&self) -> Result<(), SimulationError> {
        let given = |what, entries: usize| match entries {
            0 => Err(SimulationError::Combination(format!("no {what} given; name at least one"))),
            _ => Ok(()),
        };
        given("population", self.populations.len())?;
        given("policy or preset", self.policies.len() + self.systems.len())?;
        given("budget", self.budgets.len())?;
        given("seed", self.seeds as usize)?;
        for &budget in &self.budgets {
            SimulationError::positive("budget in fetches per page and day", budget)?;
        }
        if !(self.warm_up_days >= 0.0 && self.warm_up_days.is_finite()) {
            let expected = "a finite number, not negative";
            return Err(SimulationError::Setting { field: "warm-up, in days", value: self.warm_up_days, expected });
        }
        SimulationError::positive("scored time, in days", self.scored_days)?;
        SimulationError::positive("tick, in days", self.tick_days)?;
        for contender in self.contenders() {
            setup::check_estimator(contender.policy, contender.estimator)?;
        }
        self.changes.check()
    }

    /// The estimators that a policy runs with; `None` for the true rates.
    fn estimators_of(&self, policy: PolicyKind) -> Vec<Option<EstimatorChoice>> {
        match policy.beliefs().usual_estimator() {
            None => vec![None],
            Some(usual) if self.estimators.is_empty() || !policy.beliefs().is_asked() => vec![Some(usual)],
            Some(_) => self.estimators.iter().copied().map(Some).collect(),
        }
    }

    /// All that run. The ends of the scale come first, asked for or not.
    fn contenders(&self) -> Vec<Contender> {
        let others = self.policies.iter().copied().filter(|policy| !ENDS.contains(policy));
        let named = ENDS.into_iter().chain(others).flat_map(|policy| {
            let (options, fill) = (self.options, self.fill);
            let of = move |estimator| Contender { preset: None, policy, estimator, options, fill };
            self.estimators_of(policy).into_iter().map(of)
        });
        named.chain(self.systems.iter().copied()).collect()
    }

    fn jobs(&self) -> Vec<StudyJob> {
        let contenders = self.contenders();
        let mut jobs = Vec::new();
        for &population in &self.populations {
            for &budget in &self.budgets {
                for &contender in &contenders {
                    for seed in self.seed..self.seed.saturating_add(self.seeds) {
                        jobs.push(StudyJob { population, budget, contender, seed });
                    }
                }
            }
        }
        jobs
    }

    fn run_one(
        &self,
        job: &StudyJob,
        watch: &mut dyn FnMut(RunProgress) -> ControlFlow<()>,
    ) -> Result<Scores, SimulationError> {
        let SyntheticPopulation { pages, change_rates_per_day } = job.population.draw(self.pages, job.seed)?;
        let end_days = self.warm_up_days + self.scored_days;
        let model = self.changes.clone();
        let mut changes = SyntheticChanges::new(&pages, &change_rates_per_day, model, job.seed, end_days)?;
        drop(change_rates_per_day);
        let rates = changes.mean_change_rates_per_day();
        let mut learner = job.contender.learner(&pages, &rates)?;
        drop(rates);
        let mut policy = job.contender.build();
        let run = Run {
            tick_days: self.tick_days,
            last_modified_share: self.last_modified_share,
            cosmetic_noise: self.changes.cosmetic_noise,
            seed: job.seed,
            ..Run::new(self.warm_up_days, end_days, job.budget * pages.len() as f64)
        };
        engine::run(&pages, &mut changes, policy.as_mut(), learner.as_mut(), &run, watch)
    }

    fn rows(&self, jobs: &[StudyJob], scores: &[Scores]) -> Vec<StudyRow> {
        let seeds = self.seeds as usize;
        let cells: Vec<(&StudyJob, &[Scores])> = jobs.iter().step_by(seeds).zip(scores.chunks(seeds)).collect();
        let weighted = |scores: &[Scores]| scores.iter().map(|s| s.least_varying_freshness().1).collect::<Vec<f64>>();
        let mut rows = Vec::new();
        for &(job, runs) in &cells {
            let contender = &job.contender;
            if contender.preset.is_none() && !self.policies.contains(&contender.policy) {
                continue;
            }
            let end = |policy: PolicyKind| {
                let found = cells.iter().find(|(other, _)| {
                    other.contender.policy == policy && other.population == job.population && other.budget == job.budget
                });
                found.map_or_else(Vec::new, |(_, runs)| weighted(runs))
            };
            let [low, high] = ENDS.map(end);
            let own = weighted(runs);
            let mean = |value: fn(&Scores) -> f64| SampleMean::of(runs.iter().map(value)).mean;
            let freshness = SampleMean::of(runs.iter().map(|run| run.least_varying_freshness().0));
            let weighted_freshness = SampleMean::of(own.iter().copied());
            let gap = SampleMean::of((0..seeds).map(|i| (own[i] - low[i]) / (high[i] - low[i]).max(1e-12)));
            rows.push(StudyRow {
                population: job.population.name(),
                policy: contender.name(),
                preset: contender.preset_name(),
                estimator: contender.estimator_name(),
                budget_fetches_per_page_per_day: job.budget,
                pages: self.pages,
                seeds: self.seeds,
                freshness: freshness.mean,
                freshness_standard_error: freshness.standard_error,
                weighted_freshness: weighted_freshness.mean,
                standard_error: weighted_freshness.standard_error,
                age_days: mean(|run| run.age_days),
                weighted_age_days: mean(|run| run.weighted_age_days),
                weighted_harmonic_penalty: mean(|run| run.weighted_harmonic_penalty),
                over_30_days_share: mean(|run| run.over_30_days_share),
                fetches: runs.iter().map(|run| run.fetches).sum(),
                budget_used_share: mean(|run| run.budget_used_share),
                useful_fetches_share: mean(|run| run.useful_fetches_share),
                regret: SampleMean::of(high.iter().copied()).mean - weighted_freshness.mean,
                gap_closed_share: gap.mean,
                gap_closed_standard_error: gap.standard_error,
            });
        }
        rows
    }
}

/// A mean with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleMean {
    pub mean: f64,
    /// Standard error of the mean; 0 for fewer than two numbers.
    pub standard_error: f64,
}

impl SampleMean {
    /// From these numbers; the mean is 0 without any.
    pub fn of(numbers: impl Iterator<Item = f64> + Clone) -> Self {
        let count = numbers.clone().count() as f64;
        let mean = numbers.clone().sum::<f64>() / count.max(1.0);
        let squares: f64 = numbers.map(|number| (number - mean).powi(2)).sum();
        let standard_error = if count > 1.0 { (squares / (count - 1.0) / count).sqrt() } else { 0.0 };
        Self { mean, standard_error }
    }
}

#[cfg(test)]
mod tests;
