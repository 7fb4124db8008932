//! One crawl of a growing web by the running system's frontier: the loop of the services on simulated time.

use super::learner::GrowthLearner;
use super::ranker::GrowthRanker;
use super::scores::{GrowthScores, GrowthTally};
use super::web::{GrowingWeb, PageKind, WebOptions};
use crate::error::SimulationError;
use change_rate::LookOutcome;
use frontier::{Frontier, FrontierRules, HandOut, ScheduledPage};
use messages::{ChangeEstimate, FetchOutcome, FetchRequest, Look, LookJudgement, RankedPage, Verdict};
use page::{PageId, Timestamp};
use settings::{Discover, Layers, Preset, Settings};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;

/// The component that decides between new pages and known ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GrowthPolicy {
    /// The live default: one price for a refresh and a discovery.
    OnePrice {
        /// Factor on the weight of pages never fetched, `policy.new_page_worth`.
        new_page_worth: f64,
    },
    /// Tianwang as published, with its estimator.
    Tianwang {
        /// Share of a cycle for pages never fetched.
        new_page_share: f64,
    },
}

impl GrowthPolicy {
    /// The settings of the services that follow it.
    fn settings(self) -> Result<Settings, SimulationError> {
        let (files, key, value) = match self {
            Self::OnePrice { new_page_worth } => (None, "policy.new_page_worth", new_page_worth),
            Self::Tianwang { new_page_share } => {
                let preset = Preset::Tianwang;
                (Some((preset.name(), preset.toml())), "policy.new_page_share", new_page_share)
            }
        };
        let overrides = [(key.to_owned(), value.to_string())];
        let layers = Layers { files: files.as_slice(), environment: [], overrides: &overrides };
        let settings = Settings::from_layers(layers);
        settings.map_err(|faults| SimulationError::Combination(faults.to_string()))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct GrowthRun {
    pub web: WebOptions,
    pub policy: GrowthPolicy,
    pub fetches_per_day: f64,
    /// Days of learning before the scored time.
    pub warm_up_days: f64,
    pub scored_days: f64,
    pub tick_days: f64,
    pub seed: u64,
}

/// The only partition.
const PARTITION: u32 = 0;
/// Bytes of a response.
const WIRE_BYTES: i64 = 20_000;

impl GrowthRun {
    /// Runs to the end. `watch` is called with the finished share, and may stop the run.
    ///
    /// # Errors
    /// On settings out of their range, and when `watch` stops the run.
    pub fn run(&self, watch: &mut dyn FnMut(f64) -> ControlFlow<()>) -> Result<GrowthScores, SimulationError> {
        SimulationError::positive("budget in fetches per day", self.fetches_per_day)?;
        SimulationError::positive("tick, in days", self.tick_days)?;
        SimulationError::positive("scored time, in days", self.scored_days)?;
        if !(self.warm_up_days >= 0.0 && self.warm_up_days.is_finite()) {
            let expected = "a finite number, not negative";
            return Err(SimulationError::Setting { field: "warm-up, in days", value: self.warm_up_days, expected });
        }
        let settings = self.settings()?;
        let end_days = self.warm_up_days + self.scored_days;
        let web = GrowingWeb::draw(&self.web, end_days, self.seed)?;
        let mut crawl = Crawl::start(self, &settings, web)?;
        let ticks = (end_days / self.tick_days - 1e-9).ceil() as u64;
        for tick in 1..=ticks {
            let now_days = (tick as f64 * self.tick_days).min(end_days);
            if watch(tick as f64 / ticks as f64).is_break() {
                return Err(SimulationError::Stopped { at_days: now_days });
            }
            crawl.tick(moment(now_days))?;
        }
        Ok(crawl.finish(end_days))
    }

    /// The settings of the services. Hosts set no bound, and the budget of a tick can be saved for the next.
    fn settings(&self) -> Result<Settings, SimulationError> {
        let mut settings = self.policy.settings()?;
        settings.crawl.discover = Discover::SameSite;
        settings.policy.scan_interval = Duration::from_secs_f64(86_400.0 * self.tick_days);
        settings.budget.fetches_per_second = self.fetches_per_day / 86_400.0;
        settings.budget.burst = 2 * settings.policy.scan_interval;
        settings.budget.in_flight = usize::MAX;
        settings.budget.host_ahead = settings.policy.scan_interval;
        settings.politeness.crawl_delay = Duration::ZERO;
        Ok(settings)
    }
}

/// Day 0 of a run is this day, so that no time is before the epoch.
const FIRST_DAY: f64 = 1000.0;

fn moment(days: f64) -> Timestamp {
    Timestamp::from_secs(0).plus_days(FIRST_DAY + days)
}

fn days_of(moment: Timestamp) -> f64 {
    moment.as_days() - FIRST_DAY
}

struct Crawl {
    web: GrowingWeb,
    frontier: Frontier,
    learner: GrowthLearner,
    ranker: GrowthRanker,
    /// By number of page: the scheduler's table.
    records: Vec<Option<ScheduledPage>>,
    numbers: BTreeMap<PageId, usize>,
    /// By number of page: the time of the copy.
    copied_days: Vec<Option<f64>>,
    tally: GrowthTally,
}

impl Crawl {
    /// The crawl with a current copy of every page that is there at the start.
    fn start(run: &GrowthRun, settings: &Settings, web: GrowingWeb) -> Result<Self, SimulationError> {
        let pages = web.pages().len();
        let mut crawl = Self {
            frontier: Frontier::new(FrontierRules::new(settings, 1)),
            learner: GrowthLearner::new(&settings.estimator, pages, moment(0.0))?,
            ranker: GrowthRanker::new(&settings.ranker, pages),
            records: vec![None; pages],
            numbers: web.pages().iter().enumerate().map(|(number, page)| (page.url.page_id(), number)).collect(),
            copied_days: vec![None; pages],
            tally: GrowthTally::new(run.warm_up_days, run.warm_up_days + run.scored_days),
            web,
        };
        crawl.frontier.restored();
        for number in 0..pages {
            let page = &crawl.web.pages()[number];
            if page.born_days < 0.0 {
                let (url, kind) = (page.url.clone(), page.kind);
                let now = moment(0.0);
                if let Some(record) = crawl.frontier.discover(url.clone(), 1.0, depth_of(kind), now) {
                    let attempt = record.request.attempt;
                    crawl.records[number] = Some(record);
                    crawl.answer(number, FetchRequest { attempt, ..FetchRequest::first(url, now) }, now);
                }
            }
        }
        Ok(crawl)
    }

    fn tick(&mut self, now: Timestamp) -> Result<(), SimulationError> {
        for forecast in self.learner.forecasts(now) {
            let (_, taken) = self.frontier.take_forecast(forecast);
            taken.map_err(SimulationError::Combination)?;
        }
        self.ranker.tick();
        self.frontier.teach_siblings();
        while let Some(id) = self.frontier.next_released(now) {
            let Some(page) = self.numbers.get(&id).and_then(|number| self.records[*number].as_mut()) else { break };
            self.frontier.release(id, page);
        }
        let mut requests = Vec::new();
        if let Some(mut tick) = self.frontier.begin_tick(PARTITION, now) {
            while let Some(choice) = self.frontier.next_choice(&mut tick) {
                let Some(&number) = self.numbers.get(&choice.page_id) else { break };
                let Some(page) = self.records[number].as_mut() else { break };
                if let HandOut::Request(request) = self.frontier.hand_out(&choice, page, now) {
                    requests.push((number, request));
                }
            }
        }
        self.frontier.publish_demand(PARTITION, now);
        for (number, request) in requests {
            self.answer(number, *request, now);
        }
        Ok(())
    }

    /// The fetcher, the detector, the estimator and the ranker: a look at a page, and what follows.
    fn answer(&mut self, number: usize, request: FetchRequest, now: Timestamp) {
        let (now_days, before) = (days_of(now), self.copied_days[number]);
        let changed = before.map(|copied_days| self.web.next_change_days(number, copied_days) <= now_days);
        self.tally.look(now_days);
        self.account(number, now_days);
        let since = before.map(moment);
        let verdict = match changed {
            None => Verdict::First,
            Some(true) => Verdict::Major,
            Some(false) => Verdict::Unchanged,
        };
        let outcome = changed.map(|changed| if changed { LookOutcome::Changed } else { LookOutcome::Unchanged });
        let belief = self.learner.look(number, &request.url, since.zip(outcome), now);
        let look = Look { requests: 1, wire_bytes: WIRE_BYTES, ..Look::new(request, FetchOutcome::Fetched, now) };
        let judgement = LookJudgement { previous_fetched_at: since, ..LookJudgement::new(verdict) };
        let estimate = ChangeEstimate { look, judgement, belief };
        self.frontier.pay_for(&estimate.look);
        self.frontier.mind_hosts(&estimate.look, now);
        if let Some(page) = self.records[number].as_mut() {
            self.frontier.take_estimate(&estimate, page);
        }
        self.copied_days[number] = Some(now_days);
        if changed != Some(false) {
            self.follow_links(number, before.is_some(), now);
        }
    }

    /// New pages that a page shows become known, and are news of it unless this was its first look.
    fn follow_links(&mut self, number: usize, was_known: bool, now: Timestamp) {
        let links = self.web.links(number, days_of(now));
        let mut found = 0;
        for (link, importance) in self.ranker.look(number, links) {
            let page = &self.web.pages()[link];
            if let Some(record) = self.records[link].as_mut() {
                self.frontier.take_importance(importance, page.url.page_id(), record);
                continue;
            }
            let ranked = RankedPage { url: page.url.clone(), depth: depth_of(page.kind), importance };
            self.records[link] = self.frontier.take_found(&ranked, now);
            self.tally.found(page.born_days, days_of(now));
            found += 1;
        }
        if let (true, Some(page)) = (was_known, self.records[number].as_mut()) {
            let id = self.web.pages()[number].url.page_id();
            self.frontier.take_shown(found, id, page);
        }
    }

    /// Accounts for the copy of a page since it was made, or for the wait for its first.
    fn account(&mut self, number: usize, now_days: f64) {
        match self.copied_days[number] {
            Some(copied_days) => {
                let changed_days = self.web.next_change_days(number, copied_days);
                let kind = self.web.pages()[number].kind;
                self.tally.copy(kind, copied_days, changed_days.min(now_days), now_days);
            }
            None => self.tally.waited(self.web.pages()[number].born_days, now_days, true),
        }
    }

    fn finish(mut self, end_days: f64) -> GrowthScores {
        for number in 0..self.records.len() {
            match self.copied_days[number] {
                Some(_) => self.account(number, end_days),
                None => {
                    let born_days = self.web.pages()[number].born_days;
                    self.tally.waited(born_days, end_days, false);
                    if self.records[number].is_none() {
                        self.tally.found(born_days, end_days);
                    }
                }
            }
        }
        self.tally.scores()
    }
}

/// Links between a page and a front page.
fn depth_of(kind: PageKind) -> i32 {
    match kind {
        PageKind::Front => 0,
        PageKind::Index => 1,
        PageKind::Article => 2,
    }
}
