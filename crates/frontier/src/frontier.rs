//! The frontier of one partition: all that it knows, and its decisions.

mod answers;
mod discovery;
mod freshness;
mod hints;
mod siblings;
mod tick;
mod ties;

pub use self::discovery::SeedRefusal;
pub use self::hints::ListingEffects;
pub use self::tick::{ChosenPage, FrontierTick, HandOut};

use crate::audit::Audit;
use crate::budget::FetchBudget;
use crate::demand::{PlanShare, SharedDemand};
use crate::hint_kinds::news_of;
use crate::host_numbers::Hosts;
use crate::hosts::HostSchedule;
use crate::list_credit::ListCredit;
use crate::page_index::PageIndex;
use crate::page_record::ScheduledPage;
use crate::planner::{Planner, look_of};
use crate::rules::FrontierRules;
use crate::siblings::{TaughtCells, belief_of};
use crate::ties::{last_turn, weight_of};
use messages::{Demand, SweepForecast, Verdict};
use metrics::{Figure, scheduler as figure};
use page::{HostName, PageId, Timestamp};
use revisit::PolicyPage;
use revisit::columns::{Expectations, Slot};
use scope::Scope;
use std::collections::HashSet;
use std::sync::Arc;
use sweeps::{CellChange, Changes, Outlook, OutlookPart, PagePlace, SiteState};

/// The frontier of one partition. Only the records of pages, hosts and the outlook are kept on disk; the rest is
/// derived from them, or may be lost.
pub struct Frontier {
    pub(crate) rules: FrontierRules,
    pub(crate) pages: PageIndex,
    pub(crate) hosts: Hosts,
    pub(crate) outlook: Outlook,
    /// Cells whose prior has changed since the last tick.
    pub(crate) taught_cells: TaughtCells,
    /// `None` for policies that score every page at every tick.
    pub(crate) planner: Option<Planner>,
    pub(crate) budget: FetchBudget,
    pub(crate) audit: Audit,
    pub(crate) demand: SharedDemand,
    pub(crate) counts: FrontierCounts,
    pub(crate) lists: ListCredit,
    /// Pages that made room for others and are not forgotten yet.
    evicted: Vec<PageId>,
    /// An address of which the rule is unknown, with what decides, until it is logged.
    undecided: Option<String>,
    /// Pages that an operator has forgotten. Only a seed adds them again.
    forgotten: HashSet<PageId>,
}

/// Counters and gauges since this frontier was made.
#[derive(Default)]
pub(crate) struct FrontierCounts {
    /// Totals over all pages here, including those from before a restart.
    pub(crate) fetches: u64,
    pub(crate) changes: u64,
    /// By this process only.
    pub(crate) answers: u64,
    pub(crate) fetches_seen: u64,
    pub(crate) changes_seen: u64,
    pub(crate) leases_expired: u64,
    pub(crate) late_answers: u64,
    pub(crate) unknown_pages: u64,
    pub(crate) refused_pages: u64,
    pub(crate) refused_seeds: u64,
    pub(crate) pages_out_of_scope: u64,
    pub(crate) undecided_pages: u64,
    pub(crate) forgotten_links: u64,
    pub(crate) forgotten_seeds: u64,
    pub(crate) evicted_pages: u64,
    pub(crate) hints: u64,
    /// Fetches saved by mirrors.
    pub(crate) spared: u64,
    /// Expected freshness of the copies, from the last estimate.
    pub(crate) expected: Expectations,
    pub(crate) fresh_at: Timestamp,
    pub(crate) fresh_ticks: u32,
    pub(crate) scanned_at: Timestamp,
    /// Pages whose value had reached the price at the last tick.
    pub(crate) due: u64,
    /// Pages that the plan of a policy with its own account favoured when the demand was last published.
    pub(crate) planned: u64,
}

impl Frontier {
    /// A frontier without pages. Restore it in this order: the outlook, hosts, pages; then call [`Frontier::restored`].
    pub fn new(rules: FrontierRules) -> Self {
        let demand = SharedDemand::new(&rules);
        let mut pages = PageIndex::default();
        if !rules.values_hints() {
            pages.received.ignore_silence();
        }
        let counts =
            FrontierCounts { fresh_at: Timestamp::MIN, scanned_at: Timestamp::MIN, ..FrontierCounts::default() };
        Self {
            planner: Planner::new(&rules),
            hosts: Hosts::new(&rules),
            rules,
            pages,
            outlook: Outlook::default(),
            taught_cells: TaughtCells::new(),
            budget: FetchBudget::default(),
            audit: Audit::default(),
            demand,
            counts,
            lists: ListCredit::default(),
            evicted: Vec::new(),
            undecided: None,
            forgotten: HashSet::new(),
        }
    }

    pub fn rules(&self) -> &FrontierRules {
        &self.rules
    }

    /// Takes rules that operators have saved, in place of those before. Returns the scope of the pages of both; each of them is
    /// to be passed to [`Self::renew`].
    pub fn take_saved_rules(&mut self, saved: Scope) -> [Arc<Scope>; 2] {
        let saved = Arc::new(saved);
        [std::mem::replace(&mut self.rules.saved, saved.clone()), saved]
    }

    /// Follows a change of the rules of a page. Unless its last requests came to nothing, it waits no longer than its rule says.
    /// Returns whether its record has changed.
    pub fn renew(&mut self, id: PageId, page: &mut ScheduledPage, now: Timestamp) -> bool {
        let before = page.request;
        if before.failures == 0
            && before.unseen.looks == 0
            && let Some((turn, longest)) = last_turn(page).zip(self.rules.ordered_max_interval(&page.url))
        {
            page.request = before.held_until_at_most((turn + longest).max(now));
        }
        self.set(id, page);
        page.request != before
    }

    /// Restores the outlook.
    ///
    /// # Errors
    /// When the changes do not form a valid outlook.
    pub fn restore_outlook(&mut self, changes: &Changes) -> Result<(), String> {
        self.outlook.apply(changes).map_err(|error| error.to_string())
    }

    pub fn restore_host(&mut self, host: &HostName, schedule: &HostSchedule) {
        self.hosts.restore(host, schedule);
    }

    pub fn restore_page(&mut self, id: PageId, page: &ScheduledPage, now: Timestamp) {
        let slot = self.set(id, page);
        self.counts.fetches += page.fetches as u64;
        self.counts.changes += page.changes as u64;
        self.audit.restore(page);
        self.plan_for(slot, page, now);
    }

    /// Ends the restoring.
    pub fn restored(&mut self) {
        self.pages.resolve_lists(&self.hosts);
        self.hosts.restored();
    }

    /// Hosts whose schedules changed and must be stored, each once.
    pub fn changed_hosts(&mut self) -> impl Iterator<Item = (HostName, HostSchedule)> + '_ {
        self.hosts.take_changed()
    }

    /// Forgets hosts without pages. Returns those whose schedule is stored.
    pub fn forget_hosts(&mut self, now: Timestamp) -> Vec<HostName> {
        self.hosts.forget_idle(now)
    }

    /// Updates the index from a page's record.
    pub(crate) fn set(&mut self, id: PageId, page: &ScheduledPage) -> Slot {
        self.pages.set(id, page, &mut self.hosts, &self.rules, &self.outlook)
    }

    /// Adds a page to the policy, if the policy keeps its own account.
    pub(crate) fn plan_for(&mut self, slot: Slot, page: &ScheduledPage, now: Timestamp) {
        let Some(planner) = &mut self.planner else { return };
        let Some(place) = self.pages.columns.place(slot) else { return };
        let known = PolicyPage {
            weight: weight_of(page, &self.rules),
            cost: self.pages.costs.of(page.bytes_per_fetch, &self.rules),
            host: self.hosts.of(&page.url),
            place,
            last_look_days: page.last_look_at.map(Timestamp::as_days),
            belief: belief_of(page, place.cell, &self.rules, &self.outlook),
        };
        planner.insert(slot, &known, now);
        self.plan_by_content(slot, page);
    }

    /// Gives the policy the size of a page and its links to new pages, if it keeps its own account.
    pub(crate) fn plan_by_content(&mut self, slot: Slot, page: &ScheduledPage) {
        let Some(planner) = &mut self.planner else { return };
        planner.measure(slot, page.url.as_str().len() as f64 + page.body_length.max(0) as f64);
        let news = if page.list_news > 0.0 { news_of(page).new_pages_per_day() } else { 0.0 };
        planner.shows(slot, news);
    }

    /// Gives the policy the new weight of a page, if it keeps its own account. The page keeps its place.
    pub(crate) fn plan_by_weight(&mut self, slot: Slot, page: &ScheduledPage) {
        let weight = weight_of(page, &self.rules);
        if let Some(planner) = &mut self.planner {
            planner.weigh(slot, weight);
        }
    }

    /// Passes a look on to the policy, if it keeps its own account.
    fn plan_after_look(
        &mut self,
        slot: Slot,
        page: &ScheduledPage,
        verdict: Verdict,
        looked_at: Timestamp,
        previous: Option<Timestamp>,
    ) {
        let Some(planner) = &mut self.planner else { return };
        let cell = self.pages.columns.place(slot).map_or(0, |place| place.cell);
        let belief = belief_of(page, cell, &self.rules, &self.outlook);
        planner.looked(slot, &look_of(verdict, looked_at, previous, belief));
        self.plan_by_content(slot, page);
    }

    /// Forgets the groups, cells and sites that have no pages by a forecast. Returns those that were known.
    pub fn forget_parts(&mut self, forecast: &SweepForecast) -> Vec<OutlookPart> {
        let site = PagePlace::of(forecast.site_key.as_str(), "", "/").site;
        forecast.gone.iter().flat_map(|hash| self.outlook.remove(hash.cast_unsigned(), site)).collect()
    }

    /// Takes in what the estimator learned about the sweeps of a site. Returns the changes of the outlook, and why part
    /// of the forecast was refused; the outlook keeps its old values for that part.
    pub fn take_forecast(&mut self, forecast: SweepForecast) -> (Changes, Result<(), String>) {
        let site = PagePlace::of(forecast.site_key.as_str(), "", "/").site;
        let SweepForecast { groups, cells, lead, .. } = forecast;
        let sites = lead.map(|lead| SiteState { site, lead }).into_iter().collect();
        let changes = Changes { groups, cells, sites };
        let applied = self.outlook.apply(&changes).map_err(|error| error.to_string());
        self.take_cells(changes.cells.iter().map(|cell| cell.cell));
        let known = Changes {
            groups: changes.groups.iter().filter_map(|group| self.outlook.group_change(group.group)).collect(),
            cells: changes.cells.iter().map(|cell| self.known_cell(cell)).collect(),
            sites: changes.sites.iter().map(|_| SiteState { site, lead: self.outlook.lead(site) as f32 }).collect(),
        };
        (known, applied)
    }

    fn known_cell(&self, cell: &CellChange) -> CellChange {
        CellChange { priors: self.outlook.priors(cell.cell), ..*cell }
    }

    /// Takes in the demand of another partition.
    pub fn take_demand(&mut self, demand: &Demand, own_partition: u32) {
        self.demand.receive(demand, own_partition, &self.rules);
        if let Some(planner) = &mut self.planner {
            // The budget of the partitions that are known.
            let (values, known) = self.demand.plan_values_of_others();
            let budget_per_day = self.rules.budget_per_day * (1.0 - self.rules.audit_share) * known;
            planner.learn_plan_values(&values, budget_per_day);
        }
    }

    /// Counts this partition's demand and solves for the price, when that is due. Returns the demand to publish.
    pub fn publish_demand(&mut self, partition: u32, now: Timestamp) -> Option<Demand> {
        let Self { demand, pages, rules, outlook, planner, counts, .. } = self;
        let plan = || match planner {
            Some(planner) => {
                counts.planned = planner.pages_ahead(pages.columns.slots());
                planner.share()
            }
            None => PlanShare::default(),
        };
        demand.publish(pages, rules, outlook, plan, partition, now)
    }

    /// Figures of the partition.
    pub fn figures(&self) -> Vec<Figure> {
        vec![
            (figure::PAGES, self.pages.pages() as f64),
            (figure::PAGES_LIMIT, self.rules.max_pages as f64),
            (figure::NEVER_FETCHED, self.pages.never_fetched() as f64),
            (figure::UNANSWERED, self.pages.unanswered() as f64),
            (figure::DUE, self.counts.due as f64),
            (figure::PLANNED_PAGES, self.counts.planned as f64),
            (figure::IN_FLIGHT, self.pages.in_flight() as f64),
            (figure::HOSTS, self.hosts.len() as f64),
            // Totals of the state include those from before a restart and move with their partitions, so they are not
            // counters.
            (figure::FETCHES, self.counts.fetches as f64),
            (figure::CHANGES, self.counts.changes as f64),
            (figure::ANSWERS, self.counts.answers as f64),
            (figure::FETCHES_SEEN, self.counts.fetches_seen as f64),
            (figure::CHANGES_SEEN, self.counts.changes_seen as f64),
            (figure::LEASES_EXPIRED, self.counts.leases_expired as f64),
            (figure::LATE_ANSWERS, self.counts.late_answers as f64),
            (figure::UNKNOWN_PAGES, self.counts.unknown_pages as f64),
            (figure::REFUSED_PAGES, self.counts.refused_pages as f64),
            (figure::REFUSED_SEEDS, self.counts.refused_seeds as f64),
            (figure::PAGES_OUT_OF_SCOPE, self.counts.pages_out_of_scope as f64),
            (figure::UNDECIDED_PAGES, self.counts.undecided_pages as f64),
            (figure::FAILED_SEEDS, self.pages.failed_seeds() as f64),
            (figure::UNLISTED_SEEDS, self.pages.unlisted_seeds() as f64),
            (figure::FORGOTTEN_PAGES, self.forgotten.len() as f64),
            (figure::FORGOTTEN_LINKS, self.counts.forgotten_links as f64),
            (figure::FORGOTTEN_SEEDS, self.counts.forgotten_seeds as f64),
            (figure::EVICTED_PAGES, self.counts.evicted_pages as f64),
            (figure::HINTS, self.counts.hints as f64),
            (figure::MIRRORS, self.pages.mirrors() as f64),
            (figure::FETCHES_SPARED_BY_MIRRORS, self.counts.spared as f64),
            (figure::FRESH_PAGES, self.counts.expected.fresh_pages),
            (figure::COPIES, self.counts.expected.copies as f64),
            (figure::TOTAL_AGE_SECONDS, self.counts.expected.age_days * 86_400.0),
            (figure::AUDIT_LOOKS, self.audit.looks as f64),
            (figure::AUDIT_FRESH, self.audit.fresh as f64),
            (figure::AUDIT_RECENT_LOOKS, self.audit.recent.looks),
            (figure::AUDIT_RECENT_FRESH, self.audit.recent.fresh),
            (figure::AUDIT_RECENT_EXPECTED, self.audit.recent.expected),
            (figure::PRICE, self.demand.price()),
            // An equal part, so that the parts add up to the budget of the settings at any moment.
            (
                figure::BUDGET_FETCHES_PER_SECOND,
                self.rules.budget_per_day / f64::from(self.demand.partitions()) / 86_400.0,
            ),
        ]
    }
}
