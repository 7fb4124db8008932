//! The extents of the pages' changes, as the estimator keeps them in the running system.

use crate::columns::{PageColumns, Slot};
use crate::extent::worth_of_changes;
use crate::revisit_policy::PolicyLook;
use change_rate::{ExtentEvidence, ExtentPrior};
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
pub(super) struct PageExtents {
    /// Share of a change's value that follows its extent.
    share: f64,
    /// By slot: importance divided by cost, and what was seen of its changes.
    pages: Vec<(f64, ExtentEvidence)>,
    /// By site.
    sites: BTreeMap<u64, ExtentEvidence>,
}

impl PageExtents {
    pub(super) fn new(share: f64) -> Self {
        Self { share, pages: Vec::new(), sites: BTreeMap::new() }
    }

    pub(super) fn insert(&mut self, slot: Slot, weight: f64) {
        if self.pages.len() <= slot.index() {
            self.pages.resize(slot.index() + 1, (0.0, ExtentEvidence::default()));
        }
        self.pages[slot.index()] = (weight, ExtentEvidence::default());
    }

    /// Learns from a look, and weighs the page by what is believed of its changes.
    pub(super) fn looked(&mut self, slot: Slot, look: &PolicyLook, columns: &mut PageColumns) {
        let (Some((weight, evidence)), Some(place)) = (self.pages.get_mut(slot.index()), columns.place(slot)) else {
            return;
        };
        let site = self.sites.entry(place.site).or_default();
        let is_change = look.outcome.is_some_and(|outcome| outcome.is_change());
        if let Some(extent) = look.extent.filter(|_| is_change) {
            evidence.observe(extent);
            site.observe(extent);
        }
        let mean_extent = ExtentPrior::default().learned_from(site).mean_after(evidence);
        let weight = *weight * worth_of_changes(self.share, mean_extent);
        columns.update(slot, |entry| entry.weight = weight);
    }
}
