//! The values that the algorithm notes give for section D, computed there by an independent program.

use literature::push::Residuals;
use literature::quality;
use literature::ranking::hits::Hits;
use literature::ranking::opic::{Settled, greedy};
use literature::ranking::pagerank::PageRank;
use literature::ranking::trust::{damped_weight, trust_rank};
use literature::ranking::{Damping, Edge, Graph, Repeats, link_value, relevance};

#[track_caller]
fn close(got: f64, expected: f64) {
    near(got, expected, 1e-10);
}

#[track_caller]
fn near(got: f64, expected: f64, tolerance: f64) {
    assert!((got - expected).abs() <= tolerance * expected.abs().max(1.0), "got {got}, expected {expected}");
}

#[track_caller]
fn all_close(got: &[f64], expected: &[f64]) {
    assert_eq!(got.len(), expected.len());
    got.iter().zip(expected).for_each(|(got, expected)| close(*got, *expected));
}

/// Five pages, of which the last links nothing.
const G5: [(u32, u32); 7] = [(0, 1), (0, 2), (1, 2), (2, 0), (3, 0), (3, 2), (3, 4)];
/// The relevances of these links.
const RW: [f64; 7] = [0.9, 0.0, 0.6, 0.8, 0.5, 0.7, 0.2];

fn graph(nodes: u32, links: &[(u32, u32)]) -> Graph {
    Graph::new(nodes, links.iter().map(|&(from, to)| Edge::plain(from, to)).collect(), Repeats::Once).unwrap()
}

fn exactly() -> PageRank {
    PageRank { tolerance: 1e-14, ..PageRank::default() }
}

const PAGERANK: [f64; 5] = [0.358238639137, 0.190622771026, 0.363524008725, 0.038371349392, 0.049243231720];
const TRUST: [f64; 5] = [0.391820925626, 0.166523893391, 0.332228369045, 0.085267645666, 0.024159166272];

#[test]
fn pagerank() {
    let ranked = exactly().rank(&graph(5, &G5));
    assert!(ranked.settled);
    all_close(&ranked.values, &PAGERANK);
    close(ranked.values.iter().sum(), 1.0);
    let coarse = PageRank::default().rank(&graph(5, &G5));
    assert!(coarse.settled && coarse.rounds < ranked.rounds);
}

#[test]
fn pagerank_as_published() {
    let ranked = exactly().as_published(&graph(5, &G5));
    all_close(&ranked.values, &[1.400414546825, 0.745176182401, 1.421075937441, 0.15, 0.1925]);
}

#[test]
fn pagerank_by_pushes_and_its_repair() {
    let before = graph(5, &G5);
    let mut pushed = Residuals::new(&before, Damping::default());
    pushed.settle(&before, 5.0 * 1e-13);
    all_close(&pushed.pagerank(), &PAGERANK);

    let after = graph(5, &[&G5[..], &[(4, 1)]].concat());
    let mut repaired = Residuals::of_scores(&after, Damping::default(), pushed.scores().to_vec());
    // The reference has a threshold of 1e-13 where all scores sum to 1; here they sum to 5.
    let (pushes, _) = repaired.settle(&after, 5.0 * 1e-13);
    let expected = [0.351366308649, 0.212055681176, 0.368078010176, 0.03, 0.0385];
    all_close(&repaired.pagerank(), &expected);
    all_close(&exactly().rank(&after).values, &expected);
    // The reference took 188: it pushes the largest residual first, which takes a search.
    assert!((1..=188 + 18).contains(&pushes), "{pushes}");
    let from_nothing = Residuals::new(&after, Damping::default()).settle(&after, 5.0 * 1e-13).0;
    assert!(pushes < from_nothing, "{pushes} pushes repair what {from_nothing} compute");
}

#[test]
fn hits() {
    let ranked = Hits::default().rank(&graph(5, &G5));
    assert!(ranked.settled);
    all_close(&ranked.authorities, &[0.474464707658, 0.226443024704, 0.767700023453, 0.0, 0.366392510486]);
    all_close(&ranked.hubs, &[0.474464707658, 0.366392510486, 0.226443024704, 0.767700023453, 0.0]);
}

const OPIC: [f64; 5] = [0.277929155313, 0.190735694823, 0.310626702997, 0.098092643052, 0.122615803815];

#[test]
fn opic_greedy() {
    let six = greedy(&graph(5, &G5), 6);
    all_close(&six.importance, &[0.238095238095, 0.195767195767, 0.280423280423, 0.126984126984, 0.158730158730]);
    close(six.noted, 1.755555555556);
    all_close(&six.history[..3], &[0.433333333333, 0.222222222222, 0.333333333333]);
    for (visits, error) in [(60, 6.3e-3), (600, 9.1e-4), (6_000, 1.0e-4), (60_000, 1.3e-5)] {
        let run = greedy(&graph(5, &G5), visits);
        let largest = run.importance.iter().zip(OPIC).map(|(got, at_last)| (got - at_last).abs()).fold(0.0, f64::max);
        assert!((largest / error - 1.0).abs() < 0.05, "{visits} visits: {largest}, reference {error}");
    }
}

#[test]
fn opic_settled() {
    let ranked = Settled { tolerance: 1e-14, ..Settled::default() }.rank(&graph(5, &G5));
    assert!(ranked.settled);
    all_close(&ranked.values, &OPIC);
}

const SITES: [(u32, u32); 7] = [(0, 1), (0, 2), (1, 2), (2, 0), (2, 3), (3, 0), (3, 1)];

#[test]
fn link_values_as_published_grow_and_break_at_the_cap() {
    let mut values = [0; 4];
    let mut seen = Vec::new();
    for _ in 1..=12 {
        link_value::pass_as_published(&graph(4, &SITES), &mut values);
        seen.push(values);
    }
    assert_eq!(seen[0], [4, 3, 2, 2]);
    assert_eq!(seen[1], [32, 22, 13, 15]);
    assert_eq!(seen[2], [245, 168, 99, 114]);
    assert_eq!(seen[3], [1873, 1284, 757, 871]);
    assert_eq!(seen[4], [14318, 9815, 5787, 6658]);
    assert_eq!(seen[5], [330, 273, 44238, 50896]);
    assert_eq!(seen[6], [45810, 912, 45171, 309]);
    assert_eq!(seen[7], [47636, 306, 47023, 47332]);
    assert_eq!(seen[8], [618, 48251, 48249, 309]);
    assert_eq!(seen[11], [54538, 978, 53883, 327]);
}

#[test]
fn link_values_keep_their_order_when_all_are_cut_back() {
    let mut values = [0.0; 4];
    for pass_number in 1..=40 {
        link_value::pass(&graph(4, &SITES), &mut values);
        assert!(values.iter().all(|value| (0.0..=65_535.0).contains(value)));
        if pass_number >= 3 {
            assert!(
                values[0] > values[1] && values[1] > values[3] && values[3] > values[2],
                "{pass_number}: {values:?}"
            );
        }
    }
}

#[test]
fn ipagerank() {
    let links = G5.iter().zip(RW).map(|(&(from, to), weight)| Edge { from, to, weight }).collect();
    let ranked = exactly().rank(&Graph::new(5, links, Repeats::Once).unwrap()).values;
    all_close(&ranked, &[0.310971243522, 0.301392011852, 0.309002908248, 0.037066454858, 0.041567381520]);
}

#[test]
fn relevance_of_links() {
    for (similarities, expected) in
        [(&[0.2, 0.9, 0.5][..], 0.9), (&[0.34, 0.1], 0.0), (&[0.35], 0.35), (&[], 0.0), (&[1.0, 0.2], 1.0)]
    {
        assert_eq!(relevance::link_weight(similarities.iter().copied(), 0.35), expected, "{similarities:?}");
    }
}

#[test]
fn trust_and_the_weights_it_leaves() {
    let trust = trust_rank(&graph(5, &G5), &[0, 3], &exactly()).unwrap().values;
    all_close(&trust, &TRUST);
    close(damped_weight(3.0, -1.2), 3.0);
    close(damped_weight(3.0, 0.05), 3.0);
    close(damped_weight(3.0, 0.509391129950), 3.0 * 0.590608870050);
    close(damped_weight(3.0, 1.7), 0.3);
}

#[test]
fn quality_from_popularity() {
    for (q, start, rate, t, now, simple, by_logarithm) in [
        (0.8, 0.001, 1.0, 5.0, 0.0511698859994, 0.812736034419, 0.80223748926),
        (0.8, 0.001, 1.0, 10.0, 0.630897591404, 0.799975584717, 0.79595972995),
        (0.4, 0.001, 1.0, 10.0, 0.0481467131461, 0.400851642143, 0.400428279914),
        (0.2, 0.05, 2.0, 3.0, 0.105065047477, 0.199687222267, 0.199966586439),
        (0.9, 0.9, 1.0, 7.0, 0.9, 0.9, 0.9),
    ] {
        let at = |t: f64| quality::popularity(q, start, rate, t);
        close(at(t), now);
        let (earlier, later) = (at(t - 0.5), at(t + 0.5));
        close(quality::quality(now, later - earlier, rate), simple);
        close(quality::quality_between(earlier, later, 1.0, rate), by_logarithm);
        // With the slope as it is, the estimate is the quality itself.
        near(quality::quality(now, rate * now * (q - now), rate), q, 1e-9);
    }
}

#[test]
fn popularity_by_search_engines() {
    for (popularity, start, q, expected) in
        [(0.2, 0.05, 0.5, 68.3761276107), (0.4, 0.05, 0.5, 85.0004070904), (0.3, 0.01, 0.9, 286.850543837)]
    {
        near(quality::visits_by_search(q, start, popularity), expected, 1e-11);
        // As printed, as a sum.
        let term = |i: i32| {
            let power = f64::from(i) - 2.25;
            (f64::powf(popularity, power) - f64::powf(start, power)) / (power * f64::powi(q, i))
        };
        near((1..400).map(term).sum(), expected, 1e-11);
    }
}
