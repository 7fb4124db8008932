//! Another budget for a crawl as it is: its pages with the change rates that it believes, fetched by the rule of the live policy within the
//! limits of the crawl.
//!
//! Rates are taken as known, so nothing is learned on the way: that is what a crawl comes to that has long been running. A page is
//! not asked for more often than its interval allows, for less than a fetch has to be worth, or when its host has had its
//! share of requests. Changes are Poisson, and sweeps and lists are left out.

use crate::changes::{ChangeModel, SyntheticChanges};
use crate::engine::{self, Run, RunProgress};
use crate::error::SimulationError;
use crate::learner::KnownRates;
use crate::population::{Pages, SimulatedPage};
use revisit::budget_curve::{BudgetCurve, BudgetPoint};
use revisit::columns::Slot;
use revisit::kernels::mixed;
use revisit::live::CrawlValue;
use revisit::{PolicyLook, PolicyPage, PolicyTick, RevisitPolicy};
use std::ops::ControlFlow;
use sweeps::PagePlace;

/// Fetches that a simulation makes of each page on average in the scored time, …
const FETCHES_PER_PAGE: f64 = 20.0;
/// … and in all, at most.
const MOST_FETCHES: f64 = 2e6;
/// The shortest and the longest scored time.
const SHORTEST_DAYS: f64 = 2.0;
const LONGEST_DAYS: f64 = 3_650.0;
/// Ticks between two fetches of the page that is fetched most often.
const TICKS_PER_FETCH: f64 = 4.0;
/// The longest tick, and the most ticks of a run.
const LONGEST_TICK_DAYS: f64 = 0.25;
const MOST_TICKS: f64 = 10_000.0;
/// Budget beyond what all pages need is idle slots, and simulated no further.
const BEYOND_NEED: f64 = 1.2;

/// A page of a crawl.
#[derive(Clone, Debug, PartialEq)]
pub struct CrawledPage {
    /// The believed rate.
    pub change_rate_per_day: f64,
    pub weight: f64,
    /// The number of its host in [`CrawlLimits::host_fetches_per_day`].
    pub host: u32,
    /// Days between two fetches, at least.
    pub min_interval_days: f64,
}

/// The limits of a crawl.
#[derive(Clone, Debug, PartialEq)]
pub struct CrawlLimits {
    /// Share of the harmonic penalty in the objective.
    pub theta: f64,
    /// Days of freshness of a page of mean weight that a fetch has to be worth.
    pub least_worth_days: f64,
    /// By host: requests that it takes a day.
    pub host_fetches_per_day: Vec<f64>,
}

/// Freshness at a budget.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct BudgetOutcome {
    pub budget_per_day: f64,
    /// Fetches that were worth making and that hosts allowed.
    pub fetches_per_day: f64,
    /// Share of the copies that are current, mean over pages and time.
    pub freshness: f64,
    /// The same by weight.
    pub weighted_freshness: f64,
    /// The same by weight for fetches at the best rates, in closed form, without the limits of hosts.
    pub closed_form_weighted_freshness: f64,
    /// Fetches of the closed form.
    pub closed_form_fetches_per_day: f64,
    pub simulated_days: f64,
}

/// The pages of a crawl and its limits.
pub struct OwnCrawl {
    pages: Pages,
    rates_per_day: Vec<f64>,
    min_intervals_days: Vec<f64>,
    limits: CrawlLimits,
    curve: BudgetCurve,
}

impl OwnCrawl {
    /// # Errors
    /// There are no pages, none has weight, or a number is invalid.
    pub fn new(pages: &[CrawledPage], limits: CrawlLimits) -> Result<Self, SimulationError> {
        for (page, crawled) in pages.iter().enumerate() {
            if crawled.host as usize >= limits.host_fetches_per_day.len() {
                let expected = "below the number of hosts";
                return Err(SimulationError::Page { page, field: "host", value: f64::from(crawled.host), expected });
            }
        }
        let mut curve = BudgetCurve::default();
        pages.iter().for_each(|page| curve.add(page.change_rate_per_day, page.weight));
        let simulated = pages.iter().enumerate().map(|(number, page)| {
            let host = format!("h{}.test", page.host);
            let place = PagePlace::of(&host, &host, &format!("/{number}"));
            SimulatedPage { weight: page.weight, cost: 1.0, host: page.host, section: 0, place }
        });
        Ok(Self {
            pages: Pages::new(simulated, vec!["all".to_owned()])?,
            rates_per_day: pages.iter().map(|page| page.change_rate_per_day).collect(),
            min_intervals_days: pages.iter().map(|page| page.min_interval_days.max(0.0)).collect(),
            limits,
            curve,
        })
    }

    /// The best that a budget can give without the limits of hosts, in closed form.
    fn closed_form(&self, budget_per_day: f64) -> BudgetPoint {
        let shortest = self.min_intervals_days.iter().copied().fold(f64::INFINITY, f64::min);
        let bounds = (1.0 / shortest.max(1e-6), self.limits.least_worth_days);
        self.curve.at(budget_per_day, self.limits.theta, bounds)
    }

    /// Simulates a budget. `watch` is called often and may stop it.
    ///
    /// # Errors
    /// The budget is not positive, or `watch` has stopped it.
    pub fn at(
        &self,
        budget_per_day: f64,
        seed: u64,
        watch: &mut dyn FnMut(RunProgress) -> ControlFlow<()>,
    ) -> Result<BudgetOutcome, SimulationError> {
        SimulationError::positive("budget per day", budget_per_day)?;
        let closed = self.closed_form(budget_per_day);
        let need = self.closed_form(f64::MAX).fetches_per_day;
        let usable_per_day = budget_per_day.min((need * BEYOND_NEED).max(1.0));
        let count = self.pages.len() as f64;
        let fetches = (count * FETCHES_PER_PAGE).min(MOST_FETCHES);
        let days = (fetches / usable_per_day).clamp(SHORTEST_DAYS, LONGEST_DAYS);
        // A crawl begins with current copies; they have aged as they will by half of that time.
        let (warm_up, end) = (0.5 * days, 1.5 * days);
        let tick = (count / usable_per_day / TICKS_PER_FETCH).min(LONGEST_TICK_DAYS).max(end / MOST_TICKS);
        let mut changes = SyntheticChanges::new(&self.pages, &self.rates_per_day, ChangeModel::default(), seed, end)?;
        let mut policy = Limited::new(self);
        let mut learner = KnownRates::new(self.rates_per_day.iter().copied());
        let run = Run { tick_days: tick, seed, ..Run::new(warm_up, end, usable_per_day) };
        let scores = engine::run(&self.pages, &mut changes, &mut policy, &mut learner, &run, watch)?;
        let (freshness, weighted_freshness) = scores.least_varying_freshness();
        Ok(BudgetOutcome {
            budget_per_day,
            fetches_per_day: scores.fetches as f64 / days,
            freshness,
            weighted_freshness,
            closed_form_weighted_freshness: closed.freshness,
            closed_form_fetches_per_day: closed.fetches_per_day,
            simulated_days: days,
        })
    }
}

/// The live policy's rule for known rates, within the limits of a crawl.
struct Limited<'a> {
    crawl: &'a OwnCrawl,
    within: CrawlValue,
    last_look_days: Vec<f64>,
    /// By host: requests that it still takes in this tick.
    room: Vec<f64>,
    least_worth: f64,
    /// Pages chosen that have to wait for the next tick.
    waiting: Vec<Slot>,
}

impl<'a> Limited<'a> {
    fn new(crawl: &'a OwnCrawl) -> Self {
        let mean_weight = crawl.pages.total_weight() / crawl.pages.len() as f64;
        Self {
            crawl,
            within: CrawlValue::new(crawl.limits.theta),
            last_look_days: vec![0.0; crawl.pages.len()],
            room: vec![0.0; crawl.limits.host_fetches_per_day.len()],
            least_worth: crawl.limits.least_worth_days * mean_weight,
            waiting: Vec::new(),
        }
    }

    /// Days of freshness that a fetch buys, times the weight.
    fn worth(&self, page: usize, now_days: f64) -> f64 {
        let (rate, age) = (self.crawl.rates_per_day[page], now_days - self.last_look_days[page]);
        if rate > 0.0 { self.crawl.pages.weight(page) * mixed(rate * age, self.crawl.limits.theta) / rate } else { 0.0 }
    }
}

impl RevisitPolicy for Limited<'_> {
    fn insert(&mut self, slot: Slot, page: &PolicyPage, now_days: f64) {
        self.within.insert(slot, page, now_days);
    }

    fn remove(&mut self, slot: Slot) {
        self.within.remove(slot);
    }

    fn begin(&mut self, tick: &PolicyTick) {
        for slot in self.waiting.drain(..) {
            self.within.put_back(slot);
        }
        let limits = self.crawl.limits.host_fetches_per_day.iter();
        for (room, limit) in self.room.iter_mut().zip(limits) {
            let gained = limit * tick.days;
            // Room left over is not saved, except for a part of a request.
            *room = (*room).min(1.0) + gained;
        }
        self.within.begin(tick);
    }

    fn next(&mut self, now_days: f64) -> Option<Slot> {
        while let Some(slot) = self.within.next(now_days) {
            let page = slot.index();
            let is_worth_it = self.worth(page, now_days) >= self.least_worth;
            let is_rested = now_days - self.last_look_days[page] >= self.crawl.min_intervals_days[page];
            let room = &mut self.room[self.crawl.pages.host(page) as usize];
            if is_worth_it && is_rested && *room >= 1.0 {
                *room -= 1.0;
                return Some(slot);
            }
            self.waiting.push(slot);
        }
        None
    }

    fn put_back(&mut self, slot: Slot) {
        self.within.put_back(slot);
    }

    fn looked(&mut self, slot: Slot, look: &PolicyLook) {
        self.last_look_days[slot.index()] = look.at_days;
        self.within.looked(slot, look);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTS: u32 = 10;

    fn crawl(host_fetches_per_day: f64, min_interval_days: f64, least_worth_days: f64) -> OwnCrawl {
        let page = |number: u32| CrawledPage {
            change_rate_per_day: 10f64.powf(f64::from(number % 30) / 15.0 - 2.0),
            weight: f64::from(1 + number % 3),
            host: number % HOSTS,
            min_interval_days,
        };
        let pages: Vec<_> = (0..300).map(page).collect();
        let host_fetches_per_day = vec![host_fetches_per_day; HOSTS as usize];
        OwnCrawl::new(&pages, CrawlLimits { theta: 0.01, least_worth_days, host_fetches_per_day }).expect("pages")
    }

    fn at(crawl: &OwnCrawl, budget: f64) -> BudgetOutcome {
        crawl.at(budget, 1, &mut |_| ControlFlow::Continue(())).expect("a budget")
    }

    #[test]
    fn without_limits_of_hosts_a_budget_gives_what_the_closed_form_says() {
        let crawl = crawl(1e6, 0.001, 0.0);
        let outcomes = [15.0, 30.0, 60.0, 120.0].map(|budget| at(&crawl, budget));
        for outcome in &outcomes {
            let difference = outcome.weighted_freshness - outcome.closed_form_weighted_freshness;
            assert!(difference.abs() < 0.02, "{outcome:?}");
            assert!((outcome.fetches_per_day / outcome.budget_per_day - 1.0).abs() < 0.02, "{outcome:?}");
        }
        assert!(outcomes.windows(2).all(|two| two[1].freshness > two[0].freshness + 0.02), "{outcomes:?}");
    }

    #[test]
    fn hosts_intervals_and_the_least_worth_bound_what_is_spent() {
        let free = at(&crawl(1e6, 0.001, 0.0), 200.0);
        let polite = at(&crawl(5.0, 0.001, 0.0), 200.0);
        assert!((polite.fetches_per_day - 50.0).abs() < 2.0, "ten hosts take five each: {polite:?}");
        assert!(polite.freshness < free.freshness - 0.02, "{polite:?} {free:?}");
        let seldom = at(&crawl(1e6, 5.0, 0.0), 200.0);
        assert!(seldom.fetches_per_day < 60.5, "300 pages every five days: {seldom:?}");
        let thrifty = at(&crawl(1e6, 0.001, 0.05), 1e6);
        assert!(thrifty.fetches_per_day < 400.0, "{thrifty:?}");
        let difference = thrifty.weighted_freshness - thrifty.closed_form_weighted_freshness;
        assert!(difference.abs() < 0.02, "{thrifty:?}");
    }

    #[test]
    fn faults_are_errors() {
        let limits = CrawlLimits { theta: 0.0, least_worth_days: 0.0, host_fetches_per_day: vec![1.0] };
        assert_eq!(OwnCrawl::new(&[], limits.clone()).err(), Some(SimulationError::NoPages));
        let page = CrawledPage { change_rate_per_day: 1.0, weight: 1.0, host: 1, min_interval_days: 0.0 };
        let error = OwnCrawl::new(&[page], limits).err().map(|error| error.to_string());
        assert!(error.is_some_and(|error| error.contains("host is 1")));
        assert!(crawl(1.0, 1.0, 0.0).at(0.0, 1, &mut |_| ControlFlow::Continue(())).is_err());
    }
}
