//! How much of a page do its changes change? A belief about the mean extent of a page's changes, beside the belief about
//! their rate (the survey of Meng, Wang and Yan, 2006, names both as what decides the order of pages).
//!
//! The extent of a change is the share of the content that differs afterwards, in (0, 1]. A change of extent m counts as m
//! of a change that replaces everything and 1 - m of one that replaces nothing. With a Beta prior of mean m0 that is worth s
//! changes, the posterior after n changes is a Beta again, with the mean (s m0 + Σ m) / (s + n). Whatever the distribution
//! of extents, this is the best linear estimate where s is the variance of one page's extents over the variance of the
//! means of pages (the credibility of Bühlmann, 1967).

use crate::gamma::InvalidParameter;

/// The least extent that a change counts for: a changed address or a swapped word changes no share of the text, and matters
/// to somebody all the same.
pub const LEAST_EXTENT: f64 = 0.01;

/// Changes beyond which older ones are forgotten, so that a page may change its habits.
const MOST_CHANGES: f32 = 50.0;

/// The belief about the extent of a page's changes before the first one was seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExtentPrior {
    mean: f64,
    changes: f64,
}

/// Mean extent of an ordinary change. Sites of real histories have means of .01 to .24 (`docs/MEASUREMENTS.md`).
pub const ORDINARY_EXTENT: f64 = 0.15;

/// A change of [`ORDINARY_EXTENT`], worth four changes. Real sites have .75, 3.8 and 11.
impl Default for ExtentPrior {
    fn default() -> Self {
        Self { mean: ORDINARY_EXTENT, changes: 4.0 }
    }
}

/// The extents of a page's changes, without the prior's, in eight bytes. For a site it is the sum over its pages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ExtentEvidence {
    /// Sum of the extents.
    pub sum: f32,
    /// Number of changes; older ones count less.
    pub changes: f32,
}

impl ExtentPrior {
    /// A prior of this mean extent, in (0, 1], that counts as much as `changes` changes of a page's own.
    ///
    /// # Errors
    /// When the mean is outside of (0, 1], or the number of changes is not positive and finite.
    pub fn new(mean: f64, changes: f64) -> Result<Self, InvalidParameter> {
        if !(mean > 0.0 && mean <= 1.0) {
            return Err(InvalidParameter::new("mean extent", mean, "above 0 and at most 1"));
        }
        Ok(Self { mean, changes: InvalidParameter::check("changes of the prior", changes)? })
    }

    /// The prior of a site's pages, learned from the changes of all of them as a page learns from its own.
    #[must_use]
    pub fn learned_from(self, site: &ExtentEvidence) -> Self {
        Self { mean: self.mean_after(site), ..self }
    }

    /// Mean extent of the page's changes, in (0, 1]: (s m0 + Σ m) / (s + n).
    pub fn mean_after(self, evidence: &ExtentEvidence) -> f64 {
        let (sum, changes) = (f64::from(evidence.sum), f64::from(evidence.changes));
        // Evidence comes from disk: what cannot be is ignored.
        if !(sum > 0.0 && sum <= changes && changes.is_finite()) {
            return self.mean;
        }
        ((self.changes * self.mean + sum) / (self.changes + changes)).min(1.0)
    }
}

impl ExtentEvidence {
    /// Takes in a change of this extent. Below [`LEAST_EXTENT`] it counts as that, above 1 as 1; what is not a number is
    /// ignored.
    pub fn observe(&mut self, extent: f64) {
        if extent.is_nan() {
            return;
        }
        let kept = (MOST_CHANGES - 1.0).min(self.changes) / self.changes.max(1.0);
        self.sum = kept * self.sum + extent.clamp(LEAST_EXTENT, 1.0) as f32;
        self.changes = kept * self.changes + 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn after(extents: &[f64]) -> ExtentEvidence {
        let mut evidence = ExtentEvidence::default();
        extents.iter().for_each(|extent| evidence.observe(*extent));
        evidence
    }

    #[test]
    fn the_mean_is_that_of_the_prior_and_the_changes_together() {
        let prior = ExtentPrior::new(0.2, 4.0).expect("a prior");
        assert_eq!(prior.mean_after(&ExtentEvidence::default()), 0.2);
        // (4 × .2 + .5 + .1) / 6
        assert!((prior.mean_after(&after(&[0.5, 0.1])) - 1.4 / 6.0).abs() < 1e-7);
        let site = prior.learned_from(&after(&[0.8; 12]));
        // (4 × .2 + 12 × .8) / 16
        assert!((site.mean_after(&ExtentEvidence::default()) - 0.65).abs() < 1e-6);
    }

    /// The posterior of a Beta prior after one whole change is that after a success of a Bernoulli trial.
    #[test]
    fn a_whole_change_is_a_success_and_next_to_none_a_failure() {
        let prior = ExtentPrior::new(0.25, 4.0).expect("a prior");
        assert!((prior.mean_after(&after(&[1.0])) - 2.0 / 5.0).abs() < 1e-7, "Beta(2, 3)");
        assert!((prior.mean_after(&after(&[0.0])) - 1.01 / 5.0).abs() < 1e-7, "Beta(1, 4), and the least extent");
    }

    #[test]
    fn priors_and_evidence_that_cannot_be_are_refused() {
        for (mean, changes) in [(0.0, 4.0), (1.1, 4.0), (f64::NAN, 4.0), (0.2, 0.0), (0.2, f64::INFINITY)] {
            assert!(ExtentPrior::new(mean, changes).is_err(), "{mean} {changes}");
        }
        let prior = ExtentPrior::default();
        for (sum, changes) in [(f32::NAN, 1.0), (2.0, 1.0), (-1.0, 1.0), (1.0, f32::INFINITY), (1.0, f32::NAN)] {
            assert_eq!(prior.mean_after(&ExtentEvidence { sum, changes }), ORDINARY_EXTENT, "{sum} {changes}");
        }
    }

    #[test]
    fn a_page_may_change_its_habits() {
        let (small, large) = ([0.02; 5_000], [0.8; 100]);
        let mean = ExtentPrior::default().mean_after(&after(&[&small[..], &large].concat()));
        assert!(mean > 0.6, "a hundred large changes count more than thousands of old ones: {mean}");
    }

    proptest! {
        #[test]
        fn means_are_shares_and_lie_between_the_prior_and_the_changes(
            extents in prop::collection::vec(-1.0f64..2.0, 0..200),
            mean in 0.001f64..1.0,
            changes in 0.1f64..50.0,
        ) {
            let prior = ExtentPrior::new(mean, changes).expect("a prior");
            let believed = prior.mean_after(&after(&extents));
            prop_assert!(believed > 0.0 && believed <= 1.0);
            let counted = extents.iter().map(|extent| extent.clamp(LEAST_EXTENT, 1.0));
            let (least, most) = counted.fold((mean, mean), |(least, most), it| (it.min(least), it.max(most)));
            prop_assert!(least - 1e-6 <= believed && believed <= most + 1e-6, "{least} {believed} {most}");
        }

        #[test]
        fn more_extent_is_more_belief(extents in prop::collection::vec(0.01f64..1.0, 1..100), more in 0.01f64..0.5) {
            let larger: Vec<f64> = extents.iter().map(|extent| extent + more).collect();
            let prior = ExtentPrior::default();
            prop_assert!(prior.mean_after(&after(&larger)) >= prior.mean_after(&after(&extents)));
        }
    }
}
