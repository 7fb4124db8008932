//! Schedulers that wait for due dates, with idle slots filled.

use crate::pages::{DueQueue, SlotTable};
use revisit::columns::Slot;
use revisit::{PlanStanding, PlanValues, PolicyLook, PolicyPage, PolicyTick, RevisitPolicy};

/// Whether a page is in flight, and for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flight {
    Waiting,
    /// The policy within chose it.
    Chosen,
    /// It fills an idle slot; the policy within does not know of it.
    Early,
}

/// A policy that fetches the page due earliest where the policy within would fetch none. It needs a policy that says
/// when its pages are due.
pub struct Filled {
    within: Box<dyn RevisitPolicy>,
    pages: SlotTable<Flight>,
    /// Pages by due date. Made at the first idle slot of a tick, because a plan may move all dates.
    queue: Option<DueQueue>,
}

impl Filled {
    /// Around a policy without pages.
    pub fn new(within: Box<dyn RevisitPolicy>) -> Self {
        Self { within, pages: SlotTable::default(), queue: None }
    }

    fn earliest(&mut self) -> Option<Slot> {
        let Self { within, pages, queue } = self;
        let queue = queue.get_or_insert_with(|| {
            let mut queue = DueQueue::default();
            for (slot, _) in pages.iter().filter(|(_, flight)| **flight == Flight::Waiting) {
                if let Some(due_days) = within.due_days(slot) {
                    queue.push(slot, due_days);
                }
            }
            queue
        });
        queue.pop().map(|first| first.slot)
    }
}

impl RevisitPolicy for Filled {
    fn insert(&mut self, slot: Slot, page: &PolicyPage, now_days: f64) {
        self.within.insert(slot, page, now_days);
        self.pages.insert(slot, Flight::Waiting);
        self.queue = None;
    }

    fn weigh(&mut self, slot: Slot, weight: f64) {
        self.within.weigh(slot, weight);
    }

    fn remove(&mut self, slot: Slot) {
        self.within.remove(slot);
        self.pages.remove(slot);
        self.queue = None;
    }

    fn begin(&mut self, tick: &PolicyTick) {
        self.queue = None;
        self.within.begin(tick);
    }

    fn next(&mut self, now_days: f64) -> Option<Slot> {
        while let Some(slot) = self.within.next(now_days) {
            // Its turn may come while it is in flight already.
            if self.pages.insert(slot, Flight::Chosen) != Some(Flight::Early) {
                if let Some(queue) = &mut self.queue {
                    queue.remove(slot);
                }
                return Some(slot);
            }
        }
        let slot = self.earliest()?;
        self.pages.insert(slot, Flight::Early);
        Some(slot)
    }

    fn put_back(&mut self, slot: Slot) {
        if let Some(flight) = self.pages.get_mut(slot) {
            if *flight == Flight::Chosen {
                self.within.put_back(slot);
            }
            *flight = Flight::Waiting;
            self.queue = None;
        }
    }

    fn looked(&mut self, slot: Slot, look: &PolicyLook) {
        self.within.looked(slot, look);
        if let Some(flight) = self.pages.get_mut(slot) {
            *flight = Flight::Waiting;
            if let (Some(queue), Some(due_days)) = (&mut self.queue, self.within.due_days(slot)) {
                queue.push(slot, due_days);
            }
        }
    }

    fn believe(&mut self, slot: Slot, belief: change_rate::Gamma) {
        self.within.believe(slot, belief);
    }

    fn shows(&mut self, slot: Slot, new_pages_per_day: f64) {
        let before = self.within.due_days(slot);
        self.within.shows(slot, new_pages_per_day);
        if self.within.due_days(slot) != before {
            self.queue = None;
        }
    }

    fn measure(&mut self, slot: Slot, bytes: f64) {
        self.within.measure(slot, bytes);
    }

    fn due_days(&self, slot: Slot) -> Option<f64> {
        self.within.due_days(slot)
    }

    fn standing(&self, slot: Slot) -> Option<PlanStanding> {
        self.within.standing(slot)
    }

    fn plan_values(&self) -> Option<PlanValues> {
        self.within.plan_values()
    }

    fn learn_plan_values(&mut self, others: &[PlanValues], budget_per_day: f64) {
        self.within.learn_plan_values(others, budget_per_day);
    }

    fn plan_demand(&self) -> Option<f64> {
        self.within.plan_demand()
    }
}
