//! How long does one scan of ten million pages take? `cargo run --release -p revisit --example scan_speed [pages]`

use chance::{Draws, Lcg};
use change_rate::{Gamma, LookOutcome};
use page::Timestamp;
use revisit::Policy;
use revisit::columns::{Index, LastLook, PageColumns, PageEntry, PageStatus, Slot, whole_belief};
use std::time::Instant;
use sweeps::rules::{SENTINEL_WEIGHT, SETTLED_BINS};
use sweeps::{Outlook, OwnEvidence, PagePlace, SweepModel};

/// Pages of one site, and of one directory of it.
const SITE_PAGES: u64 = 2_000;
const DIRECTORY_PAGES: u64 = 100;

fn timed<T>(name: &str, pages: u64, mut work: impl FnMut() -> T) -> T {
    let best = (0..5)
        .map(|_| {
            let start = Instant::now();
            let result = work();
            (start.elapsed(), result)
        })
        .min_by(|a, b| a.0.cmp(&b.0));
    let (elapsed, result) = best.expect("five runs");
    let seconds = elapsed.as_secs_f64();
    println!("{name}: {:.0} ms, {:.1} ns a page", seconds * 1e3, seconds * 1e9 / pages as f64);
    result
}

fn main() {
    let pages: u64 = std::env::args().nth(1).map_or(10_000_000, |count| count.parse().expect("a number of pages"));
    println!("{pages} pages, {} bytes each", PageColumns::BYTES_PER_PAGE);
    crawl_value(pages);
    live(pages);
}

fn crawl_value(pages: u64) {
    let now = Timestamp::from_secs(1_800_000_000);
    let mut columns = PageColumns::default();
    let mut spread = Lcg(7);
    let place = PagePlace::of("a.test", "a.test", "/");
    for _ in 0..pages {
        let (alpha, beta_days) = (
            0.4 + 8.0 * spread.uniform() * spread.uniform(),
            100.0 * (2.0 * spread.uniform()).exp() * spread.uniform(),
        );
        let entry = PageEntry {
            last_look: LastLook::Looked(now.plus_days(-60.0 * spread.uniform())),
            belief: whole_belief(Gamma::new(alpha, beta_days.max(0.5)).expect("both positive")),
            weight: 0.2 + spread.uniform(),
            host: (spread.uniform() * 1e5) as u32,
            status: PageStatus::Ready,
        };
        columns.insert(&entry, &place);
    }
    let (policy, outlook) = (Policy::default(), Outlook::default());
    let index = Index::CrawlValue { theta: Policy::DEFAULT_THETA };
    timed("demand histogram", pages, || columns.demand_histogram(&policy));
    let histogram = columns.demand_histogram(&policy);
    let price = timed("solve for the price", pages, || histogram.solve(&policy, pages as f64 / 30.0));
    for (name, floor) in [("the price", price), ("nothing", 0.0)] {
        for count in [10_000, 100_000] {
            timed(&format!("crawl value: scan for {count} above {name}"), pages, || {
                columns.scan(now, &index, &outlook, count, floor, |_| true)
            });
        }
    }
}

fn live(pages: u64) {
    // Days since 1970, as the columns count them.
    let now_days = 20_833.0;
    let now = Timestamp::from_secs(0).plus_days(now_days);
    let mut spread = Lcg(7);
    let mut model = SweepModel::starting_at(now_days - 60.0);
    let mut columns = PageColumns::default();
    let path = |i: u64| {
        let site = format!("site{}.test", i / SITE_PAGES);
        PagePlace::of(&site, &site, &format!("/d{}/page{i}.html", i % SITE_PAGES / DIRECTORY_PAGES))
    };
    let start = Instant::now();
    for i in 0..pages {
        let mut belief = OwnEvidence::default();
        belief.own.delta_alpha = (8.0 * spread.uniform() * spread.uniform() * spread.uniform()) as f32;
        belief.own.delta_beta_days = (300.0 * spread.uniform()) as f32;
        belief.plain = belief.own;
        let entry = PageEntry {
            last_look: LastLook::Looked(now.plus_days(-60.0 * spread.uniform())),
            belief,
            weight: 0.2 + spread.uniform(),
            host: (i / SITE_PAGES) as u32,
            status: PageStatus::Ready,
        };
        let place = path(i);
        model.insert(&place);
        columns.insert(&entry, &place);
    }
    println!("insert: {:.0} ns a page", start.elapsed().as_secs_f64() * 1e9 / pages as f64);
    let looks = 1_000_000_u64.min(pages);
    for day in 0..60 {
        model.advance(now_days - 59.0 + f64::from(day), SETTLED_BINS);
    }
    let (place_count, mut at) = (1_000, Instant::now());
    for round in 0..2 {
        // Pages all over, each last looked at some four days ago.
        let chosen: Vec<(Slot, PagePlace)> = (0..place_count)
            .map(|_| ((spread.uniform() * pages as f64) as u64).min(pages - 1))
            .map(|i| (Slot::new(i as u32), path(i)))
            .collect();
        at = Instant::now();
        for look in 0..looks {
            let (_, place) = &chosen[look as usize % chosen.len()];
            let mut belief = OwnEvidence::default();
            let to_days = now_days - 50.0 * spread.uniform();
            let outcome = if spread.uniform() < 0.1 { LookOutcome::Changed } else { LookOutcome::Unchanged };
            model.look(place, &mut belief, to_days - 8.0 * spread.uniform(), to_days, outcome);
        }
        let _ = round;
    }
    println!("look with its calendars: {:.0} ns", at.elapsed().as_secs_f64() * 1e9 / looks as f64);
    let start = Instant::now();
    let refreshed = columns.refresh(model.outlook(), usize::MAX);
    println!("refresh: {:.0} ns a page", start.elapsed().as_secs_f64() * 1e9 / refreshed.max(1) as f64);
    println!("{} groups", model.outlook().group_count());
    let index = Index::Live { theta: 0.0, sentinel_weight: SENTINEL_WEIGHT };
    let outlook = model.outlook();
    let histogram = timed("live: value histogram", pages, || columns.value_histogram(now, &index, outlook));
    let price = histogram.price_for(pages as f64 / 1_000.0);
    for (name, floor) in [("a price that one page in a thousand reaches", price), ("nothing", 0.0)] {
        for count in [10_000, 100_000] {
            timed(&format!("live: scan for {count} above {name}"), pages, || {
                columns.scan(now, &index, outlook, count, floor, |_| true)
            });
        }
    }
    let mut selection = columns.scan(now, &index, outlook, 100_000, 0.0, |_| true);
    let start = Instant::now();
    let mut taken = 0;
    while taken < 100_000 && selection.next(&mut columns, outlook, now, |_| true).is_some() {
        taken += 1;
    }
    println!("take one: {:.0} ns", start.elapsed().as_secs_f64() * 1e9 / f64::from(taken));
}
