//! A tick: leases that ran out are taken back, waits that are over end, and the best pages go to their hosts' gates.

use crate::frontier::Frontier;
use crate::state::{PAGES, ScheduledPage};
use crate::{FETCH_REQUESTS, Scheduler};
use messages::{FetchReason, FetchRequest, Message};
use page::{PageId, Timestamp};
use revisit::Policy;
use revisit::columns::{LastLook, Standing};
use std::time::Duration;
use stream::{Context, ProcessError};

/// Pages below this part of the price wait: the budget they would take is better kept for the next page that is due.
const FLOOR_OF_PRICE: f64 = 0.3;
/// How far ahead of a host's next permitted time requests are handed out, so that its connection does not idle between
/// two ticks: a number of scan intervals.
const TICKS_AHEAD: u32 = 2;
/// Time between two scans, for each page scored: some twenty times what scoring it takes.
const SCAN_TIME_PER_PAGE: Duration = Duration::from_nanos(1_000);
/// Estimating freshness looks at every page; so often is enough for a gauge.
const FRESHNESS_EVERY: Duration = Duration::from_secs(10);
/// … but not more often than once in so many ticks: in a replay ten seconds may be shorter than a tick.
const FRESHNESS_TICKS: u32 = 8;

/// Unspent budget of this partition.
pub(crate) struct Budget {
    tokens: f64,
    /// Bytes that may still be received, when they are limited. What a page weighs is known only afterwards, so this may
    /// fall below zero; nothing is handed out until it has risen again.
    bytes: f64,
    filled_at: Option<Timestamp>,
}

/// One fetch may go out at once; a restart must not cost a wait, nor cause a burst.
impl Default for Budget {
    fn default() -> Self {
        Self { tokens: 1.0, bytes: 0.0, filled_at: None }
    }
}

impl Budget {
    /// Adds what time has earned, up to the burst, and never less than room for two fetches: with room for one, the
    /// fraction left over at every fetch would be lost, a sixth of a small budget at a long scan interval.
    fn fill(&mut self, now: Timestamp, fetches_per_day: f64, bytes_per_day: Option<f64>, burst_days: f64) {
        let days = self.filled_at.map_or(0.0, |filled_at| now.days_since(filled_at).max(0.0));
        self.filled_at = Some(now);
        let most = (fetches_per_day * burst_days).max(2.0);
        self.tokens = (self.tokens + days * fetches_per_day).min(most);
        self.bytes = match bytes_per_day {
            Some(rate) => (self.bytes + days * rate).min(rate * burst_days),
            None => 0.0,
        };
    }

    /// Takes off what a page has weighed.
    pub(crate) fn pay_bytes(&mut self, bytes: i64) {
        self.bytes -= bytes.max(0) as f64;
    }
}

impl Scheduler {
    /// Takes back leases that ran out and ends waits that are over.
    pub(crate) fn release(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let now = context.now();
        while let Some(id) = self.frontier.expired_lease(now) {
            let mut page = load(context, id)?;
            // Nobody answered: fetcher or network lost it, or the answer is still under way and will count when it comes.
            page.lease_until = None;
            self.counts.leases_expired += 1;
            self.store(id, &page, context);
        }
        while let Some(id) = self.frontier.released(now) {
            let mut page = load(context, id)?;
            page.held_until = None;
            self.store(id, &page, context);
        }
        Ok(())
    }

    /// Hands out what the budget, the bound on requests in flight and the hosts' gates allow, best first.
    pub(crate) fn dispatch(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let now = context.now();
        // Scoring must stay a small part of the work, however many pages there are.
        if now.saturating_since(self.counts.scanned_at) < SCAN_TIME_PER_PAGE * self.frontier.pages() as u32 {
            return Ok(());
        }
        self.counts.scanned_at = now;
        let share = self.demand.share();
        let bytes_per_day = self.rules.bytes_per_day.map(|rate| rate * share);
        self.budget.fill(now, self.rules.budget_per_day * share, bytes_per_day, self.rules.burst_days);
        let wanted: Vec<_> = self.frontier.refetch.iter().copied().collect();
        for slot in wanted {
            let host = self.frontier.columns.get(slot).filter(|entry| entry.standing == Standing::Ready);
            if host.is_some_and(|entry| self.host_has_room(entry.host, now)) && self.room() > 0 {
                self.hand_out(self.frontier.id(slot), context)?;
            }
        }
        loop {
            let count = self.room();
            if count == 0 {
                return Ok(());
            }
            let floor = FLOOR_OF_PRICE * self.demand.price();
            let best = self
                .frontier
                .columns
                .select(now, &self.rules.policy, count, floor, |host| self.host_has_room(host, now));
            let mut handed_out = 0;
            for candidate in &best {
                // The one before may have taken its host's last place.
                if self.host_has_room(candidate.host, now) {
                    self.hand_out(self.frontier.id(candidate.slot), context)?;
                    handed_out += 1;
                }
            }
            // When all candidates got through, either the budget is spent or there were no more.
            if handed_out == best.len() || handed_out == 0 {
                return Ok(());
            }
        }
    }

    /// Fetches that may be handed out now.
    fn room(&self) -> usize {
        if self.rules.bytes_per_day.is_some() && self.budget.bytes < 0.0 {
            return 0;
        }
        (self.budget.tokens as usize).min(self.rules.in_flight.saturating_sub(self.frontier.in_flight()))
    }

    fn host_has_room(&self, number: u32, now: Timestamp) -> bool {
        let gate = self.hosts.gate(number);
        let ahead = now + self.rules.scan_interval * TICKS_AHEAD;
        !gate.paused && gate.in_flight < self.rules.host_in_flight && gate.next_permitted_at <= ahead
    }

    fn hand_out(&mut self, id: PageId, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let now = context.now();
        let mut page = load(context, id)?;
        let number = self.hosts.number(&page.url.host());
        let gate = self.hosts.gate_mut(number);
        let delay = gate.crawl_delay.max(self.rules.delay.delay_after(None, Duration::ZERO).as_duration());
        let delay = delay.max(self.rules.host_interval);
        let not_before = gate.next_permitted_at.max(now);
        gate.next_permitted_at = not_before + delay;
        gate.save(context);
        page.attempt += 1;
        let lease_until = not_before + self.rules.lease_timeout;
        page.lease_until = Some(lease_until);
        page.held_until = None;
        let request = FetchRequest {
            page_id: id,
            site_key: page.url.site_key(),
            url: page.url.clone(),
            attempt: page.attempt,
            issued_at: now,
            not_before,
            lease_until,
            reason: match &page {
                page if page.refetch => FetchReason::Command,
                page if page.failures > 0 => FetchReason::Retry,
                page if page.last_look_at.is_none() => FetchReason::New,
                _ => FetchReason::Refresh,
            },
            etag: page.etag.clone(),
            last_modified: page.last_modified.clone(),
            content_digest: page.content_digest,
            crawl_delay_ms: Some(delay.as_millis() as i64),
        };
        page.refetch = false;
        context.emit(FETCH_REQUESTS, request.site_key.as_str(), request.encode());
        self.budget.tokens -= 1.0;
        self.store(id, &page, context);
        Ok(())
    }

    /// Keeps a page's record, in the store and in the columns.
    pub(crate) fn store(&mut self, id: PageId, page: &ScheduledPage, context: &mut Context<'_>) {
        context.put(PAGES, id.0, page.encode());
        self.frontier.set(id, page, &mut self.hosts);
    }

    /// Every so often: how many copies are expected to be current, and how many pages have reached the price.
    pub(crate) fn estimate_freshness(&mut self, now: Timestamp) {
        self.counts.fresh_ticks += 1;
        let due = now.saturating_since(self.counts.fresh_at) >= FRESHNESS_EVERY;
        if self.counts.fresh_at != Timestamp::MIN && !(due && self.counts.fresh_ticks >= FRESHNESS_TICKS) {
            return;
        }
        (self.counts.fresh_at, self.counts.fresh_ticks) = (now, 0);
        self.counts.fresh_pages = expected_fresh_pages(&self.frontier, now);
        let (price, mut due) = (self.demand.price(), 0);
        self.frontier.columns.scan(now, &self.rules.policy, |page| {
            due += u64::from(page.never_fetched || page.value >= price);
        });
        self.counts.due = due;
        self.hold_overdue(now);
    }

    /// Pages left longer than the longest interval are wanted next, whatever they are worth.
    fn hold_overdue(&mut self, now: Timestamp) {
        let longest_days = self.rules.max_interval.as_secs_f64() / 86_400.0;
        let refetch = &mut self.frontier.refetch;
        self.frontier.columns.scan(now, &Policy::Uniform, |page| {
            if !page.never_fetched && page.value > longest_days {
                refetch.insert(page.slot);
            }
        });
    }
}

fn expected_fresh_pages(frontier: &Frontier, now: Timestamp) -> f64 {
    frontier
        .columns
        .entries()
        .map(|entry| match entry.last_look {
            LastLook::Looked(at) => entry.belief.fresh_probability(now.days_since(at).max(0.0)),
            LastLook::Discovered(_) => 0.0,
        })
        .sum()
}

/// A page's record. The columns know it, so the store must.
pub(crate) fn load(context: &Context<'_>, id: PageId) -> Result<ScheduledPage, ProcessError> {
    find(context, id)?
        .ok_or_else(|| ProcessError::Stop(format!("page {id} is in the columns but not in the state store")))
}

pub(crate) fn find(context: &Context<'_>, id: PageId) -> Result<Option<ScheduledPage>, ProcessError> {
    let Some(bytes) = context.get(PAGES, &id.0)? else { return Ok(None) };
    match ScheduledPage::decode(&bytes) {
        Ok(page) => Ok(Some(page)),
        Err(error) => Err(ProcessError::Stop(format!("page {id} in the state store: {error}"))),
    }
}
