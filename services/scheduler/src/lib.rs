//! Which page is worth the next fetch?
//!
//! A partition of the scheduler holds the frontier of its sites: packed columns ([`revisit::columns::PageColumns`]) that every
//! tick scores anew, and behind them a record per page in the state store. A tick hands the best pages to their hosts'
//! gates: above the price that all partitions share, within the budget, one host at a time no faster than it allows.
//! Policies that keep their own account of pages ([`revisit::RevisitPolicy`]) take the place of the scoring, not of the
//! gates. A small part of the budget goes to pages drawn at random, to measure what all this comes to.
//! What is handed out is under lease; a lease that runs out makes the page free again, so nothing is ever stuck.
//!
//! It never opens a connection and never looks into a page.

mod ahead;
mod audit;
mod budget;
mod commands;
mod demand;
mod dispatch;
mod events;
pub mod explain;
mod forecast;
mod frontier;
mod hint_record;
mod hints;
mod hosts;
mod planner;
mod rules;
mod siblings;
mod state;
mod ties;

pub use crate::rules::Rules;
pub use crate::state::{
    HOSTS, HostSchedule, OUTLOOK, OutlookCell, OutlookGroup, OutlookKey, OutlookRecord, OutlookSite, PAGES,
};
pub use ::frontier::ScheduledPage;

use crate::audit::Audit;
use crate::budget::Budget;
use crate::demand::SharedDemand;
use crate::frontier::Frontier;
use crate::hosts::Hosts;
use crate::planner::Planner;
use crate::siblings::{TaughtCells, belief_of};
use messages::SchedulerEvent;
use messages::topics::{DEMAND, FETCH_REQUESTS, SCHEDULER_EVENTS};
use page::Timestamp;
use revisit::PolicyPage;
use revisit::columns::{Expectations, Slot};
use settings::Settings;
use stream::{Context, InputRecord, ProcessError, Processor, StageSpec, StageTopology, StageWork};
use sweeps::Outlook;
use topology::Names;

/// What the stage reads, keeps and writes.
pub fn topology() -> StageTopology {
    let tables = StageTopology::new("scheduler", SCHEDULER_EVENTS).keeps(PAGES).keeps(HOSTS).keeps(OUTLOOK);
    tables.writes(FETCH_REQUESTS).writes(DEMAND).writes(SCHEDULER_EVENTS).hears(DEMAND)
}

/// The stage as data. `partitions` is that of the loop's topics.
pub fn stage(settings: &Settings, names: &Names, partitions: u32) -> StageSpec {
    let rules = Rules::new(settings, partitions);
    let work = StageWork::Processors(Box::new(move |_| Box::new(Scheduler::new(rules.clone()))));
    names.stage(&topology(), settings.policy.scan_interval, work)
}

/// One partition of the scheduler.
pub struct Scheduler {
    rules: Rules,
    frontier: Frontier,
    hosts: Hosts,
    outlook: Outlook,
    /// Cells whose prior has moved since the last tick.
    taught_cells: TaughtCells,
    /// `None` for policies that score every page afresh.
    planner: Option<Planner>,
    budget: Budget,
    audit: Audit,
    demand: SharedDemand,
    counts: Counts,
}

/// What happened since this processor was made.
#[derive(Default)]
struct Counts {
    /// Of all pages here, earlier lives included.
    fetches: u64,
    changes: u64,
    /// By this process.
    answers: u64,
    changes_seen: u64,
    leases_expired: u64,
    late_answers: u64,
    unknown_pages: u64,
    refused_pages: u64,
    hints: u64,
    /// Fetches that mirrors were spared.
    spared: u64,
    /// What is expected of the copies, as of the last estimate of it.
    expected: Expectations,
    fresh_at: Timestamp,
    fresh_ticks: u32,
    scanned_at: Timestamp,
    /// Pages whose value had reached the price at the last tick.
    due: u64,
}

impl Scheduler {
    /// A scheduler that knows no page yet; [`Processor::restored`] fills it.
    pub fn new(rules: Rules) -> Self {
        let demand = SharedDemand::new(&rules);
        let counts = Counts { fresh_at: Timestamp::MIN, scanned_at: Timestamp::MIN, ..Counts::default() };
        Self {
            planner: Planner::new(&rules),
            rules,
            frontier: Frontier::default(),
            hosts: Hosts::default(),
            outlook: Outlook::default(),
            taught_cells: TaughtCells::new(),
            budget: Budget::default(),
            audit: Audit::default(),
            demand,
            counts,
        }
    }

    /// Tells the policy of a page, if it keeps its own account.
    fn plan_for(&mut self, slot: Slot, page: &ScheduledPage, now: Timestamp) {
        let Some(planner) = &mut self.planner else { return };
        let Some(place) = self.frontier.columns.place(slot) else { return };
        let page = PolicyPage {
            weight: ties::weight_of(page, &self.rules),
            cost: 1.0,
            host: self.hosts.number(&page.url.host()),
            place,
            last_look_days: page.last_look_at.map(Timestamp::as_days),
            belief: belief_of(page, place.cell, &self.rules, &self.outlook),
        };
        planner.insert(slot, &page, now);
    }
}

impl Processor for Scheduler {
    fn restored(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        self.hosts = Hosts::load(context)?;
        self.outlook = forecast::load(context)?;
        let Scheduler { rules, hosts, outlook, planner, counts, audit, .. } = self;
        let planned = planner.is_some();
        let mut known = Vec::new();
        self.frontier = Frontier::load(context, hosts, rules, outlook, &mut |slot, page| {
            counts.fetches += page.fetches as u64;
            counts.changes += page.changes as u64;
            audit.looks += page.audits as u64;
            audit.fresh += page.audits_fresh as u64;
            if planned {
                known.push((slot, page.clone()));
            }
        })?;
        for (slot, page) in known {
            self.plan_for(slot, &page, context.now());
        }
        Ok(())
    }

    fn process(&mut self, record: &InputRecord, context: &mut Context<'_>) -> Result<(), ProcessError> {
        match record.read(SCHEDULER_EVENTS)? {
            SchedulerEvent::Estimate(estimate) => self.take_estimate(&estimate, context),
            SchedulerEvent::Links(links) => self.take_links(&links, context),
            SchedulerEvent::Command(command) => self.take_command(&command, context),
            SchedulerEvent::Hint(hint) => self.take_hint(&hint, context),
            SchedulerEvent::Sweeps(forecast) => self.take_forecast(forecast, context),
            SchedulerEvent::Letter(letter) => self.take_letter(&letter, &record.key, context),
        }
    }

    fn punctuate(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        self.teach_siblings();
        self.release(context)?;
        self.dispatch(context)?;
        self.publish_demand(context);
        self.estimate_freshness(context.now());
        Ok(())
    }

    fn broadcast(&mut self, record: &InputRecord, context: &mut Context<'_>) -> Result<(), ProcessError> {
        match record.read(DEMAND) {
            Ok(demand) => self.demand.hear(&demand, context.task().partition, &self.rules),
            Err(error) => tracing::warn!(%error, "a demand could not be read and is passed over"),
        }
        Ok(())
    }

    fn figures(&self, _now: Timestamp) -> Vec<(&'static str, f64)> {
        vec![
            ("pages", self.frontier.pages() as f64),
            ("never_fetched", self.frontier.never_fetched() as f64),
            ("unanswered", self.frontier.unanswered() as f64),
            ("due", self.counts.due as f64),
            ("in_flight", self.frontier.in_flight() as f64),
            ("hosts", self.hosts.len() as f64),
            // Totals of the state, earlier lives included, move with their partitions: they are no counters.
            ("fetches", self.counts.fetches as f64),
            ("changes", self.counts.changes as f64),
            ("answers_total", self.counts.answers as f64),
            ("changes_seen_total", self.counts.changes_seen as f64),
            ("leases_expired_total", self.counts.leases_expired as f64),
            ("late_answers_total", self.counts.late_answers as f64),
            ("unknown_pages_total", self.counts.unknown_pages as f64),
            ("refused_pages_total", self.counts.refused_pages as f64),
            ("hints_total", self.counts.hints as f64),
            ("mirrors", self.frontier.mirrors() as f64),
            ("fetches_spared_by_mirrors_total", self.counts.spared as f64),
            ("fresh_pages", self.counts.expected.fresh_pages),
            ("copies", self.counts.expected.copies as f64),
            ("age_days_sum", self.counts.expected.age_days),
            ("audit_looks", self.audit.looks as f64),
            ("audit_fresh", self.audit.fresh as f64),
            ("price_sum", self.demand.price()),
        ]
    }
}
