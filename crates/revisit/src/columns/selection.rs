//! Chooses the best pages one by one, exactly as if all were scored again before each choice.
//!
//! The value of a first look belongs to the groups, not to the page. All pages of a membership have the same, and the
//! first page chosen takes it for all. So two lists suffice: (A) the best pages by their own value, and (B) the best
//! page of every membership, with the value of a first look added. Once B's page of a membership is chosen, the other
//! pages are worth only their own value, and those that matter are in A.

use super::{Candidate, Index, NEVER_FETCHED, PageColumns, PageRecord, PageStatus, Slot};
use page::Timestamp;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::hint::black_box;
use sweeps::Outlook;

/// A page in A or B.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SelectionEntry {
    pub(super) value: f64,
    pub(super) slot: Slot,
    /// Whether it is in B.
    pub(super) probe: bool,
}

impl Eq for SelectionEntry {}

impl Ord for SelectionEntry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.value.total_cmp(&other.value).then(other.slot.cmp(&self.slot)).then(self.probe.cmp(&other.probe))
    }
}

impl PartialOrd for SelectionEntry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The best pages at the time of a scan, to be taken one by one.
#[derive(Clone, Debug)]
pub struct Selection {
    index: Index,
    floor: f64,
    /// Pages, the best last, with their values at the scan.
    best: Vec<SelectionEntry>,
    /// Pages that gave way to better ones, with their values since.
    again: BinaryHeap<SelectionEntry>,
    /// Value at the scan of the last page taken.
    level: f64,
    /// The highest value left out; `None` when nothing was.
    left_out: Option<f64>,
}

/// The selection ends once the best page is worth less than this fraction of what was left out: looks since the scan
/// have shown that the chosen pages were not the best.
const WORSE_THAN_LEFT_OUT: f64 = 0.9;

impl Selection {
    /// From the findings of a scan, the best last.
    pub(super) fn new(index: Index, floor: f64, best: Vec<SelectionEntry>, left_out: Option<f64>) -> Self {
        Self { index, floor, best, again: BinaryHeap::new(), level: f64::INFINITY, left_out }
    }

    /// The selection that a scan with a lower floor would give, if that scan could have found no other pages: there
    /// were more than enough.
    pub fn lower_floor(self, floor: f64) -> Option<Self> {
        (floor >= self.floor || self.left_out.is_some_and(|left_out| left_out > 0.0))
            .then_some(Self { floor: floor.min(self.floor), ..self })
    }

    /// Takes out the best page on a host that is `permitted`, and marks it as in flight and its groups as about to be looked into ([`PageColumns::unanswered`] takes that back).
    /// Values are current: a page that has lost value since the scan gives way to the next. Pages that have gained wait
    /// for the next scan. Returns `None` once the rest is worth clearly less than what the scan left out; then see
    /// [`Selection::is_truncated`].
    pub fn next(
        &mut self,
        columns: &mut PageColumns,
        outlook: &Outlook,
        now: Timestamp,
        permitted: impl Fn(u32) -> bool,
    ) -> Option<Candidate> {
        let now_days = now.as_days();
        self.fetch_ahead(columns, outlook);
        while let Some((entry, at_scan)) = self.pop() {
            let scanned = entry.value;
            let i = entry.slot.index();
            if columns.flags[i] & !NEVER_FETCHED != 0 || !permitted(columns.pages[i].host) {
                continue;
            }
            let mut value = columns.value(i, &self.index, outlook, now_days);
            if let (true, Index::Live { sentinel_weight, .. }) = (entry.probe, self.index) {
                value += sentinel_weight * columns.sentinel(columns.pages[i].membership, outlook, now_days);
            }
            let entry = SelectionEntry { value, ..entry };
            if value < self.floor {
                continue;
            }
            if self.best.last().max(self.again.peek()).is_some_and(|next| *next > entry) {
                if self.again.len() == self.again.capacity() {
                    // By an eighth: growing by doubling could take twice the memory.
                    self.again.reserve_exact(self.again.len() / 8 + 64);
                }
                self.again.push(entry);
                continue;
            }
            if self.left_out.is_some_and(|left_out| value < WORSE_THAN_LEFT_OUT * left_out) {
                self.best.clear();
                self.again.clear();
                return None;
            }
            let never_fetched = columns.flags[i] & NEVER_FETCHED != 0;
            if matches!(self.index, Index::Live { .. }) && !never_fetched {
                columns.memberships.asked(columns.pages[i].membership, now_days);
            }
            if at_scan {
                self.level = scanned;
            }
            columns.set_status(entry.slot, PageStatus::InFlight);
            return Some(Candidate { slot: entry.slot, host: columns.pages[i].host, never_fetched, value });
        }
        None
    }

    /// Prefetches what the next pages need: each access depends on the previous one, and all lie far apart in memory.
    #[inline]
    fn fetch_ahead(&self, columns: &PageColumns, outlook: &Outlook) {
        let ahead = |pages: usize| {
            let entry = self.best.get(self.best.len().checked_sub(pages)?)?;
            Some((&columns.pages[entry.slot.index()], entry.slot.index()))
        };
        if let Some((page, i)) = ahead(8) {
            black_box((page.membership, columns.flags[i]));
        }
        let groups = |page: &PageRecord| columns.memberships.rows()[page.membership as usize].groups();
        if let Some((page, _)) = ahead(6) {
            black_box(groups(page).len());
        }
        if let Some((page, _)) = ahead(4) {
            groups(page).iter().for_each(|group| {
                black_box(columns.memberships.groups()[*group as usize].number);
            });
        }
        if let Some((page, _)) = ahead(2) {
            for &group in groups(page) {
                if let Some(group) = outlook.group_at(columns.memberships.groups()[group as usize].number) {
                    group.hazard.fetch_ahead();
                }
            }
        }
    }

    /// The next page, and whether its value is still that of the scan.
    fn pop(&mut self) -> Option<(SelectionEntry, bool)> {
        if self.again.peek() > self.best.last() {
            self.again.pop().map(|entry| (entry, false))
        } else {
            self.best.pop().map(|entry| (entry, true))
        }
    }

    /// Value at the scan of the last page taken: how far down the selection is.
    pub fn level(&self) -> f64 {
        self.level
    }

    /// Whether there were more pages than asked for. If so, another scan may find some when nothing is left.
    pub fn is_truncated(&self) -> bool {
        self.left_out.is_some()
    }
}
