//! CPU time per link. `cargo run --release -p literature --example rank_speed [nodes] [links] [directory]`
//!
//! With a directory, the links (`links`, pairs of 32-bit numbers) and the PageRanks (`scores`, 64-bit floats) are written
//! there, little-endian, for other programs to do the same.

use chance::{Draws, Lcg, spread};
use importance::Link;
use importance::opic::{Account, Shard, Window};
use literature::push::{PushPage, Residuals};
use literature::ranking::hits::Hits;
use literature::ranking::opic::Settled;
use literature::ranking::pagerank::PageRank;
use literature::ranking::{Damping, Edge, Graph, Repeats};
use rustix::time::{ClockId, clock_gettime};
use std::collections::HashMap;
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

/// Links of a visited page.
const LINKS_A_PAGE: u32 = 12;

/// A page: few are linked by many.
fn popular(nodes: u32, random: &mut Lcg) -> u32 {
    (f64::from(nodes) * random.uniform().powi(3)) as u32
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize, or: u32| arguments.get(index).map_or(or, |text| text.parse().expect("a number"));
    let (nodes, links) = (number(0, 1_000_000), number(1, 10_000_000));
    let mut random = Lcg(1);
    let edges: Vec<Edge> = (0..links)
        .map(|_| Edge::plain((f64::from(nodes) * random.uniform()) as u32, popular(nodes, &mut random)))
        .collect();
    if let Some(directory) = arguments.get(2) {
        let bytes = edges.iter().flat_map(|edge| [edge.from.to_le_bytes(), edge.to.to_le_bytes()].concat());
        std::fs::write(Path::new(directory).join("links"), bytes.collect::<Vec<u8>>()).expect("a writable directory");
    }
    let (graph, cpu) = timed(|| Graph::new(nodes, edges, Repeats::Once).expect("the links are among the nodes"));
    println!("{} pages, {} links", graph.nodes(), graph.links());
    let per_link = |cpu: Duration, links: f64| cpu.as_secs_f64() * 1e9 / links;
    println!("graph from links: {:.1} ns a link", per_link(cpu, f64::from(links)));
    let links = graph.links() as f64;

    let (ranked, cpu) = timed(|| PageRank::default().rank(&graph));
    println!("PageRank: {:.1} ms, {} rounds", cpu.as_secs_f64() * 1e3, ranked.rounds);
    println!("PageRank round: {:.2} ns a link", per_link(cpu, links * f64::from(ranked.rounds)));
    if let Some(directory) = arguments.get(2) {
        let bytes = ranked.values.iter().flat_map(|score| score.to_le_bytes());
        std::fs::write(Path::new(directory).join("scores"), bytes.collect::<Vec<u8>>()).expect("a writable directory");
    }

    let mut pushed = Residuals::new(&graph, Damping::default());
    let ((pushes, given), cpu) = timed(|| pushed.settle(&graph, 1e-4));
    println!("PageRank by pushes: {:.2} ns a link, {pushes} pushes", per_link(cpu, given as f64));
    let apart: f64 = pushed.pagerank().iter().zip(&ranked.values).map(|(pushed, batch)| (pushed - batch).abs()).sum();
    println!("pushes to within: {apart:.1e} of all score");

    let (hits, cpu) = timed(|| Hits::default().rank(&graph));
    println!("HITS round: {:.2} ns a link", per_link(cpu, links * f64::from(hits.rounds)));
    let (settled, cpu) = timed(|| Settled { most_rounds: 20, ..Settled::default() }.rank(&graph));
    println!("OPIC round: {:.2} ns a link", per_link(cpu, links * f64::from(settled.rounds)));
    keyed(nodes.min(1_000_000), &mut random);
}

/// Visits with pages in a table by key, as a stage has them: OPIC, pushes, and the table alone.
fn keyed(nodes: u32, random: &mut Lcg) {
    let visits = 200_000_u32;
    let key = |page: u32| spread(u64::from(page));
    let found: Vec<(u64, Vec<Link<u64>>)> = (0..visits)
        .map(|_| {
            let links = (0..LINKS_A_PAGE).map(|_| Link::plain(key(popular(nodes, random)))).collect();
            (key((f64::from(nodes) * random.uniform()) as u32), links)
        })
        .collect();
    let per_link = |cpu: Duration| cpu.as_secs_f64() * 1e9 / f64::from(visits * LINKS_A_PAGE);

    let mut shard = Shard::new(0, 1.0);
    let mut accounts: HashMap<u64, Account> = (0..nodes).map(|page| (key(page), shard.open())).collect();
    shard.receive(1.0);
    let (mut links, mut cash) = (Vec::new(), Vec::new());
    let ((), cpu) = timed(|| {
        for (page, now) in &found {
            links.clone_from(now);
            let account = accounts.get_mut(page).expect("all pages have accounts");
            shard.visit(*page, account, &mut links, Window::Noted(4.0), |given| cash.push(given));
            for given in cash.drain(..) {
                accounts.entry(given.to).or_insert_with(|| shard.open()).receive(given.amount);
            }
        }
    });
    println!("OPIC by key: {:.1} ns a link", per_link(cpu));
    drop(accounts);

    let mut sums: HashMap<u64, Account> = (0..nodes).map(|page| (key(page), shard.open())).collect();
    let ((), cpu) = timed(|| {
        for (page, links) in &found {
            black_box(sums.get(page));
            for link in links {
                sums.entry(link.to).or_insert_with(|| shard.open()).receive(1.0);
            }
        }
    });
    println!("the table by key: {:.1} ns a link", per_link(cpu));
    drop(sums);

    let damping = Damping::default();
    let mut pages: HashMap<u64, PushPage<u64>> =
        (0..nodes).map(|page| (key(page), PushPage::new(1.0, damping))).collect();
    let mut residuals = Vec::new();
    let ((), cpu) = timed(|| {
        for (page, links) in found {
            let state = pages.get_mut(&page).expect("all pages are there");
            state.push(damping, |given| residuals.push(given));
            state.relink(page, links, damping, |given| residuals.push(given));
            for given in residuals.drain(..) {
                pages.entry(given.to).or_insert_with(|| PushPage::new(1.0, damping)).receive(given.amount);
            }
        }
    });
    println!("pushes by key: {:.1} ns a link", per_link(cpu));
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begun = cpu_time();
    let result = work();
    (result, cpu_time() - begun)
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
