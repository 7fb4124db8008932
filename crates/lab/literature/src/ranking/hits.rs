//! HITS: good authorities are linked by good hubs, and good hubs link good authorities (Kleinberg 1999; D2 of the
//! algorithm notes).
//!
//! a = Aᵀ h, h = A a, each of length 1 by the sum of squares. Made for the pages around a query or topic, some 100,000 at
//! most. Where two groups of pages are not linked with each other, the denser one takes all of the score, and where they
//! are equally dense the scores depend on the start (all 1).

use super::graph::Graph;
use super::scores::StopRule;

/// When the iteration stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hits {
    /// Summed absolute change of the authorities at which they have settled.
    pub tolerance: f64,
    pub most_rounds: u32,
}

/// The two scores of all nodes. Both have sums of squares of 1, or are all 0 in a graph without links.
#[derive(Clone, Debug, PartialEq)]
pub struct HubsAndAuthorities {
    /// How good a page is, by who links it.
    pub authorities: Vec<f64>,
    /// How good a page's links are.
    pub hubs: Vec<f64>,
    pub rounds: u32,
    /// Whether the scores had settled before the rounds ran out.
    pub settled: bool,
}

impl Default for Hits {
    fn default() -> Self {
        Self { tolerance: 1e-12, most_rounds: 200 }
    }
}

impl Hits {
    pub fn rank(&self, graph: &Graph) -> HubsAndAuthorities {
        let mut hubs = vec![0.0; graph.nodes()];
        let mut next = vec![0.0; graph.nodes()];
        let stop = StopRule { tolerance: self.tolerance, most_rounds: self.most_rounds };
        let scores = stop.iterate(vec![1.0; graph.nodes()], |authorities| {
            for (node, hub) in hubs.iter_mut().enumerate() {
                *hub = 0.0;
                graph.for_each_link(node, |to, weight| *hub += weight * authorities[to]);
            }
            normalise(&mut hubs);
            next.fill(0.0);
            for (node, hub) in hubs.iter().enumerate() {
                graph.for_each_link(node, |to, weight| next[to] += weight * hub);
            }
            normalise(&mut next);
            std::mem::swap(authorities, &mut next);
            authorities.iter().zip(&next).map(|(new, old)| (new - old).abs()).sum()
        });
        HubsAndAuthorities { authorities: scores.values, hubs, rounds: scores.rounds, settled: scores.settled }
    }
}

fn normalise(values: &mut [f64]) {
    let length = values.iter().map(|value| value * value).sum::<f64>().sqrt();
    if length > 0.0 {
        values.iter_mut().for_each(|value| *value /= length);
    }
}
