//! CPU time of a look, with its calendars. `cargo run --release -p sweeps --example look_cost [sites]`

use chance::{Draws, Lcg};
use change_rate::LookOutcome;
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::time::Duration;
use sweeps::rules::SETTLED_BINS;
use sweeps::{OwnEvidence, PagePlace, SweepModel};

const SITE_PAGES: u64 = 2_000;
const DIRECTORY_PAGES: u64 = 100;

fn main() {
    let sites: u64 = std::env::args().nth(1).map_or(100, |count| count.parse().expect("a number of sites"));
    let mut model = SweepModel::starting_at(20_000.0);
    let mut pages: Vec<(PagePlace, OwnEvidence)> = (0..sites * SITE_PAGES)
        .map(|i| {
            let (site, directory) = (format!("site{}.test", i / SITE_PAGES), i % SITE_PAGES / DIRECTORY_PAGES);
            // Two file types in every directory.
            let path = format!("/d{directory}/page{i}.{}", if i % 3 == 0 { "html" } else { "txt" });
            (PagePlace::of(&site, &site, &path), OwnEvidence::default())
        })
        .collect();
    pages.iter().for_each(|(place, _)| model.insert(place));
    (1..=100).for_each(|day| model.advance(20_000.0 + f64::from(day), SETTLED_BINS));
    let groups = model.outlook().group_count();
    println!("{} pages, {groups} groups, {:.1} a page", pages.len(), {
        let sample = pages.iter().step_by(97).map(|(place, _)| model.sizes().groups_of(place).as_slice().len());
        sample.clone().sum::<usize>() as f64 / sample.count() as f64
    });
    for (name, interval_days) in [("an hour", 0.04), ("4 days", 4.0), ("60 days", 60.0)] {
        let (looks, mut random) = (500_000, Lcg(1));
        let start = cpu_time();
        for _ in 0..looks {
            let i = (random.uniform() * pages.len() as f64) as usize;
            let (place, belief) = &mut pages[i];
            let to_days = 20_100.0 + random.uniform();
            let outcome = if random.uniform() < 0.05 { LookOutcome::Changed } else { LookOutcome::Unchanged };
            model.look(place, belief, to_days - 2.0 * interval_days * random.uniform(), to_days, outcome);
        }
        println!("a look every {name}: {:.0} ns", (cpu_time() - start).as_secs_f64() * 1e9 / f64::from(looks));
        model.take_changes();
    }
    println!("maximum likelihood of one page, 12 changes: {:.0} ns", likeliest_rate_cost());
}

/// The yardstick: the likeliest rate of a page with twelve changed intervals, by bisection to 1e-4 a day (Cho &
/// Garcia-Molina 2003), in nanoseconds.
fn likeliest_rate_cost() -> f64 {
    let changed_days: Vec<f64> = (0..12).map(|interval| 0.5 + f64::from(interval)).collect();
    let pages = 100_000;
    let start = cpu_time();
    for page in 0..pages {
        let unchanged_days = 30.0 + f64::from(page % 7);
        let (mut least, mut most) = (5e-4, 7.0);
        while most - least > 2e-4 {
            let middle = (least + most) / 2.0;
            let sum: f64 = changed_days.iter().map(|days| days / (middle * days).exp_m1()).sum();
            *(if sum > unchanged_days { &mut least } else { &mut most }) = middle;
        }
        black_box(least);
    }
    (cpu_time() - start).as_secs_f64() * 1e9 / f64::from(pages)
}

/// CPU time of this process so far, which a busy machine does not stretch.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
