//! The links of one page.

use serde::{Deserialize, Serialize};

/// A link of a page to another. `P` identifies a page: an address, a digest, a number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link<P> {
    pub to: P,
    /// Weight beside the page's other links. 1 if all are alike; less for links that shall give less, such
    /// as those within a site; the relevance of its words for a focused crawl.
    pub weight: f64,
}

impl<P> Link<P> {
    /// A link of weight 1.
    pub fn plain(to: P) -> Self {
        Self { to, weight: 1.0 }
    }
}

/// Largest sum of the weights of a page's links, where the virtual page weighs 1. So the virtual page gets at least 15 %, as
/// in PageRank. As published, a page with a thousand links gives it a thousandth, and a site whose pages all link each other
/// keeps its cash.
const LARGEST_LINKS: f64 = 0.85 / 0.15;

/// Gives the links of a page one weight, so that the virtual page gets 15 %, however many links there are. Then the cash
/// approaches PageRank with its damping of .85, and the cash of [`crate::opic::TrustAccount`] approaches TrustRank.
pub fn weigh_as_pagerank<P>(links: &mut [Link<P>]) {
    let weight = LARGEST_LINKS / links.len() as f64;
    links.iter_mut().for_each(|link| link.weight = weight);
}

/// Gives the links of a page one weight: 1, or less where they are many, so that the virtual page gets 15 %.
pub fn weigh_alike<P>(links: &mut [Link<P>]) {
    let weight = (LARGEST_LINKS / links.len() as f64).min(1.0);
    links.iter_mut().for_each(|link| link.weight = weight);
}

/// Sorts the links of `page` by target, and drops those that must not count: links to itself, repeated ones (the
/// heaviest stays), and those without a positive weight. Returns how many were dropped.
pub fn tidy<P: Copy + Ord>(page: P, links: &mut Vec<Link<P>>) -> usize {
    let before = links.len();
    links.retain(|link| link.to != page && link.weight > 0.0 && link.weight.is_finite());
    links.sort_unstable_by(|a, b| a.to.cmp(&b.to).then(b.weight.total_cmp(&a.weight)));
    links.dedup_by_key(|link| link.to);
    before - links.len()
}

pub fn total_weight<P>(links: &[Link<P>]) -> f64 {
    links.iter().map(|link| link.weight).sum()
}
