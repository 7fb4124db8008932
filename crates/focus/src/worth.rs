//! The weight of a page in a crawl, by its focuses and its importance together.
//!
//! A score is from 0 to 1: `.7 r + .3 i`, as [`LinkScoring`] has it. `i` is the rank of the page's importance, taken to
//! be `w / (1 + w)` for a weight w by its links, so that the average page has .5. `r` is the promise of the links to a
//! page; of a page that was looked at it is its own relevance, .5 at the threshold. The weight is `spread^(2 score -
//! 1)`: 1 at a score of .5, and between 1 / spread and spread.

use crate::link_score::{LinkEvidence, LinkScoring};

/// How scores become weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FocusWeight {
    /// How links are scored, and the share of relevance in the score of a page.
    pub scoring: LinkScoring,
    /// The weight of a score of 1.
    pub spread: f64,
}

impl Default for FocusWeight {
    fn default() -> Self {
        Self { scoring: LinkScoring::default(), spread: 20.0 }
    }
}

/// Relevance on a scale on which .5 is the threshold, from 0 to 1.
pub fn standing(relevance: f64, threshold: f64) -> f64 {
    if threshold > 0.0 { (relevance / (2.0 * threshold)).clamp(0.0, 1.0) } else { 1.0 }
}

impl FocusWeight {
    /// The weight of a page that was never looked at, from the links to it and the weight that importance gives it. `None` if
    /// no link to it is worth following.
    pub fn of_target(&self, evidence: &LinkEvidence, weight_by_links: f64) -> Option<f64> {
        let score = self.scoring.of_target(evidence, Some(rank(weight_by_links)))?;
        Some(self.weight(score))
    }

    /// The weight of a page that was looked at, by its [`standing`] with the focus that it is closest to.
    pub fn of_page(&self, standing: f64, weight_by_links: f64) -> f64 {
        let share = self.scoring.relevance_share;
        self.weight(share * standing + (1.0 - share) * rank(weight_by_links))
    }

    fn weight(&self, score: f64) -> f64 {
        self.spread.powf(2.0 * score.clamp(0.0, 1.0) - 1.0)
    }
}

fn rank(weight: f64) -> f64 {
    if weight.is_finite() { weight.max(0.0) / (1.0 + weight.max(0.0)) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_average_page_at_the_threshold_is_ordinary() {
        let weights = FocusWeight::default();
        assert_eq!(
            (standing(0.3, 0.3), standing(0.9, 0.3), standing(0.0, 0.3), standing(0.0, 0.0)),
            (0.5, 1.0, 0.0, 1.0)
        );
        assert!((weights.of_page(0.5, 1.0) - 1.0).abs() < 1e-12);
        assert!(weights.of_page(1.0, 1.0) > 8.0 && weights.of_page(0.0, 1.0) < 0.13);
        assert!(weights.of_page(0.5, 126.0) < weights.of_page(1.0, 1.0), "importance cannot stand for relevance");
    }

    #[test]
    fn a_promising_target_weighs_more_and_one_without_promise_nothing() {
        let weights = FocusWeight::default();
        let of = |links: &[(f64, u32)]| {
            let mut evidence = LinkEvidence::default();
            links.iter().for_each(|(relevance, hops)| weights.scoring.add(&mut evidence, *relevance, *hops));
            weights.of_target(&evidence, 1.0)
        };
        assert!(of(&[(1.0, 0)]) > of(&[(0.5, 0)]) && of(&[(0.5, 0)]) > of(&[(0.0, 1)]));
        assert_eq!((of(&[(0.0, 2)]), of(&[])), (None, None));
    }

    proptest! {
        #[test]
        fn weights_are_within_their_bounds(standing in proptest::num::f64::ANY, weight in proptest::num::f64::ANY) {
            let of_page = FocusWeight::default().of_page(standing, weight);
            prop_assert!(standing.is_nan() || (0.05 - 1e-9..=20.0 + 1e-9).contains(&of_page), "{of_page}");
        }
    }
}
