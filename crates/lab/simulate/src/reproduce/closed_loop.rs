//! B12: learning while fetching. Every twentieth of a day the pages of the highest crawl value are fetched; the
//! outcomes teach the estimator, which decides what is fetched next.

mod web;

use self::web::{ClosedLoop, LoopPolicy, LoopWorld, Priors, STEPS};
use super::row::Measurements;
use super::{Effort, ReproductionRow};

/// 0.2 fetches per page and day in all of them.
const FETCHES_PER_PAGE_PER_DAY: f64 = 0.2;

const STEADY: LoopWorld = LoopWorld { hosts: 100, pages_per_host: 50, switches_per_day: 0.0, weibull_shape: None };

const GAMMA: LoopPolicy =
    LoopPolicy::Gamma { priors: Priors::Common, average_value: false, forgetting_days: f64::INFINITY };
const BY_HOST: LoopPolicy =
    LoopPolicy::Gamma { priors: Priors::Host, average_value: false, forgetting_days: f64::INFINITY };
const BY_VALUE: LoopPolicy =
    LoopPolicy::Gamma { priors: Priors::Host, average_value: true, forgetting_days: f64::INFINITY };
const FORGETTING_60: LoopPolicy =
    LoopPolicy::Gamma { priors: Priors::Host, average_value: true, forgetting_days: 60.0 };
const FORGETTING_20: LoopPolicy =
    LoopPolicy::Gamma { priors: Priors::Host, average_value: true, forgetting_days: 20.0 };
const BY_MEAN_OF_HOST: LoopPolicy =
    LoopPolicy::Gamma { priors: Priors::HostMean, average_value: true, forgetting_days: f64::INFINITY };

/// A run in a world: the policy, its description, its names in the catalogues, and the measured freshness.
struct LoopContestant(LoopPolicy, &'static str, &'static str, Option<&'static str>, f64);

/// A world, its name, the reference's number of seeds, and its runs. The first run knows the true rates, since the
/// others are compared with it.
type WorldRuns = (LoopWorld, &'static str, usize, Vec<LoopContestant>);

fn parts() -> Vec<WorldRuns> {
    let oracle = |freshness| LoopContestant(LoopPolicy::Oracle, "true rates", "crawl-value", Some("known"), freshness);
    let half_counts =
        |freshness| LoopContestant(LoopPolicy::HalfCount, "half counts", "crawl-value", Some("half-count"), freshness);
    let gamma = |policy, what, estimator, freshness| LoopContestant(policy, what, "crawl-value", estimator, freshness);
    let (grouped, value) = (Some("gamma-grouped"), "Gamma filter, priors per host, crawl value");
    let steady = vec![
        oracle(0.8158),
        LoopContestant(LoopPolicy::Uniform, "uniform", "uniform", None, 0.6577),
        LoopContestant(LoopPolicy::LargeNumbers, "law of large numbers", "crawl-value", Some("lln"), 0.7906),
        half_counts(0.7921),
        LoopContestant(LoopPolicy::Thompson, "Thompson sampling", "crawl-value", None, 0.7937),
        LoopContestant(LoopPolicy::Naive, "naive ratio", "crawl-value", Some("naive"), 0.7995),
        gamma(GAMMA, "Gamma filter", Some("gamma"), 0.8070),
        gamma(BY_HOST, "Gamma filter, priors per host", grouped, 0.8098),
        gamma(BY_VALUE, value, grouped, 0.8100),
        // B7: forgetting in 60 days costs .0004.
        gamma(FORGETTING_60, "Gamma filter, priors per host, crawl value, forgetting 60 d", grouped, 0.8096),
    ];
    let switching = vec![
        oracle(0.8047),
        half_counts(0.7782),
        gamma(BY_HOST, "Gamma filter, priors per host", grouped, 0.7939),
        gamma(FORGETTING_20, "Gamma filter, priors per host, crawl value, forgetting 20 d", grouped, 0.7965),
    ];
    let mut parts = vec![
        (STEADY, "steady rates", 6, steady),
        (LoopWorld { switches_per_day: 0.04, ..STEADY }, "4 % of the rates change every day", 6, switching),
    ];
    for (shape, name, best, half, by_value) in [
        (0.6, "Weibull gaps of shape .6", 0.8222, 0.8121, 0.8226),
        (1.0, "Weibull gaps of shape 1", 0.8085, 0.7871, 0.8018),
        (3.0, "Weibull gaps of shape 3", 0.7908, 0.7607, 0.7818),
    ] {
        let world = LoopWorld { hosts: 80, pages_per_host: 40, switches_per_day: 0.0, weibull_shape: Some(shape) };
        let contestants = vec![oracle(best), half_counts(half), gamma(BY_MEAN_OF_HOST, value, grouped, by_value)];
        parts.push((world, name, 4, contestants));
    }
    parts
}

/// Mean weighted freshness over 60 days from a cold start: with true rates, and the loss of the others against it.
pub(super) fn learning(effort: &Effort) -> Vec<ReproductionRow> {
    let mut rows = Vec::new();
    for (world, title, seeds, contestants) in parts() {
        let mut samples = vec![(Measurements::default(), Measurements::default()); contestants.len()];
        for replicate in 0..effort.replicates(seeds, 2) {
            let mut best = 0.0;
            for ((fresh, lost), LoopContestant(policy, ..)) in samples.iter_mut().zip(&contestants) {
                let freshness = ClosedLoop::new(world, effort.stream(replicate), *policy).run();
                if *policy == LoopPolicy::Oracle {
                    best = freshness;
                }
                fresh.add(freshness);
                lost.add(best - freshness);
            }
        }
        let best = contestants[0].4;
        for ((fresh, lost), &LoopContestant(policy, name, policy_name, estimator, reference)) in
            samples.iter().zip(&contestants)
        {
            let row = if policy == LoopPolicy::Oracle {
                ReproductionRow::sampled("B12", format!("freshness, {name}, {title}"), reference, fresh, seeds, 5e-5)
            } else {
                let what = format!("freshness lost to true rates, {name}, {title}");
                ReproductionRow::sampled("B12", what, best - reference, lost, seeds, 1e-4)
            };
            let fetches = (STEPS * world.fetches_per_step() * fresh.count()) as u64;
            let row = row.policy(policy_name).budget(FETCHES_PER_PAGE_PER_DAY).fetches(fetches);
            let row = row.weighted_freshness(fresh.mean());
            rows.push(match estimator {
                Some(estimator) => row.estimator(estimator),
                None => row,
            });
        }
    }
    rows
}
