//! Properties that hold whatever the links.

use importance::opic::{Account, Shard, Window};
use importance::weight::WeightMap;
use importance::{Link, tidy};

/// Two pages. The first links itself and the other, a million times each.
#[test]
fn a_page_gains_nothing_by_links_to_itself_or_links_repeated() {
    let mut shard = Shard::new(0, 1.0);
    let mut accounts: Vec<Account> = (0..2).map(|_| shard.open()).collect();
    shard.receive(1.0);
    let mut given = Vec::new();
    let mut links: Vec<Link<u32>> = (0..2_000_000).map(|link| Link::plain(link % 2)).collect();
    shard.visit(0, &mut accounts[0], &mut links, Window::Everything, |cash| given.push((cash.to, cash.amount)));
    assert_eq!(given, [(1, 0.25)]);
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
