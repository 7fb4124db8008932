//! The changes of a model that must be published to the owners of its [`Outlook`](crate::Outlook).

use super::{REPORTED, SiteScore, SweepModel};
use crate::outlook::{CellChange, Changes, GroupChange};
use crate::states::SiteState;

impl SweepModel {
    /// The changes since the last call, except insignificant ones, which stay for [`SweepModel::take_changes`].
    pub fn take_significant_changes(&mut self) -> Changes {
        let groups = std::mem::take(&mut self.significant);
        let sites = std::mem::take(&mut self.significant_sites);
        Changes {
            groups: groups.into_iter().filter_map(|number| self.group_change(number)).collect(),
            cells: self.cell_changes(),
            sites: sites.into_iter().filter_map(|site| self.site_change(site)).collect(),
        }
    }

    /// All changes since the last call.
    pub fn take_changes(&mut self) -> Changes {
        self.significant.clear();
        self.significant_sites.clear();
        let has_score = |site: &u32| (*site as usize) < self.scores.len();
        let mut sites: Vec<u32> = self.outlook.site_numbers.in_use().into_iter().filter(has_score).collect();
        sites.sort_unstable_by_key(|site| self.outlook.sites[*site as usize].hash);
        Changes {
            groups: self.groups_in_use().filter_map(|number| self.group_change(number as u32)).collect(),
            cells: self.cell_changes(),
            sites: sites.into_iter().filter_map(|site| self.site_change(site)).collect(),
        }
    }

    fn group_change(&mut self, number: u32) -> Option<GroupChange> {
        let unreported = std::mem::replace(&mut self.unreported[number as usize], REPORTED);
        if unreported.first_bin == i32::MAX {
            return None;
        }
        let group = &self.outlook.groups[number as usize];
        let hazard = &group.hazard;
        let first_bin = unreported.first_bin.clamp(hazard.first_bin(), hazard.end_bin());
        Some(GroupChange {
            group: group.group,
            site: group.site,
            pages: group.pages,
            oldest_bin: hazard.first_bin(),
            first_bin,
            totals: hazard.totals()[(first_bin - hazard.first_bin()) as usize..].to_vec(),
            per_day: hazard.per_day() as f32,
        })
    }

    fn cell_changes(&mut self) -> Vec<CellChange> {
        let mut changes = Vec::new();
        for number in std::mem::take(&mut self.unreported_cells) {
            let cell = &mut self.cells[number as usize];
            if !std::mem::replace(&mut cell.reported, true) {
                changes.push(CellChange { cell: cell.cell, site: cell.site, priors: cell.priors });
            }
        }
        changes
    }

    fn site_change(&mut self, number: u32) -> Option<SiteState> {
        let outlook = self.outlook.sites[number as usize];
        let score = &mut self.scores[number as usize];
        let changed = score.forecast_lead != outlook.lead;
        *score = SiteScore { forecast_lead: outlook.lead, listed: false };
        changed.then_some(SiteState { site: outlook.hash, lead: outlook.lead })
    }
}
