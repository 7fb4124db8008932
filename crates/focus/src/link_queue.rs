//! A bounded queue of links to follow: the best one first whose host may be asked.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A score as a key of a sorted map. Not-a-number is the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    score: u64,
    /// Among equals the first one that came is the best.
    order: Reverse<u64>,
}

impl Rank {
    fn new(score: f64, order: u64) -> Self {
        // Positive floats sort as their bits.
        Self { score: if score > 0.0 { score.to_bits() } else { 0 }, order: Reverse(order) }
    }

    fn score(self) -> f64 {
        f64::from_bits(self.score)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct QueuedLink {
    /// The target.
    pub url: String,
    pub host: String,
    /// Its score; negative ones count as 0.
    pub score: f64,
}

/// A bounded priority queue of links, with a queue for each host. Every operation takes time logarithmic in its size,
/// except that [`LinkQueue::pop`] asks host by host.
#[derive(Clone, Debug)]
pub struct LinkQueue {
    capacity: usize,
    links: BTreeMap<Rank, (String, String)>,
    ranks: HashMap<String, Rank>,
    by_host: HashMap<String, BTreeSet<Rank>>,
    /// Hosts by the rank of their best link.
    hosts: BTreeMap<Rank, String>,
    pushed: u64,
    dropped: u64,
}

impl LinkQueue {
    /// A queue that keeps the best `capacity` links.
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            links: BTreeMap::new(),
            ranks: HashMap::new(),
            by_host: HashMap::new(),
            hosts: BTreeMap::new(),
            pushed: 0,
            dropped: 0,
        }
    }

    /// Adds a link. A target that is already there gets the new score, and keeps its place among equals. If the queue is
    /// full, the worst link is dropped, which may be this one.
    pub fn push(&mut self, link: QueuedLink) {
        let mut rank = Rank::new(link.score, self.pushed);
        self.pushed += 1;
        if let Some(known) = self.ranks.get(&link.url).copied() {
            rank.order = known.order;
            self.take(known);
        }
        self.hosts_queue(&link.host, |queue| queue.insert(rank));
        self.ranks.insert(link.url.clone(), rank);
        self.links.insert(rank, (link.url, link.host));
        if self.links.len() > self.capacity
            && let Some(worst) = self.links.first_key_value().map(|(rank, _)| *rank)
        {
            self.take(worst);
            self.dropped += 1;
        }
    }

    /// Takes the best link of all hosts that may be asked now.
    pub fn pop(&mut self, mut may_ask: impl FnMut(&str) -> bool) -> Option<QueuedLink> {
        let rank = self.hosts.iter().rev().find(|(_, host)| may_ask(host)).map(|(rank, _)| *rank)?;
        self.take(rank)
    }

    pub fn len(&self) -> usize {
        self.links.len()
    }

    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// The number of links dropped because better ones filled the queue.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    fn take(&mut self, rank: Rank) -> Option<QueuedLink> {
        let (url, host) = self.links.remove(&rank)?;
        self.ranks.remove(&url);
        self.hosts_queue(&host, |queue| queue.remove(&rank));
        Some(QueuedLink { url, host, score: rank.score() })
    }

    /// Changes the queue of a host, and files the host by its best link again.
    fn hosts_queue(&mut self, host: &str, change: impl FnOnce(&mut BTreeSet<Rank>) -> bool) {
        let queue = self.by_host.entry(host.to_owned()).or_default();
        let before = queue.last().copied();
        change(queue);
        let after = queue.last().copied();
        if after.is_none() {
            self.by_host.remove(host);
        }
        if before != after {
            before.map(|rank| self.hosts.remove(&rank));
            after.map(|rank| self.hosts.insert(rank, host.to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn link(url: &str, score: f64) -> QueuedLink {
        let host = url.split('/').next().unwrap_or_default().to_owned();
        QueuedLink { url: url.to_owned(), host, score }
    }

    fn urls(queue: &mut LinkQueue, may_ask: impl Fn(&str) -> bool) -> Vec<String> {
        std::iter::from_fn(|| queue.pop(&may_ask)).map(|link| link.url).collect()
    }

    #[test]
    fn the_best_come_first_and_equals_in_order() {
        let mut queue = LinkQueue::new(10);
        for (url, score) in [("a/1", 0.2), ("b/1", 0.9), ("a/2", 0.5), ("c/1", 0.5), ("a/3", f64::NAN), ("a/4", -1.0)] {
            queue.push(link(url, score));
        }
        assert_eq!(urls(&mut queue.clone(), |_| true), ["b/1", "a/2", "c/1", "a/1", "a/3", "a/4"]);
        assert_eq!(urls(&mut queue, |host| host == "a"), ["a/2", "a/1", "a/3", "a/4"]);
        assert_eq!(urls(&mut queue, |_| true), ["b/1", "c/1"]);
        assert!(queue.is_empty() && queue.by_host.is_empty() && queue.hosts.is_empty());
    }

    #[test]
    fn a_known_target_gets_the_new_score() {
        let mut queue = LinkQueue::new(10);
        [("a/1", 0.2), ("a/2", 0.3), ("a/1", 0.4), ("a/1", 0.1)]
            .iter()
            .for_each(|(url, score)| queue.push(link(url, *score)));
        assert_eq!(queue.len(), 2);
        assert_eq!(queue.pop(|_| true), Some(link("a/2", 0.3)));
        assert_eq!(queue.pop(|_| true), Some(link("a/1", 0.1)));
    }

    #[test]
    fn a_full_queue_drops_the_worst_and_counts_it() {
        let mut queue = LinkQueue::new(2);
        [("a/1", 0.2), ("a/2", 0.3), ("b/1", 0.4), ("b/2", 0.1)]
            .iter()
            .for_each(|(url, score)| queue.push(link(url, *score)));
        assert_eq!((queue.len(), queue.dropped()), (2, 2));
        assert_eq!(urls(&mut queue, |_| true), ["b/1", "a/2"]);
        let mut none = LinkQueue::new(0);
        none.push(link("a/1", 1.0));
        assert_eq!((none.len(), none.dropped()), (0, 1));
    }

    proptest! {
        #[test]
        fn it_is_a_sorted_list_cut_off(
            pushes in proptest::collection::vec(("[a-c]/[0-9]", 0u8..5), 0..60), capacity in 0usize..12
        ) {
            let mut queue = LinkQueue::new(capacity);
            let mut plain: Vec<(String, u8, usize)> = Vec::new();
            for (order, (url, score)) in pushes.into_iter().enumerate() {
                queue.push(link(&url, f64::from(score)));
                match plain.iter_mut().find(|known| known.0 == url) {
                    Some(known) => known.1 = score,
                    None => plain.push((url, score, order)),
                }
                plain.sort_by_key(|(_, score, order)| (Reverse(*score), *order));
                plain.truncate(capacity);
            }
            let expected: Vec<String> = plain.into_iter().map(|(url, _, _)| url).collect();
            prop_assert_eq!(urls(&mut queue, |_| true), expected);
        }
    }
}
