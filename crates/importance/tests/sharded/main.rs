//! Streaming forms over several shards, with failures: whatever the number of shards, the order of messages, the changes of
//! links and the crashes, they come to the solution of the whole graph, and nothing is lost or made at any commit.
//!
//! A shard works as a stage does. A batch takes some of the inputs that lie before it, in any order, and gives new state and
//! messages. A crash loses both together, and the inputs are read again.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod chance;
mod stage;

use chance::Chance;
use importance::opic::{self, Cash, PurseShare, Settled, ShardNews, Window};
use importance::pagerank::PageRank;
use importance::push::{PushPage, Residual};
use importance::{Damping, Edge, Graph, Link, Repeats};
use stage::{Stage, System};
use std::collections::BTreeMap;

const PAGES: u32 = 24;
const THRESHOLD: f64 = 1e-12;

/// A web whose links change. Page 0 links many, one page in five links nothing, and some links are repeated or lead to the
/// page itself.
struct Web(Vec<Vec<u32>>);

impl Web {
    fn new(chance: &mut Chance) -> Self {
        Self((0..PAGES).map(|page| Self::links(page, chance)).collect())
    }

    fn links(page: u32, chance: &mut Chance) -> Vec<u32> {
        let count = match page {
            0 => 30,
            _ if chance.below(5) == 0 => 0,
            _ => 1 + chance.below(5),
        };
        (0..count).map(|_| chance.below(PAGES)).collect()
    }

    fn of(&self, page: u32) -> Vec<Link<u32>> {
        self.0[page as usize].iter().map(|&to| Link { to, weight: weight(page, to) }).collect()
    }

    fn graph(&self) -> Graph {
        let edges = (0..PAGES).flat_map(|from| {
            self.of(from).into_iter().map(move |link| Edge { from, to: link.to, weight: link.weight })
        });
        Graph::new(PAGES, edges.collect(), Repeats::Once).unwrap()
    }
}

/// Links between neighbours count half, as links within a site may.
fn weight(from: u32, to: u32) -> f64 {
    if from.abs_diff(to) < 3 { 0.5 } else { 1.0 }
}

#[track_caller]
fn within(got: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    let furthest = got.iter().zip(expected).map(|(got, expected)| (got - expected).abs()).fold(0.0, f64::max);
    assert!(got.len() == expected.len() && furthest < tolerance, "{what}: {furthest} apart\n{got:?}\n{expected:?}");
}

// PageRank by pushes.

#[derive(Clone, Debug)]
enum PushInput {
    /// What a fetch has found.
    Fetched(u32, Vec<Link<u32>>),
    Residual(Residual<u32>),
}

#[derive(Clone, Default)]
struct PushShard(BTreeMap<u32, PushPage<u32>>);

impl Stage for PushShard {
    type Input = PushInput;

    fn process(&mut self, input: PushInput, send: &mut dyn FnMut(u32, PushInput)) {
        let damping = Damping::default();
        let page = match &input {
            PushInput::Fetched(page, _) => *page,
            PushInput::Residual(residual) => residual.to,
        };
        let mut send = |residual: Residual<u32>| send(residual.to, PushInput::Residual(residual));
        let state = self.0.entry(page).or_insert_with(|| PushPage::new(1.0, damping));
        match input {
            PushInput::Fetched(_, links) => state.relink(page, links, damping, &mut send),
            PushInput::Residual(residual) => state.receive(residual.amount),
        }
    }

    fn finish(&mut self, send: &mut dyn FnMut(u32, PushInput)) {
        for page in self.0.values_mut().filter(|page| page.is_ripe(THRESHOLD)) {
            page.push(Damping::default(), |residual| send(residual.to, PushInput::Residual(residual)));
        }
    }
}

/// Σ t (1 − d) = Σ r + messages + Σ x − d Σ x of pages with links.
fn check_mass(system: &System<PushShard>) {
    let mut mass = 0.0;
    for page in system.shards.iter().flat_map(|shard| shard.0.values()) {
        mass += page.residual() - Damping::default().jump();
        mass += page.score() * if page.links().is_empty() { 1.0 } else { Damping::default().jump() };
    }
    for message in system.inputs() {
        if let PushInput::Residual(residual) = message {
            mass += residual.amount;
        }
    }
    assert!(mass.abs() < 1e-11, "mass of {mass} was made");
}

#[test]
fn pushes_come_to_the_pagerank_of_the_whole() {
    for seed in 0..40 {
        let mut chance = Chance::new(seed);
        let mut web = Web::new(&mut chance);
        let mut system = System::new((0..1 + chance.below(6)).map(|_| PushShard::default()).collect());
        for page in 0..PAGES {
            system.put(page, PushInput::Fetched(page, web.of(page)));
        }
        for _ in 0..300 {
            if chance.below(4) == 0 {
                let page = chance.below(PAGES);
                web.0[page as usize] = Web::links(page, &mut chance);
                // Fetches of one page come in order: what an older one found must not come last.
                system.retain(|input| !matches!(input, PushInput::Fetched(of, _) if *of == page));
                system.put(page, PushInput::Fetched(page, web.of(page)));
            }
            system.batch(&mut chance);
            check_mass(&system);
        }
        while system.batch(&mut chance) {
            check_mass(&system);
        }
        assert!(system.crashes > 20, "{} crashes", system.crashes);
        let mut scores = vec![0.0; PAGES as usize];
        system
            .shards
            .iter()
            .flat_map(|shard| &shard.0)
            .for_each(|(page, state)| scores[*page as usize] = state.score());
        let sum: f64 = scores.iter().sum();
        scores.iter_mut().for_each(|score| *score /= sum);
        let expected = PageRank { tolerance: 1e-13, ..PageRank::default() }.rank(&web.graph()).values;
        within(&scores, &expected, 1e-6, &format!("seed {seed}"));
    }
}

// OPIC.

#[derive(Clone, Debug)]
enum OpicInput {
    Fetched(u32, Vec<Link<u32>>),
    Cash(Cash<u32>),
    Share(PurseShare),
    News(ShardNews),
    /// Time to hand on the virtual page's cash and to tell the others, as now and then a stage does.
    Punctuate,
}

#[derive(Clone)]
struct OpicShard {
    common: opic::Shard,
    shards: u32,
    accounts: BTreeMap<u32, opic::Account>,
}

impl Stage for OpicShard {
    type Input = OpicInput;

    fn process(&mut self, input: OpicInput, send: &mut dyn FnMut(u32, OpicInput)) {
        let common = &mut self.common;
        match input {
            OpicInput::Fetched(page, mut links) => {
                let account = self.accounts.entry(page).or_insert_with(|| common.open());
                let send = |cash: Cash<u32>| send(cash.to, OpicInput::Cash(cash));
                common.visit(page, account, &mut links, Window::Everything, send);
            }
            OpicInput::Cash(cash) => {
                self.accounts.entry(cash.to).or_insert_with(|| common.open()).receive(cash.amount);
            }
            OpicInput::Share(share) => common.receive(share.amount),
            OpicInput::News(news) => common.hear(news),
            OpicInput::Punctuate => {
                common.empty_purse(|share| send(share.to, OpicInput::Share(share)));
                let news = common.news();
                (0..self.shards).for_each(|to| send(to, OpicInput::News(news)));
            }
        }
    }
}

fn check_cash(system: &System<OpicShard>) {
    let mut cash = 0.0;
    for shard in &system.shards {
        cash += shard.common.purse();
        cash += shard.accounts.values().map(|account| account.cash(&shard.common)).sum::<f64>();
    }
    for message in system.inputs() {
        cash += match message {
            OpicInput::Cash(cash) => cash.amount,
            OpicInput::Share(share) => share.amount,
            _ => 0.0,
        };
    }
    assert!((cash - 1.0).abs() < 1e-9, "all cash together is {cash}");
}

/// Cash noted at the visits of each page.
fn histories(system: &System<OpicShard>) -> Vec<f64> {
    let mut noted = vec![0.0; PAGES as usize];
    system.shards.iter().flat_map(|shard| &shard.accounts).for_each(|(page, account)| {
        noted[*page as usize] = account.history();
    });
    noted
}

#[test]
fn cash_comes_to_the_shares_of_the_whole() {
    for seed in 0..4 {
        let mut chance = Chance::new(seed);
        let mut web = Web::new(&mut chance);
        let shards = 1 + chance.below(4);
        let shard = |number| OpicShard {
            common: opic::Shard::new(number, 1.0 / f64::from(shards)),
            shards,
            accounts: BTreeMap::new(),
        };
        let mut system = System::new((0..shards).map(shard).collect());
        // Links change, pages are new, shards do not yet know each other.
        for round in 0..400 {
            let page = chance.below(PAGES);
            if round % 4 == 0 {
                web.0[page as usize] = Web::links(page, &mut chance);
            }
            system.put(page, OpicInput::Fetched(page, web.of(page)));
            let punctual = chance.below(shards);
            system.put(punctual, OpicInput::Punctuate);
            system.batch(&mut chance);
            check_cash(&system);
        }
        // The web now stays as it is, and all pages are known.
        (0..PAGES).for_each(|page| system.put(page, OpicInput::Fetched(page, web.of(page))));
        while system.batch(&mut chance) {}
        (0..shards).for_each(|shard| system.put(shard, OpicInput::Punctuate));
        while system.batch(&mut chance) {}
        let before = histories(&system);
        let expected = Settled { tolerance: 1e-14, most_rounds: 100_000 }.rank(&web.graph()).values;
        let apart = |system: &System<OpicShard>| {
            let noted: Vec<f64> = histories(system).iter().zip(&before).map(|(now, before)| now - before).collect();
            let sum: f64 = noted.iter().sum();
            let share = noted.iter().map(|noted| noted / sum);
            (share.zip(&expected).map(|(share, expected)| (share - expected).abs()).fold(0.0, f64::max), sum)
        };
        // Any order of visits and messages comes closer as one over the cash noted, so 1e-6 takes about a million.
        for round in 0.. {
            for _ in 0..2 * PAGES {
                let page = chance.below(PAGES);
                system.put(page, OpicInput::Fetched(page, web.of(page)));
            }
            (0..shards).for_each(|shard| system.put(shard, OpicInput::Punctuate));
            for _ in 0..2 * shards {
                system.batch(&mut chance);
            }
            check_cash(&system);
            if round % 1_000 == 0 && apart(&system).0 < 1e-6 {
                break;
            }
            assert!(apart(&system).1 < 2e6, "seed {seed}: {:?} apart after so much cash noted", apart(&system));
        }
        assert!(system.crashes > 1_000, "{} crashes", system.crashes);
        let shares = system.shards.iter().map(|shard| shard.common.noted());
        let noted: f64 = histories(&system).iter().sum();
        assert!(shares.clone().all(|known| (known / noted - 1.0).abs() < 0.01), "what is known of all shards: {noted}");
    }
}
