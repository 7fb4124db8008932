//! Priors of cells, refitted from what their pages have shown.

use super::SweepModel;
use crate::belief::CellPriors;
use crate::hash_keys::HashMapByHash;
use crate::rules::{PRIOR_ALPHA, PRIOR_BETA_DAYS};
use change_rate::GroupSums;

impl SweepModel {
    /// Fits the prior rates: of all pages, of the site, of the cell.
    pub(super) fn refit_priors(&mut self) {
        let mut sites: HashMapByHash<(GroupSums, GroupSums)> = HashMapByHash::default();
        let mut numbers = self.outlook.cell_numbers.in_use();
        numbers.sort_by_key(|number| self.cells[*number as usize].order);
        for number in &numbers {
            let cell = &self.cells[*number as usize];
            let (own, plain) = sites.entry(cell.site).or_default();
            add(own, &cell.own);
            add(plain, &cell.plain);
        }
        for number in numbers {
            let cell = &mut self.cells[number as usize];
            let (own, plain) = &sites[&cell.site];
            let priors = priors_of((own, plain), (&cell.own, &cell.plain));
            if priors != cell.priors {
                cell.priors = priors;
                self.outlook.cells[number as usize] = priors;
                if std::mem::take(&mut cell.reported) {
                    self.unreported_cells.push(number);
                }
            }
        }
    }
}

pub(super) fn add(sums: &mut GroupSums, more: &GroupSums) {
    sums.changes += more.changes;
    sums.page_days += more.page_days;
}

/// The priors of a cell from the sums of its site and its own, (own, plain) each.
pub(super) fn priors_of(site: (&GroupSums, &GroupSums), cell: (&GroupSums, &GroupSums)) -> CellPriors {
    let days = |site: &GroupSums, cell: &GroupSums| {
        let above = site.mean_change_rate_per_day(PRIOR_ALPHA / PRIOR_BETA_DAYS);
        PRIOR_ALPHA / cell.mean_change_rate_per_day(above)
    };
    CellPriors { own_beta_days: days(site.0, cell.0), plain_beta_days: days(site.1, cell.1) }
}
