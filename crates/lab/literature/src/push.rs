//! PageRank kept up to date while pages are crawled, by pushing residuals (D1 of the algorithm notes).
//!
//! Every page has a score x and a residual r, the amount that its score still lacks. A *push* of a page adds its
//! residual to its score and gives d times as much to its links, as residuals. When the links of a page change, the
//! difference between the amounts given to the old links and those due to the new ones is given as residuals, positive
//! and negative. The work is proportional to the change.
//!
//! Scores are those of PageRank but for a factor: x(v) = (1 − d) t(v) + d Σ x(u) · weight / summed weight of u's links. Pages
//! without links give nothing. Where their mass shall be spread over all pages, as in [`crate::ranking::pagerank`], the solution is
//! the same divided by the sum of x over all pages. So nothing is ever sent to all pages, and no page
//! needs to know how many there are. With t = 1 for trusted pages and 0 for all others, the score is the trust of
//! [`crate::ranking::trust`].
//!
//! [`PushPage`] is a value for a stage that keeps pages in a table and sends residuals as messages. They may arrive in any
//! order. At any time, over all pages and all messages on their way: Σ t (1 − d) = Σ r + messages + Σ x − d Σ x of pages with
//! links. Push ripe pages after a batch of messages, each once, and never after every message: a page would answer each
//! small residual with as many smaller ones as it has links, and the messages would multiply.
//!
//! [`Residuals`] is the same in memory, over a graph.

use crate::ranking::{Damping, Graph};
use importance::{Link, tidy, total_weight};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A page with its score, its residual and its last known links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PushPage<P> {
    score: f64,
    residual: f64,
    teleport: f64,
    /// In order of their targets, each once, none to the page itself.
    links: Vec<Link<P>>,
}

/// Residual on its way to a page.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Residual<P> {
    pub to: P,
    /// May be negative.
    pub amount: f64,
}

impl<P: Copy + Ord> PushPage<P> {
    /// A page that is new, without links as yet. `teleport` is how often it is jumped to beside other pages: 1 if all are
    /// alike.
    pub fn new(teleport: f64, damping: Damping) -> Self {
        Self { score: 0.0, residual: damping.jump() * teleport, teleport, links: Vec::new() }
    }

    /// The page is jumped to more or less often.
    pub fn set_teleport(&mut self, teleport: f64, damping: Damping) {
        self.residual += damping.jump() * (teleport - self.teleport);
        self.teleport = teleport;
    }

    /// The page's score, which is 1 for an average page where no mass is lost. Divided by the sum of all scores it is
    /// PageRank.
    pub fn score(&self) -> f64 {
        self.score
    }

    /// The amount that the score still lacks.
    pub fn residual(&self) -> f64 {
        self.residual
    }

    pub fn links(&self) -> &[Link<P>] {
        &self.links
    }

    pub fn receive(&mut self, amount: f64) {
        self.residual += amount;
    }

    /// Whether a push is worth its messages: the residual exceeds `threshold` for each of them. A threshold of 1e-3 lets
    /// scores be wrong by about a thousandth of an average page's score.
    pub fn is_ripe(&self, threshold: f64) -> bool {
        is_ripe(self.residual, self.links.len(), threshold)
    }

    /// Adds the residual to the score. `send` gets the residuals for the links.
    pub fn push(&mut self, damping: Damping, mut send: impl FnMut(Residual<P>)) {
        let residual = std::mem::take(&mut self.residual);
        self.score += residual;
        let share = damping.follow() * residual / total_weight(&self.links);
        self.links.iter().for_each(|link| send(Residual { to: link.to, amount: share * link.weight }));
    }

    /// The page now has these links. `send` gets the residuals for the targets of old and new links.
    pub fn relink(&mut self, page: P, mut links: Vec<Link<P>>, damping: Damping, mut send: impl FnMut(Residual<P>)) {
        tidy(page, &mut links);
        let given = damping.follow() * self.score;
        let share = |links: &[Link<P>]| if links.is_empty() { 0.0 } else { given / total_weight(links) };
        let (old_share, new_share) = (share(&self.links), share(&links));
        let mut old = self.links.iter().peekable();
        for link in &links {
            while let Some(gone) = old.next_if(|old| old.to < link.to) {
                send(Residual { to: gone.to, amount: -old_share * gone.weight });
            }
            let before = old.next_if(|old| old.to == link.to).map_or(0.0, |old| old_share * old.weight);
            let amount = new_share * link.weight - before;
            if amount != 0.0 {
                send(Residual { to: link.to, amount });
            }
        }
        old.for_each(|gone| send(Residual { to: gone.to, amount: -old_share * gone.weight }));
        self.links = links;
    }
}

/// Scores and residuals of all nodes of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Residuals {
    damping: Damping,
    scores: Vec<f64>,
    residuals: Vec<f64>,
}

impl Residuals {
    /// Scores of 0: everything is still to be pushed.
    pub fn new(graph: &Graph, damping: Damping) -> Self {
        Self::of_scores(graph, damping, vec![0.0; graph.nodes()])
    }

    /// The residuals of these scores in this graph, which may have changed since they were computed. New nodes have score 0.
    pub fn of_scores(graph: &Graph, damping: Damping, mut scores: Vec<f64>) -> Self {
        scores.resize(graph.nodes(), 0.0);
        let mut residuals: Vec<f64> = scores.iter().map(|score| damping.jump() - score).collect();
        for (node, score) in scores.iter().enumerate().filter(|(node, _)| graph.total_weight(*node) > 0.0) {
            let share = damping.follow() * score / graph.total_weight(node);
            graph.for_each_link(node, |to, weight| residuals[to] += share * weight);
        }
        Self { damping, scores, residuals }
    }

    /// Pushes until no residual exceeds the threshold. Returns how often a node was pushed, and how many residuals were
    /// given to links. The graph must be the one that the residuals belong to.
    pub fn settle(&mut self, graph: &Graph, threshold: f64) -> (u64, u64) {
        let (mut pushes, mut links) = (0, 0);
        let follow = self.damping.follow();
        let ripe = |node: usize, residual: f64| is_ripe(residual, graph.targets(node).len(), threshold);
        let mut waits: Vec<bool> =
            self.residuals.iter().enumerate().map(|(node, &residual)| ripe(node, residual)).collect();
        let mut queue: VecDeque<u32> = (0..waits.len() as u32).filter(|node| waits[*node as usize]).collect();
        while let Some(node) = queue.pop_front() {
            let node = node as usize;
            waits[node] = false;
            let residual = std::mem::take(&mut self.residuals[node]);
            self.scores[node] += residual;
            pushes += 1;
            links += graph.targets(node).len() as u64;
            let total = graph.total_weight(node);
            if total > 0.0 {
                let share = follow * residual / total;
                graph.for_each_link(node, |to, weight| {
                    self.residuals[to] += share * weight;
                    if !waits[to] && ripe(to, self.residuals[to]) {
                        waits[to] = true;
                        queue.push_back(to as u32);
                    }
                });
            }
        }
        (pushes, links)
    }

    /// The scores, 1 for an average node where no mass is lost.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// PageRank: the scores divided by their sum.
    pub fn pagerank(&self) -> Vec<f64> {
        let sum: f64 = self.scores.iter().sum();
        self.scores.iter().map(|score| score / sum).collect()
    }
}

fn is_ripe(residual: f64, links: usize, threshold: f64) -> bool {
    residual.abs() > threshold * links.max(1) as f64
}
