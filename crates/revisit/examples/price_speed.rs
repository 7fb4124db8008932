//! How fast is a budget shared among ten million pages, and how much is lost?
//! `cargo run --release -p revisit --example price_speed [pages]`
//!
//! Lognormal change rates (median once in 30 days, sd 2), Pareto weights (1.5), a tenth of a fetch a page and day.

use chance::{Draws, Lcg};
use revisit::allocate::{self, DemandByPrice, Objective, PageTerms};
use revisit::demand_curve::DemandCurve;
use revisit::histogram::RatioHistogram;
use std::hint::black_box;
use std::sync::LazyLock;
use std::time::Instant;

fn main() {
    let count: usize = std::env::args().nth(1).map_or(10_000_000, |count| count.parse().expect("a number of pages"));
    let mut chance = Lcg(7);
    let pages: Vec<PageTerms> = (0..count)
        .map(|_| {
            let rate = ((2.0 * chance.normal()).exp() / 30.0).clamp(1e-5, 24.0);
            PageTerms { weight: chance.pareto(1.5).min(1e3), ..PageTerms::new(rate) }
        })
        .collect();
    let budget = 0.1 * count as f64;
    println!("{count} pages");
    let rates: Vec<f64> = pages.iter().map(|page| page.change_rate_per_day).collect();
    let weights: Vec<f64> = pages.iter().map(|page| page.weight).collect();
    let (building, _) = timed(5, || {
        let mut histogram = RatioHistogram::default();
        rates.iter().zip(&weights).for_each(|(&rate, &weight)| histogram.add(rate, weight, 1.0));
        black_box(histogram)
    });
    let (bisecting, steps) = timed(1, || bisection(&rates, &weights, budget));
    let per_page = |seconds: f64| seconds * 1e9 / count as f64;
    println!(
        "build from columns {:.1} ns a page; bisection over them {steps} steps, {:.0} ns a page",
        per_page(building),
        per_page(bisecting)
    );
    for (name, objective) in [
        ("freshness", Objective::FRESHNESS),
        ("mixed .05", Objective::Mixed { theta: 0.05 }),
        ("azar", Objective::RandomFreshness),
        ("lambda-crawl", Objective::RandomHarmonic),
    ] {
        compare(name, objective, &pages, budget);
    }
}

/// The price by histogram beside the exact one, and what each costs.
fn compare(name: &str, objective: Objective, pages: &[PageTerms], budget: f64) {
    let (tabulating, curve) = timed(1, || DemandCurve::new(objective));
    let mut histogram = RatioHistogram::default();
    pages.iter().for_each(|page| histogram.add(page.change_rate_per_day, page.weight, page.cost));
    // Again and again: one is too short for the clock.
    const SOLVES: u32 = 500;
    let (solving, price) = timed(1, || (0..SOLVES).map(|_| histogram.price(&curve, black_box(budget))).sum::<f64>());
    let (solving, price) = (solving / f64::from(SOLVES), price / f64::from(SOLVES));
    let (applying, mut rates) = timed(1, || -> Vec<f64> {
        let fetches =
            |page: &PageTerms| page.change_rate_per_day * curve.fetches_per_change(price.ln() + curve.ln_ratio(page));
        pages.iter().map(fetches).collect()
    });
    let spent: f64 = rates.iter().sum();
    rates.iter_mut().for_each(|rate| *rate *= budget / spent);
    let (exactly, exact) = timed(1, || allocate::optimal_for(&curve, pages, budget));
    let average = |rates: &[f64]| allocate::average_penalty(objective, pages, rates);
    let (best, got) = (average(&exact.fetch_rates_per_day), average(&rates));
    let per_page = |seconds: f64| seconds * 1e9 / pages.len() as f64;
    println!(
        "{name}: table {:.1} ms, re-solve {:.0} us, rates {:.1} ns a page; exact solve {:.0} ns a page; \
         price off by {:.1e}, budget by {:.1e}, objective by {:.1e}",
        tabulating * 1e3,
        solving * 1e6,
        per_page(applying),
        per_page(exactly),
        price / exact.price - 1.0,
        spent / budget - 1.0,
        got / best - 1.0
    );
}

/// The work of a vectorised bisection for LambdaCrawl's rates, step for step, on columns of numbers. Returns the steps.
fn bisection(rates: &[f64], weights: &[f64], budget: f64) -> u32 {
    let (mut low, mut high, mut steps) = (1e-9_f64, 1e9_f64, 0);
    while high / low > 1.0 + 1e-6 {
        let price = (low * high).sqrt();
        steps += 1;
        let fetches = |(rate, weight): (&f64, &f64)| 0.5 * ((rate * rate + 4.0 * weight * rate / price).sqrt() - rate);
        let spent = rates.iter().zip(weights).map(fetches).sum::<f64>();
        *(if spent > budget { &mut low } else { &mut high }) = price;
    }
    steps
}

/// Time this process has had on a processor, where the system reports it; else the time of the clock.
fn cpu_seconds() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let on_processor = std::fs::read_to_string("/proc/self/schedstat").ok();
    let nanoseconds = on_processor.and_then(|line| line.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| START.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}

/// The least time of several runs, in seconds, and the last result.
fn timed<T>(runs: u32, mut work: impl FnMut() -> T) -> (f64, T) {
    let mut best = f64::INFINITY;
    let mut run = || {
        let start = cpu_seconds();
        let result = work();
        best = best.min(cpu_seconds() - start);
        result
    };
    for _ in 1..runs {
        run();
    }
    let result = run();
    (best, result)
}
