//! How deep links without promise are followed on each site, learned from how often that pays.
//!
//! A tunnel is a way between pages in the focus through pages that are not. [`LinkScoring::tunnel_depth`] follows it on
//! every site alike: where it is deep, precision is lost on sites without tunnels; where it is shallow, what lies behind
//! tunnels is never found. Here each page that was reached without promising words is a trial of its depth on the site whose
//! page led to it, and pays if it is in the focus or leads to one that is.
//!
//! The share of trials that pay has a Beta distribution, whose prior is the mean over all sites with the weight of
//! [`PRIOR_TRIALS`]. A depth is followed while a share of one standard deviation above the mean would be worth it, so that an
//! unknown site is tried before it is given up.
//!
//! [`LinkScoring::tunnel_depth`]: crate::LinkScoring::tunnel_depth

use std::collections::BTreeMap;

/// The deepest tunnels that are learned.
pub const DEEPEST_TUNNEL: usize = 4;
/// The most sites that are counted apart. Others have the mean of all. 3 MiB.
const MAX_SITES: usize = 1 << 15;
/// Trials that the mean of all sites is worth on each.
const PRIOR_TRIALS: f64 = 4.0;
/// The share that pays before anything is known.
const PRIOR_SHARE: f64 = 0.1;
/// Trials that [`PRIOR_SHARE`] is worth against those of all sites.
const PRIOR_OF_ALL: f64 = 20.0;
/// Beyond this number of trials, counts are halved: sites change.
const MAX_TRIALS: u32 = 1 << 10;

/// Trials of a depth, and how many of them paid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Trials {
    made: u32,
    paid: u32,
}

impl Trials {
    fn add(&mut self, paid: bool, most: u32) {
        if self.made >= most {
            (self.made, self.paid) = (self.made / 2, self.paid / 2);
        }
        self.made += 1;
        self.paid += u32::from(paid);
    }
}

/// How often tunnels of each site have paid. Sites are numbers: hashes of their names, say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TunnelDepths {
    sites: BTreeMap<u64, [Trials; DEEPEST_TUNNEL]>,
    all: [Trials; DEEPEST_TUNNEL],
}

impl TunnelDepths {
    /// Counts a page that was reached without promising words, so many hops out of the focus, and whether that paid. Hops of 0,
    /// and those beyond [`DEEPEST_TUNNEL`], are no trials.
    pub fn add(&mut self, site: u64, hops: usize, paid: bool) {
        let Some(depth) = hops.checked_sub(1).filter(|depth| *depth < DEEPEST_TUNNEL) else { return };
        self.all[depth].add(paid, u32::MAX / 2);
        if self.sites.len() < MAX_SITES || self.sites.contains_key(&site) {
            self.sites.entry(site).or_default()[depth].add(paid, MAX_TRIALS);
        }
    }

    /// The mean and the standard deviation of the share of tunnels with this many hops that pay on a site.
    pub fn share(&self, site: u64, hops: usize) -> (f64, f64) {
        let Some(depth) = hops.checked_sub(1).filter(|depth| *depth < DEEPEST_TUNNEL) else { return (0.0, 0.0) };
        let of_all = self.all[depth];
        let prior = (f64::from(of_all.paid) + PRIOR_SHARE * PRIOR_OF_ALL) / (f64::from(of_all.made) + PRIOR_OF_ALL);
        let trials = self.sites.get(&site).map_or(Trials::default(), |depths| depths[depth]);
        let paid = f64::from(trials.paid) + prior * PRIOR_TRIALS;
        let failed = f64::from(trials.made - trials.paid) + (1.0 - prior) * PRIOR_TRIALS;
        let sum = paid + failed;
        (paid / sum, (paid * failed / (sum * sum * (sum + 1.0))).sqrt())
    }

    /// How many hops from the focus links without promise are followed on a site, up to `most`: the deepest tunnel that may pay
    /// for at least the share `worthwhile` of its fetches.
    pub fn depth(&self, site: u64, most: usize, worthwhile: f64) -> usize {
        let may_pay = |hops: &usize| {
            let (mean, deviation) = self.share(site, *hops);
            mean + deviation >= worthwhile
        };
        (1..=most.min(DEEPEST_TUNNEL)).rev().find(may_pay).unwrap_or(0)
    }

    /// The number of sites that are counted apart.
    pub fn sites(&self) -> usize {
        self.sites.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WORTHWHILE: f64 = 0.05;

    #[test]
    fn an_unknown_site_is_followed_and_one_that_never_pays_is_not() {
        let mut depths = TunnelDepths::default();
        assert_eq!(depths.depth(7, 2, WORTHWHILE), 2);
        for _ in 0..60 {
            depths.add(7, 1, false);
            depths.add(7, 2, false);
        }
        assert_eq!((depths.depth(7, 2, WORTHWHILE), depths.depth(7, 0, WORTHWHILE)), (0, 0));
        let (mean, deviation) = depths.share(7, 1);
        // Beta(.1, 63.9): of 80 trials of all sites, 2 of the prior paid.
        assert!(
            (mean - 0.1 / 64.0).abs() < 1e-12
                && (deviation - (0.1f64 * 63.9 / (64.0 * 64.0 * 65.0)).sqrt()).abs() < 1e-12
        );
    }

    #[test]
    fn a_tunnel_that_pays_at_its_end_is_followed_to_its_end() {
        let mut depths = TunnelDepths::default();
        for trial in 0..60 {
            depths.add(7, 1, false);
            depths.add(7, 2, trial % 10 == 0);
        }
        assert_eq!((depths.depth(7, 2, WORTHWHILE), depths.depth(7, 1, WORTHWHILE)), (2, 0));
    }

    #[test]
    fn sites_teach_each_other_until_they_are_known() {
        let mut depths = TunnelDepths::default();
        (0..50).for_each(|site| (0..20).for_each(|_| depths.add(site, 1, site == 3)));
        assert_eq!((depths.depth(3, 1, WORTHWHILE), depths.depth(4, 1, WORTHWHILE)), (1, 0));
        let mut rich = TunnelDepths::default();
        (0..50).for_each(|site| (0..20).for_each(|_| rich.add(site, 1, true)));
        assert!(rich.share(99, 1).0 > 0.9 && depths.share(99, 1).0 < 0.03);
    }

    #[test]
    fn old_trials_are_forgotten() {
        let mut depths = TunnelDepths::default();
        (0..100_000).for_each(|_| depths.add(7, 1, false));
        (0..400).for_each(|_| depths.add(7, 1, true));
        assert!(depths.share(7, 1).0 > 0.3, "{:?}", depths.share(7, 1));
    }

    #[test]
    fn the_number_of_sites_is_bounded() {
        let mut depths = TunnelDepths::default();
        (0..2 * MAX_SITES as u64).for_each(|site| depths.add(site, 1, false));
        assert_eq!(depths.sites(), MAX_SITES);
        assert_eq!(depths.share(u64::MAX, 1), depths.share(2 * MAX_SITES as u64, 1));
    }

    proptest! {
        #[test]
        fn shares_and_depths_are_within_their_bounds(
            trials in proptest::collection::vec((0..3u64, 0..7usize, any::<bool>()), 0..80), most in 0..9usize, worthwhile in 0.0..1.0
        ) {
            let mut depths = TunnelDepths::default();
            trials.into_iter().for_each(|(site, hops, paid)| depths.add(site, hops, paid));
            for site in 0..4 {
                prop_assert!(depths.depth(site, most, worthwhile) <= most.min(DEEPEST_TUNNEL));
                for hops in 0..7 {
                    let (mean, deviation) = depths.share(site, hops);
                    prop_assert!((0.0..=1.0).contains(&mean) && (0.0..=0.5).contains(&deviation));
                }
            }
        }
    }
}
