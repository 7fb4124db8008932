//! Thompson sampling: keep a Beta belief about each group's changed share, draw from it, fetch a batch from the groups
//! with the highest draws, learn, repeat. Groups that might be good are tried, groups that proved bad are left alone.

use crate::sampling::beta;
use change_rate::InvalidParameter;

/// Pages fetched from a group before its belief is used again.
const BATCH_PAGES: u32 = 4;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct GroupTally {
    fetched: u32,
    changed: u32,
    left: u32,
}

/// Chooses groups to fetch from during one cycle.
#[derive(Clone, Debug)]
pub struct ThompsonSampling {
    changed_before: f64,
    unchanged_before: f64,
    groups: Vec<GroupTally>,
}

impl ThompsonSampling {
    /// Groups with `pages` each. The prior of every group's changed share is Beta(`a`, `b`), worth `a` changed and `b`
    /// unchanged pages: Beta(1, 1) if nothing is known, or [`fitted_prior`] from the last cycle.
    pub fn new(pages: &[u32], a: f64, b: f64) -> Result<Self, InvalidParameter> {
        Ok(Self {
            changed_before: InvalidParameter::check("a", a)?,
            unchanged_before: InvalidParameter::check("b", b)?,
            groups: pages.iter().map(|left| GroupTally { left: *left, ..GroupTally::default() }).collect(),
        })
    }

    /// The next batches as (group, pages), best draw first: `batches` of four pages, fewer where a group or the pages
    /// run out. `uniform` yields uniform random numbers in 0..1. A round of a twentieth of the groups works well.
    pub fn next(&self, batches: usize, mut uniform: impl FnMut() -> f64) -> Vec<(usize, u32)> {
        let mut draws: Vec<(f64, usize)> = Vec::with_capacity(self.groups.len());
        for (index, group) in self.groups.iter().enumerate().filter(|(_, group)| group.left > 0) {
            let (a, b) = self.belief(group);
            draws.push((beta::draw(a, b, &mut uniform), index));
        }
        let batches = batches.min(draws.len());
        if batches < draws.len() {
            draws.select_nth_unstable_by(batches, |x, y| y.0.total_cmp(&x.0));
            draws.truncate(batches);
        }
        draws.sort_unstable_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
        draws.into_iter().map(|(_, group)| (group, self.groups[group].left.min(BATCH_PAGES))).collect()
    }

    /// Takes in the result of a batch: `changed` of `fetched` pages. Ignores a group that does not exist.
    pub fn learn(&mut self, group: usize, fetched: u32, changed: u32) {
        if let Some(group) = self.groups.get_mut(group) {
            group.fetched = group.fetched.saturating_add(fetched);
            group.changed = group.changed.saturating_add(changed.min(fetched));
            group.left = group.left.saturating_sub(fetched);
        }
    }

    /// The expected changed share of a group; `None` for one that does not exist.
    pub fn changed_share(&self, group: usize) -> Option<f64> {
        self.groups.get(group).map(|group| {
            let (a, b) = self.belief(group);
            a / (a + b)
        })
    }

    /// The prior (a, b) fitted to the groups' results in this cycle.
    pub fn fitted_prior(&self) -> Option<(f64, f64)> {
        let looked = self.groups.iter().map(|group| (group.fetched, group.changed));
        fitted_prior(&looked.collect::<Vec<_>>())
    }

    fn belief(&self, group: &GroupTally) -> (f64, f64) {
        let changed = f64::from(group.changed);
        (self.changed_before + changed, self.unchanged_before + f64::from(group.fetched) - changed)
    }
}

/// The Beta distribution over groups with the mean and variance of these results (fetched, changed), without the part
/// of the variance that is due to small samples. Worth 0.05 to 1000 pages. `None` unless two groups with two pages each
/// differ.
pub fn fitted_prior(groups: &[(u32, u32)]) -> Option<(f64, f64)> {
    let usable =
        || groups.iter().filter(|(fetched, _)| *fetched >= 2).map(|&(n, x)| (f64::from(n), f64::from(x.min(n))));
    let count = usable().count() as f64;
    let pages: f64 = usable().map(|(n, _)| n).sum();
    let mean = usable().map(|(_, x)| x).sum::<f64>() / pages;
    if count < 2.0 || !(mean > 0.0 && mean < 1.0) {
        return None;
    }
    // Weighted by pages, the squared deviations of the groups' shares add up to mean (1 - mean) (count - 1 +
    // correlation × (pages - sum n² / pages - count + 1)), where correlation is 1 / (a + b + 1).
    let deviations: f64 = usable().map(|(n, x)| n * (x / n - mean) * (x / n - mean)).sum();
    let by_chance = count - 1.0;
    let by_groups = pages - usable().map(|(n, _)| n * n).sum::<f64>() / pages - by_chance;
    let correlation = (deviations / (mean * (1.0 - mean)) - by_chance) / by_groups;
    let worth = (1.0 / correlation.max(1e-3) - 1.0).clamp(0.05, 1000.0);
    (by_groups > 0.0).then_some((mean * worth, (1.0 - mean) * worth))
}
