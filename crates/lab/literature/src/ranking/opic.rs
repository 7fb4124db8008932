//! OPIC over a whole graph ([`importance::opic`]; Abiteboul, Preda & Cobena 2003; D3 of the algorithm notes).

use super::graph::Graph;
use super::scores::{Scores, StopRule};
use importance::opic::{Account, Shard, TrustAccount, Window};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// State after visits in the order of cash.
#[derive(Clone, Debug, PartialEq)]
pub struct Greedy {
    /// Importance of the pages. They sum to 1: the virtual page is left out.
    pub importance: Vec<f64>,
    /// Cash noted at visits of each page.
    pub history: Vec<f64>,
    /// Cash noted at all visits, those of the virtual page included.
    pub noted: f64,
}

/// Cash that compares as numbers do; it is never NaN.
#[derive(Clone, Copy, PartialEq)]
struct Amount(f64);

impl Eq for Amount {}

impl PartialOrd for Amount {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Amount {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Makes so many visits, always of the page with the most cash, the first of equals. It begins with 1/(N + 1) on each page
/// and on the virtual page. As published; a visit of the virtual page takes a step for every page, so this is for small
/// graphs. For large ones there is [`Settled`].
pub fn greedy(graph: &Graph, visits: usize) -> Greedy {
    let nodes = graph.nodes();
    let virtual_page = nodes;
    let mut cash = vec![1.0 / (nodes + 1) as f64; nodes + 1];
    let mut history = vec![0.0; nodes + 1];
    let mut noted = 0.0;
    let mut richest: BinaryHeap<(Amount, Reverse<usize>)> =
        cash.iter().enumerate().map(|(page, amount)| (Amount(*amount), Reverse(page))).collect();
    let mut made = 0;
    while made < visits {
        let Some((Amount(amount), Reverse(page))) = richest.pop() else { break };
        if cash[page] != amount {
            // Said before the page was given more, or was visited.
            continue;
        }
        made += 1;
        history[page] += amount;
        noted += amount;
        cash[page] = 0.0;
        let mut give = |to: usize, amount: f64| {
            cash[to] += amount;
            richest.push((Amount(cash[to]), Reverse(to)));
        };
        if page == virtual_page {
            (0..nodes).for_each(|to| give(to, amount / nodes as f64));
        } else {
            let parts = graph.total_weight(page) + 1.0;
            graph.for_each_link(page, |to, weight| give(to, amount * weight / parts));
            give(virtual_page, amount / parts);
        }
    }
    let mut importance: Vec<f64> = (0..nodes).map(|page| (history[page] + cash[page]) / (noted + 1.0)).collect();
    let sum: f64 = importance.iter().sum();
    importance.iter_mut().for_each(|value| *value /= sum);
    history.truncate(nodes);
    Greedy { importance, history, noted }
}

/// The limit of OPIC when pages are visited round after round: the shares of cash noted in a round, once they no longer
/// change. Visits in any other fair order have the same limit, and reach it more slowly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settled {
    /// Summed absolute change of the shares at which they have settled.
    pub tolerance: f64,
    pub most_rounds: u32,
}

impl Default for Settled {
    fn default() -> Self {
        Self { tolerance: 1e-10, most_rounds: 1_000 }
    }
}

impl Settled {
    pub fn rank(&self, graph: &Graph) -> Scores {
        let mut shard = Shard::new(0, 1.0);
        let mut accounts: Vec<Account> = (0..graph.nodes()).map(|_| shard.open()).collect();
        self.rounds(graph.nodes(), &mut shard, |shard, page| {
            let cash = accounts[page].cash(shard);
            let share = shard.note(&mut accounts[page], graph.total_weight(page), Window::Everything);
            graph.for_each_link(page, |to, weight| accounts[to].receive(share * weight));
            cash
        })
    }

    /// The same where the virtual page links the trusted pages only. Without one that is known, all shares are 0.
    pub fn trust(&self, graph: &Graph, trusted: &[u32]) -> Scores {
        let mut shard = Shard::new(0, 1.0);
        let mut accounts = vec![TrustAccount::open(&shard); graph.nodes()];
        for &page in trusted {
            if let Some(account) = accounts.get_mut(page as usize) {
                account.set_trusted(true, &mut shard);
            }
        }
        self.rounds(graph.nodes(), &mut shard, |shard, page| {
            let cash = accounts[page].cash(shard);
            let share = accounts[page].visit(graph.total_weight(page), shard);
            graph.for_each_link(page, |to, weight| accounts[to].receive(share * weight));
            cash
        })
    }

    /// Visits all pages round after round. `visit` hands on the cash of a page and returns how much it was.
    fn rounds(&self, pages: usize, shard: &mut Shard, mut visit: impl FnMut(&mut Shard, usize) -> f64) -> Scores {
        let mut noted = vec![0.0; pages];
        let stop = StopRule { tolerance: self.tolerance, most_rounds: self.most_rounds };
        stop.iterate(vec![0.0; pages], |shares| {
            let mut purse = 0.0;
            shard.empty_purse(|share| purse += share.amount);
            shard.receive(purse);
            noted.iter_mut().enumerate().for_each(|(page, noted)| *noted = visit(shard, page));
            let sum: f64 = noted.iter().sum();
            let mut change = 0.0;
            for (share, noted) in shares.iter_mut().zip(&noted) {
                let now = if sum > 0.0 { noted / sum } else { 0.0 };
                change += (now - *share).abs();
                *share = now;
            }
            change
        })
    }
}
