//! The simulation loop: a token bucket hands out fetches, a policy chooses the page for each, an estimator learns from
//! the outcomes, and the state of the copies is integrated exactly.

use crate::changes::{ChangeSource, CosmeticNoise};
use crate::error::SimulationError;
use crate::learner::Learner;
use crate::lists::{DateEvidence, SiteLists};
use crate::metrics::{MissedExtent, Scores, Tally};
use crate::population::Pages;
use crate::streams::{Draws, Purpose, RandomStream};
use chance::splitmix64;
use change_rate::LookOutcome;
use revisit::columns::Slot;
use revisit::hints::ListedDate;
use revisit::{PolicyLook, PolicyPage, PolicyTick, RevisitPolicy};
use std::ops::ControlFlow;
use sweeps::{GroupKind, PagePlace};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// Start of the run; all copies are current then.
    pub start_days: f64,
    /// Start of the scored time.
    pub score_from_days: f64,
    /// End of the run and of the scored time.
    pub end_days: f64,
    /// Length of a tick: pages are chosen once per tick, and fetches are spread evenly over it.
    pub tick_days: f64,
    /// Budget per day, in units of page cost. Unspent budget is kept for a day at most (or until it is enough for one
    /// fetch).
    pub budget_per_day: f64,
    /// Share of the pages that give the true time of their last change.
    pub last_modified_share: f64,
    /// Differences mistaken for changes.
    pub cosmetic_noise: Option<CosmeticNoise>,
    /// Seed of the findings of looks.
    pub seed: u64,
}

impl Run {
    /// Six-hour ticks from day 0, no Last-Modified, no noise.
    pub fn new(score_from_days: f64, end_days: f64, budget_per_day: f64) -> Self {
        Self {
            start_days: 0.0,
            score_from_days,
            end_days,
            tick_days: 0.25,
            budget_per_day,
            last_modified_share: 0.0,
            cosmetic_noise: None,
            seed: 0,
        }
    }

    fn check(&self) -> Result<(), SimulationError> {
        SimulationError::positive("budget per day", self.budget_per_day)?;
        SimulationError::positive("tick, in days", self.tick_days)?;
        SimulationError::share("share of pages with Last-Modified", self.last_modified_share)?;
        if !self.start_days.is_finite() {
            let expected = "a finite number";
            return Err(SimulationError::Setting { field: "start, in days", value: self.start_days, expected });
        }
        let field = "beginning of the scored time, in days";
        if self.score_from_days.is_nan() || self.score_from_days < self.start_days {
            return Err(SimulationError::Setting {
                field,
                value: self.score_from_days,
                expected: "not before the start",
            });
        }
        let field = "end, in days";
        if !(self.end_days > self.score_from_days && self.end_days.is_finite()) {
            let expected = "finite and after the beginning of the scored time";
            return Err(SimulationError::Setting { field, value: self.end_days, expected });
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunProgress {
    /// Simulated time reached.
    pub now_days: f64,
    /// Finished share of the run, in 0..=1.
    pub done: f64,
    /// Number of looks so far, including those outside the scored time.
    pub fetches: u64,
}

/// Runs to the end, calling `watch` at every tick, which may stop the run. `changes` must be at its start; changes
/// before the start of the run are skipped.
pub fn run<C: ChangeSource + ?Sized>(
    pages: &Pages,
    changes: &mut C,
    policy: &mut dyn RevisitPolicy,
    learner: &mut dyn Learner,
    run: &Run,
    watch: &mut dyn FnMut(RunProgress) -> ControlFlow<()>,
) -> Result<Scores, SimulationError> {
    run_with_lists(pages, &SiteLists::default(), changes, policy, learner, run, watch)
}

/// As [`run`], with lists that a policy may fetch. A look at a list costs 1.
pub fn run_with_lists<C: ChangeSource + ?Sized>(
    pages: &Pages,
    lists: &SiteLists,
    changes: &mut C,
    policy: &mut dyn RevisitPolicy,
    learner: &mut dyn Learner,
    run: &Run,
    watch: &mut dyn FnMut(RunProgress) -> ControlFlow<()>,
) -> Result<Scores, SimulationError> {
    run.check()?;
    if changes.pages() != pages.len() {
        let entries = changes.pages();
        return Err(SimulationError::Lengths { what: "change times", pages: pages.len(), entries });
    }
    let mut loop_ = SimulationLoop::start(pages, lists, changes, policy, learner, run)?;
    let ticks = ((run.end_days - run.start_days) / run.tick_days - 1e-9).ceil().max(1.0) as u64;
    let mut tokens = 0.0;
    for tick in 0..ticks {
        let now_days = run.start_days + tick as f64 * run.tick_days;
        let done = tick as f64 / ticks as f64;
        if watch(RunProgress { now_days, done, fetches: loop_.fetches }).is_break() {
            return Err(SimulationError::Stopped { at_days: now_days });
        }
        let days = run.tick_days.min(run.end_days - now_days);
        let gained = run.budget_per_day * days;
        tokens = (tokens + gained).min(run.budget_per_day.max(1.0 + gained));
        // Slightly more, so that ten tenths make one.
        let whole = (tokens + 1e-9).floor();
        if whole < 1.0 {
            continue;
        }
        loop_.teach_siblings(now_days);
        loop_.policy.begin(&PolicyTick { now_days, days, budget_per_day: run.budget_per_day });
        let (mut spent, mut passed) = (0.0, 0.0);
        while passed + 1e-9 < whole {
            let at_days = now_days + days * ((passed + 0.5) / whole).min(1.0);
            // A slot with nothing to fetch passes, and its tokens are kept: a page may be due by the next slot.
            let cost = loop_.policy.next(at_days).map(|slot| loop_.look(slot, at_days));
            spent += cost.unwrap_or(0.0);
            passed += cost.unwrap_or(1.0);
        }
        tokens -= spent;
    }
    Ok(loop_.finish())
}

/// Budget that a look at a list costs.
const LIST_COST: f64 = 1.0;

/// The changes that a copy has missed since it was taken.
#[derive(Clone, Copy, Debug, Default)]
struct Missed {
    last_change_days: Option<f64>,
    /// `None` without a change, and where extents are not known.
    extent: Option<MissedExtent>,
}

struct SimulationLoop<'a, C: ?Sized> {
    pages: &'a Pages,
    lists: &'a SiteLists,
    changes: &'a mut C,
    policy: &'a mut dyn RevisitPolicy,
    learner: &'a mut dyn Learner,
    run: &'a Run,
    tally: Tally,
    copied_days: Vec<f64>,
    received: DateEvidence,
    fetches: u64,
    siblings_taught_days: f64,
}

impl<'a, C: ChangeSource + ?Sized> SimulationLoop<'a, C> {
    fn start(
        pages: &'a Pages,
        lists: &'a SiteLists,
        changes: &'a mut C,
        policy: &'a mut dyn RevisitPolicy,
        learner: &'a mut dyn Learner,
        run: &'a Run,
    ) -> Result<Self, SimulationError> {
        let mut tally = Tally::new(run.start_days, run.score_from_days, run.end_days, pages.sections().len());
        let mut dated = Vec::new();
        for page in 0..pages.len() {
            let mut last_change_days = None;
            while changes.next_change_days(page) <= run.start_days {
                last_change_days = Some(changes.next_change_days(page));
                changes.take_change(page);
            }
            if let Some(changed_days) = last_change_days.filter(|_| gives_dates(run, page)) {
                dated.push((page, changed_days));
            }
            let info = pages.info(page);
            tally.page(usize::from(info.section), info.weight);
            let known = PolicyPage {
                weight: info.weight,
                cost: info.cost,
                host: info.host,
                place: info.place,
                last_look_days: Some(run.start_days),
                belief: learner.belief(page),
            };
            policy.insert(Slot::new(page as u32), &known, run.start_days);
        }
        for (number, list) in lists.lists().iter().enumerate() {
            let first = list.pages[0] as usize;
            let (host, site) = (pages.host(first), pages.place(first).site);
            let place = PagePlace { site, cell: 0, groups: [0; GroupKind::ALL.len()] };
            let (last_look_days, belief) = (Some(run.start_days), learner.belief(first));
            let known = PolicyPage { weight: 0.0, cost: LIST_COST, host, place, last_look_days, belief };
            policy.insert_list(Slot::new((pages.len() + number) as u32), &known, list.pages.len(), run.start_days);
        }
        // Only now are the sizes of all groups known.
        for (page, changed_days) in dated {
            policy.dated(Slot::new(page as u32), changed_days, run.start_days);
        }
        let copied_days = vec![run.start_days; pages.len()];
        Ok(Self {
            pages,
            lists,
            changes,
            policy,
            learner,
            run,
            tally,
            copied_days,
            received: DateEvidence::new(if lists.lists().is_empty() { 0 } else { pages.len() }),
            fetches: 0,
            siblings_taught_days: run.start_days,
        })
    }

    /// Once a day, passes on to the policy what pages have learned from looks at others.
    fn teach_siblings(&mut self, now_days: f64) {
        if now_days < self.siblings_taught_days + 1.0 || !self.learner.teaches_siblings() {
            return;
        }
        self.siblings_taught_days = now_days;
        for page in 0..self.pages.len() {
            self.policy.believe(Slot::new(page as u32), self.learner.belief(page));
        }
    }

    /// Looks at a page. Returns the cost.
    fn look(&mut self, slot: Slot, at_days: f64) -> f64 {
        let page = slot.index();
        if let Some(list) = page.checked_sub(self.pages.len()) {
            return self.read_list(slot, list, at_days);
        }
        let interval_days = at_days - self.copied_days[page];
        let missed = self.account(page, at_days, true);
        let last_change_days = missed.last_change_days;
        let outcome = self.outcome(page, at_days, last_change_days);
        let belief = self.learner.look(page, interval_days, outcome);
        let extent = missed.extent.map(|extent| extent.largest);
        let look = PolicyLook { at_days, interval_days: Some(interval_days), outcome: Some(outcome), extent, belief };
        self.policy.looked(slot, &look);
        let cost = self.pages.cost(page);
        let (section, host) = (self.pages.section(page), self.pages.host(page));
        self.tally.look(section, host, at_days, cost, last_change_days.is_some());
        self.copied_days[page] = at_days;
        self.fetches += 1;
        cost
    }

    /// Looks at a list. Returns the cost.
    fn read_list(&mut self, slot: Slot, list: usize, at_days: f64) -> f64 {
        let listed = &self.lists.lists()[list].pages;
        let dates: Vec<_> = listed
            .iter()
            .filter_map(|page| {
                let date_days = self.lists.date(*page as usize, at_days)?;
                self.received.note(*page as usize, date_days);
                Some((Slot::new(*page), ListedDate::at(date_days)))
            })
            .collect();
        self.policy.received(slot, &dates, at_days);
        let first = listed[0] as usize;
        let look = PolicyLook {
            at_days,
            interval_days: None,
            outcome: Some(LookOutcome::Unchanged),
            extent: None,
            belief: self.learner.belief(first),
        };
        self.policy.looked(slot, &look);
        self.tally.look(self.pages.section(first), self.pages.host(first), at_days, LIST_COST, false);
        self.fetches += 1;
        LIST_COST
    }

    /// Accounts for a copy since it was taken. Returns what it has missed.
    fn account(&mut self, page: usize, now_days: f64, looked: bool) -> Missed {
        let (section, weight) = (self.pages.section(page), self.pages.weight(page));
        let rate = self.changes.poisson_rate_per_day(page);
        self.tally.expect(section, weight, rate, self.copied_days[page], now_days);
        let mut next = self.changes.next_change_days(page);
        self.tally.fresh(section, weight, self.copied_days[page], next.min(now_days));
        let (mut missed, mut behind) = (Missed::default(), 0);
        while next <= now_days {
            let changed = next;
            let extent = self.changes.next_extent(page);
            self.changes.take_change(page);
            next = self.changes.next_change_days(page);
            behind += 1;
            self.tally.behind(section, weight, behind, changed, now_days);
            if let Some(extent) = extent {
                let missed = missed.extent.get_or_insert_default();
                missed.add(extent);
                self.tally.missing(weight, *missed, changed, next.min(now_days));
            }
            let overwritten = next <= now_days;
            if looked {
                self.tally.noticed(changed, now_days, overwritten);
            } else {
                self.tally.unnoticed(changed, overwritten);
            }
            missed.last_change_days = Some(changed);
        }
        missed
    }

    fn outcome(&mut self, page: usize, at_days: f64, last_change_days: Option<f64>) -> LookOutcome {
        let (host, copied_days) = (self.pages.host(page), self.copied_days[page]);
        let listed_days = self.received.judge(page, host, last_change_days.is_some(), copied_days);
        let trait_of_page = |salt| trait_of_page(self.run, page, salt);
        match last_change_days {
            Some(changed) if gives_dates(self.run, page) => LookOutcome::ChangedAt { age_days: at_days - changed },
            // The look confirms that the page has changed, and its list dates the change.
            Some(_) => match listed_days {
                Some(date) => LookOutcome::ChangedAt { age_days: at_days - date },
                None => LookOutcome::Changed,
            },
            None => match self.run.cosmetic_noise {
                Some(noise) if trait_of_page(2) < noise.page_share => {
                    let salt = splitmix64(at_days.to_bits());
                    if trait_of_page(salt) < noise.probability { LookOutcome::Changed } else { LookOutcome::Unchanged }
                }
                _ => LookOutcome::Unchanged,
            },
        }
    }

    fn finish(mut self) -> Scores {
        for page in 0..self.pages.len() {
            self.account(page, self.run.end_days, false);
        }
        let budget = self.run.budget_per_day * (self.run.end_days - self.run.score_from_days);
        self.tally.scores(self.pages.sections(), budget)
    }
}

/// A trait of a page is the first number of a signal stream; the finding of one look follows from its time.
fn trait_of_page(run: &Run, page: usize, salt: u64) -> f64 {
    RandomStream::new(run.seed ^ salt, page as u64, Purpose::Signals).uniform()
}

/// Whether the page states when it last changed.
fn gives_dates(run: &Run, page: usize) -> bool {
    run.last_modified_share > 0.0 && trait_of_page(run, page, 1) < run.last_modified_share
}

#[cfg(test)]
mod tests;
