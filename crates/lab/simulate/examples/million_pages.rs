//! CPU time and memory of a simulation of a million pages over 60 days at 0.2 fetches a page and day:
//! `cargo run --release -p simulate --example million_pages -- [POLICY [PAGES [POPULATION]]]`.

use policies::PolicyOptions;
use rustix::time::{ClockId, clock_gettime};
use simulate::SimulationError;
use simulate::changes::{ChangeModel, SyntheticChanges};
use simulate::engine::{self, Run};
use simulate::population::{PopulationKind, SyntheticPopulation};
use simulate::setup;
use std::ops::ControlFlow;
use std::time::Duration;

/// Memory in use in bytes (Linux): of its own, and with the program's code, of which more is read in as it runs.
fn memory() -> (f64, f64) {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let mut numbers = pages.split(' ').skip(1).map(|number| number.parse::<f64>().unwrap_or(0.0) * 4096.0);
    let (resident, shared) = (numbers.next().unwrap_or(0.0), numbers.next().unwrap_or(0.0));
    (resident - shared, resident)
}

/// CPU time of this process so far, which a busy machine does not stretch.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn main() -> Result<(), SimulationError> {
    let mut arguments = std::env::args().skip(1);
    let policy = setup::policy(&arguments.next().unwrap_or_else(|| "live".into()))?;
    let count: usize = arguments.next().and_then(|pages| pages.parse().ok()).unwrap_or(1_000_000);
    let population = PopulationKind::parse(&arguments.next().unwrap_or_else(|| "hosts".into()))?;
    let empty = memory().0;
    let SyntheticPopulation { pages, change_rates_per_day: rates } = population.draw(count, 1)?;
    let mut changes = SyntheticChanges::new(&pages, &rates, ChangeModel::default(), 1, 60.0)?;
    let mut learner = setup::learner(policy, policy.beliefs().usual_estimator(), &pages, &rates, Default::default())?;
    drop(rates);
    println!("{count} pages of {} drawn in {:.1} s of CPU", population.name(), cpu_time().as_secs_f64());
    println!("{:.0} bytes a page with change source and estimator", (memory().0 - empty) / count as f64);
    let mut built = setup::build(policy, &PolicyOptions::default());
    let run = Run::new(0.0, 60.0, 0.2 * count as f64);
    let (mut most, mut most_resident) = (0.0f64, 0.0f64);
    let mut watch = |_| {
        let (own, resident) = memory();
        (most, most_resident) = (most.max(own), most_resident.max(resident));
        ControlFlow::Continue(())
    };
    let scores = engine::run(&pages, &mut changes, built.as_mut(), learner.as_mut(), &run, &mut watch)?;
    println!(
        "{}: {} fetches, {} changes, freshness {:.4}, weighted {:.4}",
        policy.name(),
        scores.fetches,
        scores.changes,
        scores.freshness,
        scores.weighted_freshness,
    );
    println!("60 days in {:.1} s of CPU, all told", cpu_time().as_secs_f64());
    let (pages, all) = ((most - empty) / count as f64, most_resident / count as f64);
    println!("memory at most: {pages:.1} bytes a page, {all:.1} with the program itself");
    Ok(())
}
