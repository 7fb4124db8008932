//! Properties that hold on graphs of any kind.

use importance::hits::Hits;
use importance::opic::{Account, Settled, Shard, Window};
use importance::pagerank::{PageRank, TeleportError};
use importance::weight::WeightMap;
use importance::{Damping, Edge, Graph, GraphError, LeftOut, Link, Repeats, link_value, tidy};
use literature::push::{PushPage, Residuals};
use literature::quality::{Trend, clamped, popularity};

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
        assert_eq!(importance::opic::greedy(&graph, 100).importance.len(), nodes as usize);
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
    let mut shard = Shard::new(0, 1.0);
    let mut accounts: Vec<Account> = (0..2).map(|_| shard.open()).collect();
    shard.receive(1.0);
    let mut given = Vec::new();
    let mut links: Vec<Link<u32>> = (0..2_000_000).map(|link| Link::plain(link % 2)).collect();
    shard.visit(0, &mut accounts[0], &mut links, Window::Everything, |cash| given.push((cash.to, cash.amount)));
    assert_eq!(given, [(1, 0.25)]);
    let mut pushed = PushPage::new(1.0, Damping::default());
    pushed.relink(0, (0..2_000_000).map(|link| Link::plain(link % 2)).collect(), Damping::default(), |_| {});
    assert_eq!(pushed.links(), [Link::plain(1)]);
}

#[test]
fn links_that_cannot_count_are_dropped_and_counted() {
    let link = |to, weight| Link { to, weight };
    let mut links = vec![link(5, 0.1), link(2, 1.0), link(5, 0.7), link(9, 0.0), link(8, f64::NAN), link(7, 1.0)];
    assert_eq!(tidy(7, &mut links), 4);
    assert_eq!(links, [link(2, 1.0), link(5, 0.7)]);
}

#[test]
fn links_that_weigh_less_give_less() {
    let mut shard = Shard::new(0, 1.0);
    let mut account = shard.open();
    shard.receive(3.0);
    let mut links = vec![Link { to: 1, weight: 0.5 }, Link::plain(2), Link { to: 3, weight: 0.5 }];
    let mut given = Vec::new();
    shard.visit(0, &mut account, &mut links, Window::Everything, |cash| given.push(cash.amount));
    assert_eq!(given, [0.5, 1.0, 0.5]);
    assert_eq!(shard.purse(), 2.0, "what it began with, and the part of the virtual page");
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
fn a_window_follows_a_graph_that_changes() {
    // Pages 0 and 1 take turns to be linked by 2 to 5.
    let window = Window::Noted(4.0);
    let mut shard = Shard::new(0, 1.0);
    let mut accounts: Vec<Account> = (0..6).map(|_| shard.open()).collect();
    let mut importance = |target: u32, rounds: usize| {
        for _ in 0..rounds {
            let mut purse = 0.0;
            shard.empty_purse(|share| purse += share.amount);
            shard.receive(purse);
            for page in 0..6 {
                let mut links = if page < 2 { Vec::new() } else { vec![Link::plain(target)] };
                let mut given = Vec::new();
                shard.visit(page, &mut accounts[page as usize], &mut links, window, |cash| given.push(cash));
                given.iter().for_each(|cash| accounts[cash.to as usize].receive(cash.amount));
            }
        }
        let of = |page: usize| accounts[page].importance(&shard, window);
        assert!(((0..6).map(of).sum::<f64>() - 1.0).abs() < 0.01);
        (of(0), of(1))
    };
    let (first, second) = importance(0, 100);
    assert!(first > 2.9 * second, "{first} {second}");
    let (first, second) = importance(1, 30);
    assert!(second > 2.9 * first, "{first} {second}");
}

#[test]
fn an_account_that_ends_leaves_its_cash_behind() {
    let mut shard = Shard::new(0, 1.0);
    let accounts = [shard.open(), shard.open()];
    let mut purse = 0.0;
    shard.empty_purse(|share| purse += share.amount);
    shard.receive(purse);
    shard.close(accounts[0]);
    assert_eq!((shard.purse(), shard.pages(), accounts[1].cash(&shard)), (0.5, 1, 0.5));
    let late = shard.open();
    assert_eq!(late.cash(&shard), 0.0, "what was shared before is not for it");
}

#[test]
fn older_news_of_a_shard_is_ignored() {
    let (mut one, mut two) = (Shard::new(1, 0.0), Shard::new(2, 0.0));
    let none_yet = one.news();
    one.open();
    let first = one.news();
    two.learn(first);
    two.learn(none_yet);
    assert_eq!(two.pages(), 1);
    one.learn(first);
    assert_eq!(one.pages(), 1, "a shard knows itself");
}

#[test]
fn the_first_scores_become_moderate_weights() {
    let map = WeightMap::default();
    assert_eq!(map.weight(1.0, 1.0), 1.0);
    assert!((map.weight(10.0, 1.0) - 10.0_f64.powf(0.7)).abs() < 1e-12);
    assert_eq!(map.weight(1e-9, 1.0), 0.05);
    assert_eq!(map.weight(1e9, 1.0), 1_000.0_f64.powf(0.7));
    for (score, mean, weight) in
        [(0.0, 1.0, 0.05), (-1.0, 1.0, 0.05), (f64::NAN, 1.0, 1.0), (1.0, 0.0, 1.0), (1.0, f64::NAN, 1.0)]
    {
        assert_eq!(map.weight(score, mean), weight, "{score} {mean}");
    }
    assert!(WeightMap::new(1.1, 10.0, 0.0).is_err());
    assert!(WeightMap::new(0.7, 1.0, 0.0).is_err());
    assert!(WeightMap::new(0.7, 10.0, f64::NAN).is_err());
}

#[test]
fn one_giant_does_not_starve_the_rest() {
    let mut scores = vec![1.0; 100_000];
    scores[7] = 1e12;
    let weights = WeightMap::default().weights(&scores);
    // By the plain mean, the others would weigh next to nothing.
    assert!(weights[0] > 0.9, "{}", weights[0]);
    assert!(weights[7] < 130.0, "{}", weights[7]);
    let scores: Vec<f64> = (1..1_000).map(|rank| 1.0 / f64::from(rank)).collect();
    let weights = WeightMap::default().weights(&scores);
    assert!(weights.is_sorted_by(|a, b| a >= b), "the order of scores is the order of weights");
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
