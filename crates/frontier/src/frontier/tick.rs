//! A tick takes back requests whose lease ran out, ends waits that are over, and chooses the best pages one by one,
//! within the budget, the bound on requests in flight and the hosts' gates.

use super::Frontier;
use crate::ahead::Ahead;
use crate::page_record::ScheduledPage;
use crate::request::{PageRequest, WantedReason};
use messages::FetchRequest;
use page::{PageId, Timestamp};
use revisit::columns::{PageStatus, Selection, Slot};
use revisit::live::FLOOR_OF_PRICE;
use std::time::Duration;
use std::vec::IntoIter;

/// Minimum time between two scans, per page scored: some twenty times the cost of scoring it.
const SCAN_TIME_PER_PAGE: Duration = Duration::from_nanos(1_000);
/// Pages that may move to other groups between two scans, when sites have grown.
const REGROUPED_PAGES: usize = 200_000;
/// Pages of busy hosts that one tick may skip when it follows a plan.
const BLOCKED_PAGES: usize = 10_000;

/// A page chosen for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChosenPage {
    slot: Slot,
    /// The page to load.
    pub page_id: PageId,
    audit: bool,
}

/// A tick under way.
pub struct FrontierTick {
    partition: u32,
    now: Timestamp,
    phase: TickPhase,
}

/// The phases in order, whatever a policy thinks of pages it knows nothing about: wanted pages, audits, hints, the
/// rest.
enum TickPhase {
    Wanted(IntoIter<Slot>),
    Audits,
    Hinted(IntoIter<Slot>),
    /// The pages with the best scores.
    Best(BestPages),
    /// The plan of a policy with its own account. Holds the pages of busy hosts that were skipped.
    Planned(Vec<Slot>),
    Over,
}

/// The best pages worth at least a floor, down to a remainder of the budget.
struct BestPages {
    floor: f64,
    kept: f64,
    /// The current scan, and how many of its pages were chosen.
    scan: Option<(Selection, usize)>,
    /// Whether this pass is the last. The first pass stops near the price, the second spends budget that would be lost.
    is_last: bool,
}

impl BestPages {
    fn new(floor: f64, kept: f64, is_last: bool) -> Self {
        Self { floor, kept, scan: None, is_last }
    }
}

/// The result of a choice. The page's record must be stored in both cases.
#[derive(Debug)]
pub enum HandOut {
    Request(Box<FetchRequest>),
    /// The page is skipped, because its content is looked at through a mirror, because it is worth less than it was after its own
    /// last look, or because it was drawn for an audit and is away.
    PassedOver,
}

impl Frontier {
    /// The next page whose lease has run out.
    pub fn next_expired(&self, now: Timestamp) -> Option<PageId> {
        self.pages.expired_lease(now)
    }

    /// Counts the page's request as lost: there was no answer, or it is still under way and counts when it comes.
    pub fn expire(&mut self, id: PageId, page: &mut ScheduledPage) {
        page.request = page.request.expire();
        self.counts.leases_expired += 1;
        let slot = self.free(id, page);
        self.pages.columns.unanswered(slot);
    }

    /// The next page whose wait is over.
    pub fn next_released(&self, now: Timestamp) -> Option<PageId> {
        self.pages.released(now)
    }

    /// Ends the wait of a page.
    pub fn release(&mut self, id: PageId, page: &mut ScheduledPage) {
        page.request = page.request.release();
        self.free(id, page);
    }

    /// Makes a page available again without a look.
    fn free(&mut self, id: PageId, page: &ScheduledPage) -> Slot {
        let slot = self.set(id, page);
        if let Some(planner) = &mut self.planner {
            planner.freed(slot);
        }
        slot
    }

    /// Begins a tick. Returns `None` soon after another one: scoring must stay a small part of the work, however many
    /// pages there are.
    pub fn begin_tick(&mut self, partition: u32, now: Timestamp) -> Option<FrontierTick> {
        if now.saturating_since(self.counts.scanned_at) < self.scan_pause() {
            return None;
        }
        self.counts.scanned_at = now;
        let share = self.demand.share();
        let bytes_per_day = self.rules.bytes_per_day.map(|rate| rate * share);
        self.budget.fill(now, self.rules.budget_per_day * share, bytes_per_day, self.rules.burst_days);
        let wanted: Vec<_> = self.pages.refetch.iter().copied().collect();
        Some(FrontierTick { partition, now, phase: TickPhase::Wanted(wanted.into_iter()) })
    }

    /// The next page to hand out; `None` when the tick is over.
    pub fn next_choice(&mut self, tick: &mut FrontierTick) -> Option<ChosenPage> {
        let now = tick.now;
        loop {
            let (slot, audit) = match &mut tick.phase {
                TickPhase::Wanted(slots) | TickPhase::Hinted(slots) => (self.next_ready(slots, now), false),
                TickPhase::Audits if self.room() > 0 => (self.draw_audit(tick.partition, now), true),
                TickPhase::Audits => (None, true),
                TickPhase::Best(best) => (self.next_best(best, now), false),
                TickPhase::Planned(blocked) => (self.next_planned(blocked, now), false),
                TickPhase::Over => return None,
            };
            match slot {
                Some(slot) => return Some(ChosenPage { slot, page_id: self.pages.id(slot), audit }),
                None => tick.phase = self.next_phase(&mut tick.phase, now),
            }
        }
    }

    fn next_phase(&mut self, phase: &mut TickPhase, now: Timestamp) -> TickPhase {
        match phase {
            TickPhase::Wanted(_) => TickPhase::Audits,
            TickPhase::Audits if self.rules.values_hints() => TickPhase::Hinted(self.hinted(now).into_iter()),
            TickPhase::Audits | TickPhase::Hinted(_) => self.main_phase(now),
            TickPhase::Best(BestPages { is_last: false, .. }) if self.budget.surplus() >= 1.0 => {
                let floor = self.pages.least_worth(&self.rules);
                TickPhase::Best(BestPages::new(floor, self.budget.tokens - self.budget.surplus(), true))
            }
            TickPhase::Planned(blocked) => {
                let planner = self.planner.as_mut().expect("only a policy with a planner is followed");
                blocked.drain(..).for_each(|slot| planner.freed(slot));
                TickPhase::Over
            }
            TickPhase::Best(_) | TickPhase::Over => TickPhase::Over,
        }
    }

    fn main_phase(&mut self, now: Timestamp) -> TickPhase {
        let Some(planner) = &mut self.planner else {
            self.pages.columns.refresh(&self.outlook, REGROUPED_PAGES);
            let floor = (FLOOR_OF_PRICE * self.demand.price()).max(self.pages.least_worth(&self.rules));
            return TickPhase::Best(BestPages::new(floor, 0.0, false));
        };
        let budget_per_day = self.rules.budget_per_day * self.demand.share() * (1.0 - self.rules.audit_share);
        planner.begin(now, self.rules.scan_interval.as_secs_f64() / 86_400.0, budget_per_day);
        TickPhase::Planned(Vec::new())
    }

    /// The next of these pages that may be fetched now.
    fn next_ready(&self, slots: &mut IntoIter<Slot>, now: Timestamp) -> Option<Slot> {
        slots.find(|slot| {
            let ready = self.pages.columns.get(*slot).filter(|entry| entry.status == PageStatus::Ready);
            self.room() > 0 && ready.is_some_and(|entry| self.host_has_room(entry.host, now))
        })
    }

    fn draw_audit(&mut self, partition: u32, now: Timestamp) -> Option<Slot> {
        let ahead = self.ahead(now);
        let Self { audit, pages, hosts, rules, .. } = self;
        let min_interval = rules.retry_times.min_interval;
        audit.draw(pages, partition, now, min_interval, |host| ahead.has_room(hosts.gate(host), rules))
    }

    fn next_best(&mut self, best: &mut BestPages, now: Timestamp) -> Option<Slot> {
        let ahead = self.ahead(now);
        loop {
            let count = if self.budget.tokens - best.kept < 1.0 { 0 } else { self.room() };
            let Self { pages, hosts, rules, outlook, .. } = &mut *self;
            let permitted = |host: u32| ahead.has_room(hosts.gate(host), rules);
            let (selection, chosen) = match &mut best.scan {
                Some(scan) => scan,
                None if count == 0 => return None,
                none => {
                    let scan = pages.columns.scan(now, &rules.index, outlook, count, best.floor, permitted);
                    none.insert((scan, 0))
                }
            };
            let next = if count > 0 { selection.next(&mut pages.columns, outlook, now, permitted) } else { None };
            if let Some(candidate) = next {
                // It is in flight once its record says so.
                pages.columns.set_status(candidate.slot, PageStatus::Ready);
                *chosen += 1;
                return Some(candidate.slot);
            }
            // Otherwise hosts took their last request, and others come next.
            if *chosen == 0 || !selection.is_truncated() {
                return None;
            }
            best.scan = None;
        }
    }

    fn next_planned(&mut self, blocked: &mut Vec<Slot>, now: Timestamp) -> Option<Slot> {
        while self.room() > 0 && blocked.len() < BLOCKED_PAGES {
            let slot = self.planner.as_mut()?.next(now)?;
            match self.pages.columns.get(slot) {
                Some(entry) if entry.status == PageStatus::Ready && self.host_has_room(entry.host, now) => {
                    return Some(slot);
                }
                Some(entry) if entry.status == PageStatus::Ready => blocked.push(slot),
                _ => {}
            }
        }
        None
    }

    /// Whether a drawn page waits for nothing, or only because its server says that the copy is current.
    fn may_audit(&self, page: &ScheduledPage, now: Timestamp) -> bool {
        let PageRequest { failures, unseen, .. } = page.request;
        let min_interval = self.rules.min_interval_of(page);
        let is_settled = page.last_look_at.is_some_and(|look| now.saturating_since(look) >= min_interval);
        page.request.held_until().is_none() || failures == 0 && unseen.looks == 0 && is_settled
    }

    /// Hands a chosen page out, unless it is passed over.
    pub fn hand_out(&mut self, choice: &ChosenPage, page: &mut ScheduledPage, now: Timestamp) -> HandOut {
        let id = choice.page_id;
        if !choice.audit && self.pass_over(choice.slot, id, page, now) {
            return HandOut::PassedOver;
        }
        if choice.audit && !self.may_audit(page, now) {
            self.audit.pass_over();
            return HandOut::PassedOver;
        }
        if !choice.audit && self.has_lost_worth(choice.slot, page) {
            self.set(id, page);
            return HandOut::PassedOver;
        }
        let number = self.hosts.of(&page.url);
        let gate = self.hosts.gate_mut(number);
        let delay = gate.delay(&self.rules);
        let not_before = gate.next_permitted_at.max(now);
        gate.next_permitted_at = not_before + delay;
        self.hosts.mark_changed(number);
        let lease_until = not_before + self.rules.lease_timeout;
        let audited = choice.audit.then(|| self.fresh_probability(choice.slot, now));
        page.request = page.request.hand_out(lease_until, audited);
        self.budget.tokens -= 1.0;
        if !choice.audit {
            self.audit.earn(self.rules.audits_per_fetch());
        }
        self.set(id, page);
        HandOut::Request(Box::new(FetchRequest {
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
            redirected: None,
        }))
    }

    /// Whether looks at other pages have shown, since its own last look, that a copy of the page will not last. It competes
    /// again by its new weight.
    fn has_lost_worth(&self, slot: Slot, page: &ScheduledPage) -> bool {
        page.request.wanted == WantedReason::No && {
            let site = self.pages.place(Some(slot), page).site;
            self.pages.lasting.has_fallen(slot, self.pages.lasting_share(page, site, &self.rules))
        }
    }

    /// The probability that a page's copy is current. Without a belief it counts as current.
    fn fresh_probability(&self, slot: Slot, now: Timestamp) -> f64 {
        let worth = self.pages.columns.worth(slot, &self.rules.index, &self.outlook, now);
        worth.map_or(1.0, |worth| worth.fresh_probability)
    }

    /// Number of fetches that may be handed out now.
    fn room(&self) -> usize {
        let out = self.pages.in_flight();
        let room = (self.budget.tokens as usize).min(self.rules.in_flight.saturating_sub(out));
        match self.rules.bytes_per_day {
            None => room,
            Some(_) if self.budget.bytes < 0.0 => 0,
            // Requests in flight will have to be paid, too. One request always may go: there may never be enough for
            // two.
            Some(_) => {
                let affordable = (self.budget.bytes / self.pages.costs.expected_bytes()) as usize;
                room.min(affordable.saturating_sub(out).max(usize::from(out == 0)))
            }
        }
    }

    pub(crate) fn host_has_room(&self, number: u32, now: Timestamp) -> bool {
        self.ahead(now).has_room(self.hosts.gate(number), &self.rules)
    }

    /// How far ahead of the hosts this tick hands out.
    fn ahead(&self, now: Timestamp) -> Ahead {
        Ahead::of_tick(&self.rules, self.rules.scan_interval.max(self.scan_pause()), now)
    }

    /// Minimum time between two scans of all pages.
    fn scan_pause(&self) -> Duration {
        SCAN_TIME_PER_PAGE * self.pages.pages() as u32
    }
}
