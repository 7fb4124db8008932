//! Compares the forms of PageRank that a running crawl may use: how close each comes, and its cost.
//! `cargo run --release -p importance --example live_forms`
//!
//! A web whose pages change at rates that differ widely. A crawl learns a page's links when it is found new or changed, as the
//! ranker does. At the end the weights of all pages are compared with those by PageRank over the whole graph.

use chance::{Draws, Lcg};
use importance::opic::{Account, Shard, Window};
use importance::weight::WeightMap;
use importance::{Link, weigh_alike, weigh_as_pagerank};
use literature::push::PushPage;
use literature::ranking::pagerank::PageRank;
use literature::ranking::{Damping, Edge, Graph, Repeats};

const PAGES: u32 = 20_000;
const PAGES_PER_SITE: u32 = 100;
const LINKS: u32 = 12;
const DAYS: u32 = 200;
/// Fetches a page and day.
const BUDGET: f64 = 0.01;

/// Seven links in ten stay within the site. Few pages are linked by many.
fn target(page: u32, chance: &mut Lcg) -> u32 {
    let place = chance.midpoint().powi(3);
    if chance.midpoint() < 0.7 {
        page - page % PAGES_PER_SITE + (f64::from(PAGES_PER_SITE) * place) as u32
    } else {
        (f64::from(PAGES) * place) as u32
    }
}

/// A page, and what it links.
type Look = (u32, Vec<u32>);

/// The looks of a crawl that find a page new or changed, in order, and the links at the end.
fn looks(rates: &[f64], chance: &mut Lcg) -> (Vec<Look>, Vec<Vec<u32>>) {
    let mut links: Vec<Vec<u32>> = (0..PAGES).map(|page| (0..LINKS).map(|_| target(page, chance)).collect()).collect();
    let mut looks: Vec<_> = (0..PAGES).map(|page| (page, links[page as usize].clone())).collect();
    for _ in 0..DAYS {
        for page in 0..PAGES {
            if chance.midpoint() < -(-rates[page as usize]).exp_m1() {
                // One change in three is one of a link.
                if chance.midpoint() < 1.0 / 3.0 {
                    let place = (chance.midpoint() * f64::from(LINKS)) as usize;
                    links[page as usize][place] = target(page, chance);
                }
                looks.push((page, links[page as usize].clone()));
            }
        }
    }
    (looks, links)
}

/// Mean distance of weights, as a factor, over all pages and over the hundredth that weighs most.
fn distance(of: &[f64], expected: &[f64]) -> (f64, f64) {
    let apart = |page: usize| (of[page] / expected[page]).ln().abs();
    let mean = |pages: &[usize]| (pages.iter().map(|page| apart(*page)).sum::<f64>() / pages.len() as f64).exp();
    let mut pages: Vec<usize> = (0..of.len()).collect();
    let all = mean(&pages);
    pages.sort_by(|a, b| expected[*b].total_cmp(&expected[*a]));
    (all, mean(&pages[..of.len() / 100]))
}

/// Expected freshness by exact weights, when `BUDGET` fetches a page and day are given out so that these weights would be served best.
fn freshness(weights: &[f64], expected: &[f64], rates: &[f64]) -> f64 {
    // The gain of a fetch more at x changes between two is w / rate · (1 - (1 + x) e^-x); it is the same for all pages.
    let between = |page: usize, price: f64| {
        let (mut low, mut high) = (0.0_f64, 700.0_f64);
        let most = weights[page] / rates[page];
        if most <= price {
            return f64::INFINITY;
        }
        for _ in 0..60 {
            let x = 0.5 * (low + high);
            if most * (1.0 - (1.0 + x) * (-x).exp()) < price { low = x } else { high = x }
        }
        0.5 * (low + high)
    };
    let spent = |price: f64| (0..rates.len()).map(|page| rates[page] / between(page, price)).sum::<f64>();
    let (mut low, mut high) = (1e-9_f64, 1e9_f64);
    for _ in 0..60 {
        let price = (low * high).sqrt();
        if spent(price) > BUDGET * rates.len() as f64 { low = price } else { high = price }
    }
    let fresh = |page: usize| {
        let x = between(page, high);
        if x.is_infinite() { 0.0 } else { -(-x).exp_m1() / x }
    };
    (0..rates.len()).map(|page| expected[page] * fresh(page)).sum::<f64>() / expected.iter().sum::<f64>()
}

fn plain(targets: &[u32]) -> Vec<Link<u32>> {
    targets.iter().map(|to| Link::plain(*to)).collect()
}

/// Weights by cash, and messages to other sites.
fn by_cash(looks: &[Look], weigh: fn(&mut [Link<u32>])) -> (Vec<f64>, u64) {
    let mut shard = Shard::new(0, 1.0);
    let mut accounts: Vec<Account> = (0..PAGES).map(|_| shard.open()).collect();
    let mut sent = 0;
    for (number, (page, targets)) in looks.iter().enumerate() {
        let mut links = plain(targets);
        importance::tidy(*page, &mut links);
        weigh(&mut links);
        let (mut account, mut given) = (accounts[*page as usize], Vec::new());
        shard.visit(*page, &mut account, &mut links, Window::Everything, |cash| given.push(cash));
        accounts[*page as usize] = account;
        sent += given.iter().filter(|cash| cash.to / PAGES_PER_SITE != page / PAGES_PER_SITE).count() as u64;
        given.iter().for_each(|cash| accounts[cash.to as usize].receive(cash.amount));
        if number % 100 == 0 {
            let mut purse = 0.0;
            shard.empty_purse(|share| purse += share.amount);
            shard.receive(purse);
        }
    }
    let scores: Vec<f64> = accounts.iter().map(|account| account.importance_since_opened(&shard)).collect();
    (WeightMap::default().weights(&scores), sent)
}

/// Weights by residual push, and messages to other sites. Ripe pages are pushed once after every hundred looks.
fn by_push(looks: &[Look], threshold: f64) -> (Vec<f64>, u64) {
    let damping = Damping::default();
    let mut pages: Vec<PushPage<u32>> = (0..PAGES).map(|_| PushPage::new(1.0, damping)).collect();
    let mut sent = 0;
    let mut batch = |pages: &mut Vec<PushPage<u32>>, looks: &[Look]| {
        let mut given = Vec::new();
        for (page, targets) in looks {
            pages[*page as usize].relink(*page, plain(targets), damping, |residual| given.push((*page, residual)));
        }
        for number in 0..PAGES {
            if pages[number as usize].is_ripe(threshold) {
                pages[number as usize].push(damping, |residual| given.push((number, residual)));
            }
        }
        for (from, residual) in &given {
            sent += u64::from(from / PAGES_PER_SITE != residual.to / PAGES_PER_SITE);
            pages[residual.to as usize].receive(residual.amount);
        }
        !given.is_empty()
    };
    looks.chunks(100).for_each(|looks| {
        batch(&mut pages, looks);
    });
    while batch(&mut pages, &[]) {}
    (WeightMap::default().weights(&pages.iter().map(PushPage::score).collect::<Vec<_>>()), sent)
}

fn main() {
    let mut chance = Lcg(7);
    let mut normal = || (-2.0 * chance.midpoint().ln()).sqrt() * (std::f64::consts::TAU * chance.midpoint()).cos();
    let rates: Vec<f64> = (0..PAGES).map(|_| 0.01 * (1.5 * normal()).exp()).collect();
    let (looks, links) = looks(&rates, &mut chance);
    let edges = (0..PAGES).flat_map(|from| links[from as usize].iter().map(move |to| Edge::plain(from, *to)));
    let graph = Graph::new(PAGES, edges.collect(), Repeats::Once).expect("pages are numbered from 0");
    let expected = WeightMap::default().weights(&PageRank::default().rank(&graph).values);
    println!("{PAGES} pages, {} looks that find one new or changed, {DAYS} days", looks.len());
    println!(
        "{:<28} {:>12} {:>16} {:>18} {:>10}",
        "form", "off by", "top hundredth by", "links told a look", "freshness"
    );
    let show = |name: &str, (weights, sent): (Vec<f64>, u64)| {
        let (all, top) = distance(&weights, &expected);
        let (reported, fresh) = (sent as f64 / looks.len() as f64, freshness(&weights, &expected, &rates));
        println!("{name:<28} {all:>11.3}x {top:>15.3}x {reported:>18.1} {fresh:>10.4}");
    };
    show("all alike", (vec![1.0; PAGES as usize], 0));
    show("known", (expected.clone(), 0));
    show("opic", by_cash(&looks, weigh_alike));
    show("pagerank by cash", by_cash(&looks, weigh_as_pagerank));
    for threshold in [1e-1, 1e-2, 1e-3] {
        show(&format!("residual push, {threshold}"), by_push(&looks, threshold));
    }
    let stored: usize = links.iter().map(Vec::len).sum();
    println!("residual push keeps {:.1} links a page, 16 bytes each with their ids", stored as f64 / f64::from(PAGES));
}
