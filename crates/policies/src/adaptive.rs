//! The multiplicative schedules that crawlers ship with: a page found changed comes sooner, one found unchanged later.
//!
//! Such a rule settles where p ln(1 - shrink) + (1 - p) ln(1 + growth) = 0, with p the share of looks that find a
//! change. Every page then has the same number of changes per look, which is the proportional policy. Only the maximum
//! interval saves its freshness. The page with the earliest due time comes first; a page that is not due is not
//! fetched.
//!
//! Sources: `AdaptiveScheduler` of StormCrawler 3.4, `AdaptiveFetchSchedule` of Nutch 1.20, the settings of Common
//! Crawl's news-crawl.

use super::pages::{DueQueue, NewPageQueue, SlotTable, phase};
use revisit::columns::Slot;
use revisit::{PolicyLook, PolicyPage, PolicyTick, RevisitPolicy};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptiveOptions {
    /// How the interval of a page found changed shrinks.
    pub rule: AdaptiveRule,
    /// Fraction by which the interval of a page found unchanged grows.
    pub growth: f64,
    /// Fraction by which the interval of a page found changed shrinks.
    pub shrink: f64,
    pub min_interval_days: f64,
    pub max_interval_days: f64,
    /// Interval of a page after its first look.
    pub first_interval_days: f64,
    /// Time after which a failed look is repeated; the interval stays.
    pub retry_days: f64,
}

/// The difference between the schedules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AdaptiveRule {
    /// The interval shrinks towards the minimum.
    StormCrawler,
    /// The interval shrinks towards zero and is then limited to minimum and maximum.
    Nutch {
        /// Fraction of the time since the page was last found changed by which its next look is moved forward; the
        /// interval is then at least that time (`sync_delta`). 0: off.
        sync_delta_rate: f64,
    },
}

impl AdaptiveOptions {
    /// StormCrawler: half again when unchanged, half way to an hour when changed, 14 days at most, 1 day at first.
    pub const STORMCRAWLER: Self = Self {
        rule: AdaptiveRule::StormCrawler,
        growth: 0.5,
        shrink: 0.5,
        min_interval_days: 1.0 / 24.0,
        max_interval_days: 14.0,
        first_interval_days: 1.0,
        retry_days: 2.0 / 24.0,
    };

    /// StormCrawler with news-crawl's settings: 90 minutes to 90 days, +50 %, -20 %.
    pub const NEWS_CRAWL: Self =
        Self { shrink: 0.2, min_interval_days: 90.0 / 1440.0, max_interval_days: 90.0, ..Self::STORMCRAWLER };

    /// Nutch: +40 %, -20 %, 60 seconds to 365 days, 30 days at first, `sync_delta` on.
    pub const NUTCH: Self = Self {
        rule: AdaptiveRule::Nutch { sync_delta_rate: 0.3 },
        growth: 0.4,
        shrink: 0.2,
        min_interval_days: 60.0 / 86_400.0,
        max_interval_days: 365.0,
        first_interval_days: 30.0,
        retry_days: 1.0,
    };

    /// Nutch with `sync_delta` off.
    pub const NUTCH_NO_SYNC: Self = Self { rule: AdaptiveRule::Nutch { sync_delta_rate: 0.0 }, ..Self::NUTCH };

    /// The state of a page whose first look (or last change) was at this time.
    pub fn start(&self, at_days: f64) -> AdaptiveState {
        AdaptiveState { interval_days: self.first_interval_days, modified_days: at_days }
    }

    /// Takes in a look that found the page changed or not. Returns when the next is due.
    pub fn after_look(&self, state: &mut AdaptiveState, at_days: f64, changed: bool) -> f64 {
        let interval_days = state.interval_days;
        let grown = interval_days * (1.0 + self.growth);
        let shrunk = interval_days * (1.0 - self.shrink);
        match self.rule {
            AdaptiveRule::StormCrawler => {
                state.interval_days = if changed {
                    shrunk + self.shrink * self.min_interval_days
                } else {
                    grown.min(self.max_interval_days)
                };
                at_days + state.interval_days
            }
            AdaptiveRule::Nutch { sync_delta_rate } => {
                if changed {
                    state.modified_days = at_days;
                }
                let interval_days = if changed { shrunk } else { grown };
                let unmodified_days = (at_days - state.modified_days).max(0.0);
                let longest = if sync_delta_rate > 0.0 { interval_days.max(unmodified_days) } else { interval_days };
                state.interval_days = longest.clamp(self.min_interval_days, self.max_interval_days);
                let forward_days = sync_delta_rate * unmodified_days;
                // Nutch drops the correction where it would exceed the maximum interval.
                let forward_days = if forward_days > self.max_interval_days { 0.0 } else { forward_days };
                at_days - forward_days + state.interval_days
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptiveState {
    pub interval_days: f64,
    /// When the page was last found changed.
    pub modified_days: f64,
}

/// A policy that follows one of these schedules.
#[derive(Clone, Debug)]
pub struct Adaptive {
    options: AdaptiveOptions,
    pages: SlotTable<AdaptivePage>,
    new: NewPageQueue,
    queue: DueQueue,
}

#[derive(Clone, Copy, Debug)]
struct AdaptivePage {
    /// `None` before the first look.
    state: Option<AdaptiveState>,
    due_days: f64,
}

impl Adaptive {
    pub fn new(options: AdaptiveOptions) -> Self {
        Self { options, pages: SlotTable::default(), new: NewPageQueue::default(), queue: DueQueue::default() }
    }
}

impl RevisitPolicy for Adaptive {
    /// A page with a copy is due within its first interval, at a phase of its own.
    fn insert(&mut self, slot: Slot, page: &PolicyPage, now_days: f64) {
        self.remove(slot);
        let due_days = now_days + self.options.first_interval_days * phase(slot);
        let state = page.last_look_days.map(|at_days| self.options.start(at_days));
        if state.is_some() {
            self.queue.push(slot, due_days);
        } else {
            self.new.discovered(slot, now_days);
        }
        self.pages.insert(slot, AdaptivePage { state, due_days });
    }

    fn remove(&mut self, slot: Slot) {
        self.pages.remove(slot);
        self.new.remove(slot);
        self.queue.remove(slot);
    }

    fn begin(&mut self, _tick: &PolicyTick) {}

    fn next(&mut self, now_days: f64) -> Option<Slot> {
        if let Some(slot) = self.new.take() {
            return Some(slot);
        }
        self.queue.peek().filter(|first| first.key <= now_days)?;
        self.queue.pop().map(|first| first.slot)
    }

    fn put_back(&mut self, slot: Slot) {
        if let Some(page) = self.pages.get(slot).filter(|_| !self.new.put_back(slot)) {
            self.queue.push(slot, page.due_days);
        }
    }

    fn looked(&mut self, slot: Slot, look: &PolicyLook) {
        let Some(page) = self.pages.get_mut(slot) else { return };
        self.new.remove(slot);
        let due_days = match (&mut page.state, look.outcome) {
            (Some(state), Some(outcome)) if look.interval_days.is_some() => {
                self.options.after_look(state, look.at_days, outcome.is_change())
            }
            (state, Some(_)) => {
                let first = state.get_or_insert(self.options.start(look.at_days));
                look.at_days + first.interval_days
            }
            (_, None) => look.at_days + self.options.retry_days,
        };
        // Nutch's correction can reach into the past; no page is due before its last look.
        page.due_days = due_days.max(look.at_days + 1e-6);
        self.queue.push(slot, page.due_days);
    }

    fn due_days(&self, slot: Slot) -> Option<f64> {
        self.pages.get(slot).filter(|page| page.state.is_some()).map(|page| page.due_days)
    }
}
