//! CPU time to take in one look. `cargo run --release -p change-rate --example update_cost [looks]`

use chance::{Draws, Lcg};
use change_rate::{
    ChangeRateEstimator, EstimatorKind, EstimatorOptions, GammaFilter, GammaState, LookOutcome, RateEstimator,
};
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::time::Duration;

/// Pages in turn, few enough to stay in the cache: the cost is that of the formulas.
const PAGES: usize = 4096;

fn main() {
    let looks: usize = std::env::args().nth(1).map_or(4_000_000, |count| count.parse().expect("a number of looks"));
    let mut numbers = Lcg(7);
    let mixed: Vec<_> = (0..1 << 14)
        .map(|_| {
            let days = (4.0 * numbers.uniform() - 1.0).exp();
            (days, if numbers.uniform() < 0.37 { LookOutcome::Changed } else { LookOutcome::Unchanged })
        })
        .collect();
    let of = |outcome| mixed.iter().map(|(days, _)| (*days, outcome)).collect::<Vec<_>>();
    let (changed, unchanged) = (of(LookOutcome::Changed), of(LookOutcome::Unchanged));

    let forgetting = GammaFilter::default();
    let filter = GammaFilter::new(forgetting.prior(), None).expect("no parameter to refuse");
    for (name, history) in [("37 % changed", &mixed), ("changed", &changed), ("unchanged", &unchanged)] {
        for (kind, filter) in [("Gamma filter", &filter), ("Gamma filter, forgetting", &forgetting)] {
            let mut pages = vec![GammaState::default(); PAGES];
            report(&format!("{kind}, {name}"), looks, history, |page, days, outcome| {
                filter.update(&mut pages[page], days, outcome);
            });
            black_box(pages);
        }
    }
    plainly(looks, &mixed, &filter);
    for kind in EstimatorKind::ALL {
        let estimator = RateEstimator::new(kind, EstimatorOptions::default()).expect("the defaults are usable");
        let mut pages = vec![estimator.start(); PAGES];
        report(&format!("catalogue: {kind}"), looks, &mixed, |page, days, outcome| {
            estimator.update(&mut pages[page], days, outcome);
        });
        let start = cpu_time();
        for page in &pages {
            black_box(estimator.belief(page));
        }
        println!("    its belief: {:.1} ns", (cpu_time() - start).as_secs_f64() * 1e9 / PAGES as f64);
    }
}

/// The yardstick: the filter without forgetting as its source has it, three powers and a difference, on the same looks.
fn plainly(looks: usize, history: &[(f64, LookOutcome)], filter: &GammaFilter) {
    let (alpha, beta_days) = (filter.prior().alpha(), filter.prior().beta_days());
    let mut pages = vec![(alpha, beta_days); PAGES];
    report("Gamma filter as published, 37 % changed", looks, history, |page, days, outcome| {
        pages[page] = published(pages[page], days, outcome);
    });
    // A fast wrong answer has no speed. Differences lose digits as beliefs sharpen, so only the first looks are
    // compared.
    let (mut plain, mut state) = ((alpha, beta_days), GammaState::default());
    for &(days, outcome) in &history[..8] {
        plain = published(plain, days, outcome);
        filter.update(&mut state, days, outcome);
    }
    let ours = filter.posterior(&state);
    let agree = |ours: f64, theirs: f64| (ours / theirs - 1.0).abs() < 1e-4;
    assert!(agree(ours.alpha(), plain.0) && agree(ours.beta_days(), plain.1), "{ours:?} beside {plain:?}");
}

/// One look: shape and days of the belief behind it (equations of B7 in the project's algorithm notes).
fn published((alpha, beta_days): (f64, f64), days: f64, outcome: LookOutcome) -> (f64, f64) {
    if outcome != LookOutcome::Changed {
        return (alpha, beta_days + days);
    }
    let power = |more: f64| 1.0 - (1.0 + days / beta_days).powf(-alpha - more);
    let first = alpha / beta_days * power(1.0) / power(0.0);
    let second = alpha * (alpha + 1.0) / (beta_days * beta_days) * power(2.0) / power(0.0);
    let variance = (second - first * first).max(1e-12 * first * first);
    (first * first / variance, first / variance)
}

/// Prints the CPU time per look: the best of many short rounds, so that a busy machine does not count.
fn report(name: &str, looks: usize, history: &[(f64, LookOutcome)], mut update: impl FnMut(usize, f64, LookOutcome)) {
    let best = (0..looks.div_ceil(history.len()))
        .map(|_| {
            let start = cpu_time();
            for (look, &(days, outcome)) in history.iter().enumerate() {
                update(look % PAGES, days, outcome);
            }
            cpu_time() - start
        })
        .min()
        .expect("at least one round");
    println!("{name}: {:.1} ns a look", best.as_secs_f64() * 1e9 / history.len() as f64);
}

/// CPU time of this process so far, which a busy machine does not stretch.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
