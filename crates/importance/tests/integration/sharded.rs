//! Streaming forms over several shards, with failures: whatever the number of shards, the order of messages, the changes of
//! links and the crashes, they come to the solution of the whole graph, and nothing is lost or made at any commit.
//!
//! A shard works as a stage does. A batch takes some of the inputs that lie before it, in any order, and gives new state and
//! messages. A crash loses both together, and the inputs are read again.

mod stage;

use chance::{Draws, Lcg, spread};
use importance::opic::{self, Cash, PurseShare, ShardNews, TrustAccount, Window};
use importance::{Link, tidy, total_weight, weigh_as_pagerank};
use literature::push::{PushPage, Residual};
use literature::ranking::opic::Settled;
use literature::ranking::pagerank::PageRank;
use literature::ranking::trust::trust_rank;
use literature::ranking::{Damping, Edge, Graph, Repeats};
use stage::{Stage, System};
use std::collections::BTreeMap;

const PAGES: u32 = 24;
const THRESHOLD: f64 = 1e-12;

/// A web whose links change. Page 0 links many, one page in five links nothing, and some links are repeated or lead to the
/// page itself.
struct Web(Vec<Vec<u32>>);

impl Web {
    fn new(chance: &mut Lcg) -> Self {
        Self((0..PAGES).map(|page| Self::links(page, chance)).collect())
    }

    fn links(page: u32, chance: &mut Lcg) -> Vec<u32> {
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
    /// A page with the links that a fetch of it has found.
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
        let mut chance = Lcg(spread(seed));
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

// OPIC, with trust beside it.

#[derive(Clone, Debug)]
enum OpicInput {
    Fetched(u32, Vec<Link<u32>>),
    /// Cash and trust by a link.
    Cash(Cash<u32>, f64),
    Share(PurseShare),
    TrustShare(PurseShare),
    News(ShardNews, ShardNews),
    /// A page is trusted from now on, or is not.
    Trusted(u32, bool),
    /// Time to hand on the virtual page's cash and to send news to the others, as now and then a stage does.
    Punctuate,
}

#[derive(Clone)]
struct OpicShard {
    common: opic::Shard,
    trust: opic::Shard,
    shards: u32,
    accounts: BTreeMap<u32, (opic::Account, TrustAccount)>,
}

impl OpicShard {
    fn new(number: u32, shards: u32) -> Self {
        let all = || opic::Shard::new(number, 1.0 / f64::from(shards));
        Self { common: all(), trust: all(), shards, accounts: BTreeMap::new() }
    }

    fn account(&mut self, page: u32) -> &mut (opic::Account, TrustAccount) {
        let Self { common, trust, accounts, .. } = self;
        accounts.entry(page).or_insert_with(|| (common.open(), TrustAccount::open(trust)))
    }
}

impl Stage for OpicShard {
    type Input = OpicInput;

    fn process(&mut self, input: OpicInput, send: &mut dyn FnMut(u32, OpicInput)) {
        match input {
            OpicInput::Fetched(page, mut links) => {
                let (mut account, mut trust) = *self.account(page);
                tidy(page, &mut links);
                let trust_share = trust.visit(total_weight(&links), &mut self.trust);
                let mut weights = links.clone().into_iter().map(|link| link.weight);
                self.common.visit(page, &mut account, &mut links, Window::Everything, |cash| {
                    let trust = trust_share * weights.next().unwrap();
                    send(cash.to, OpicInput::Cash(cash, trust));
                });
                *self.account(page) = (account, trust);
            }
            OpicInput::Cash(cash, amount) => {
                let (account, trust) = self.account(cash.to);
                account.receive(cash.amount);
                trust.receive(amount);
            }
            OpicInput::Trusted(page, is_trusted) => {
                let (account, mut trust) = *self.account(page);
                trust.set_trusted(is_trusted, &mut self.trust);
                *self.account(page) = (account, trust);
            }
            OpicInput::Share(share) => self.common.receive(share.amount),
            OpicInput::TrustShare(share) => self.trust.receive(share.amount),
            OpicInput::News(news, of_trust) => {
                self.common.learn(news);
                self.trust.learn(of_trust);
            }
            OpicInput::Punctuate => {
                self.common.empty_purse(|share| send(share.to, OpicInput::Share(share)));
                self.trust.empty_purse(|share| send(share.to, OpicInput::TrustShare(share)));
                let (news, of_trust) = (self.common.news(), self.trust.news());
                (0..self.shards).for_each(|to| send(to, OpicInput::News(news, of_trust)));
            }
        }
    }
}

fn check_cash(system: &System<OpicShard>) {
    let (mut cash, mut trust) = (0.0, 0.0);
    for shard in &system.shards {
        cash += shard.common.purse();
        trust += shard.trust.purse();
        cash += shard.accounts.values().map(|(account, _)| account.cash(&shard.common)).sum::<f64>();
        trust += shard.accounts.values().map(|(_, account)| account.cash(&shard.trust)).sum::<f64>();
    }
    for message in system.inputs() {
        match message {
            OpicInput::Cash(by_link, of_trust) => {
                cash += by_link.amount;
                trust += of_trust;
            }
            OpicInput::Share(share) => cash += share.amount,
            OpicInput::TrustShare(share) => trust += share.amount,
            _ => {}
        }
    }
    // The running totals grow with the cash noted, and what is lost by rounding with them.
    let noted: f64 = system.shards.iter().map(|shard| shard.common.own().noted + shard.trust.own().noted).sum();
    let rounding = 1e-9 * (1.0 + noted / 1e4);
    let is_all = |sum: f64| (sum - 1.0).abs() < rounding;
    assert!(is_all(cash) && is_all(trust), "all cash together is {cash}, all trust {trust}, {noted} was noted");
}

/// Cash and trust noted at the visits of each page.
fn histories(system: &System<OpicShard>) -> [Vec<f64>; 2] {
    let mut noted = [vec![0.0; PAGES as usize], vec![0.0; PAGES as usize]];
    system.shards.iter().flat_map(|shard| &shard.accounts).for_each(|(page, (account, trust))| {
        noted[0][*page as usize] = account.history();
        noted[1][*page as usize] = trust.history();
    });
    noted
}

/// How far the shares noted since some time are from these, and the sum noted.
fn apart(now: &[f64], before: &[f64], expected: &[f64]) -> (f64, f64) {
    let noted: Vec<f64> = now.iter().zip(before).map(|(now, before)| now - before).collect();
    let sum: f64 = noted.iter().sum();
    let share = noted.iter().map(|noted| noted / sum);
    (share.zip(expected).map(|(share, expected)| (share - expected).abs()).fold(0.0, f64::max), sum)
}

const TRUSTED: [u32; 3] = [2, 7, 11];

/// The shares that the system converges to in this web: importance, and trust.
type Expected = fn(&Web) -> [Vec<f64>; 2];

/// The links of a page with the weights that count here.
type Weighed = fn(&Web, u32) -> Vec<Link<u32>>;

fn come_to_the_shares_of_the_whole(seed: u64, weighed: Weighed, expected: Expected) {
    let mut chance = Lcg(spread(seed));
    let mut web = Web::new(&mut chance);
    let shards = 1 + chance.below(4);
    let mut system = System::new((0..shards).map(|number| OpicShard::new(number, shards)).collect());
    // Links and trusted pages change, pages are new, shards do not yet know each other.
    for round in 0..400 {
        let page = chance.below(PAGES);
        if round % 4 == 0 {
            web.0[page as usize] = Web::links(page, &mut chance);
            system.put(page, OpicInput::Trusted(page, chance.below(2) == 0));
        }
        system.put(page, OpicInput::Fetched(page, weighed(&web, page)));
        let punctual = chance.below(shards);
        system.put(punctual, OpicInput::Punctuate);
        system.batch(&mut chance);
        check_cash(&system);
    }
    while system.batch(&mut chance) {}
    // The web now stays as it is, and all pages are known.
    for page in 0..PAGES {
        system.put(page, OpicInput::Trusted(page, TRUSTED.contains(&page)));
        system.put(page, OpicInput::Fetched(page, weighed(&web, page)));
    }
    while system.batch(&mut chance) {}
    (0..shards).for_each(|shard| system.put(shard, OpicInput::Punctuate));
    while system.batch(&mut chance) {}
    let (before, expected) = (histories(&system), expected(&web));
    // Any order of visits and messages comes closer as one over the cash noted, so 1e-6 takes about a million.
    for round in 0.. {
        for _ in 0..2 * PAGES {
            let page = chance.below(PAGES);
            system.put(page, OpicInput::Fetched(page, weighed(&web, page)));
        }
        (0..shards).for_each(|shard| system.put(shard, OpicInput::Punctuate));
        for _ in 0..2 * shards {
            system.batch(&mut chance);
        }
        check_cash(&system);
        if round % 1_000 != 0 {
            continue;
        }
        let now = histories(&system);
        let both = [0, 1].map(|kind| apart(&now[kind], &before[kind], &expected[kind]));
        if both.iter().all(|(apart, _)| *apart < 1e-6) {
            break;
        }
        assert!(both.iter().all(|(_, noted)| *noted < 2e6), "seed {seed}: {both:?} apart, and cash noted");
    }
    assert!(system.crashes > 1_000, "{} crashes", system.crashes);
    let noted: f64 = histories(&system)[0].iter().sum();
    let known = system.shards.iter().map(|shard| shard.common.noted());
    assert!(known.clone().all(|known| (known / noted - 1.0).abs() < 0.01), "what is known of all shards: {noted}");
}

#[test]
fn cash_comes_to_the_shares_of_the_whole() {
    for seed in 0..2 {
        come_to_the_shares_of_the_whole(seed, Web::of, |web| {
            let (graph, exact) = (web.graph(), Settled { tolerance: 1e-14, most_rounds: 100_000 });
            [exact.rank(&graph).values, exact.trust(&graph, &TRUSTED).values]
        });
    }
}

/// Where the virtual page gets 15 % from any page, no graph is kept, and yet it is PageRank and TrustRank.
#[test]
fn cash_comes_to_pagerank_and_trust_to_trustrank() {
    for seed in 2..4 {
        let weighed = |web: &Web, page: u32| {
            let mut links = web.0[page as usize].iter().map(|to| Link::plain(*to)).collect();
            tidy(page, &mut links);
            weigh_as_pagerank(&mut links);
            links
        };
        come_to_the_shares_of_the_whole(seed, weighed, |web| {
            let edges = (0..PAGES).flat_map(|from| web.0[from as usize].iter().map(move |&to| Edge::plain(from, to)));
            let graph = Graph::new(PAGES, edges.collect(), Repeats::Once).unwrap();
            let exact = PageRank { tolerance: 1e-13, ..PageRank::default() };
            [exact.rank(&graph).values, trust_rank(&graph, &TRUSTED, &exact).unwrap().values]
        });
    }
}
