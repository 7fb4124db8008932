//! C12: allocation by groups of similar pages (Carney, Lee & Zdonik, ICDE 2003).

use super::papers::pages;
use super::row::Sample;
use super::{Effort, Row};
use revisit::allocate::{self, PageTerms, PartitionKey, partitioned};

const KEYS: [(PartitionKey, &str); 4] = [
    (PartitionKey::Weight, "weight"),
    (PartitionKey::ChangeRate, "change rate"),
    (PartitionKey::WeightPerChange, "weight / change rate"),
    (PartitionKey::PerceivedFreshness, "perceived freshness"),
];

/// The number of groups; freshness by key, and of the best key after k-means.
const MEASURED: [(usize, [f64; 4], f64); 3] = [
    (10, [0.7540, 0.6639, 0.7164, 0.7601], 0.7996),
    (50, [0.7777, 0.6726, 0.7287, 0.7787], 0.8131),
    (200, [0.7848, 0.6891, 0.7296, 0.7828], 0.8183),
];

/// Freshness by groups on a thousand given pages, and on 20,000 random ones.
pub(super) fn groups(effort: &Effort) -> Vec<Row> {
    let thousand = pages((0..1000).map(|i| (0.01 * 1.01_f64.powi(i), f64::from(1 + 37 * i % 101))));
    // At the price of ten groups by weight a whole group is about to be abandoned. The notes have .1986 for it, which
    // takes 527 of 500 fetches; this is what 500 give.
    let given = [
        (10, [0.1880242650, 0.4878744092, 0.4859718071, 0.4749339846]),
        (50, [0.1288264679, 0.4900426548, 0.4872902417, 0.4757763090]),
    ];
    let mut rows = Vec::new();
    for (groups, references) in given {
        rows.extend(KEYS.iter().zip(references).map(|(&(key, name), reference)| {
            let ours = allocate::freshness(&thousand, &partitioned(&thousand, 500.0, key, groups, 0));
            Row::exact(
                "C12",
                format!("freshness of a thousand given pages, {groups} groups by {name}"),
                reference,
                ours,
                1e-9,
            )
        }));
    }

    let mut best = Sample::default();
    let mut uniform = Sample::default();
    let mut by_key = vec![Sample::default(); 12];
    let mut refined = vec![Sample::default(); 3];
    for replicate in 0..effort.replicates(6, 2) {
        let pages = zipf(effort, replicate);
        let budget = 0.25 * pages.len() as f64;
        best.add(allocate::freshness(&pages, &allocate::optimal(&pages, budget, 0.0).fetch_rates_per_day));
        uniform.add(allocate::freshness(&pages, &vec![0.25; pages.len()]));
        for (row, (groups, ..)) in MEASURED.iter().enumerate() {
            let fresh = |key, rounds| allocate::freshness(&pages, &partitioned(&pages, budget, key, *groups, rounds));
            KEYS.iter().enumerate().for_each(|(column, &(key, _))| by_key[4 * row + column].add(fresh(key, 0)));
            refined[row].add(KEYS.iter().map(|&(key, _)| fresh(key, 12)).fold(0.0, f64::max));
        }
    }
    rows.push(Row::sampled("C12", "freshness, every page its own rate", 0.8225, &best, 1, 5e-5));
    rows.push(Row::sampled("C12", "freshness, uniform", 0.6404, &uniform, 1, 5e-5));
    for (row, (groups, references, reference)) in MEASURED.iter().enumerate() {
        rows.extend(KEYS.iter().enumerate().map(|(column, (_, name))| {
            let what = format!("freshness, {groups} groups by {name}");
            Row::sampled("C12", what, references[column], &by_key[4 * row + column], 1, 5e-5)
        }));
        let what = format!("freshness, {groups} groups by the best key and k-means");
        rows.push(Row::sampled("C12", what, *reference, &refined[row], 1, 5e-5));
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
