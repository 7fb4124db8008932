//! Sample s pages of every group, then fetch the groups with the most changed samples.
//!
//! A sample costs the difference between the yields of the best groups and the average group; too small a sample
//! confuses groups near the threshold. The sum of both losses is least at
//!
//! ```text
//! s* = sqrt( N f ρ_t (1 - ρ_t) / (2 (ρ_above - ρ_mean)) )
//! ```
//!
//! with N pages a group, ρ_t the threshold (the 1 - r quantile of the groups' changed share), and f the density of
//! groups there. The published formula has r / 6 in place of ρ_t (1 - ρ_t) / 2, and gives sizes 1.5 to 3 times too
//! small.

/// The distribution of the changed share over groups, as far as the sample size depends on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangedShares {
    /// f: density of groups at the threshold.
    pub density: f64,
    /// ρ_t: the changed share that a share r of the groups exceeds.
    pub threshold: f64,
    /// Mean changed share of the groups above the threshold.
    pub mean_above: f64,
    /// Mean changed share of all groups.
    pub mean: f64,
}

impl ChangedShares {
    /// From the changed shares (0..=1) of some groups, for fetching the `budget_share` (0..1) of all pages. `None` with
    /// fewer than 10 groups or without differences between them.
    pub fn of_groups(changed_shares: &[f64], budget_share: f64) -> Option<Self> {
        let mut shares: Vec<f64> = changed_shares.iter().copied().filter(|share| (0.0..=1.0).contains(share)).collect();
        let groups = shares.len();
        if groups < 10 || !(0.0..1.0).contains(&budget_share) {
            return None;
        }
        shares.sort_by(f64::total_cmp);
        let at = (((1.0 - budget_share) * groups as f64) as usize).min(groups - 1);
        // The density from the distance between the neighbours of the threshold.
        let reach = (groups as f64).sqrt().ceil() as usize;
        let (low, high) = (at.saturating_sub(reach), (at + reach).min(groups - 1));
        let density = (high - low) as f64 / (groups as f64 * (shares[high] - shares[low]));
        let mean_of = |shares: &[f64]| shares.iter().sum::<f64>() / shares.len() as f64;
        let found = Self { density, threshold: shares[at], mean_above: mean_of(&shares[at..]), mean: mean_of(&shares) };
        (density.is_finite() && found.mean_above > found.mean).then_some(found)
    }

    /// s*: pages to sample of each group of `pages_per_group`, not rounded; between 1 and the budget.
    pub fn sample_size(&self, pages_per_group: f64, budget_share: f64) -> f64 {
        let misjudged = self.threshold * (1.0 - self.threshold) / 2.0;
        self.with(misjudged, pages_per_group).clamp(1.0, (budget_share * pages_per_group).max(1.0))
    }

    /// The sample size as published, for comparison.
    pub fn sample_size_as_printed(&self, pages_per_group: f64, budget_share: f64) -> f64 {
        self.with(budget_share / 6.0, pages_per_group)
    }

    fn with(&self, misjudged: f64, pages_per_group: f64) -> f64 {
        (pages_per_group * self.density * misjudged / (self.mean_above - self.mean)).sqrt()
    }
}

/// A group after its sample was fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampledGroup {
    /// Pages fetched for the sample.
    pub sampled: u32,
    /// Sampled pages that had changed.
    pub changed: u32,
    /// Pages not fetched yet.
    pub left: u32,
}

/// Spends `budget` fetches on whole groups, those with the largest share of changed samples first (ties in the given
/// order); the last group may get a part. Returns the pages to fetch of each group. Groups without a sample come last.
pub fn greedy_second_stage(groups: &[SampledGroup], budget: u64) -> Vec<u32> {
    let share = |group: &SampledGroup| f64::from(group.changed) / f64::from(group.sampled.max(1));
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by(|a, b| share(&groups[*b]).total_cmp(&share(&groups[*a])));
    let mut fetches = vec![0; groups.len()];
    let mut rest = budget;
    for group in order {
        let take = rest.min(u64::from(groups[group].left));
        // At most `left`, which is a u32.
        fetches[group] = take as u32;
        rest -= take;
    }
    fetches
}
