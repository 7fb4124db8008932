//! One crawl of a growing web by the stages of the running system, on simulated time. Fetcher and detector are simulated.

use super::coverage::CoverageTally;
use super::scores::{GrowthScores, GrowthTally};
use super::web::{GrowingWeb, PageKind, WebOptions, WebPage};
use crate::contender::Contender;
use crate::error::SimulationError;
use crate::stages::{CrawlStages, limit_by_budget_alone};
use messages::{FetchOutcome, FetchRequest, Link, Look, LookJudgement, PageObservation, PageOutLinks, Verdict};
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
    /// Another published system with its estimator and ranker.
    System(Preset),
}

impl GrowthPolicy {
    /// The settings of the services that follow it.
    fn settings(self) -> Result<Settings, SimulationError> {
        let (preset, set) = match self {
            Self::OnePrice { new_page_worth } => (None, Some(("policy.new_page_worth", new_page_worth))),
            Self::Tianwang { new_page_share } => {
                (Some(Preset::Tianwang), Some(("policy.new_page_share", new_page_share)))
            }
            Self::System(preset) => {
                // Refuses systems that need more than these pages have.
                Contender::of_preset(preset, &[])?;
                (Some(preset), None)
            }
        };
        let file = preset.map(|preset| (preset.name(), preset.toml()));
        let set = set.map(|(key, value)| (key.to_owned(), value.to_string()));
        let layers = Layers { files: file.as_slice(), environment: [], overrides: set.as_slice() };
        let settings = Settings::from_layers(layers);
        settings.map_err(|faults| SimulationError::Combination(faults.to_string()))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct GrowthRun {
    pub web: WebOptions,
    pub policy: GrowthPolicy,
    /// Whether the crawl begins with the addresses of the front pages alone, instead of a current copy of every page.
    pub from_seeds: bool,
    pub fetches_per_day: f64,
    /// Days of learning before the scored time.
    pub warm_up_days: f64,
    pub scored_days: f64,
    pub tick_days: f64,
    pub seed: u64,
}

/// Bytes of a response.
const WIRE_BYTES: i64 = 20_000;

impl GrowthRun {
    /// Runs to the end. `watch` is called with the finished share, and may stop the run.
    ///
    /// # Errors
    /// On settings out of their range, when a stage fails or sets a record aside, and when `watch` stops the run.
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
        // Whole ticks: the scheduler works when its interval is over. The term covers a quotient just below a whole number.
        let ticks = (end_days / self.tick_days + 1e-9) as u64;
        for tick in 1..=ticks {
            if watch(tick as f64 / ticks as f64).is_break() {
                return Err(SimulationError::Stopped { at_days: tick as f64 * self.tick_days });
            }
            crawl.tick(settings.policy.scan_interval)?;
        }
        Ok(crawl.finish(end_days))
    }

    /// The settings of the stages. Budget that is not spent can be saved for ten ticks.
    fn settings(&self) -> Result<Settings, SimulationError> {
        let mut settings = self.policy.settings()?;
        settings.crawl.discover = Discover::SameSite;
        let tick = Duration::from_secs_f64(86_400.0 * self.tick_days);
        limit_by_budget_alone(&mut settings, tick);
        settings.budget.fetches_per_second = self.fetches_per_day / 86_400.0;
        settings.budget.burst = 10 * tick;
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
    stages: CrawlStages,
    numbers: BTreeMap<PageId, usize>,
    /// By number of page: whether a link to it was seen.
    is_found: Vec<bool>,
    /// By number of page: the time of the copy.
    copied_days: Vec<Option<f64>>,
    tally: GrowthTally,
    coverage: CoverageTally,
}

impl Crawl {
    /// The crawl with a current copy of every page that is there at the start, or with the front pages to fetch.
    fn start(run: &GrowthRun, settings: &Settings, web: GrowingWeb) -> Result<Self, SimulationError> {
        let (pages, end_days) = (web.pages().len(), run.warm_up_days + run.scored_days);
        let is_known = |page: &WebPage| page.born_days < 0.0 && (!run.from_seeds || page.kind == PageKind::Front);
        let mut crawl = Self {
            coverage: CoverageTally::new(&web, end_days, run.fetches_per_day * end_days)?,
            stages: CrawlStages::start(settings, moment(0.0))?,
            numbers: web.pages().iter().enumerate().map(|(number, page)| (page.url.page_id(), number)).collect(),
            is_found: web.pages().iter().map(is_known).collect(),
            copied_days: vec![None; pages],
            tally: GrowthTally::new(run.warm_up_days, end_days),
            web,
        };
        // Front pages are the seeds. By their links the others become known, each at its depth.
        for kind in [PageKind::Front, PageKind::Index, PageKind::Article] {
            let there = crawl.web.pages().iter().filter(|page| page.born_days < 0.0 && page.kind == kind);
            let urls: Vec<_> = there.map(|page| page.url.clone()).collect();
            if kind == PageKind::Front {
                urls.iter().try_for_each(|url| crawl.stages.seed(url))?;
            }
            if run.from_seeds {
                break;
            }
            let requests = crawl.stages.first_requests(urls)?;
            crawl.answer(requests)?;
        }
        crawl.coverage.begin();
        Ok(crawl)
    }

    fn tick(&mut self, length: Duration) -> Result<(), SimulationError> {
        let requests = self.stages.tick(length)?;
        self.answer(requests)
    }

    /// Looks at the pages that are requested, and lets the stages take in what is seen.
    fn answer(&mut self, requests: Vec<FetchRequest>) -> Result<(), SimulationError> {
        for request in requests {
            if let Some(&number) = self.numbers.get(&request.page_id) {
                self.look(number, request)?;
            }
        }
        self.stages.settle()
    }

    fn look(&mut self, number: usize, request: FetchRequest) -> Result<(), SimulationError> {
        let now = self.stages.now();
        let (now_days, before) = (days_of(now), self.copied_days[number]);
        let changed = before.map(|copied_days| self.web.next_change_days(number, copied_days) <= now_days);
        self.tally.look(now_days);
        self.account(number, now_days);
        let verdict = match changed {
            None => Verdict::First,
            Some(true) => Verdict::Major,
            Some(false) => Verdict::Unchanged,
        };
        let look = Look { requests: 1, wire_bytes: WIRE_BYTES, ..Look::new(request, FetchOutcome::Fetched, now) };
        let judgement = LookJudgement { previous_fetched_at: before.map(moment), ..LookJudgement::new(verdict) };
        if self.copied_days[number].replace(now_days).is_none() {
            self.coverage.copied(number);
        }
        self.coverage.look(now_days);
        if verdict != Verdict::Unchanged {
            let links = self.links(number, verdict == Verdict::First, now);
            self.stages.show_links(&links)?;
        }
        self.stages.observe(&PageObservation { look, judgement })
    }

    /// The links that a page shows. Those that no page has shown before are found.
    fn links(&mut self, number: usize, is_first_look: bool, now: Timestamp) -> PageOutLinks {
        let now_days = days_of(now);
        let mut targets = self.web.links(number, now_days);
        targets.truncate(detector::LINKS_PER_PAGE);
        for &target in &targets {
            if !std::mem::replace(&mut self.is_found[target], true) {
                self.tally.found(self.web.pages()[target].born_days, now_days);
            }
        }
        let pages = self.web.pages();
        let link = |target: usize| Link { url: pages[target].url.clone(), anchor: String::new(), rel: String::new() };
        PageOutLinks {
            source_page_id: pages[number].url.page_id(),
            source_url: pages[number].url.clone(),
            found_at: now,
            is_first_look,
            is_unwanted: false,
            // All texts differ.
            text_hash: number as i64,
            links: targets.into_iter().map(link).collect(),
            focus: None,
            is_repeated: false,
            repeated_sites: Vec::new(),
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
        for number in 0..self.copied_days.len() {
            match self.copied_days[number] {
                Some(_) => self.account(number, end_days),
                None => {
                    let born_days = self.web.pages()[number].born_days;
                    self.tally.waited(born_days, end_days, false);
                    if !self.is_found[number] {
                        self.tally.found(born_days, end_days);
                    }
                }
            }
        }
        GrowthScores { coverage: self.coverage.points(), ..self.tally.scores() }
    }
}
