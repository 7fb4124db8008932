//! PageRank: the share of time that a reader spends on a page who follows links at random (Page et al. 1998; D1 of the
//! algorithm notes).
//!
//! p(v) = (1 − d) t(v) + d (Σ over links u → v of p(u) · weight / summed weight of u's links + t(v) · dangling mass)
//!
//! t is where jumps end, 1/N each unless personalised; pages without links lead there, too. All p sum to 1. Links may have
//! weights: then a page gives to its links in proportion, which is IPageRank where weights are relevances (the seed paper
//! omits the 1/N), and the PageRank of hosts where they are ln(1 + links).

use super::damping::Damping;
use super::graph::Graph;
use super::scores::{Scores, StopRule};
use thiserror::Error;

/// How PageRank is computed: by rounds over all links, until the summed change of a round is below the tolerance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageRank {
    pub damping: Damping,
    /// Summed absolute change at which the scores have settled. They are then at most d / (1 − d) times as far from the
    /// solution.
    pub tolerance: f64,
    pub most_rounds: u32,
}

/// An invalid personalisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TeleportError {
    /// Not one number per node.
    #[error("{given} jump weights for {nodes} nodes; give one for each")]
    Length { given: usize, nodes: usize },
    /// A negative or infinite number, or none above 0.
    #[error("jump weights must be finite, at least 0, and not all 0")]
    Weights,
}

impl Default for PageRank {
    fn default() -> Self {
        Self { damping: Damping::default(), tolerance: 1e-10, most_rounds: 1_000 }
    }
}

impl PageRank {
    /// The scores of all nodes where every page is jumped to alike.
    pub fn rank(&self, graph: &Graph) -> Scores {
        let nodes = graph.nodes();
        self.iterate(graph, vec![1.0 / nodes as f64; nodes], true)
    }

    /// The scores where jumps end at pages in proportion to `teleport`.
    pub fn personalised(&self, graph: &Graph, teleport: &[f64]) -> Result<Scores, TeleportError> {
        if teleport.len() != graph.nodes() {
            return Err(TeleportError::Length { given: teleport.len(), nodes: graph.nodes() });
        }
        let sum: f64 = teleport.iter().sum();
        if !(sum > 0.0 && sum.is_finite() && teleport.iter().all(|weight| *weight >= 0.0)) {
            return Err(TeleportError::Weights);
        }
        Ok(self.iterate(graph, teleport.iter().map(|weight| weight / sum).collect(), true))
    }

    /// The scores as first printed: 1 − d instead of (1 − d)/N, and the mass of pages without links is lost. They are
    /// the scores of [`PageRank::rank`] but for a factor.
    pub fn as_published(&self, graph: &Graph) -> Scores {
        self.iterate(graph, vec![1.0; graph.nodes()], false)
    }

    fn iterate(&self, graph: &Graph, teleport: Vec<f64>, keeps_dangling: bool) -> Scores {
        let (follow, jump) = (self.damping.follow(), self.damping.jump());
        let stop = StopRule { tolerance: self.tolerance, most_rounds: self.most_rounds };
        let mut next = vec![0.0; teleport.len()];
        stop.iterate(teleport.clone(), |scores| {
            next.fill(0.0);
            let mut dangling = 0.0;
            for (node, score) in scores.iter().enumerate() {
                let total = graph.total_weight(node);
                if total > 0.0 {
                    let share = follow * score / total;
                    graph.for_each_link(node, |to, weight| next[to] += share * weight);
                } else {
                    dangling += score;
                }
            }
            let everywhere = if keeps_dangling { jump + follow * dangling } else { jump };
            next.iter_mut().zip(&teleport).for_each(|(score, jumps)| *score += everywhere * jumps);
            std::mem::swap(scores, &mut next);
            scores.iter().zip(&next).map(|(new, old)| (new - old).abs()).sum()
        })
    }
}
