//! The columns, and the selection from the last scan.

use crate::columns::{Index, LastLook, PageColumns, PageEntry, PageStatus, Selection, Slot};
use crate::revisit_policy::{PolicyLook, PolicyPage, PolicyTick};
use page::Timestamp;
use sweeps::{Outlook, OwnEvidence};

/// A scan chooses this many times the pages that a tick will probably pay for, plus a constant, because looks change
/// the values of siblings.
const SPARE_TIMES: f64 = 1.5;
const SPARE_PAGES: usize = 200;

pub(super) fn moment(days: f64) -> Timestamp {
    Timestamp::from_secs(0).plus_days(days)
}

/// A scan first looks for pages worth this fraction of the least value chosen by the last tick, which saves most of the
/// work. It looks for others only when these do not suffice.
const FLOOR_OF_LAST: f64 = 0.7;
/// Usually enough pages are worth even this fraction.
const LIKELY_OF_LAST: f64 = 0.85;

/// The columns, and the selection from the last scan.
#[derive(Clone, Debug)]
pub(super) struct Packed {
    pub(super) index: Index,
    pub(super) columns: PageColumns,
    selection: Option<Selection>,
    count: usize,
    /// Looks since the scan: another scan may find these pages again.
    looks: usize,
    /// Value below which the scan left pages out.
    floor: f64,
    /// Value that usually enough pages reach.
    likely: f64,
}

impl Packed {
    pub(super) fn new(index: Index) -> Self {
        Self { index, columns: PageColumns::default(), selection: None, count: 0, looks: 0, floor: 0.0, likely: 0.0 }
    }

    pub(super) fn insert(&mut self, slot: Slot, page: &PolicyPage, belief: OwnEvidence, now_days: f64) {
        let last_look = match page.last_look_days {
            Some(days) => LastLook::Looked(moment(days)),
            None => LastLook::Discovered(moment(now_days)),
        };
        let weight = page.weight / page.cost;
        let entry = PageEntry { last_look, belief, weight, host: page.host, status: PageStatus::Ready };
        self.columns.insert_at(slot, &entry, &page.place);
    }

    pub(super) fn begin(&mut self, tick: &PolicyTick, outlook: &Outlook) {
        let fetches = (tick.budget_per_day * tick.days).max(0.0);
        self.count = (SPARE_TIMES * fetches).ceil() as usize + SPARE_PAGES;
        let level = self.selection.as_ref().map(Selection::level);
        let level = level.filter(|level| level.is_finite()).unwrap_or(0.0);
        self.likely = LIKELY_OF_LAST * level;
        self.scan(tick.now_days, outlook, FLOOR_OF_LAST * level);
    }

    fn scan(&mut self, now_days: f64, outlook: &Outlook, floor: f64) {
        (self.looks, self.floor) = (0, floor);
        // Free the old selection first, to make room for the new one.
        self.selection = None;
        let (now, index, columns) = (moment(now_days), &self.index, &self.columns);
        let first = columns.scan(now, index, outlook, self.count, self.likely.max(floor), |_| true);
        self.selection = Some(match first.lower_floor(floor) {
            Some(selection) => selection,
            None => columns.scan(now, index, outlook, self.count, floor, |_| true),
        });
    }

    /// The best page and its value.
    pub(super) fn next(&mut self, now_days: f64, outlook: &Outlook) -> Option<(Slot, f64)> {
        loop {
            let selection = self.selection.as_mut()?;
            if let Some(next) = selection.next(&mut self.columns, outlook, moment(now_days), |_| true) {
                return Some((next.slot, next.value));
            }
            if !selection.is_truncated() && self.looks == 0 && self.floor == 0.0 {
                return None;
            }
            self.scan(now_days, outlook, 0.0);
        }
    }

    pub(super) fn last_look_days(&self, slot: Slot) -> Option<f64> {
        match self.columns.get(slot)?.last_look {
            LastLook::Looked(at) => Some(at.as_days()),
            LastLook::Discovered(_) => None,
        }
    }

    pub(super) fn looked(&mut self, slot: Slot, look: &PolicyLook, belief: Option<OwnEvidence>) {
        self.looks += 1;
        self.columns.looked(slot, look.outcome.map(|_| moment(look.at_days)));
        if let Some(belief) = belief {
            self.columns.set_belief(slot, &belief);
        }
    }
}
