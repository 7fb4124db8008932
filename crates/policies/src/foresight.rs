//! Yardsticks for the simulator: policies that are given facts that no crawler can know.
//!
//! The first policy receives every change when it happens and fetches the stale copy of highest rank. With the time until the
//! page's next change as the rank it is `clairvoyant`: of the copies that wait, the one that would stay current longest
//! must wait least. This is the best order for given slots; since unspent slots are kept for later, it is a yardstick
//! and not a strict bound. With the reciprocal of the page's rate as the rank it knows that a page changed, and not when it
//! will change next.
//! [`SweepReport`] receives only changes of many pages at once. It has to guess a page's own changes, from a rate. It is
//! the ceiling of any model of sweeps.
//!
//! The registry builds these policies without news, and then they learn nothing. A simulation that knows the change times
//! hands them to the constructors as [`ReportedChange`]s.

use crate::pages::{KeyedSlot, SlotTable, sane};
use revisit::columns::Slot;
use revisit::{PolicyLook, PolicyPage, PolicyTick, RevisitPolicy};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A change that a policy receives when it happens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReportedChange {
    pub at_days: f64,
    pub slot: Slot,
    /// Stale pages of higher rank are fetched first.
    pub rank: f64,
}

/// News in the order of time, each read once.
#[derive(Clone, Debug, Default)]
struct News {
    changes: Vec<ReportedChange>,
    read: usize,
}

impl News {
    fn new(mut changes: Vec<ReportedChange>) -> Self {
        changes.sort_by(|one, other| one.at_days.total_cmp(&other.at_days).then(one.slot.cmp(&other.slot)));
        Self { changes, read: 0 }
    }

    fn next(&mut self, now_days: f64) -> Option<ReportedChange> {
        let change = self.changes.get(self.read).filter(|change| change.at_days <= now_days)?;
        self.read += 1;
        Some(*change)
    }
}

/// Fetches the stale page of highest rank. Without a stale page it fetches none.
#[derive(Clone, Debug, Default)]
pub struct Reported {
    news: News,
    /// The keys of stale pages, by the last change of each.
    stale: SlotTable<f64>,
    /// Stale pages and, with other keys, what is left from before a page was fetched or changed again.
    queue: BinaryHeap<Reverse<KeyedSlot>>,
    pages: SlotTable<f64>,
    in_flight: SlotTable<f64>,
}

impl Reported {
    /// A policy without pages that will receive these changes.
    pub fn new(changes: Vec<ReportedChange>) -> Self {
        Self { news: News::new(changes), ..Self::default() }
    }

    fn push(&mut self, slot: Slot, key: f64) {
        self.stale.insert(slot, key);
        self.queue.push(Reverse(KeyedSlot { key, slot }));
    }
}

impl RevisitPolicy for Reported {
    fn insert(&mut self, slot: Slot, page: &PolicyPage, _now_days: f64) {
        self.pages.insert(slot, sane(page.weight / page.cost));
        if page.last_look_days.is_none() {
            self.push(slot, f64::NEG_INFINITY);
        }
    }

    fn remove(&mut self, slot: Slot) {
        self.pages.remove(slot);
        self.stale.remove(slot);
        self.in_flight.remove(slot);
    }

    fn begin(&mut self, _tick: &PolicyTick) {}

    fn next(&mut self, now_days: f64) -> Option<Slot> {
        while let Some(change) = self.news.next(now_days) {
            if let Some(worth) = self.pages.get(change.slot).copied() {
                // The least key comes first.
                self.push(change.slot, -change.rank * worth);
            }
        }
        while let Some(Reverse(first)) = self.queue.pop() {
            if self.stale.get(first.slot).is_some_and(|key| key.total_cmp(&first.key).is_eq()) {
                self.stale.remove(first.slot);
                self.in_flight.insert(first.slot, first.key);
                return Some(first.slot);
            }
        }
        None
    }

    fn put_back(&mut self, slot: Slot) {
        if let Some(key) = self.in_flight.remove(slot) {
            self.push(slot, key);
        }
    }

    fn looked(&mut self, slot: Slot, _look: &PolicyLook) {
        self.in_flight.remove(slot);
        self.stale.remove(slot);
    }
}

/// The change rates of a page that [`SweepReport`] knows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweptRates {
    /// All changes; positive.
    pub all_per_day: f64,
    /// Changes that belong to no sweep; positive.
    pub own_per_day: f64,
}

/// Fetches by the value of a fetch: that of a stale copy for a page that was swept since its last look, and for any
/// other page the value that follows from its own rate.
#[derive(Clone, Debug, Default)]
pub struct SweepReport {
    news: News,
    rates: Vec<SweptRates>,
    pages: SlotTable<SweptPage>,
    /// By value, as of the begin of the tick or of the news; a page may be there twice.
    queue: BinaryHeap<KeyedSlot>,
}

#[derive(Clone, Copy, Debug)]
struct SweptPage {
    worth: f64,
    last_look_days: f64,
    swept: bool,
    in_flight: bool,
}

impl SweepReport {
    /// A policy without pages that will receive these changes, whose ranks do not count, with the rates by slot.
    pub fn new(sweeps: Vec<ReportedChange>, rates: Vec<SweptRates>) -> Self {
        Self { news: News::new(sweeps), rates, ..Self::default() }
    }

    /// The value of a fetch now. Zero for a page whose rates are unknown.
    fn value(&self, slot: Slot, now_days: f64) -> f64 {
        let (Some(page), Some(rates)) = (self.pages.get(slot), self.rates.get(slot.index())) else { return 0.0 };
        let expected = (now_days - page.last_look_days).max(0.0) * rates.own_per_day;
        // P(2, x): the value of a fetch as a share of the value of a stale copy.
        let share = if page.swept { 1.0 } else { 1.0 - (1.0 + expected) * (-expected).exp() };
        page.worth * share / rates.all_per_day
    }

    fn receive(&mut self, now_days: f64) {
        while let Some(sweep) = self.news.next(now_days) {
            if let Some(page) = self.pages.get_mut(sweep.slot) {
                page.swept = true;
                self.queue.push(KeyedSlot { key: self.value(sweep.slot, now_days), slot: sweep.slot });
            }
        }
    }
}

impl RevisitPolicy for SweepReport {
    fn insert(&mut self, slot: Slot, page: &PolicyPage, now_days: f64) {
        let last_look_days = page.last_look_days.unwrap_or(now_days);
        let (worth, swept) = (sane(page.weight / page.cost), page.last_look_days.is_none());
        self.pages.insert(slot, SweptPage { worth, last_look_days, swept, in_flight: false });
    }

    fn remove(&mut self, slot: Slot) {
        self.pages.remove(slot);
    }

    fn begin(&mut self, tick: &PolicyTick) {
        self.receive(tick.now_days);
        let slots = self.pages.iter().filter(|(_, page)| !page.in_flight).map(|(slot, _)| slot);
        self.queue = slots.map(|slot| KeyedSlot { key: self.value(slot, tick.now_days), slot }).collect();
    }

    fn next(&mut self, now_days: f64) -> Option<Slot> {
        self.receive(now_days);
        loop {
            let slot = self.queue.pop()?.slot;
            if self.pages.get(slot).is_none_or(|page| page.in_flight) {
                continue;
            }
            // Looks lower values, and time raises them: what is best by an old value must still be best.
            let key = self.value(slot, now_days);
            if self.queue.peek().is_some_and(|other| other.key > key) {
                self.queue.push(KeyedSlot { key, slot });
                continue;
            }
            if let Some(page) = self.pages.get_mut(slot) {
                page.in_flight = true;
            }
            return Some(slot);
        }
    }

    fn put_back(&mut self, slot: Slot) {
        if let Some(page) = self.pages.get_mut(slot) {
            page.in_flight = false;
            // Its value is computed when its turn comes, which is at once.
            self.queue.push(KeyedSlot { key: f64::INFINITY, slot });
        }
    }

    fn looked(&mut self, slot: Slot, look: &PolicyLook) {
        if let Some(page) = self.pages.get_mut(slot) {
            (page.last_look_days, page.swept, page.in_flight) = (look.at_days, false, false);
        }
    }
}
