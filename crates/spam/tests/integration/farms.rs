//! Farms of several shapes among ordinary sites, by their shape, by trust, and by both.

use crate::web::Web;
use importance::trust::spam_mass;
use literature::ranking::pagerank::PageRank;
use literature::ranking::trust::trust_rank;
use literature::ranking::{Edge, Graph, Repeats};
use spam::{DegreeCounts, SpamShape, judge_sites};

const SEEDS: [u64; 3] = [1, 2, 3];
/// Spam mass from which trust counts a site as spam (Gyongyi et al. 2006 take .98 of hosts that link farms lift).
const UNTRUSTED_FROM: f64 = 0.9;
/// One in this many ordinary sites is trusted.
const TRUSTED_EVERY: usize = 100;

/// Alarms at the sites of a kind.
#[derive(Clone, Copy, Debug, Default)]
struct Alarms {
    sites: usize,
    by_shape: usize,
    by_trust: usize,
    by_either: usize,
    by_degree: usize,
}

fn judged(seed: u64) -> Vec<(&'static str, bool, Alarms)> {
    let web = Web::draw(seed);
    let mut degrees = DegreeCounts::default();
    web.degrees.iter().for_each(|pages| degrees.add_site(pages.iter().copied()));
    let by_links = judge_sites(web.sites as usize, web.links.iter().copied());
    let edges: Vec<Edge> = web.links.iter().map(|(from, to)| Edge::plain(*from, *to)).collect();
    let graph = Graph::new(web.sites, edges, Repeats::Once).unwrap();
    let trusted: Vec<u32> = web.kinds[0].honest.iter().copied().step_by(TRUSTED_EVERY).collect();
    let rank = PageRank::default();
    let (scores, trust) = (rank.rank(&graph), trust_rank(&graph, &trusted, &rank).unwrap());
    let alarms = |sites: &[u32]| {
        let mut alarms = Alarms { sites: sites.len(), ..Alarms::default() };
        for site in sites.iter().map(|site| *site as usize) {
            let of_degrees = degrees.shape(&web.degrees[site]);
            let shape: SpamShape = by_links[site].clone().with(of_degrees.clone());
            let is_untrusted = spam_mass(scores.values[site], trust.values[site], 1.0) >= UNTRUSTED_FROM;
            alarms.by_shape += usize::from(shape.is_spam());
            alarms.by_trust += usize::from(is_untrusted);
            alarms.by_either += usize::from(shape.is_spam() || is_untrusted);
            alarms.by_degree += usize::from(of_degrees.score() > 0.0);
        }
        alarms
    };
    let each = web.kinds.iter().map(|kind| match kind.spam.is_empty() {
        true => (kind.name, false, alarms(&kind.honest)),
        false => (kind.name, true, alarms(&kind.spam)),
    });
    each.collect()
}

#[test]
fn farms_are_known_by_shape_and_honest_sites_are_not_accused() {
    let mut all = judged(SEEDS[0]);
    for seed in &SEEDS[1..] {
        for (sum, (_, _, more)) in all.iter_mut().zip(judged(*seed)) {
            sum.2.sites += more.sites;
            sum.2.by_shape += more.by_shape;
            sum.2.by_trust += more.by_trust;
            sum.2.by_either += more.by_either;
            sum.2.by_degree += more.by_degree;
        }
    }
    println!("| sites | number | by shape | by trust | by either | degree outliers |");
    for (name, _, of) in &all {
        let [shape, trust, either, degree] =
            [of.by_shape, of.by_trust, of.by_either, of.by_degree].map(|alarms| share(alarms, of.sites));
        println!("| {name} | {} | {shape:.3} | {trust:.3} | {either:.3} | {degree:.3} |", of.sites);
    }
    let sum = |is_spam: bool, count: fn(&Alarms) -> usize| -> usize {
        all.iter().filter(|kind| kind.1 == is_spam).map(|kind| count(&kind.2)).sum()
    };
    let judges: [fn(&Alarms) -> usize; 3] = [|of| of.by_shape, |of| of.by_trust, |of| of.by_either];
    for (by, count) in ["shape", "trust", "either"].into_iter().zip(judges) {
        let (found, accused) = (sum(true, count), sum(false, count));
        let recall = share(found, sum(true, |of| of.sites));
        let false_alarms = share(accused, sum(false, |of| of.sites));
        println!(
            "{by}: precision {:.3}, recall {recall:.3}, false alarms {false_alarms:.4}",
            share(found, found + accused)
        );
    }
    let of = |name: &str| all.iter().find(|kind| kind.0 == name).unwrap().2;
    for (name, is_spam, alarms) in &all {
        let by_shape = share(alarms.by_shape, alarms.sites);
        match *is_spam {
            false => assert!(by_shape <= 0.02, "{name}: {by_shape}"),
            true if ONE_WAY.contains(name) => {}
            true => assert!(by_shape >= 0.95, "{name}: {by_shape}"),
        }
    }
    // Sites that no other links have no neighbours to be known by, and neither has what they alone link. Trust knows them.
    for name in ONE_WAY {
        assert!(share(of(name).by_either, of(name).sites) >= 0.95, "{name}: {:?}", of(name));
    }
    assert!(share(sum(false, |of| of.by_either), sum(false, |of| of.sites)) <= 0.05);
}

/// Farms whose links lead one way only.
const ONE_WAY: [&str; 3] = ["the same: boosters", "star, links one way", "its leaves"];

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}
