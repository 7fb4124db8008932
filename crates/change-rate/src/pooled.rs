//! What is believed of a page before its first look, learned from its siblings.
//!
//! Most pages are looked at a few times and never seen to change; what their siblings do then says more about them than
//! they do themselves. Sums over the pages of a group (a site; within it, a directory and file type) give its rate,
//! pulled towards the level above by as much as `strength` changes weigh:
//!
//! ```text
//! m_site = (changes_site + k) / (days_site + k / m_0)        m_cell = (changes_cell + k) / (days_cell + k / m_site)
//! ```
//!
//! with k the strength and m_0 the operator's prior rate; the page's prior keeps its alpha and gets beta = alpha / m_cell.
//! Source: B8 of the project's algorithm notes (empirical Bayes by host), in the form replayed on real change times.

use crate::filter::{GammaPrior, GammaState};

/// How many changes the level above counts for.
pub const PRIOR_STRENGTH: f64 = 10.0;

/// What the pages of a group have shown together. Adding up commutes, so groups merge.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GroupSums {
    /// Changes learned beyond the priors'.
    pub changes: f64,
    /// Days of watching beyond the priors'.
    pub page_days: f64,
}

impl GroupSums {
    /// Replaces what one page has contributed.
    #[inline]
    pub fn replace(&mut self, before: &GammaState, after: &GammaState) {
        // Rounding must not leave a sum below nothing when a page forgets what it learned.
        self.changes = (self.changes + f64::from(after.delta_alpha) - f64::from(before.delta_alpha)).max(0.0);
        self.page_days =
            (self.page_days + f64::from(after.delta_beta_days) - f64::from(before.delta_beta_days)).max(0.0);
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
    fn a_group_nobody_has_looked_at_keeps_the_prior_above() {
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
    }

    proptest! {
        #[test]
        fn more_changes_in_a_group_never_lower_its_rate(changes in 0.0..1e6, more in 0.0..1e6, days in 0.0..1e9) {
            let rate = |changes| GroupSums { changes, page_days: days }.mean_change_rate_per_day(0.004);
            prop_assert!(rate(changes + more) >= rate(changes) && rate(changes) > 0.0);
        }
    }
}
