//! How long does one scan of ten million pages take? `cargo run --release -p revisit --example scan_speed [pages]`

use change_rate::Gamma;
use page::Timestamp;
use revisit::Policy;
use revisit::columns::{LastLook, PageColumns, PageEntry, Standing};
use std::time::Instant;

fn main() {
    let pages: u64 = std::env::args().nth(1).map_or(10_000_000, |count| count.parse().expect("a number of pages"));
    let now = Timestamp::from_secs(1_800_000_000);
    let mut columns = PageColumns::with_capacity(pages as usize);
    let mut state = 7_u64;
    // Numbers spread evenly over 0..1, the same on every run.
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let policy = Policy::default();
    for _ in 0..pages {
        let (alpha, beta_days) = (0.4 + 8.0 * next() * next(), 100.0 * (2.0 * next()).exp() * next());
        columns.insert(&PageEntry {
            last_look: LastLook::Looked(now.plus_days(-60.0 * next())),
            belief: Gamma::new(alpha, beta_days.max(0.5)).expect("both positive"),
            weight: 0.2 + next(),
            host: (next() * 1e5) as u32,
            standing: Standing::Ready,
        });
    }
    println!("{pages} pages, {} bytes each", PageColumns::BYTES_PER_PAGE);

    let timed = |name: &str, work: &mut dyn FnMut() -> f64| {
        let best = (0..5)
            .map(|_| {
                let start = Instant::now();
                let result = work();
                (start.elapsed(), result)
            })
            .min_by(|a, b| a.0.cmp(&b.0));
        let (elapsed, result) = best.expect("five runs");
        println!(
            "{name}: {:.0} ms, {:.1} ns a page (result {result:.4})",
            elapsed.as_secs_f64() * 1e3,
            elapsed.as_secs_f64() * 1e9 / pages as f64
        );
        result
    };
    let sum = |policy: &Policy| {
        let mut sum = 0.0;
        columns.scan(now, policy, |candidate| sum += candidate.value);
        sum
    };
    timed("scan, optimal", &mut || sum(&policy));
    timed("scan, uniform", &mut || sum(&Policy::Uniform));
    timed("demand histogram", &mut || columns.demand_histogram(&policy).demand(&policy, 1.0));
    let histogram = columns.demand_histogram(&policy);
    let price = timed("solve for the price", &mut || histogram.solve(&policy, pages as f64 / 30.0));
    let select = |floor: f64| columns.select(now, &policy, 10_000, floor, |_| true).len() as f64;
    timed("select 10,000 above the price", &mut || select(price));
    timed("select 10,000 above nothing", &mut || select(0.0));
}
