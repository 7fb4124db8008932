//! All sites of a graph judged at once, each by bounded sketches of its neighbours.

use crate::shape::{Signal, SpamShape};
use crate::sites::{SiteLinks, SiteSketch};
use chance::splitmix64;
use std::collections::HashMap;

/// Neighbours of a site that are asked for theirs.
const ASKED_NEIGHBOURS: usize = 16;
/// Fewer linking sites than this are no farm, …
const LEAST_LINKING: usize = 5;
/// … and sites that link to fewer others than this are alike by chance.
const LEAST_LINKED: usize = 3;

/// Judges sites by the links between them: pairs of their numbers, from 0. Links of a site to itself and repeated ones
/// count for nothing. The work is a few thousand steps a site beside one for each link, and the memory two sketches a
/// site. Numbers beyond
/// `sites` are left out.
pub fn judge_sites(sites: usize, links: impl IntoIterator<Item = (u32, u32)>) -> Vec<SpamShape> {
    // As many sites as sketches are large can be mixed without a collision.
    let hash = |site: u32| splitmix64(u64::from(site) + 1);
    let mut known = vec![SiteLinks::default(); sites];
    let mut numbers = HashMap::new();
    for (from, to) in links {
        if from != to && (from as usize) < sites && (to as usize) < sites {
            known[from as usize].linked.add(hash(to));
            known[to as usize].linking.add(hash(from));
            numbers.insert(hash(from), from as usize);
        }
    }
    let exchanging: Vec<SiteSketch> = known.iter().map(exchanging).collect();
    let judge = |site: usize| {
        let mut shape = known[site].shape();
        if !shape.suspicions().is_empty() {
            // Those who get their links from elsewhere are dense by merit.
            let confidence = shape.score() / Signal::LinkExchange.most_score();
            let density = density(&exchanging[site], &exchanging, &numbers);
            shape.add(Signal::DenseGroup, density, confidence);
        }
        if let Some(share) = alike(&known[site], &known, &numbers) {
            shape.add(Signal::AlikeSites, share, 1.0);
        }
        shape
    };
    (0..sites).map(judge).collect()
}

/// The sites that link to one and are linked back.
fn exchanging(links: &SiteLinks) -> SiteSketch {
    SiteSketch::of(links.linking.hashes().iter().copied().filter(|hash| links.linked.contains(*hash)))
}

/// Mean share of the other sites that a site exchanges links with, with which such a one exchanges links, too.
fn density(own: &SiteSketch, all: &[SiteSketch], numbers: &HashMap<u64, usize>) -> f64 {
    let asked = own.hashes().iter().filter_map(|hash| numbers.get(hash)).take(ASKED_NEIGHBOURS);
    let (mut sum, mut count) = (0.0, 0.0f64);
    for neighbour in asked {
        let (compared, both) = own.compared(&all[*neighbour]);
        // The neighbour itself is among them, and exchanges no links with itself.
        sum += both as f64 / compared.saturating_sub(1).max(1) as f64;
        count += 1.0;
    }
    sum / count.max(1.0)
}

/// The share of the linking sites that form the largest group whose links lead to the same sites. `None` of few.
fn alike(links: &SiteLinks, all: &[SiteLinks], numbers: &HashMap<u64, usize>) -> Option<f64> {
    let mut groups = HashMap::<&[u64], usize>::new();
    let linking: Vec<usize> = links.linking.hashes().iter().filter_map(|hash| numbers.get(hash).copied()).collect();
    for site in &linking {
        let linked = all[*site].linked.hashes();
        if linked.len() >= LEAST_LINKED {
            *groups.entry(linked).or_default() += 1;
        }
    }
    let largest = groups.into_values().max().filter(|largest| *largest >= LEAST_LINKING)?;
    Some(largest as f64 / linking.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clique_is_dense_and_a_ring_of_friends_is_an_exchange() {
        let clique = (0..30u32).flat_map(|from| (0..30).map(move |to| (from, to)));
        let shapes = judge_sites(30, clique);
        assert!(shapes.iter().all(|shape| shape.score() > 0.99), "{:?}", shapes[0]);
        let signals: Vec<Signal> = shapes[0].suspicions().iter().map(|one| one.signal).collect();
        assert_eq!(signals, [Signal::LinkExchange, Signal::DenseGroup]);
    }

    #[test]
    fn boosters_give_their_targets_away() {
        // Fifty sites link to the same six, and no site links to them.
        let boosters = (0..50u32).flat_map(|from| (50..56).map(move |to| (from, to)));
        let shapes = judge_sites(56, boosters);
        assert!(shapes[50..].iter().all(SpamShape::is_spam) && !shapes[..50].iter().any(SpamShape::is_spam));
    }

    #[test]
    fn links_that_cannot_be_are_left_out() {
        assert!(judge_sites(0, [(0, 1)]).is_empty());
        assert_eq!(judge_sites(2, [(0, 0), (0, 7), (9, 1), (0, 1), (0, 1)]), vec![SpamShape::default(); 2]);
    }
}
