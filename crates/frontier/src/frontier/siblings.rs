//! Applies new priors of cells to the pages in them.

use super::Frontier;
use crate::siblings::taught;
use revisit::columns::{Index, Slot, whole_belief};
use sweeps::OwnEvidence;

impl Frontier {
    /// Before a tick: updates the beliefs of pages whose cell has a new prior. One pass over the pages, however many
    /// cells changed.
    pub fn teach_siblings(&mut self) {
        let cells = std::mem::take(&mut self.taught_cells);
        if cells.is_empty() {
            return;
        }
        for slot in self.pages.columns.slots_in_cells(&cells) {
            self.teach(slot);
        }
    }

    fn teach(&mut self, slot: Slot) {
        let Self { pages, outlook, planner, rules, .. } = self;
        let columns = &mut pages.columns;
        let (Some(place), Some(entry)) = (columns.place(slot), columns.get(slot)) else { return };
        let evidence = entry.belief.plain;
        let Some(belief) = taught(evidence, place.cell, rules, outlook) else { return };
        columns.set_belief(slot, &OwnEvidence { plain: evidence, ..whole_belief(belief) });
        if let Some(planner) = planner {
            planner.believe(slot, belief);
        }
    }

    /// Notes changed cells for the next tick.
    pub(crate) fn take_cells(&mut self, cells: impl IntoIterator<Item = u64>) {
        if self.rules.siblings.is_some() && !matches!(self.rules.index, Index::Live { .. }) {
            self.taught_cells.extend(cells);
        }
    }
}
