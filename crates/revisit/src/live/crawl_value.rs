//! The plain crawl value as a policy.

use super::packed::Packed;
use crate::columns::{Index, PageStatus, Slot, whole_belief};
use crate::revisit_policy::{PolicyLook, PolicyPage, PolicyTick, RevisitPolicy};
use change_rate::Gamma;
use sweeps::Outlook;

/// The crawl value of the belief that an estimator hands over (C18 of the algorithm notes).
#[derive(Clone, Debug)]
pub struct CrawlValue {
    packed: Packed,
    outlook: Outlook,
}

impl CrawlValue {
    /// A policy without pages; theta as in [`Index::CrawlValue`].
    pub fn new(theta: f64) -> Self {
        Self { packed: Packed::new(Index::CrawlValue { theta }), outlook: Outlook::default() }
    }
}

impl RevisitPolicy for CrawlValue {
    fn insert(&mut self, slot: Slot, page: &PolicyPage, now_days: f64) {
        self.packed.insert(slot, page, whole_belief(page.belief), now_days);
    }

    fn remove(&mut self, slot: Slot) {
        self.packed.columns.remove(slot);
    }

    fn begin(&mut self, tick: &PolicyTick) {
        self.packed.begin(tick, &self.outlook);
    }

    fn next(&mut self, now_days: f64) -> Option<Slot> {
        self.packed.next(now_days, &self.outlook).map(|(slot, _)| slot)
    }

    fn put_back(&mut self, slot: Slot) {
        self.packed.columns.set_status(slot, PageStatus::Ready);
    }

    fn looked(&mut self, slot: Slot, look: &PolicyLook) {
        self.packed.looked(slot, look, Some(whole_belief(look.belief)));
    }

    fn believe(&mut self, slot: Slot, belief: Gamma) {
        self.packed.columns.set_belief(slot, &whole_belief(belief));
    }
}
