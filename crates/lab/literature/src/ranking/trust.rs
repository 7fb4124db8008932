//! Trust handed on by links (Gyongyi et al. 2004, 2006; D6 of the algorithm notes): PageRank whose jumps end at trusted pages
//! only. [`importance::trust`] has the spam mass that follows from it.

use super::graph::Graph;
use super::pagerank::{PageRank, TeleportError};
use super::scores::Scores;

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

/// The weight of a page with this spam mass, as published: at most as it was, at least a tenth.
/// [`importance::trust::trusted_weight`] leaves a farm less.
pub fn damped_weight(weight: f64, spam_mass: f64) -> f64 {
    weight * ((1.0 - spam_mass).max(0.0) + 0.1).min(1.0)
}
