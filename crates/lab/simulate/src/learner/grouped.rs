//! The Gamma filter, with one prior for all pages or with priors learned by site and cell.

use super::Learner;
use crate::error::SimulationError;
use crate::population::Pages;
use change_rate::{
    ChangeRateEstimator, EstimatorOptions, Gamma, GammaFilter, GammaPrior, GammaState, GroupSums, LookOutcome,
};
use std::collections::HashMap;

/// [`GammaFilter`] for many pages: 8 bytes a page, 12 with learned priors.
#[derive(Clone, Debug)]
pub struct GammaLearner {
    filter: GammaFilter,
    evidence: Vec<GammaState>,
    groups: Option<PageGrouping>,
}

#[derive(Clone, Debug, Default)]
struct PageGrouping {
    cell_of_page: Vec<u32>,
    cells: Vec<GroupedCell>,
    sites: Vec<GroupSums>,
}

#[derive(Clone, Copy, Debug)]
struct GroupedCell {
    site: u32,
    sums: GroupSums,
}

impl GammaLearner {
    /// For these pages. With `grouped`, the prior of a page is learned from its site and its cell.
    pub fn new(pages: &Pages, options: EstimatorOptions, grouped: bool) -> Result<Self, SimulationError> {
        let filter = GammaFilter::new(options.prior, options.forgetting_days)
            .map_err(|fault| SimulationError::Combination(fault.to_string()))?;
        let groups = grouped.then(|| PageGrouping::of(pages));
        Ok(Self { filter, evidence: vec![GammaState::default(); pages.len()], groups })
    }

    fn prior(&self, page: usize) -> GammaPrior {
        match &self.groups {
            None => self.filter.prior(),
            Some(groups) => {
                let cell = groups.cells[groups.cell_of_page[page] as usize];
                self.filter.prior().within(&[groups.sites[cell.site as usize], cell.sums])
            }
        }
    }
}

impl PageGrouping {
    fn of(pages: &Pages) -> Self {
        let (mut groups, mut sites, mut cells) = (Self::default(), HashMap::new(), HashMap::new());
        for page in 0..pages.len() {
            let place = pages.place(page);
            let site = *sites.entry(place.site).or_insert_with(|| {
                groups.sites.push(GroupSums::default());
                groups.sites.len() as u32 - 1
            });
            let cell = *cells.entry(place.cell).or_insert_with(|| {
                groups.cells.push(GroupedCell { site, sums: GroupSums::default() });
                groups.cells.len() as u32 - 1
            });
            groups.cell_of_page.push(cell);
        }
        groups
    }
}

impl Learner for GammaLearner {
    fn belief(&self, page: usize) -> Gamma {
        self.filter.with_prior(self.prior(page)).posterior(&self.evidence[page])
    }

    fn look(&mut self, page: usize, interval_days: f64, outcome: LookOutcome) -> Gamma {
        let filter = self.filter.with_prior(self.prior(page));
        let before = self.evidence[page];
        filter.update(&mut self.evidence[page], interval_days, outcome);
        let after = self.evidence[page];
        if let Some(groups) = &mut self.groups {
            let cell = &mut groups.cells[groups.cell_of_page[page] as usize];
            cell.sums.replace_even(&before, &after);
            groups.sites[cell.site as usize].replace_even(&before, &after);
        }
        filter.posterior(&after)
    }

    fn teaches_siblings(&self) -> bool {
        self.groups.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::population::PopulationKind;

    #[test]
    fn siblings_teach_a_page_that_was_never_looked_at() {
        let pages = PopulationKind::Hosts.draw(100, 1).expect("pages").pages;
        let mut grouped = GammaLearner::new(&pages, EstimatorOptions::default(), true).expect("good options");
        let mut alone = GammaLearner::new(&pages, EstimatorOptions::default(), false).expect("good options");
        let before = grouped.belief(49);
        for page in 0..49 {
            for learner in [&mut grouped, &mut alone] {
                learner.look(page, 1.0, LookOutcome::Changed);
            }
        }
        assert!(grouped.belief(49).mean() > 20.0 * before.mean());
        // The next host knows nothing of it.
        assert_eq!(grouped.belief(50), before);
        assert_eq!(alone.belief(49), before);
    }
}
