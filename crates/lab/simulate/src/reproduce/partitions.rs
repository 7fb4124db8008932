//! C12: allocation by groups of similar pages (Carney, Lee & Zdonik, ICDE 2003).

use super::papers::pages;
use super::row::Measurements;
use super::{Effort, ReproductionRow};
use crate::streams::Draws;
use policies::allocate::{Distance, PartitionKey, partitioned};
use revisit::allocate::{self, PageTerms};

const KEYS: [(PartitionKey, &str); 4] = [
    (PartitionKey::Weight, "weight"),
    (PartitionKey::ChangeRate, "change rate"),
    (PartitionKey::WeightPerChange, "weight / change rate"),
    (PartitionKey::PerceivedFreshness, "perceived freshness"),
];

/// The number of groups; freshness by key, and of the best key after k-means on logarithms and on raw numbers.
const MEASURED: [(usize, [f64; 4], [f64; 2]); 3] = [
    (10, [0.7540, 0.6639, 0.7164, 0.7601], [0.7996, 0.6617]),
    (50, [0.7777, 0.6726, 0.7287, 0.7787], [0.8131, 0.6716]),
    (200, [0.7848, 0.6891, 0.7296, 0.7828], [0.8183, 0.6938]),
];
const DISTANCES: [(Distance, &str); 2] =
    [(Distance::Logarithms, "k-means on logarithms"), (Distance::Raw, "k-means on raw numbers, as published")];
const FETCHES_PER_PAGE_PER_DAY: f64 = 0.25;

/// Freshness by groups on a thousand given pages, and on 20,000 random ones.
pub(super) fn groups(effort: &Effort) -> Vec<ReproductionRow> {
    let thousand = pages((0..1000).map(|i| (0.01 * 1.01_f64.powi(i), f64::from(1 + 37 * i % 101))));
    // At the price of ten groups by weight a whole group is about to be abandoned. The notes have .1986 for it, which
    // takes 527 of 500 fetches; this value uses 500.
    let given = [
        (10, [0.1880242650, 0.4878744092, 0.4859718071, 0.4749339846]),
        (50, [0.1288264679, 0.4900426548, 0.4872902417, 0.4757763090]),
    ];
    let mut rows = Vec::new();
    for (groups, references) in given {
        rows.extend(KEYS.iter().zip(references).map(|(&(key, name), reference)| {
            let ours =
                allocate::freshness(&thousand, &partitioned(&thousand, 500.0, key, groups, Distance::Logarithms, 0));
            ReproductionRow::exact(
                "C12",
                format!("freshness of a thousand given pages, {groups} groups by {name}"),
                reference,
                ours,
                1e-9,
            )
            .policy("partitioned")
            .estimator("known")
            .budget(0.5)
            .giving_weighted_freshness()
        }));
    }

    let mut best = Measurements::default();
    let mut uniform = Measurements::default();
    let mut by_key = vec![Measurements::default(); 12];
    let mut refined = vec![Measurements::default(); 6];
    for replicate in 0..effort.replicates(6, 2) {
        let pages = zipf(effort, replicate);
        let budget = FETCHES_PER_PAGE_PER_DAY * pages.len() as f64;
        best.add(allocate::freshness(&pages, &allocate::optimal(&pages, budget, 0.0).fetch_rates_per_day));
        uniform.add(allocate::freshness(&pages, &vec![FETCHES_PER_PAGE_PER_DAY; pages.len()]));
        for (row, (groups, ..)) in MEASURED.iter().enumerate() {
            let fresh = |key, distance, rounds| {
                allocate::freshness(&pages, &partitioned(&pages, budget, key, *groups, distance, rounds))
            };
            for (column, &(key, _)) in KEYS.iter().enumerate() {
                by_key[4 * row + column].add(fresh(key, Distance::Logarithms, 0));
            }
            for (column, &(distance, _)) in DISTANCES.iter().enumerate() {
                refined[2 * row + column]
                    .add(KEYS.iter().map(|&(key, _)| fresh(key, distance, 12)).fold(0.0, f64::max));
            }
        }
    }
    let mut sampled = |what: String, policy, reference, sample: &Measurements| {
        let row = ReproductionRow::sampled("C12", what, reference, sample, 1, 5e-5).policy(policy).estimator("known");
        rows.push(row.budget(FETCHES_PER_PAGE_PER_DAY).giving_weighted_freshness());
    };
    sampled("freshness, every page its own rate".to_owned(), "optimal-freshness", 0.8225, &best);
    sampled("freshness, uniform".to_owned(), "uniform", 0.6404, &uniform);
    for (row, (groups, references, after)) in MEASURED.iter().enumerate() {
        for (column, (_, name)) in KEYS.iter().enumerate() {
            let what = format!("freshness, {groups} groups by {name}");
            sampled(what, "partitioned", references[column], &by_key[4 * row + column]);
        }
        for (column, (_, name)) in DISTANCES.iter().enumerate() {
            let what = format!("freshness, {groups} groups by the best key and {name}");
            sampled(what, "partitioned", after[column], &refined[2 * row + column]);
        }
    }
    rows
}

/// Lognormal rates; weights fall as rank^-0.9.
fn zipf(effort: &Effort, replicate: usize) -> Vec<PageTerms> {
    const PAGES: u32 = 20_000;
    let mut stream = effort.stream(replicate);
    // Rates are independent, so the order of the ranks does not matter.
    pages((1..=PAGES).map(|rank| ((0.2f64.ln() + 1.3 * stream.normal()).exp(), f64::from(rank).powf(-0.9))))
}
