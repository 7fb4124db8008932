//! Estimates the freshness of the copies for gauges, and finds pages left for too long.

use super::Frontier;
use page::Timestamp;
use revisit::columns::Index;
use std::time::Duration;

/// The estimate visits every page; this interval is enough for a gauge.
const FRESHNESS_EVERY: Duration = Duration::from_secs(10);
/// … but at most once in this many ticks: in a replay ten seconds may be shorter than a tick.
const FRESHNESS_TICKS: u32 = 8;

impl Frontier {
    /// Estimates how many copies are current and how many pages have reached the price, when that is due.
    pub fn estimate_freshness(&mut self, now: Timestamp) {
        self.counts.fresh_ticks += 1;
        let due = now.saturating_since(self.counts.fresh_at) >= FRESHNESS_EVERY;
        if self.counts.fresh_at != Timestamp::MIN && !(due && self.counts.fresh_ticks >= FRESHNESS_TICKS) {
            return;
        }
        (self.counts.fresh_at, self.counts.fresh_ticks) = (now, 0);
        let (columns, hosts) = (&self.pages.columns, &self.hosts);
        self.counts.expected = columns.expectations(now, &self.rules.index, &self.outlook);
        let (price, mut due) = (self.demand.price(), 0);
        columns.visit(now, &self.rules.index, &self.outlook, |page| {
            let is_due = match &self.planner {
                Some(planner) => planner.due_days(page.slot).is_some_and(|due_days| due_days <= now.as_days()),
                None => page.value >= price,
            };
            due += u64::from(is_due && !hosts.gate(page.host).is_stopped());
        });
        self.counts.due = due;
        self.hold_overdue(now);
    }

    /// Pages left longer than the longest interval are fetched next, whatever their value.
    fn hold_overdue(&mut self, now: Timestamp) {
        let longest_days = self.rules.max_interval.as_secs_f64() / 86_400.0;
        let (refetch, received, own) = (&mut self.pages.refetch, &self.pages.received, &self.pages.longest_days);
        self.pages.columns.visit(now, &Index::Uniform, &self.outlook, |page| {
            // A list that vouches for a page is no look at it.
            let own_days = own.get(page.slot.index()).filter(|days| **days > 0.0);
            let longest_days = own_days.map_or(longest_days, |days| f64::from(*days));
            if !page.never_fetched && page.value + received.silence(page.slot) > longest_days {
                refetch.insert(page.slot);
            }
        });
    }
}
