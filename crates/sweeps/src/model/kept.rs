//! Saves and restores a model piece by piece.

use super::{ModelCell, REPORTED, SiteScore, SweepModel};
use crate::numbers::put_at;
use crate::rules::{LEAD_LEAST, LEAD_MOST};
use crate::states::{CellState, GroupState, InvalidState, SiteState};

impl SweepModel {
    pub fn group_state(&self, group: u64) -> Option<GroupState> {
        let number = self.outlook.group_number(group)? as usize;
        let outlook = &self.outlook.groups[number];
        Some(GroupState::of(group, outlook.site, outlook.pages, &self.calendars[number], &outlook.hazard))
    }

    pub fn cell_state(&self, cell: u64) -> Option<CellState> {
        let cell = &self.cells[self.outlook.cell_number(cell)? as usize];
        Some(CellState { cell: cell.cell, site: cell.site, own: cell.own, plain: cell.plain, priors: cell.priors })
    }

    /// The place of a cell in the order of discovery.
    pub fn cell_order(&self, cell: u64) -> Option<i64> {
        Some(self.cells[self.outlook.cell_number(cell)? as usize].order)
    }

    pub fn site_state(&self, site: u64) -> Option<SiteState> {
        let number = self.outlook.site_number(site)?;
        Some(SiteState { site, lead: self.outlook.sites[number as usize].lead })
    }

    /// Restores the newest bin of a model that holds only restored states.
    pub fn restore_today(&mut self, bin: i32) {
        self.today = bin;
    }

    /// Restores the page counts of candidate groups, with and without calendars.
    pub fn restore_sizes(&mut self, sizes: &[(u64, u32)]) {
        self.sizes.reserve(sizes.len());
        sizes.iter().for_each(|(group, pages)| self.sizes.add(*group, *pages));
    }

    /// Restores a group. [`SweepModel::restore_sizes`] restores its size.
    pub fn restore_group(&mut self, state: GroupState) -> Result<(), InvalidState> {
        let (group, site, pages) = (state.group, state.site, state.pages);
        let (calendar, hazard) = state.into_parts()?;
        match self.outlook.group_number(group) {
            Some(number) => {
                self.calendars[number as usize] = calendar;
                self.outlook.groups[number as usize].hazard = hazard;
                self.outlook.resize(number, pages);
            }
            None => {
                let number = self.outlook.add_group(group, site, pages, hazard);
                put_at(&mut self.calendars, number, calendar);
                put_at(&mut self.unreported, number, REPORTED);
            }
        }
        Ok(())
    }

    /// Restores a cell and its place in the order of discovery. Restore the sizes first: the pages of a cell without a size
    /// were not counted, so it stays.
    pub fn restore_cell(&mut self, state: &CellState, order: i64) -> Result<(), InvalidState> {
        let sums = [state.own.changes, state.own.page_days, state.plain.changes, state.plain.page_days];
        let days = [state.priors.own_beta_days, state.priors.plain_beta_days];
        let sound = sums.iter().all(|sum| *sum >= 0.0 && sum.is_finite());
        if !sound || !days.iter().all(|days| *days > 0.0 && days.is_finite()) {
            return Err(InvalidState::cell(state.cell, "its sums or priors are negative or not finite"));
        }
        let CellState { cell, site, own, plain, priors } = *state;
        let restored = ModelCell { cell, site, order, own, plain, priors, reported: true };
        self.outlook.set_priors(cell, priors);
        let number = self.outlook.number_cell(cell);
        put_at(&mut self.cells, number, restored);
        self.next_order = self.next_order.max(order.saturating_add(1));
        if self.sizes.get(cell) == 0 {
            self.sizes.lose_track(cell);
        }
        Ok(())
    }

    pub fn restore_site(&mut self, state: &SiteState) -> Result<(), InvalidState> {
        if !(LEAD_LEAST..=LEAD_MOST).contains(&f64::from(state.lead)) {
            return Err(InvalidState::site(state.site, "its lead is out of bounds"));
        }
        let number = self.outlook.number_site(state.site) as usize;
        self.outlook.sites[number].lead = state.lead;
        if self.scores.len() <= number {
            self.scores.resize_with(number + 1, SiteScore::default);
        }
        self.scores[number] = SiteScore { forecast_lead: state.lead, listed: false };
        Ok(())
    }
}
