//! The belief about a page before its first look, learned from its siblings.
//!
//! Most pages are looked at a few times and never seen to change; their siblings are then better evidence about them than
//! their own looks. Sums over the pages of a group (a site; within it, a directory and file type) give its rate, pulled
//! towards the level above with the weight of `strength` changes:
//!
//! ```text
//! m_site = (changes_site + k) / (days_site + k / m_0)        m_cell = (changes_cell + k) / (days_cell + k / m_site)
//! ```
//!
//! with k the strength and m_0 the operator's prior rate. The page's prior keeps its alpha and gets
//! beta = alpha / m_cell. Source: B8 of the project's algorithm notes (empirical Bayes by host), in the form replayed
//! on real change times.
//!
//! Plain sums ([`GroupSums::replace`]) count a page by the days it was watched. Most of these days belong to pages that
//! do not change, so the mean falls the longer one watches: from .12 to .03 a day in 500 days of a population with wide
//! rates, where .1 is best. The mean of the pages' posterior means (a step of expectation maximisation with a given
//! shape) does not fall; at its fixed point, pages count by 1 / (beta_0 + days). [`GroupSums::replace_even`] does that
//! with a fixed number of days, so that a page's contribution can still be subtracted and groups merge.

use crate::filter::{GammaPrior, GammaState};
use serde::{Deserialize, Serialize};

/// Number of changes that the level above counts for.
pub const PRIOR_STRENGTH: f64 = 10.0;

/// Days of watching by which a page's weight in [`GroupSums::replace_even`] is halved. The best of 10, 30, 100 and 300,
/// over synthetic populations and recorded change times from before the scored years.
const HALF_WEIGHT_DAYS: f64 = 30.0;

/// Sums of the evidence of the pages of a group. Addition commutes, so groups merge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupSums {
    /// Changes learned beyond the priors'.
    pub changes: f64,
    /// Days of watching beyond the priors'.
    pub page_days: f64,
}

impl GroupSums {
    /// Replaces the contribution of one page.
    #[inline]
    pub fn replace(&mut self, before: &GammaState, after: &GammaState) {
        self.replace_weighted(before, after, |_| 1.0);
    }

    /// The same with nearly equal weights for all pages, however long each was watched: 30 / (30 + days). Do not mix
    /// both kinds in one sum.
    #[inline]
    pub fn replace_even(&mut self, before: &GammaState, after: &GammaState) {
        self.replace_weighted(before, after, |days| HALF_WEIGHT_DAYS / (HALF_WEIGHT_DAYS + days));
    }

    #[inline]
    fn replace_weighted(&mut self, before: &GammaState, after: &GammaState, weight: impl Fn(f64) -> f64) {
        let (lost, won) = (weight(f64::from(before.delta_beta_days)), weight(f64::from(after.delta_beta_days)));
        // Rounding must not leave a negative sum when a page forgets what it learned.
        let put =
            |sum: f64, after: f32, before: f32| (sum + won * f64::from(after) - lost * f64::from(before)).max(0.0);
        self.changes = put(self.changes, after.delta_alpha, before.delta_alpha);
        self.page_days = put(self.page_days, after.delta_beta_days, before.delta_beta_days);
    }

    /// Mean changes per day and page of the group, pulled towards that of the level above (positive).
    pub fn mean_change_rate_per_day(&self, above_per_day: f64) -> f64 {
        (self.changes + PRIOR_STRENGTH) / (self.page_days + PRIOR_STRENGTH / above_per_day)
    }
}

impl GammaPrior {
    /// The prior of a page in nested groups, outermost first.
    #[must_use]
    pub fn within(self, groups: &[GroupSums]) -> GammaPrior {
        let operators = self.alpha() / self.beta_days();
        let mean = groups.iter().fold(operators, |above, group| group.mean_change_rate_per_day(above));
        // Positive and finite: a sum of changes over a sum of days, neither of them zero.
        GammaPrior::new(self.alpha(), self.alpha() / mean).unwrap_or(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_group_no_one_has_looked_at_keeps_the_prior_above() {
        let prior = GammaPrior::default();
        assert!((prior.within(&[GroupSums::default(); 2]).beta_days() - prior.beta_days()).abs() < 1e-9);
    }

    #[test]
    fn a_much_watched_group_has_its_own_rate() {
        let busy = GroupSums { changes: 10_000.0, page_days: 1_000.0 };
        let prior = GammaPrior::default().within(&[busy]);
        assert!((prior.alpha() / prior.beta_days() / 10.0 - 1.0).abs() < 0.8);
        let quiet = GroupSums { changes: 0.0, page_days: 1e6 };
        assert!(GammaPrior::default().within(&[busy, quiet]).beta_days() > 10_000.0);
    }

    #[test]
    fn what_a_page_contributed_is_replaced_not_added() {
        let state = |delta_alpha, delta_beta_days| GammaState { delta_alpha, delta_beta_days };
        let mut sums = GroupSums::default();
        sums.replace(&state(0.0, 0.0), &state(1.0, 5.0));
        sums.replace(&state(1.0, 5.0), &state(1.5, 9.0));
        assert_eq!(sums, GroupSums { changes: 1.5, page_days: 9.0 });
        let mut sums = GroupSums::default();
        sums.replace_even(&state(0.0, 0.0), &state(1.0, 5.0));
        sums.replace_even(&state(1.0, 5.0), &state(3.0, 60.0));
        assert!((sums.changes - 1.0).abs() < 1e-12 && (sums.page_days - 20.0).abs() < 1e-12, "{sums:?}");
    }

    #[test]
    fn pages_that_never_change_do_not_drown_the_others() {
        // Fifty pages change twice a day and are soon known; as many are watched for ever. Together: once a day.
        let (mut plain, mut even) = (GroupSums::default(), GroupSums::default());
        for (delta_alpha, delta_beta_days) in [(20.0, 10.0), (0.0, 1_000.0)] {
            for _ in 0..50 {
                let seen = GammaState { delta_alpha, delta_beta_days };
                plain.replace(&GammaState::default(), &seen);
                even.replace_even(&GammaState::default(), &seen);
            }
        }
        let rate = |sums: GroupSums| sums.mean_change_rate_per_day(1.0);
        assert!(rate(plain) < 0.05 && rate(even) > 0.3, "{} {}", rate(plain), rate(even));
    }

    proptest! {
        #[test]
        fn more_changes_in_a_group_never_lower_its_rate(changes in 0.0..1e6, more in 0.0..1e6, days in 0.0..1e9) {
            let rate = |changes| GroupSums { changes, page_days: days }.mean_change_rate_per_day(0.004);
            prop_assert!(rate(changes + more) >= rate(changes) && rate(changes) > 0.0);
        }
    }
}
