//! C20: the cost in freshness of a little harmonic penalty, and its effect on pages that would never be fetched.

use super::papers::pages;
use super::row::Measurements;
use super::{Effort, ReproductionRow};
use crate::streams::Draws;
use revisit::allocate::{self, Objective};

/// Theta; weighted freshness lost against theta 0; harmonic penalty; share of pages never fetched; median interval in
/// days of the 1 % of pages that change most. Infinite values at theta 0 are not compared.
const MEASURED: [(f64, f64, f64, f64, f64); 7] = [
    (0.0, 0.0, f64::INFINITY, 0.285, f64::INFINITY),
    (0.01, 0.0004, 0.3287, 0.0, 107.0),
    (0.02, 0.0007, 0.3055, 0.0, 55.0),
    (0.05, 0.0016, 0.2787, 0.0, 23.0),
    (0.1, 0.0029, 0.2623, 0.0, 12.0),
    (0.2, 0.0049, 0.2500, 0.0, 6.9),
    (1.0, 0.0143, 0.2384, 0.0, 2.3),
];

const FETCHES_PER_PAGE_PER_DAY: f64 = 0.25;

/// 4,000 pages with lognormal rates and heavy-tailed weights, a thousand fetches a day.
pub(super) fn thetas(effort: &Effort) -> Vec<ReproductionRow> {
    const PAGES: usize = 4_000;
    const FASTEST: usize = PAGES / 100;
    let (mut best, mut penalty_cut) = (Measurements::default(), Measurements::default());
    let mut samples = vec![vec![Measurements::default(); 4]; MEASURED.len()];
    for replicate in 0..effort.replicates(16, 4) {
        let mut stream = effort.stream(replicate);
        let pages = pages((0..PAGES).map(|_| {
            let rate = (0.2f64.ln() + 1.5 * stream.normal()).exp();
            (rate, stream.pareto(1.3) - 1.0 + 0.05)
        }));
        let mut fastest: Vec<usize> = (0..PAGES).collect();
        fastest.sort_by(|&a, &b| pages[b].change_rate_per_day.total_cmp(&pages[a].change_rate_per_day));
        let mut freshest = 0.0;
        for (samples, &(theta, ..)) in samples.iter_mut().zip(&MEASURED) {
            let rates = allocate::optimal(&pages, FETCHES_PER_PAGE_PER_DAY * PAGES as f64, theta).fetch_rates_per_day;
            let freshness = allocate::freshness(&pages, &rates);
            if theta == 0.0 {
                freshest = freshness;
                best.add(freshness);
                let some: Vec<f64> = rates.iter().map(|rate| rate.max(1e-12)).collect();
                penalty_cut.add(allocate::average_penalty(Objective::HARMONIC, &pages, &some));
            }
            let mut intervals: Vec<f64> = fastest[..FASTEST].iter().map(|&page| 1.0 / rates[page]).collect();
            intervals.sort_by(f64::total_cmp);
            let measured = [
                freshest - freshness,
                allocate::average_penalty(Objective::HARMONIC, &pages, &rates),
                rates.iter().filter(|&&rate| rate == 0.0).count() as f64 / PAGES as f64,
                (intervals[FASTEST / 2 - 1] + intervals[FASTEST / 2]) / 2.0,
            ];
            samples.iter_mut().zip(measured).for_each(|(sample, value)| sample.add(value));
        }
    }
    let mut rows = vec![ReproductionRow::sampled("C20", "weighted freshness, theta 0", 0.8310, &best, 1, 5e-5)];
    let what = "harmonic penalty, theta 0, pages never fetched taken as fetched every 10^12 days";
    rows.push(ReproductionRow::sampled("C20", what, 1.2811, &penalty_cut, 1, 5e-5));
    rows = rows.into_iter().map(|row| setting(row, 0.0).weighted_freshness(best.mean())).collect();
    for (samples, &(theta, lost, harmonic, never, interval)) in samples.iter().zip(&MEASURED) {
        // The reference's loss is a difference of two numbers of four digits; its intervals have two or three digits.
        let compared = [
            ("freshness lost to theta 0", lost, 1e-4),
            ("harmonic penalty", harmonic, 5e-5),
            ("share of pages never fetched", never, 5e-4),
            ("median interval in days of the fastest 1 %", interval, if interval < 10.0 { 0.05 } else { 0.5 }),
        ];
        for (sample, (what, reference, tolerance)) in samples.iter().zip(compared) {
            if reference.is_finite() {
                let row =
                    ReproductionRow::sampled("C20", format!("{what}, theta {theta}"), reference, sample, 1, tolerance);
                rows.push(setting(row, theta).weighted_freshness(best.mean() - samples[0].mean()));
            }
        }
    }
    rows
}

/// The ends of the mixture are separate policies.
fn setting(row: ReproductionRow, theta: f64) -> ReproductionRow {
    let row = row.estimator("known").budget(FETCHES_PER_PAGE_PER_DAY);
    match theta {
        0.0 => row.policy("optimal-freshness"),
        1.0 => row.policy("optimal-harmonic"),
        _ => row,
    }
}
