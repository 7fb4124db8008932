//! A policy on a trace: what it learns in the learning year, and how fresh it keeps the copies in the scored one.

use super::{LEARNING_DAYS, Trace, TracePage, WINDOW_DAYS};
use crate::chance::{Purpose, Stream};
use crate::changes::RecordedChanges;
use crate::engine::{self, Run};
use crate::error::SimulationError;
use crate::learner::{self, KnownRates, Learner};
use crate::metrics::Scores;
use crate::population::{PageInfo, Pages};
use crate::setup;
use change_rate::{EstimatorChoice, EstimatorOptions, Gamma, Outcome};
use policies::{BeliefSource, PolicyKind, PolicyOptions};
use revisit::columns::Slot;
use revisit::live::Live;
use revisit::{PolicyLook, PolicyPage, RevisitPolicy, Tick};
use std::ops::ControlFlow;
use sweeps::rules::HISTORY_KEPT;

/// What a policy knows when the scored year starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knowledge {
    /// What its own fetches showed: the schedule starts with the learning year, at the same budget.
    Fetches,
    /// Every change of the learning year, as one look at every page a day; the schedule starts with the scored year.
    History,
}

/// One policy on a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Replay {
    /// The policy.
    pub policy: PolicyKind,
    /// Who estimates change rates for it; `None`, and one that does not go with it, stand for its usual one.
    pub estimator: Option<EstimatorChoice>,
    /// What is known.
    pub knowledge: Knowledge,
    /// Nothing is learned from the schedule's own fetches.
    pub frozen: bool,
    /// Budget.
    pub fetches_per_page_per_day: f64,
    /// Importance of pages is drawn from a Pareto distribution of this shape (corpora do not know it); `None`: all count
    /// the same.
    pub importance_shape: Option<f64>,
    /// For what is left to chance.
    pub seed: u64,
}

impl Replay {
    /// Who estimates change rates; `None`: they are told.
    fn estimator(&self) -> Option<EstimatorChoice> {
        let usual = self.policy.beliefs().usual_estimator()?;
        let asked = self.estimator.filter(|asked| setup::check_estimator(self.policy, Some(*asked)).is_ok());
        Some(asked.unwrap_or(usual))
    }

    /// Who estimates change rates, in a word.
    pub fn estimator_name(&self) -> &'static str {
        match self.policy.beliefs() {
            BeliefSource::History => self.policy.name(),
            _ => setup::learner_name(self.policy, self.estimator()),
        }
    }

    /// Whether another estimator is used than the one asked for, because that one does not go with the policy.
    pub fn overrules_estimator(&self) -> bool {
        self.estimator.is_some_and(|asked| self.estimator_name() != asked.name())
    }

    /// Says why this cannot be run, if it cannot.
    ///
    /// # Errors
    /// On combinations without meaning, and on a budget that is not above zero.
    pub fn check(&self) -> Result<(), SimulationError> {
        let fault = |text: String| Err(SimulationError::Combination(text));
        SimulationError::positive("budget in fetches per page and day", self.fetches_per_page_per_day)?;
        if let Some(shape) = self.importance_shape {
            SimulationError::positive("shape of the importance of pages", shape)?;
        }
        let name = self.policy.name();
        if self.policy.beliefs() == BeliefSource::History && self.knowledge == Knowledge::Fetches {
            return fault(format!(
                "{name} is computed from every change of the learning year, which own fetches do not show; use knowledge history"
            ));
        }
        if self.frozen && self.knowledge == Knowledge::Fetches {
            return fault(
                "a static schedule that knows only its own fetches knows nothing; use knowledge history".into(),
            );
        }
        if self.frozen && !self.policy.beliefs().is_asked() && !self.is_fixed() {
            return fault(format!("{name} sets intervals by what each fetch finds and has no static form"));
        }
        Ok(())
    }

    /// Whether looks never change what the policy does.
    fn is_fixed(&self) -> bool {
        self.policy.beliefs() == BeliefSource::Nothing
    }

    /// Plays the trace. `watch` is told the share that is done, often, and may stop it.
    ///
    /// # Errors
    /// As [`Replay::check`], and [`SimulationError::Stopped`].
    pub fn run(&self, trace: &Trace, watch: &mut dyn FnMut(f64) -> ControlFlow<()>) -> Result<Scores, SimulationError> {
        self.check()?;
        let pages = trace.engine_pages(self.importance_shape, self.seed)?;
        let mut changes = RecordedChanges::new(trace.pages.iter().map(|page| &page.changes_days))?;
        // The oracle knows the scored year and nothing else: a page that changes in the learning year only would stay
        // stale for ever. Its schedule starts with what it knows.
        let history = self.knowledge == Knowledge::History || self.policy.beliefs() == BeliefSource::Truth;
        let run = Run {
            start_days: if history { LEARNING_DAYS } else { 0.0 },
            seed: self.seed,
            ..Run::new(LEARNING_DAYS, WINDOW_DAYS, self.fetches_per_page_per_day * pages.len() as f64)
        };
        let mut learner: Box<dyn Learner> = match (self.policy.beliefs(), self.estimator()) {
            (BeliefSource::History, _) => {
                Box::new(KnownRates::new(trace.pages.iter().map(TracePage::smoothed_rate_per_day)))
            }
            (_, None) => Box::new(KnownRates::new(trace.pages.iter().map(TracePage::true_rate_per_day))),
            (_, Some(estimator)) => learner::learner(estimator, &pages, EstimatorOptions::default())?,
        };
        let options = PolicyOptions::default();
        let live = self.policy == PolicyKind::Live;
        let mut policy: Box<dyn RevisitPolicy> = if history && live {
            let mut live = Live::new(options.theta);
            learn_sweeps(&mut live, trace, &pages, watch)?;
            if self.frozen {
                live.freeze();
            }
            Box::new(Imported(live))
        } else {
            setup::build(self.policy, &options)
        };
        if history && self.policy.beliefs().is_asked() && !live {
            learn_rates(learner.as_mut(), trace, watch)?;
        }
        if self.frozen {
            learner = Box::new(Frozen(learner));
        }
        let learned = if history { IMPORT_SHARE } else { 0.0 };
        engine::run(&pages, &mut changes, policy.as_mut(), learner.as_mut(), &run, &mut |progress| {
            watch(learned + (1.0 - learned) * progress.done)
        })
    }
}

/// Heaviest weight that is drawn.
const WEIGHT_MAX: f64 = 1e3;

/// Part of the work that importing a year is taken to be, for whoever watches.
const IMPORT_SHARE: f64 = 0.2;

impl Trace {
    /// The pages as the engine takes them: all of equal cost, reported by source.
    fn engine_pages(&self, importance_shape: Option<f64>, seed: u64) -> Result<Pages, SimulationError> {
        let weight = |page: usize| {
            let drawn = |shape| Stream::new(seed, page as u64, Purpose::Importance).pareto(shape).min(WEIGHT_MAX);
            importance_shape.map_or(1.0, drawn)
        };
        let infos = self.pages.iter().enumerate().map(|(number, page)| PageInfo {
            weight: weight(number),
            cost: 1.0,
            host: page.host,
            section: page.source as u16,
            place: page.place,
        });
        Pages::new(infos, self.sources.clone())
    }

    /// One look at every page for every day of the learning year: `look(page, day's end, whether it changed)`.
    fn daily_looks(
        &self,
        watch: &mut dyn FnMut(f64) -> ControlFlow<()>,
        mut look: impl FnMut(usize, f64, bool),
    ) -> Result<(), SimulationError> {
        let mut seen = vec![0usize; self.pages.len()];
        for day in 1..=LEARNING_DAYS as u32 {
            let end_days = f64::from(day);
            if watch(IMPORT_SHARE * (end_days - 1.0) / LEARNING_DAYS).is_break() {
                return Err(SimulationError::Stopped { at_days: end_days - 1.0 });
            }
            for (page, seen) in seen.iter_mut().enumerate() {
                let changes = &self.pages[page].changes_days[*seen..];
                let new = changes.iter().take_while(|at| **at <= end_days).count();
                *seen += new;
                look(page, end_days, new > 0);
            }
        }
        Ok(())
    }
}

fn learn_rates(
    learner: &mut dyn Learner,
    trace: &Trace,
    watch: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<(), SimulationError> {
    trace.daily_looks(watch, |page, _, changed| {
        learner.look(page, 1.0, if changed { Outcome::Changed } else { Outcome::Unchanged });
    })
}

/// The live default reads the history as sweeps, too. Half of what the year taught counts: the next one is another.
fn learn_sweeps(
    live: &mut Live,
    trace: &Trace,
    pages: &Pages,
    watch: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<(), SimulationError> {
    for page in 0..pages.len() {
        let info = pages.info(page);
        let known = PolicyPage {
            weight: info.weight,
            cost: info.cost,
            host: info.host,
            place: info.place,
            last_look_days: Some(LEARNING_DAYS),
            belief: EstimatorOptions::default().prior.belief(),
        };
        live.insert(Slot::new(page as u32), &known, LEARNING_DAYS);
    }
    trace.daily_looks(watch, |page, day, changed| live.import(Slot::new(page as u32), day - 1.0, day, changed))?;
    live.finish_import(HISTORY_KEPT, LEARNING_DAYS);
    Ok(())
}

/// The live default with its pages and a year of history inside.
struct Imported(Live);

impl RevisitPolicy for Imported {
    fn insert(&mut self, _slot: Slot, _page: &PolicyPage, _now_days: f64) {
        // It knows the page from the import.
    }

    fn remove(&mut self, slot: Slot) {
        self.0.remove(slot);
    }

    fn begin(&mut self, tick: &Tick) {
        self.0.begin(tick);
    }

    fn next(&mut self, now_days: f64) -> Option<Slot> {
        self.0.next(now_days)
    }

    fn put_back(&mut self, slot: Slot) {
        self.0.put_back(slot);
    }

    fn looked(&mut self, slot: Slot, look: &PolicyLook) {
        self.0.looked(slot, look);
    }
}

/// Beliefs that no longer move.
struct Frozen(Box<dyn Learner>);

impl Learner for Frozen {
    fn belief(&self, page: usize) -> Gamma {
        self.0.belief(page)
    }

    fn look(&mut self, page: usize, _interval_days: f64, _outcome: Outcome) -> Gamma {
        self.0.belief(page)
    }
}

#[cfg(test)]
mod tests;
