//! Time and memory of a simulation of a million pages over 60 days at 0.2 fetches a page and day:
//! `cargo run --release -p simulate --example million_pages -- POLICY [PAGES]`.

use simulate::SimulationError;
use simulate::changes::{ChangeModel, SyntheticChanges};
use simulate::engine::{self, Run};
use simulate::policies::{PolicyKind, PolicyOptions};
use simulate::population::PopulationKind;
use std::ops::ControlFlow;
use std::time::Instant;

/// Memory in use, in bytes (Linux).
fn memory() -> f64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    pages.split(' ').nth(1).and_then(|resident| resident.parse::<f64>().ok()).unwrap_or(0.0) * 4096.0
}

fn main() -> Result<(), SimulationError> {
    let mut arguments = std::env::args().skip(1);
    let policy = PolicyKind::parse(&arguments.next().unwrap_or_else(|| "live".into()))?;
    let count: usize = arguments.next().and_then(|pages| pages.parse().ok()).unwrap_or(1_000_000);
    let empty = memory();
    let started = Instant::now();
    let population = PopulationKind::Hosts.draw(count, 1)?;
    let rates = population.change_rates_per_day;
    let mut changes = SyntheticChanges::new(&population.pages, &rates, ChangeModel::default(), 1, 60.0)?;
    let mut learner = policy.learner(policy.usual_estimator(), &population.pages, &rates, Default::default())?;
    drop(rates);
    println!("{count} pages drawn in {:.1} s", started.elapsed().as_secs_f64());
    println!("{:.0} bytes a page with change source and estimator", (memory() - empty) / count as f64);
    let mut built = policy.build(&PolicyOptions::default());
    let run = Run::new(0.0, 60.0, 0.2 * count as f64);
    let started = Instant::now();
    let mut most = 0.0f64;
    let mut watch = |_| {
        most = most.max(memory());
        ControlFlow::Continue(())
    };
    let scores = engine::run(&population.pages, &mut changes, built.as_mut(), learner.as_mut(), &run, &mut watch)?;
    println!(
        "{}: 60 days in {:.1} s, {} fetches, {} changes, freshness {:.4}, weighted {:.4}; {:.0} bytes a page at most",
        policy.name(),
        started.elapsed().as_secs_f64(),
        scores.fetches,
        scores.changes,
        scores.freshness,
        scores.weighted_freshness,
        (most - empty) / count as f64
    );
    Ok(())
}
