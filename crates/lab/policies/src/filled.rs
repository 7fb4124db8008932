//! Schedulers that wait for due dates, with idle slots filled.

use crate::pages::DueQueue;
use revisit::columns::Slot;
use revisit::{PolicyLook, PolicyPage, PolicyTick, RevisitPolicy};
use std::collections::BTreeSet;

/// A policy that fetches the page due earliest where the policy within would fetch none. It needs a policy that says
/// when its pages are due.
pub struct Filled {
    within: Box<dyn RevisitPolicy>,
    pages: BTreeSet<Slot>,
    in_flight: BTreeSet<Slot>,
    /// Those in flight that the policy within did not choose.
    early: BTreeSet<Slot>,
    /// Pages by due date. Made at the first idle slot of a tick, because a plan may move all dates.
    queue: Option<DueQueue>,
}

impl Filled {
    /// Around a policy without pages.
    pub fn new(within: Box<dyn RevisitPolicy>) -> Self {
        let (pages, in_flight, early) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        Self { within, pages, in_flight, early, queue: None }
    }

    fn earliest(&mut self) -> Option<Slot> {
        let Self { within, pages, in_flight, queue, .. } = self;
        let queue = queue.get_or_insert_with(|| {
            let mut queue = DueQueue::default();
            for slot in pages.difference(in_flight) {
                if let Some(due_days) = within.due_days(*slot) {
                    queue.push(*slot, due_days);
                }
            }
            queue
        });
        queue.pop().map(|first| first.slot)
    }
}

impl RevisitPolicy for Filled {
    fn reserve(&mut self, pages: usize) {
        self.within.reserve(pages);
    }

    fn insert(&mut self, slot: Slot, page: &PolicyPage, now_days: f64) {
        self.pages.insert(slot);
        self.within.insert(slot, page, now_days);
    }

    fn remove(&mut self, slot: Slot) {
        self.pages.remove(&slot);
        self.in_flight.remove(&slot);
        self.early.remove(&slot);
        if let Some(queue) = &mut self.queue {
            queue.remove(slot);
        }
        self.within.remove(slot);
    }

    fn begin(&mut self, tick: &PolicyTick) {
        self.queue = None;
        self.within.begin(tick);
    }

    fn next(&mut self, now_days: f64) -> Option<Slot> {
        let slot = loop {
            match self.within.next(now_days) {
                // Chosen by the policy within while it is fetched before its time.
                Some(slot) if self.early.contains(&slot) => {}
                Some(slot) => {
                    if let Some(queue) = &mut self.queue {
                        queue.remove(slot);
                    }
                    break slot;
                }
                None => {
                    let slot = self.earliest()?;
                    self.early.insert(slot);
                    break slot;
                }
            }
        };
        self.in_flight.insert(slot);
        Some(slot)
    }

    fn put_back(&mut self, slot: Slot) {
        self.in_flight.remove(&slot);
        if !self.early.remove(&slot) {
            self.within.put_back(slot);
        }
        self.queue = None;
    }

    fn looked(&mut self, slot: Slot, look: &PolicyLook) {
        self.in_flight.remove(&slot);
        self.early.remove(&slot);
        self.within.looked(slot, look);
        if let (Some(queue), Some(due_days)) = (&mut self.queue, self.within.due_days(slot)) {
            queue.push(slot, due_days);
        }
    }

    fn believe(&mut self, slot: Slot, belief: change_rate::Gamma) {
        self.within.believe(slot, belief);
    }

    fn due_days(&self, slot: Slot) -> Option<f64> {
        self.within.due_days(slot)
    }
}
