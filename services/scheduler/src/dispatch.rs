//! A tick: leases that ran out are taken back, waits that are over end, and the best pages go to their hosts' gates.

use crate::ahead::Ahead;
use crate::state::PAGES;
use crate::{FETCH_REQUESTS, Scheduler};
use ::frontier::ScheduledPage;
use messages::FetchRequest;
use page::{PageId, Timestamp};
use revisit::columns::{Index, Slot, Standing};
use std::time::Duration;
use stream::{Context, ProcessError};

/// Pages below this part of the price wait: the budget they would take is better kept for the next page that is due, as
/// long as it can be kept.
const FLOOR_OF_PRICE: f64 = 0.3;
/// Time between two scans, for each page scored: some twenty times what scoring it takes.
const SCAN_TIME_PER_PAGE: Duration = Duration::from_nanos(1_000);
/// Pages that may be moved to other groups between two scans, when sites have grown.
const REGROUPED_PAGES: usize = 200_000;
/// Pages of busy hosts that a plan is followed past in one tick.
const BLOCKED_PAGES: usize = 10_000;
/// Estimating freshness looks at every page; so often is enough for a gauge.
const FRESHNESS_EVERY: Duration = Duration::from_secs(10);
/// … but not more often than once in so many ticks: in a replay ten seconds may be shorter than a tick.
const FRESHNESS_TICKS: u32 = 8;

impl Scheduler {
    /// Takes back leases that ran out and ends waits that are over.
    pub(crate) fn release(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let now = context.now();
        while let Some(id) = self.frontier.expired_lease(now) {
            let mut page = load(context, id)?;
            // Nobody answered: fetcher or network lost it, or the answer is still under way and will count when it comes.
            page.request = page.request.expire();
            self.counts.leases_expired += 1;
            self.free(id, &page, context);
        }
        while let Some(id) = self.frontier.released(now) {
            let mut page = load(context, id)?;
            page.request = page.request.release();
            self.free(id, &page, context);
        }
        Ok(())
    }

    /// A page may be chosen again though nobody has looked at it.
    fn free(&mut self, id: PageId, page: &ScheduledPage, context: &mut Context<'_>) {
        let slot = self.store(id, page, context);
        if let Some(planner) = &mut self.planner {
            planner.freed(slot);
        }
    }

    /// Hands out what the budget, the bound on requests in flight and the hosts' gates allow, best first.
    pub(crate) fn dispatch(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let now = context.now();
        // Scoring must stay a small part of the work, however many pages there are.
        if now.saturating_since(self.counts.scanned_at) < self.scan_pause() {
            return Ok(());
        }
        self.counts.scanned_at = now;
        let share = self.demand.share();
        let bytes_per_day = self.rules.bytes_per_day.map(|rate| rate * share);
        let earned = self.budget.fill(now, self.rules.budget_per_day * share, bytes_per_day, self.rules.burst_days);
        self.audit.earn(earned * self.rules.audit_share);
        let wanted: Vec<_> = self.frontier.refetch.iter().copied().collect();
        self.hand_out_all(wanted, context)?;
        while self.room() > 0
            && let Some(slot) = self.draw_audit(context.task().partition, now)
        {
            self.hand_out(slot, true, context)?;
        }
        if self.rules.values_hints() {
            let hinted = self.hinted(now);
            self.hand_out_all(hinted, context)?;
        }
        if self.planner.is_some() { self.follow_plan(context) } else { self.choose(context) }
    }

    /// Hands out those of these pages that may be fetched now.
    fn hand_out_all(&mut self, slots: Vec<Slot>, context: &mut Context<'_>) -> Result<(), ProcessError> {
        for slot in slots {
            let ready = self.frontier.columns.get(slot).filter(|entry| entry.standing == Standing::Ready);
            if self.room() > 0 && ready.is_some_and(|entry| self.host_has_room(entry.host, context.now())) {
                self.hand_out(slot, false, context)?;
            }
        }
        Ok(())
    }

    /// Scores all pages and takes the best, one by one: those near the price, and others rather than lose what is earned.
    fn choose(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        self.frontier.columns.refresh(&self.outlook, REGROUPED_PAGES);
        self.choose_down_to(FLOOR_OF_PRICE * self.demand.price(), 0.0, context)?;
        let surplus = self.budget.surplus();
        if surplus >= 1.0 { self.choose_down_to(0.0, self.budget.tokens - surplus, context) } else { Ok(()) }
    }

    /// Takes the best pages worth at least `floor`, until so much of the budget is left.
    fn choose_down_to(&mut self, floor: f64, kept: f64, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let now = context.now();
        let ahead = self.ahead(now);
        loop {
            let wanted = |scheduler: &Self| {
                if scheduler.budget.tokens - kept < 1.0 { 0 } else { scheduler.room() }
            };
            let count = wanted(self);
            if count == 0 {
                return Ok(());
            }
            let permitted = |host: u32| ahead.has_room(self.hosts.gate(host), &self.rules);
            let columns = &self.frontier.columns;
            let mut selection = columns.scan(now, &self.rules.index, &self.outlook, count, floor, permitted);
            let mut handed_out = 0;
            while wanted(self) > 0 {
                let (hosts, rules) = (&self.hosts, &self.rules);
                let permitted = |host: u32| ahead.has_room(hosts.gate(host), rules);
                let next = selection.next(&mut self.frontier.columns, &self.outlook, now, permitted);
                let Some(candidate) = next else { break };
                // It is under way once its record says so.
                self.frontier.columns.set_standing(candidate.slot, Standing::Ready);
                self.hand_out(candidate.slot, false, context)?;
                handed_out += 1;
            }
            // Otherwise hosts took their last request, and others come next.
            if handed_out == 0 || !selection.is_truncated() {
                return Ok(());
            }
        }
    }

    /// Asks a policy that keeps its own account for one page after the other.
    fn follow_plan(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let now = context.now();
        let Some(mut planner) = self.planner.take() else { return Ok(()) };
        let budget_per_day = self.rules.budget_per_day * self.demand.share() * (1.0 - self.rules.audit_share);
        planner.begin(now, self.rules.scan_interval.as_secs_f64() / 86_400.0, budget_per_day);
        let mut blocked = Vec::new();
        let mut result = Ok(());
        while result.is_ok() && self.room() > 0 && blocked.len() < BLOCKED_PAGES {
            let Some(slot) = planner.next(now) else { break };
            match self.frontier.columns.get(slot) {
                Some(entry) if entry.standing == Standing::Ready => {
                    if self.host_has_room(entry.host, now) {
                        result = self.hand_out(slot, false, context);
                    } else {
                        blocked.push(slot);
                    }
                }
                _ => {}
            }
        }
        blocked.into_iter().for_each(|slot| planner.freed(slot));
        self.planner = Some(planner);
        result
    }

    /// Fetches that may be handed out now.
    fn room(&self) -> usize {
        if self.rules.bytes_per_day.is_some() && self.budget.bytes < 0.0 {
            return 0;
        }
        (self.budget.tokens as usize).min(self.rules.in_flight.saturating_sub(self.frontier.in_flight()))
    }

    pub(crate) fn host_has_room(&self, number: u32, now: Timestamp) -> bool {
        self.ahead(now).has_room(self.hosts.gate(number), &self.rules)
    }

    /// How far ahead of the hosts this tick hands out.
    fn ahead(&self, now: Timestamp) -> Ahead {
        Ahead::of_tick(&self.rules, self.rules.scan_interval.max(self.scan_pause()), now)
    }

    /// Least time between two scans of so many pages.
    fn scan_pause(&self) -> Duration {
        SCAN_TIME_PER_PAGE * self.frontier.pages() as u32
    }

    fn hand_out(&mut self, slot: Slot, audit: bool, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let (id, now) = (self.frontier.id(slot), context.now());
        let mut page = load(context, id)?;
        if !audit && self.pass_over(slot, id, &mut page, context) {
            return Ok(());
        }
        let number = self.hosts.number(&page.url.host());
        let gate = self.hosts.gate_mut(number);
        let delay = gate.delay(&self.rules);
        let not_before = gate.next_permitted_at.max(now);
        gate.next_permitted_at = not_before + delay;
        gate.save(context);
        let lease_until = not_before + self.rules.lease_timeout;
        page.request = page.request.hand_out(lease_until, audit);
        let request = FetchRequest {
            page_id: id,
            site_key: page.url.site_key(),
            url: page.url.clone(),
            attempt: page.request.attempt,
            issued_at: now,
            not_before,
            lease_until,
            reason: page.request.reason(page.last_look_at.is_some()),
            validators: page.validators.clone(),
            crawl_delay_ms: Some(delay.as_millis() as i64),
        };
        context.emit(FETCH_REQUESTS, request);
        self.budget.tokens -= 1.0;
        self.store(id, &page, context);
        Ok(())
    }

    /// Keeps a page's record, in the store and in the columns.
    pub(crate) fn store(&mut self, id: PageId, page: &ScheduledPage, context: &mut Context<'_>) -> Slot {
        context.put(PAGES, &id, page);
        self.frontier.set(id, page, &mut self.hosts, &self.rules, &self.outlook)
    }

    /// Every so often: how many copies are expected to be current, and how many pages have reached the price.
    pub(crate) fn estimate_freshness(&mut self, now: Timestamp) {
        self.counts.fresh_ticks += 1;
        let due = now.saturating_since(self.counts.fresh_at) >= FRESHNESS_EVERY;
        if self.counts.fresh_at != Timestamp::MIN && !(due && self.counts.fresh_ticks >= FRESHNESS_TICKS) {
            return;
        }
        (self.counts.fresh_at, self.counts.fresh_ticks) = (now, 0);
        let columns = &self.frontier.columns;
        self.counts.expected = columns.expectations(now, &self.rules.index, &self.outlook);
        let (price, mut due) = (self.demand.price(), 0);
        columns.visit(now, &self.rules.index, &self.outlook, |page| {
            let is_due = match &self.planner {
                Some(planner) => planner.due_days(page.slot).is_some_and(|due_days| due_days <= now.as_days()),
                None => page.value >= price,
            };
            due += u64::from(page.never_fetched || is_due);
        });
        self.counts.due = due;
        self.hold_overdue(now);
    }

    /// Pages left longer than the longest interval are wanted next, whatever they are worth.
    fn hold_overdue(&mut self, now: Timestamp) {
        let longest_days = self.rules.max_interval.as_secs_f64() / 86_400.0;
        let refetch = &mut self.frontier.refetch;
        self.frontier.columns.visit(now, &Index::Uniform, &self.outlook, |page| {
            if !page.never_fetched && page.value > longest_days {
                refetch.insert(page.slot);
            }
        });
    }
}

fn load(context: &Context<'_>, id: PageId) -> Result<ScheduledPage, ProcessError> {
    find(context, id)?
        .ok_or_else(|| ProcessError::Stop(format!("page {id} is in the columns but not in the state store")))
}

pub(crate) fn find(context: &Context<'_>, id: PageId) -> Result<Option<ScheduledPage>, ProcessError> {
    Ok(context.get(PAGES, &id)?)
}
