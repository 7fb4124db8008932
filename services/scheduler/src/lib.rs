//! Which page is worth the next fetch?
//!
//! A partition of the scheduler holds the frontier of its sites: packed columns ([`revisit::columns::PageColumns`]) that every
//! tick scores anew, and behind them a record per page in the state store. A tick hands the best pages to their hosts'
//! gates: above the price that all partitions share, within the budget, one host at a time no faster than it allows.
//! What is handed out is under lease; a lease that runs out makes the page free again, so nothing is ever stuck.
//!
//! It never opens a connection and never looks into a page.

mod demand;
mod dispatch;
mod events;
mod frontier;
mod hosts;
mod rules;
mod state;

pub use crate::rules::Rules;
pub use crate::state::{HOSTS, HostSchedule, PAGES, ScheduledPage};

use crate::demand::SharedDemand;
use crate::dispatch::Budget;
use crate::frontier::Frontier;
use crate::hosts::Hosts;
use messages::{Demand, Message, SchedulerEvent, topics};
use page::Timestamp;
use settings::Settings;
use stream::{Context, InputRecord, OutputId, ProcessError, Processor, StageSpec};
use topology::Names;

const FETCH_REQUESTS: OutputId = OutputId(0);
const DEMAND: OutputId = OutputId(1);

/// The stage as data. `partitions` is that of the loop's topics.
pub fn stage(settings: &Settings, names: &Names, partitions: u32) -> StageSpec {
    let rules = Rules::new(settings, partitions);
    let punctuate_every = settings.policy.scan_interval;
    StageSpec {
        name: "scheduler".to_owned(),
        group: names.group("scheduler"),
        input: names.topic(topics::SCHEDULER_EVENTS).into(),
        outputs: vec![names.topic(topics::FETCH_REQUESTS), names.topic(topics::DEMAND)],
        stores: names.stores("scheduler", &["pages", "hosts"]),
        broadcast: Some(names.topic(topics::DEMAND)),
        dead_letters: names.dead_letters(),
        punctuate_every,
        processor: Box::new(move |_| Box::new(Scheduler::new(rules.clone()))),
    }
}

/// One partition of the scheduler.
pub struct Scheduler {
    rules: Rules,
    frontier: Frontier,
    hosts: Hosts,
    budget: Budget,
    demand: SharedDemand,
    counts: Counts,
}

/// What happened since this processor was made.
#[derive(Default)]
struct Counts {
    fetches: u64,
    changes: u64,
    leases_expired: u64,
    late_answers: u64,
    unknown_pages: u64,
    refused_pages: u64,
    /// Expected number of fresh pages, as of the last estimate of it.
    fresh_pages: f64,
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
            rules,
            frontier: Frontier::default(),
            hosts: Hosts::default(),
            budget: Budget::default(),
            demand,
            counts,
        }
    }
}

impl Processor for Scheduler {
    fn restored(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        self.hosts = Hosts::load(context)?;
        self.frontier = Frontier::load(context, &mut self.hosts, &mut |page| {
            self.counts.fetches += page.fetches as u64;
            self.counts.changes += page.changes as u64;
        })?;
        Ok(())
    }

    fn process(&mut self, record: &InputRecord, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let Some(value) = &record.value else {
            return Err(ProcessError::SetAside("a tombstone means nothing to the scheduler".to_owned()));
        };
        let event = SchedulerEvent::decode(value).map_err(|error| ProcessError::SetAside(error.to_string()))?;
        match event {
            SchedulerEvent::Estimate(estimate) => self.take_estimate(&estimate, context),
            SchedulerEvent::Links(links) => self.take_links(&links, context),
            SchedulerEvent::Command(command) => self.take_command(&command, context),
            // Until hints are weighed as evidence, one that brings news asks for a look.
            SchedulerEvent::Hint(hint) => self.take_hint(&hint, context),
        }
    }

    fn punctuate(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        self.release(context)?;
        self.dispatch(context)?;
        self.publish_demand(context);
        self.estimate_freshness(context.now());
        Ok(())
    }

    fn broadcast(&mut self, record: &InputRecord, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let Some(value) = &record.value else { return Ok(()) };
        match Demand::decode(value) {
            Ok(demand) => self.demand.hear(&demand, context.task().partition),
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
            ("fetches_total", self.counts.fetches as f64),
            ("changes_total", self.counts.changes as f64),
            ("leases_expired_total", self.counts.leases_expired as f64),
            ("late_answers_total", self.counts.late_answers as f64),
            ("unknown_pages_total", self.counts.unknown_pages as f64),
            ("refused_pages_total", self.counts.refused_pages as f64),
            ("fresh_pages", self.counts.fresh_pages),
            ("price_sum", self.demand.price()),
        ]
    }
}
