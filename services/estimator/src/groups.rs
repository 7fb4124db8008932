//! The groups of pages, with the evidence of their pages. They are few, so all groups of a partition are held in
//! memory.
//!
//! An observation of one page moves the prior of all pages of its site. The scheduler receives that once a day, with
//! one number per cell whose prior has moved enough, whatever the number of pages (ADR 12).

use crate::state::{GROUPS, GroupBelief, GroupKey};
use change_rate::{GammaPrior, GammaState, GroupSums};
use page::{CanonicalUrl, SiteKey};
use std::collections::{BTreeMap, HashMap};
use stream::{Context, ProcessError};
use sweeps::PagePlace;

/// The factor, up or down, by which the mean of a cell's prior must move to be announced.
const REPORTED_FACTOR: f64 = 1.1;

#[derive(Clone, Copy, Debug, Default)]
struct Group {
    sums: GroupSums,
    /// Pages of it that are known here.
    pages: i64,
}

impl Group {
    fn belief(self) -> GroupBelief {
        GroupBelief { changes: self.sums.changes, page_days: self.sums.page_days, pages: self.pages }
    }
}

/// The groups of this partition.
#[derive(Default)]
pub(crate) struct PartitionGroups {
    /// Groups by table key; the cells of a site follow it.
    groups: BTreeMap<GroupKey, Group>,
    /// The mean of the prior last announced, by table key of the cell. Absent: the operator's. Lost with the process;
    /// it is then announced again, which does no harm.
    reported_per_day: HashMap<GroupKey, f64>,
    /// Sites observed since the last announcement.
    touched: BTreeMap<GroupKey, SiteKey>,
}

/// The priors of a site that have moved, in days of observation per cell.
pub(crate) struct MovedPriors {
    pub(crate) site: SiteKey,
    pub(crate) cells: Vec<(u64, f64)>,
}

impl PartitionGroups {
    pub(crate) fn load(context: &Context<'_>) -> Result<Self, ProcessError> {
        let mut groups = BTreeMap::new();
        context.scan(GROUPS, b"", &mut |key, GroupBelief { changes, page_days, pages }| {
            groups.insert(key, Group { sums: GroupSums { changes, page_days }, pages });
            Ok(())
        })?;
        Ok(Self { groups, ..Self::default() })
    }

    pub(crate) fn len(&self) -> usize {
        self.groups.len()
    }

    /// The prior of a page in these groups, given outermost first.
    pub(crate) fn prior(&self, operators: GammaPrior, keys: &[GroupKey; 2]) -> GammaPrior {
        operators.within(&keys.each_ref().map(|key| self.sums(key)))
    }

    fn sums(&self, key: &GroupKey) -> GroupSums {
        self.groups.get(key).map(|group| group.sums).unwrap_or_default()
    }

    /// Replaces a page's earlier contribution to its groups with the new one.
    pub(crate) fn learn(
        &mut self,
        keys: &[GroupKey; 2],
        before: &GammaState,
        after: &GammaState,
        context: &mut Context<'_>,
    ) {
        for key in keys {
            let group = self.groups.entry(key.clone()).or_default();
            group.sums.replace_even(before, after);
            context.put(GROUPS, key, &group.belief());
        }
    }

    /// Counts a page that was not known.
    pub(crate) fn add(&mut self, keys: &[GroupKey; 2], context: &mut Context<'_>) {
        for key in keys {
            let group = self.groups.entry(key.clone()).or_default();
            group.pages += 1;
            context.put(GROUPS, key, &group.belief());
        }
    }

    /// Counts a page no more, and deletes its site and cell if they have no other. Returns the cell if it was deleted.
    pub(crate) fn remove(&mut self, keys: &[GroupKey; 2], context: &mut Context<'_>) -> Option<u64> {
        let mut gone = None;
        for key in keys {
            let Some(group) = self.groups.get_mut(key) else { continue };
            group.pages -= 1;
            if group.pages > 0 {
                context.put(GROUPS, key, &group.belief());
                continue;
            }
            self.groups.remove(key);
            self.reported_per_day.remove(key);
            self.touched.remove(key);
            context.delete(GROUPS, key);
            gone = keys[0].cell_of(key);
        }
        gone
    }

    /// Records an observation of a page of these groups, so that its site and cells are checked for the next
    /// announcement.
    pub(crate) fn touch(&mut self, keys: &[GroupKey; 2], site: &SiteKey) {
        if !self.touched.contains_key(&keys[0]) {
            self.touched.insert(keys[0].clone(), site.clone());
        }
    }

    /// Returns the priors that have moved enough on the sites observed since the last call, and counts them as
    /// announced.
    pub(crate) fn moved(&mut self, operators: GammaPrior) -> Vec<MovedPriors> {
        let mut all = Vec::new();
        for (site_key, site) in std::mem::take(&mut self.touched) {
            let sums = self.sums(&site_key);
            let mut moved = MovedPriors { site, cells: Vec::new() };
            let cells = self.groups.range(site_key.clone()..).take_while(|(key, _)| site_key.covers(key));
            for (key, group) in cells {
                let Some(cell) = site_key.cell_of(key) else { continue };
                let prior = operators.within(&[sums, group.sums]);
                let reported = self.reported_per_day.get(key).copied().unwrap_or(operators.belief().mean());
                let by = prior.belief().mean() / reported;
                if !(1.0 / REPORTED_FACTOR..=REPORTED_FACTOR).contains(&by) {
                    self.reported_per_day.insert(key.clone(), prior.belief().mean());
                    moved.cells.push((cell, prior.beta_days()));
                }
            }
            if !moved.cells.is_empty() {
                all.push(moved);
            }
        }
        all
    }
}

/// Table keys of a page's site and of its cell.
pub(crate) fn keys_of(url: &CanonicalUrl) -> [GroupKey; 2] {
    let site = url.site_key();
    let cell = PagePlace::of(site.as_str(), url.host().as_str(), url.path()).cell;
    let site = GroupKey::of_site(site.as_str());
    let cell = site.cell(cell);
    [site, cell]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(url: &str) -> ([GroupKey; 2], SiteKey) {
        let url = CanonicalUrl::parse(url).unwrap();
        (keys_of(&url), url.site_key())
    }

    #[test]
    fn a_cell_is_a_site_a_first_directory_and_a_file_type() {
        let cell = |url: &str| {
            let ([site, cell], _) = keys(url);
            assert_eq!(site, GroupKey::of_site("b.test"));
            site.cell_of(&cell).unwrap()
        };
        let docs = cell("http://a.b.test/docs/x.html");
        assert_eq!(docs, PagePlace::of("b.test", "a.b.test", "/docs/x.html").cell);
        assert_eq!(docs, cell("http://c.b.test/docs/2024/y.html?y=1.z"));
        for other in ["http://a.b.test/", "http://a.b.test/x.html", "http://a.b.test/docs/"] {
            assert_ne!(docs, cell(other), "{other}");
        }
        let ([site, _], _) = keys("http://a.b.test/");
        assert_eq!(site.cell_of(&site), None);
    }

    #[test]
    fn only_priors_that_moved_are_reported_and_only_once() {
        let operators = GammaPrior::default();
        let mut groups = PartitionGroups::default();
        let (busy, site) = keys("http://a.test/news/1.html");
        let (quiet, _) = keys("http://a.test/docs/1.html");
        let (other, other_site) = keys("http://b.test/news/1.html");
        groups.groups.insert(quiet[1].clone(), Group::default());
        groups.groups.insert(other[1].clone(), Group::default());
        groups.touch(&quiet, &site);
        groups.touch(&other, &other_site);
        assert!(groups.moved(operators).is_empty(), "nothing was learned");
        // Fifty changes in a hundred days: the cell's prior moves, and through the site's also that of its other cell.
        for key in &busy {
            let sums = GroupSums { changes: 50.0, page_days: 100.0 };
            groups.groups.insert(key.clone(), Group { sums, pages: 1 });
        }
        groups.touch(&busy, &site);
        let moved = groups.moved(operators);
        assert_eq!(moved.len(), 1);
        assert_eq!(moved[0].site, site);
        let cells: BTreeMap<u64, f64> = moved[0].cells.iter().copied().collect();
        for keys in [&busy, &quiet] {
            let cell = keys[0].cell_of(&keys[1]).unwrap();
            assert_eq!(cells[&cell], groups.prior(operators, keys).beta_days());
        }
        // An announced prior is not announced again after a small move.
        groups.touch(&busy, &site);
        assert!(groups.moved(operators).is_empty());
        groups.groups.get_mut(&busy[1]).unwrap().sums.page_days += 1.0;
        groups.touch(&busy, &site);
        assert!(groups.moved(operators).is_empty());
        groups.groups.get_mut(&busy[1]).unwrap().sums.page_days += 200.0;
        assert!(groups.moved(operators).is_empty(), "no page of the site was looked at");
        groups.touch(&busy, &site);
        assert_eq!(groups.moved(operators)[0].cells.len(), 1);
    }
}
