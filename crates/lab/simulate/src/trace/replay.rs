//! Runs a policy on a trace: it learns in the learning year and is scored on the freshness of the copies in the second.

use super::{JudgedTrace, LEARNING_DAYS, TracePage, WINDOW_DAYS, foresight};
use crate::changes::RecordedChanges;
use crate::contender::Contender;
use crate::engine::{self, Run};
use crate::error::SimulationError;
use crate::learner::{self, KnownRates, Learner};
use crate::lists::{ListRules, SiteLists};
use crate::metrics::Scores;
use crate::population::{Pages, SimulatedPage};
use crate::streams::{Draws, Purpose, RandomStream};
use change_rate::{EstimatorOptions, Gamma, LookOutcome};
use policies::{BeliefSource, PolicyKind};
use revisit::columns::Slot;
use revisit::hints::ListedDate;
use revisit::live::Live;
use revisit::{PolicyLook, PolicyPage, PolicyTick, RevisitPolicy};
use std::ops::ControlFlow;
use sweeps::rules::HISTORY_KEPT;

/// The policy's knowledge at the start of the scored year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knowledge {
    /// The outcomes of its own fetches: the schedule starts with the learning year, at the same budget.
    Fetches,
    /// Every change of the learning year, as one look at every page a day. The schedule starts with the scored year.
    History,
    /// Nothing: the schedule starts with the learning year, which is scored instead of the second.
    None,
}

/// One policy on a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceReplay {
    pub contender: Contender,
    /// Knowledge at the start of the scored year.
    pub knowledge: Knowledge,
    /// If set, nothing is learned from the schedule's own fetches.
    pub frozen: bool,
    /// Share of the pages that state at every look when they last changed.
    pub dates_share: f64,
    /// Budget, as an average over all pages.
    pub fetches_per_page_per_day: f64,
    /// Shape of the Pareto distribution from which importance is drawn (corpora do not have it). `None`: all pages
    /// count the same.
    pub importance_shape: Option<f64>,
    /// Lists of the sites' pages, if there are any.
    pub lists: Option<ListRules>,
    /// For a crawl without knowledge: the day on which the scored time ends. `None`: after the first year.
    pub until_days: Option<f64>,
    pub seed: u64,
}

impl TraceReplay {
    pub fn estimator_name(&self) -> &'static str {
        match self.contender.policy.beliefs() {
            BeliefSource::History => self.contender.policy.name(),
            _ => self.contender.estimator_name(),
        }
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// On combinations that do not go together, and on a budget that is not above zero.
    pub fn check(&self) -> Result<(), SimulationError> {
        let fault = |text: String| Err(SimulationError::Combination(text));
        SimulationError::positive("budget in fetches per page and day", self.fetches_per_page_per_day)?;
        if let Some(shape) = self.importance_shape {
            SimulationError::positive("shape of the importance of pages", shape)?;
        }
        self.lists.map_or(Ok(()), |lists| lists.check())?;
        if let Some(days) = self.until_days {
            SimulationError::positive("end of the scored time, in days", days)?;
            if self.knowledge != Knowledge::None || days > LEARNING_DAYS {
                return fault(format!(
                    "only the first days of a crawl without knowledge, at most {LEARNING_DAYS}, can be scored alone"
                ));
            }
        }
        let policy = self.contender.policy;
        let name = policy.name();
        let learns_once = policy.beliefs() == BeliefSource::History;
        let is_reported_rates = matches!(policy, PolicyKind::Reported | PolicyKind::SweepReport);
        if learns_once && self.knowledge != Knowledge::History || is_reported_rates && self.knowledge == Knowledge::None
        {
            return fault(format!(
                "{name} needs every change of the learning year, which its own fetches do not show; use knowledge \
                 history"
            ));
        }
        if policy == PolicyKind::Clairvoyant && self.importance_shape.is_some() {
            return fault(format!("{name} counts all pages alike; leave it or the importance of pages out"));
        }
        SimulationError::share("share of pages with dates", self.dates_share)?;
        SimulationError::share(
            "share of a change's value that follows its extent",
            self.contender.options.policy.extent_share,
        )?;
        if self.frozen && self.knowledge != Knowledge::History {
            return fault("a static schedule cannot learn from its own fetches; use knowledge history".into());
        }
        if self.frozen && !policy.beliefs().is_asked() && !self.is_fixed() {
            return fault(format!("{name} adapts intervals to the result of each fetch and has no static form"));
        }
        Ok(())
    }

    /// The scored days: the second year, or the first for a policy that begins without knowledge.
    fn scored_days(&self) -> (f64, f64) {
        match self.knowledge {
            Knowledge::Fetches | Knowledge::History => (LEARNING_DAYS, WINDOW_DAYS),
            Knowledge::None => (0.0, self.until_days.unwrap_or(LEARNING_DAYS)),
        }
    }

    /// Whether looks never change the policy's choices.
    fn is_fixed(&self) -> bool {
        matches!(self.contender.policy.beliefs(), BeliefSource::Nothing | BeliefSource::Future)
    }

    /// Runs the trace. `watch` is called often with the finished share, and may stop the run.
    ///
    /// # Errors
    /// As [`TraceReplay::check`], and [`SimulationError::Stopped`].
    pub fn run(
        &self,
        trace: &JudgedTrace,
        watch: &mut dyn FnMut(f64) -> ControlFlow<()>,
    ) -> Result<Scores, SimulationError> {
        self.check()?;
        let (contender, beliefs) = (&self.contender, self.contender.policy.beliefs());
        let pages = trace.engine_pages(self.importance_shape, self.seed)?;
        let mut changes = RecordedChanges::new(trace.pages.iter().map(TracePage::all_changes_days))?;
        if trace.has_extents() {
            changes = changes.with_extents(trace.pages.iter().flat_map(TracePage::all_extents))?;
        }
        let history = self.knowledge == Knowledge::History;
        let (from_days, until_days) = self.scored_days();
        // The oracle knows only the scored year: a page that changes only in the learning year would stay stale for
        // ever. So its schedule starts with the scored year. The yardsticks learn nothing, so theirs does, too.
        let needs_no_fetches = matches!(beliefs, BeliefSource::Truth | BeliefSource::Future);
        let run = Run {
            start_days: if history || needs_no_fetches { from_days } else { 0.0 },
            seed: self.seed,
            last_modified_share: self.dates_share,
            ..Run::new(from_days, until_days, self.fetches_per_page_per_day * pages.len() as f64)
        };
        let mut learner: Box<dyn Learner> = match (beliefs, contender.estimator) {
            (BeliefSource::History, _) => {
                Box::new(KnownRates::new(trace.pages.iter().map(TracePage::smoothed_rate_per_day)))
            }
            (_, None) => {
                let true_rate = |page: &TracePage| page.rate_per_day(from_days, until_days);
                Box::new(KnownRates::new(trace.pages.iter().map(true_rate)))
            }
            (_, Some(estimator)) => learner::learner(estimator, &pages, contender.options.estimator)?,
        };
        let options = &contender.options.policy;
        let live = contender.policy == PolicyKind::Live;
        let policy: Box<dyn RevisitPolicy> = if history && live {
            let mut live = Live::new(options.theta).with_extent_share(options.extent_share);
            learn_sweeps(&mut live, trace, &pages, watch)?;
            if self.frozen {
                live.freeze();
            }
            Box::new(Imported(live))
        } else {
            foresight::yardstick(contender.policy, trace, run.start_days, options)
        };
        let mut policy = contender.filled(policy);
        if history && beliefs.is_asked() && !live {
            learn_rates(learner.as_mut(), trace, watch)?;
        }
        if self.frozen {
            learner = Box::new(Frozen(learner));
        }
        let learned = if history { IMPORT_SHARE } else { 0.0 };
        let lists = match &self.lists {
            Some(rules) => {
                let listed = trace.pages.iter().map(|page| (&page.place, &page.changes_days[..]));
                SiteLists::draw(listed, rules, WINDOW_DAYS, self.seed)?
            }
            None => SiteLists::default(),
        };
        let (policy, learner) = (policy.as_mut(), learner.as_mut());
        engine::run_with_lists(&pages, &lists, &mut changes, policy, learner, &run, &mut |progress| {
            watch(learned + (1.0 - learned) * progress.done)
        })
    }
}

/// Maximum weight that is drawn.
const WEIGHT_MAX: f64 = 1e3;

/// Assumed share of the import in the work, for progress reports.
const IMPORT_SHARE: f64 = 0.2;

impl JudgedTrace {
    /// Whether the recording has extents of changes.
    fn has_extents(&self) -> bool {
        self.pages.iter().any(|page| !page.extents.is_empty())
    }

    /// The pages for the engine: all of equal cost, reported by source.
    fn engine_pages(&self, importance_shape: Option<f64>, seed: u64) -> Result<Pages, SimulationError> {
        let weight = |page: usize| {
            let drawn = |shape| RandomStream::new(seed, page as u64, Purpose::Importance).pareto(shape).min(WEIGHT_MAX);
            importance_shape.map_or(1.0, drawn)
        };
        let infos = self.pages.iter().enumerate().map(|(number, page)| SimulatedPage {
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
    trace: &JudgedTrace,
    watch: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<(), SimulationError> {
    trace.daily_looks(watch, |page, _, changed| {
        learner.look(page, 1.0, if changed { LookOutcome::Changed } else { LookOutcome::Unchanged });
    })
}

/// The live default learns sweeps from the history, too. Half of what the year taught counts, because the next year is
/// a different one.
fn learn_sweeps(
    live: &mut Live,
    trace: &JudgedTrace,
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

/// The live default with its pages and an imported year of history.
struct Imported(Live);

impl RevisitPolicy for Imported {
    fn insert(&mut self, _slot: Slot, _page: &PolicyPage, _now_days: f64) {
        // The import has already added the page.
    }

    fn remove(&mut self, slot: Slot) {
        self.0.remove(slot);
    }

    fn insert_list(&mut self, slot: Slot, page: &PolicyPage, pages: usize, now_days: f64) {
        self.0.insert_list(slot, page, pages, now_days);
    }

    fn received(&mut self, list: Slot, dates: &[(Slot, ListedDate)], now_days: f64) {
        self.0.received(list, dates, now_days);
    }

    fn begin(&mut self, tick: &PolicyTick) {
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

/// Beliefs that no longer change.
struct Frozen(Box<dyn Learner>);

impl Learner for Frozen {
    fn belief(&self, page: usize) -> Gamma {
        self.0.belief(page)
    }

    fn look(&mut self, page: usize, _interval_days: f64, _outcome: LookOutcome) -> Gamma {
        self.0.belief(page)
    }
}

#[cfg(test)]
mod tests;
