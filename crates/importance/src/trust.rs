//! Trust handed on by links, and the part of a score that it does not explain (Gyongyi et al. 2004, 2006; D6 of the algorithm
//! notes).
//!
//! Trust is PageRank whose jumps end at trusted pages only. The *spam mass* of a page is the part of its PageRank that it
//! does not owe to trusted pages: (p − p′)/p, with p′ its trust. It is negative for pages near the trusted ones.

use crate::graph::Graph;
use crate::pagerank::{PageRank, TeleportError};
use crate::scores::Scores;

/// Trust of all nodes, which sums to 1. Unknown nodes among the trusted ones are ignored; none at all is an error.
pub fn trust_rank(graph: &Graph, trusted: &[u32], pagerank: &PageRank) -> Result<Scores, TeleportError> {
    let mut teleport = vec![0.0; graph.nodes()];
    for &node in trusted {
        if let Some(weight) = teleport.get_mut(node as usize) {
            *weight = 1.0;
        }
    }
    pagerank.personalised(graph, &teleport)
}

/// Relative spam mass of a page. `good_share` is the share of pages that are believed to be good: the trust vector is a
/// PageRank of that much mass. 1 takes it as it is.
pub fn spam_mass(pagerank: f64, trust: f64, good_share: f64) -> f64 {
    if pagerank > 0.0 { (pagerank - good_share * trust) / pagerank } else { 0.0 }
}

/// The weight of a page with this spam mass: at most as it was, at least a tenth.
pub fn damped_weight(weight: f64, spam_mass: f64) -> f64 {
    weight * ((1.0 - spam_mass).max(0.0) + 0.1).min(1.0)
}

/// As [`damped_weight`], but the tenth that remains is at most a tenth of an average page's weight of 1. As published,
/// a farm that lifts a page to a weight of 126 keeps 12.6 of it.
pub fn trusted_weight(weight: f64, spam_mass: f64) -> f64 {
    (weight * (1.0 - spam_mass).max(0.0) + 0.1 * weight.min(1.0)).min(weight)
}
