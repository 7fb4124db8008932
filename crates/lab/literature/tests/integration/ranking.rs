//! Properties that hold on graphs of any kind.

use importance::Link;
use importance::weight::WeightMap;
use literature::push::{PushPage, Residuals};
use literature::quality::{Trend, clamped, popularity};
use literature::ranking::hits::Hits;
use literature::ranking::opic::{Settled, greedy};
use literature::ranking::pagerank::{PageRank, TeleportError};
use literature::ranking::{Damping, Edge, Graph, GraphError, LeftOut, Repeats, link_value};

fn graph(nodes: u32, links: &[(u32, u32)]) -> Graph {
    Graph::new(nodes, links.iter().map(|&(from, to)| Edge::plain(from, to)).collect(), Repeats::Once).unwrap()
}

#[test]
fn links_to_itself_and_repeated_links_are_counted_and_left_out() {
    let links = [(0, 1), (0, 0), (0, 1), (1, 0), (1, 1), (0, 1)];
    let graph = graph(3, &links);
    assert_eq!((graph.nodes(), graph.links()), (3, 2));
    assert_eq!(graph.left_out(), LeftOut { to_themselves: 2, repeated: 2 });
    assert_eq!((graph.targets(0), graph.targets(1), graph.targets(2)), (&[1][..], &[0][..], &[][..]));
    let edges = vec![
        Edge { from: 0, to: 1, weight: 0.5 },
        Edge { from: 0, to: 1, weight: 2.0 },
        Edge { from: 0, to: 2, weight: 0.0 },
    ];
    let total = |repeats| Graph::new(3, edges.clone(), repeats).unwrap().total_weight(0);
    assert_eq!((total(Repeats::Once), total(Repeats::Summed)), (2.0, 2.5));
}

#[test]
fn impossible_links_are_refused_by_name() {
    let error = |edge| Graph::new(2, vec![Edge::plain(0, 1), edge], Repeats::Once).unwrap_err();
    assert_eq!(error(Edge::plain(1, 2)), GraphError::NoSuchNode { from: 1, to: 2, nodes: 2 });
    for weight in [-1.0, f64::NAN, f64::INFINITY] {
        let said = error(Edge { from: 1, to: 0, weight }).to_string();
        assert!(said.contains("from node 1 to node 0") && said.contains("at least 0"), "{said}");
    }
    assert!(Damping::new(1.0).is_err() && Damping::new(f64::NAN).is_err() && Damping::new(0.0).is_ok());
}

/// Six pages on three hosts; 1,000 links lead from the first host to the second, one to the third.
#[test]
fn hosts_are_linked_by_the_logarithm_of_their_links() {
    let mut links: Vec<Edge> = (0..1_000).map(|link| Edge::plain(link % 2, 2 + link / 2 % 2)).collect();
    links.extend([Edge::plain(0, 1), Edge::plain(1, 4), Edge::plain(5, 0)]);
    let pages = Graph::new(6, links, Repeats::Summed).unwrap();
    let hosts = pages.grouped(3, &[0, 0, 1, 1, 2, 2], f64::ln_1p).unwrap();
    let edges: Vec<Edge> = hosts.edges().collect();
    let link = |from, to, links: f64| Edge { from, to, weight: (1.0 + links).ln() };
    assert_eq!(edges, [link(0, 1, 1_000.0), link(0, 2, 1.0), link(2, 0, 1.0)]);
    assert_eq!(hosts.left_out().to_themselves, 1, "the link within the first host");
    assert!(pages.grouped(3, &[0, 0, 1, 1, 2], f64::ln_1p).is_err(), "a page without a host");
    assert!(pages.grouped(2, &[0, 0, 1, 1, 2, 2], f64::ln_1p).is_err(), "a host that does not exist");
}

#[test]
fn jumps_that_end_nowhere_are_refused() {
    let rank = |teleport: &[f64]| PageRank::default().personalised(&graph(2, &[(0, 1)]), teleport);
    assert_eq!(rank(&[1.0]), Err(TeleportError::Length { given: 1, nodes: 2 }));
    for teleport in [[0.0, 0.0], [1.0, -1.0], [2.0, -1.0], [f64::NAN, 1.0], [f64::INFINITY, 1.0]] {
        assert_eq!(rank(&teleport), Err(TeleportError::Weights));
    }
    assert!(rank(&[0.0, 3.0]).is_ok());
}

#[test]
fn no_graph_is_too_small() {
    for nodes in [0, 1, 3] {
        let graph = graph(nodes, &[]);
        let sum = |values: &[f64]| values.iter().sum::<f64>();
        let expected = if nodes == 0 { 0.0 } else { 1.0 };
        assert!((sum(&PageRank::default().rank(&graph).values) - expected).abs() < 1e-12);
        assert!((sum(&Settled::default().rank(&graph).values) - expected).abs() < 1e-12);
        assert_eq!(sum(&Hits::default().rank(&graph).authorities), 0.0);
        assert_eq!(sum(&link_value::after_passes(&graph, 3)), 0.0);
        assert_eq!(greedy(&graph, 100).importance.len(), nodes as usize);
        Residuals::new(&graph, Damping::default()).settle(&graph, 1e-9);
        assert_eq!(WeightMap::default().weights(&vec![1.0; nodes as usize]), vec![1.0; nodes as usize]);
    }
}

/// Ten pages in a ring. One of them also links itself and its neighbour, a million times each.
#[test]
fn a_page_gains_nothing_by_links_to_itself_or_links_repeated() {
    let ring: Vec<(u32, u32)> = (0..10).map(|page| (page, (page + 1) % 10)).collect();
    let spam = (0..2_000_000).map(|link| (3, 3 + link % 2));
    let (honest, spammed) = (graph(10, &ring), graph(10, &ring.iter().copied().chain(spam).collect::<Vec<_>>()));
    assert_eq!(spammed.left_out(), LeftOut { to_themselves: 1_000_000, repeated: 1_000_000 });
    assert_eq!(PageRank::default().rank(&honest), PageRank::default().rank(&spammed));
    assert_eq!(Settled::default().rank(&honest), Settled::default().rank(&spammed));
    assert_eq!(Hits::default().rank(&honest), Hits::default().rank(&spammed));
    let mut pushed = PushPage::new(1.0, Damping::default());
    pushed.relink(0, (0..2_000_000).map(|link| Link::plain(link % 2)).collect(), Damping::default(), |_| {});
    assert_eq!(pushed.links(), [Link::plain(1)]);
}

/// A page of a million links to a page of none: each is given a millionth, and nothing is lost.
#[test]
fn a_page_with_a_million_links_is_like_any_other() {
    let links: Vec<(u32, u32)> = (1..=1_000_000).map(|to| (0, to)).collect();
    let graph = graph(1_000_001, &links);
    let ranked = PageRank::default().rank(&graph).values;
    assert!((ranked.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    let mut pushed = Residuals::new(&graph, Damping::default());
    pushed.settle(&graph, 1e-9);
    let pushed = pushed.pagerank();
    assert!(ranked.iter().zip(&pushed).all(|(batch, pushed)| (batch - pushed).abs() < 1e-12));
    let settled = Settled::default().rank(&graph).values;
    assert!((settled.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    let hits = Hits::default().rank(&graph).authorities;
    for scores in [settled, hits] {
        assert!(scores[1] > 0.0 && scores[1..].iter().all(|score| *score == scores[1]), "{}", scores[1]);
    }
}

#[test]
fn the_slope_of_a_steady_trend_is_exact_whatever_the_times() {
    let at = |t: f64| (0.3 * t - 5.0).exp();
    let mut trend = Trend::new(3.0, 20.0, 1.0, at(1.0)).unwrap();
    assert_eq!(trend.slope(), None);
    for (looks, t) in [(2, 1.5), (3, 4.0), (4, 4.1), (5, 30.0), (6, 31.0), (7, 200.0)] {
        assert!(trend.look(t, at(t)));
        match trend.slope() {
            Some(slope) => assert!((slope - 0.3).abs() < 1e-9, "{looks} looks: {slope}"),
            None => assert_eq!(looks, 2),
        }
    }
    assert!(!trend.look(200.0, 1.0) && !trend.look(201.0, 0.0) && !trend.look(f64::NAN, 1.0));
    assert!(Trend::new(3.0, 3.0, 0.0, 1.0).is_none() && Trend::new(3.0, 9.0, 0.0, 0.0).is_none());
}

#[test]
fn a_young_page_has_more_quality_than_its_popularity_shows() {
    let mut trend = Trend::new(0.5, 2.0, 0.0, 0.001).unwrap();
    (1..=60).for_each(|look| {
        assert!(trend.look(f64::from(look) * 0.1, popularity(0.8, 0.001, 1.0, f64::from(look) * 0.1)))
    });
    let now = popularity(0.8, 0.001, 1.0, 6.0);
    assert!((trend.slope().unwrap() + now - 0.8).abs() < 0.1);
    assert_eq!(trend.quality(1.0), Some(clamped(0.8, now)), "but it is not believed beyond four times the popularity");
    assert_eq!((clamped(9.0, 1.0), clamped(-9.0, 1.0), clamped(2.0, 1.0)), (4.0, 0.25, 2.0));
}
