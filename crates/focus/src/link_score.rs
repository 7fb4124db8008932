//! Worth of a page never seen to a focused crawl, from the links to it.
//!
//! `score = .7 RW + .3 importance`. RW is the promise of a link's words ([`crate::predict_links`]), importance the rank
//! of the target among all known ones, from 0 to 1 (IPageRank's estimate), and .5 where it is not known.
//!
//! Words are often missing ("next page", a picture), and pages in a focus are often reached through pages that are not.
//! So a link without promising words is followed within two hops of a page in the focus: its RW is taken to be 1, as
//! for the page at the mouth of the tunnel, and each hop halves its score.
//!
//! The score of a target is the mean over the links known to it, and over one more of a low score that every target is
//! taken to have. The largest would favour popular pages: among many links there is always one with a word of the focus. The
//! plain mean would favour pages with a single link.

/// How links are scored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkScoring {
    /// The share of RW in the score; the rest is importance's.
    pub relevance_share: f64,
    /// How many hops from a page in the focus a link without promising words is followed.
    pub tunnel_depth: u32,
    /// The factor on the score for each of these hops.
    pub tunnel_factor: f64,
    /// How many links every target is taken to have besides the known ones.
    pub prior_links: f64,
    /// Their score.
    pub prior_score: f64,
}

impl Default for LinkScoring {
    fn default() -> Self {
        Self { relevance_share: 0.7, tunnel_depth: 2, tunnel_factor: 0.5, prior_links: 1.0, prior_score: 0.2 }
    }
}

/// The importance that is assumed for a target without a known one.
pub const UNKNOWN_IMPORTANCE: f64 = 0.5;

/// Evidence about a target from the links to it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkEvidence {
    pub links: u32,
    /// Sum over the links of their share in a score without importance.
    pub relevance: f64,
    /// Sum over the links of the score that an importance of 1 adds.
    pub importance: f64,
}

/// The distance of a page from the last page in the focus on the way to it: 0 for a page in the focus and for seeds,
/// otherwise one more than the distance of its parent.
pub fn hops_out_of_focus(is_relevant: bool, of_parent: Option<u32>) -> u32 {
    if is_relevant { 0 } else { of_parent.map_or(0, |hops| hops.saturating_add(1)) }
}

impl LinkScoring {
    /// The score of one link with this RW, on a page at this distance from the focus ([`hops_out_of_focus`]); `None` if it is
    /// not worth following.
    pub fn of_link(&self, relevance: f64, hops_out_of_focus: u32, importance: Option<f64>) -> Option<f64> {
        let importance = importance.unwrap_or(UNKNOWN_IMPORTANCE).clamp(0.0, 1.0);
        let (of_words, of_importance) = self.shares(relevance, hops_out_of_focus)?;
        Some(of_words + of_importance * importance)
    }

    /// The part of a link's score by its words, and the part that an importance of 1 would add.
    fn shares(&self, relevance: f64, hops_out_of_focus: u32) -> Option<(f64, f64)> {
        let (relevance, hops) = match relevance > 0.0 {
            true => (relevance.min(1.0), 0),
            false => (1.0, hops_out_of_focus.checked_add(1).filter(|hops| *hops <= self.tunnel_depth)?),
        };
        let factor = self.tunnel_factor.powi(i32::try_from(hops).unwrap_or(i32::MAX));
        Some((factor * self.relevance_share * relevance, factor * (1.0 - self.relevance_share)))
    }

    /// Adds a link to the evidence about its target.
    pub fn add(&self, evidence: &mut LinkEvidence, relevance: f64, hops_out_of_focus: u32) {
        let (of_words, of_importance) = self.shares(relevance, hops_out_of_focus).unwrap_or((0.0, 0.0));
        evidence.links = evidence.links.saturating_add(1);
        evidence.relevance += of_words;
        evidence.importance += of_importance;
    }

    /// The score of a target, from 0 to 1; `None` if no link to it is worth following.
    pub fn of_target(&self, evidence: &LinkEvidence, importance: Option<f64>) -> Option<f64> {
        let importance = importance.unwrap_or(UNKNOWN_IMPORTANCE).clamp(0.0, 1.0);
        let sum = evidence.relevance + evidence.importance * importance + self.prior_links * self.prior_score;
        (evidence.importance + evidence.relevance > 0.0).then(|| sum / (f64::from(evidence.links) + self.prior_links))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(relevance: f64, hops: u32, importance: Option<f64>, expected: Option<f64>) {
        match (LinkScoring::default().of_link(relevance, hops, importance), expected) {
            (Some(score), Some(expected)) => assert!((score - expected).abs() < 1e-12, "{score} {expected}"),
            (score, _) => assert_eq!(score, expected, "{relevance} {hops}"),
        }
    }

    #[test]
    fn words_and_importance_are_combined() {
        check(1.0, 0, Some(1.0), Some(1.0));
        check(0.5, 0, Some(0.2), Some(0.41));
        check(0.5, 0, None, Some(0.5));
        check(0.5, u32::MAX, Some(0.2), Some(0.41));
        check(7.0, 0, Some(-3.0), Some(0.7));
    }

    #[test]
    fn tunnels_end_after_two_hops() {
        check(0.0, 0, Some(1.0), Some(0.5));
        check(0.0, 1, Some(0.0), Some(0.175));
        check(0.0, 2, Some(1.0), None);
        check(0.0, u32::MAX, Some(1.0), None);
    }

    #[test]
    fn a_target_has_the_mean_of_its_links_and_of_a_weak_one() {
        let check = |links: &[(f64, u32)], expected: Option<f64>| {
            let (scoring, mut evidence) = (LinkScoring::default(), LinkEvidence::default());
            links.iter().for_each(|(relevance, hops)| scoring.add(&mut evidence, *relevance, *hops));
            match (scoring.of_target(&evidence, Some(1.0)), expected) {
                (Some(score), Some(expected)) => assert!((score - expected).abs() < 1e-12, "{links:?}: {score}"),
                (score, _) => assert_eq!(score, expected, "{links:?}"),
            }
        };
        check(&[], None);
        check(&[(0.0, 2)], None);
        check(&[(1.0, 0)], Some((1.0 + 0.2) / 2.0));
        check(&[(1.0, 0), (1.0, 0)], Some((2.0 + 0.2) / 3.0));
        check(&[(1.0, 0), (0.0, 9)], Some((1.0 + 0.2) / 3.0));
    }

    #[test]
    fn hops_are_counted_from_the_last_page_on_the_focus() {
        assert_eq!(hops_out_of_focus(true, Some(5)), 0);
        assert_eq!(hops_out_of_focus(false, None), 0);
        assert_eq!(hops_out_of_focus(false, Some(0)), 1);
        assert_eq!(hops_out_of_focus(false, Some(u32::MAX)), u32::MAX);
    }
}
