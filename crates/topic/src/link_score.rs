//! What a link is worth to a focused crawl.
//!
//! `score = .7 RW + .3 importance`. RW is what the link's words promise ([`crate::predict_links`]), importance the rank
//! of the target among all known ones, from 0 to 1 (IPageRank's estimate), and .5 where it is not known.
//!
//! Words are often missing ("next page", a picture), and pages on a topic are often reached through pages that are not.
//! So a link without promising words is followed within two hops of a page on the topic, and each hop halves its score:
//! its RW is taken to be that of its page, which is the best guess there is.

/// How links are scored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkScoring {
    /// The share of RW in the score; the rest is importance's.
    pub relevance_share: f64,
    /// How many hops from a page on the topic a link without promising words is followed.
    pub tunnel_depth: u32,
    /// The factor on the score for each of these hops.
    pub tunnel_factor: f64,
}

impl Default for LinkScoring {
    fn default() -> Self {
        Self { relevance_share: 0.7, tunnel_depth: 2, tunnel_factor: 0.5 }
    }
}

/// What is known of the importance of a target that is not.
pub const UNKNOWN_IMPORTANCE: f64 = 0.5;

/// What is known of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkEvidence {
    /// RW of the link.
    pub relevance: f64,
    /// The target's rank among all known pages, from 0 to 1; `None` if not known.
    pub importance: Option<f64>,
    /// The distance of the page that has the link from the last page on the topic, see [`hops_off_topic`].
    pub hops_off_topic: u32,
}

/// The distance of a page from the last page on the topic on the way to it: 0 for a page on the topic and for seeds, and
/// one more than that of the page that led to it for others.
pub fn hops_off_topic(is_relevant: bool, of_parent: Option<u32>) -> u32 {
    if is_relevant { 0 } else { of_parent.map_or(0, |hops| hops.saturating_add(1)) }
}

impl LinkScoring {
    /// The score of a link, from 0 to 1; `None` if it is not worth keeping.
    pub fn score(&self, link: &LinkEvidence) -> Option<f64> {
        let importance = link.importance.unwrap_or(UNKNOWN_IMPORTANCE).clamp(0.0, 1.0);
        let combined = |relevance: f64| self.relevance_share * relevance + (1.0 - self.relevance_share) * importance;
        if link.relevance > 0.0 {
            return Some(combined(link.relevance.min(1.0)));
        }
        let hops = link.hops_off_topic.saturating_add(1);
        let factor = || self.tunnel_factor.powi(i32::try_from(hops).unwrap_or(i32::MAX));
        (hops <= self.tunnel_depth).then(|| factor() * combined(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_importance_are_combined() {
        let check = |relevance, importance, hops_off_topic, expected: Option<f64>| {
            let score = LinkScoring::default().score(&LinkEvidence { relevance, importance, hops_off_topic });
            match (score, expected) {
                (Some(score), Some(expected)) => assert!((score - expected).abs() < 1e-12, "{score} {expected}"),
                _ => assert_eq!(score, expected),
            }
        };
        check(1.0, Some(1.0), 0, Some(1.0));
        check(0.5, Some(0.2), 9, Some(0.41));
        check(0.5, None, 0, Some(0.5));
        check(0.0, Some(1.0), 0, Some(0.5));
        check(0.0, Some(0.0), 1, Some(0.175));
        check(0.0, Some(1.0), 2, None);
        check(0.0, Some(1.0), u32::MAX, None);
        check(7.0, Some(-3.0), 0, Some(0.7));
    }

    #[test]
    fn hops_are_counted_from_the_last_page_on_the_topic() {
        assert_eq!(hops_off_topic(true, Some(5)), 0);
        assert_eq!(hops_off_topic(false, None), 0);
        assert_eq!(hops_off_topic(false, Some(0)), 1);
        assert_eq!(hops_off_topic(false, Some(u32::MAX)), u32::MAX);
    }
}
