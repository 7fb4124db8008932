//! A graph of links, compact: 4 bytes a link, 12 where links have weights, and 16 bytes a node.

use thiserror::Error;

/// A link from one node to another. Nodes are numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    pub from: u32,
    pub to: u32,
    /// Weight beside other links of the same page, at least 0.
    pub weight: f64,
}

/// Weight of a link that a page has several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// As much as the heaviest of them.
    Once,
    /// As much as all of them.
    Summed,
}

/// Links that are not in the graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Links of a node to itself.
    pub to_themselves: usize,
    /// Links that repeat another one.
    pub repeated: usize,
}

/// Links that make no graph.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum GraphError {
    /// A link names a node that does not exist.
    #[error("there is a link from node {from} to node {to}, but only {nodes} nodes")]
    NoSuchNode { from: u32, to: u32, nodes: u32 },
    /// A link has a weight that cannot be.
    #[error("the link from node {from} to node {to} has the weight {weight}; weights are finite and at least 0")]
    Weight { from: u32, to: u32, weight: f64 },
}

/// The links among nodes: each at most once, none from a node to itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    /// Where a node's links begin in `targets`, and where the last node's end.
    starts: Vec<usize>,
    targets: Vec<u32>,
    /// Empty where all links count the same.
    weights: Vec<f64>,
    /// Summed weight of a node's links.
    total_weights: Vec<f64>,
    left_out: LeftOut,
}

impl Edge {
    /// A link of weight 1.
    pub fn plain(from: u32, to: u32) -> Self {
        Self { from, to, weight: 1.0 }
    }
}

impl Graph {
    /// The graph of these links. Takes the time of sorting them.
    pub fn new(nodes: u32, mut edges: Vec<Edge>, repeats: Repeats) -> Result<Self, GraphError> {
        for &Edge { from, to, weight } in &edges {
            if from >= nodes || to >= nodes {
                return Err(GraphError::NoSuchNode { from, to, nodes });
            }
            if !(weight >= 0.0 && weight.is_finite()) {
                return Err(GraphError::Weight { from, to, weight });
            }
        }
        let given = edges.len();
        edges.retain(|edge| edge.from != edge.to);
        let to_themselves = given - edges.len();
        edges.sort_unstable_by_key(|edge| (edge.from, edge.to));
        edges.dedup_by(|next, kept| {
            let same = (next.from, next.to) == (kept.from, kept.to);
            if same {
                kept.weight = match repeats {
                    Repeats::Once => kept.weight.max(next.weight),
                    Repeats::Summed => kept.weight + next.weight,
                };
            }
            same
        });
        let left_out = LeftOut { to_themselves, repeated: given - to_themselves - edges.len() };

        let mut starts = vec![0; nodes as usize + 1];
        let mut total_weights = vec![0.0; nodes as usize];
        for edge in &edges {
            starts[edge.from as usize + 1] += 1;
            total_weights[edge.from as usize] += edge.weight;
        }
        for node in 0..nodes as usize {
            starts[node + 1] += starts[node];
        }
        let alike = edges.iter().all(|edge| edge.weight == 1.0);
        let weights = if alike { Vec::new() } else { edges.iter().map(|edge| edge.weight).collect() };
        let targets = edges.iter().map(|edge| edge.to).collect();
        Ok(Self { starts, targets, weights, total_weights, left_out })
    }

    pub fn nodes(&self) -> usize {
        self.total_weights.len()
    }

    pub fn links(&self) -> usize {
        self.targets.len()
    }

    /// The links that [`Graph::new`] was given and left out.
    pub fn left_out(&self) -> LeftOut {
        self.left_out
    }

    /// The nodes that a node links to, in rising order.
    ///
    /// # Panics
    /// When there is no such node.
    pub fn targets(&self, node: usize) -> &[u32] {
        &self.targets[self.starts[node]..self.starts[node + 1]]
    }

    /// Summed weight of a node's links. A node without links, or only with links that count nothing, has 0: it is
    /// dangling.
    ///
    /// # Panics
    /// When there is no such node.
    pub fn total_weight(&self, node: usize) -> f64 {
        self.total_weights[node]
    }

    /// The links of all nodes, in rising order.
    pub fn edges(&self) -> impl Iterator<Item = Edge> + '_ {
        (0..self.nodes()).flat_map(move |node| {
            let range = self.starts[node]..self.starts[node + 1];
            range.map(move |link| Edge {
                from: node as u32,
                to: self.targets[link],
                weight: self.weights.get(link).copied().unwrap_or(1.0),
            })
        })
    }

    /// Calls `give` with each target of a node and its weight.
    #[inline]
    pub fn for_each_link(&self, node: usize, mut give: impl FnMut(usize, f64)) {
        let range = self.starts[node]..self.starts[node + 1];
        if self.weights.is_empty() {
            self.targets[range].iter().for_each(|&to| give(to as usize, 1.0));
        } else {
            self.targets[range.clone()].iter().zip(&self.weights[range]).for_each(|(&to, &w)| give(to as usize, w));
        }
    }

    /// The graph of groups of nodes, such as the hosts of pages: `group_of` says in which group each node lies. A link
    /// between two groups counts `weight` of the summed weights of all links between their nodes. Links within a group
    /// are left out.
    ///
    /// For the PageRank of hosts, `weight` is `f64::ln_1p`: the thousandth link between two hosts says little that the
    /// first did not say.
    pub fn grouped(&self, groups: u32, group_of: &[u32], weight: impl Fn(f64) -> f64) -> Result<Self, GraphError> {
        let group = |node: u32| group_of.get(node as usize).copied().unwrap_or(u32::MAX);
        let between = self.edges().map(|edge| Edge { from: group(edge.from), to: group(edge.to), weight: edge.weight });
        Self::new(groups, between.collect(), Repeats::Summed)?.reweighted(weight)
    }

    /// The same links with other weights.
    pub fn reweighted(&self, weight: impl Fn(f64) -> f64) -> Result<Self, GraphError> {
        let edges = self.edges().map(|edge| Edge { weight: weight(edge.weight), ..edge }).collect();
        Ok(Self { left_out: self.left_out, ..Self::new(self.nodes() as u32, edges, Repeats::Once)? })
    }
}
