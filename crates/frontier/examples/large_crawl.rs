//! How much memory and time does the frontier of a large crawl take? `cargo run --release -p frontier --example large_crawl
//! [pages] [pages of a site]`
//!
//! It restores that many generated pages, as a start does from the table of pages; scans them; and chooses some. Needs
//! Linux, which says how much memory a process has.

use frontier::{Frontier, FrontierRules, ScheduledPage};
use messages::{ChangeBelief, FetchOutcome};
use page::{CanonicalUrl, DAY, PageId, Timestamp};
use settings::{Layers, Settings};
use std::time::Instant;

const NOW: Timestamp = Timestamp::from_secs(1_700_000_000);
const CHOSEN: usize = 10_000;
const GIB: f64 = (1_u64 << 30) as f64;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse().expect("a number of pages"));
    let pages: u32 = arguments.next().unwrap_or(10_000_000);
    let of_site: u32 = arguments.next().unwrap_or(500);
    let overrides =
        [("budget.fetches_per_second", "1000"), ("budget.in_flight", "20000"), ("crawl.max_pages", "4000000000")];
    let overrides: Vec<_> = overrides.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    let settings = Settings::from_layers(Layers { files: &[], environment: [], overrides: &overrides });
    let mut frontier = Frontier::new(FrontierRules::new(&settings.expect("good settings"), 1));
    let before = memory("VmRSS");
    let begun = Instant::now();
    for number in 0..pages {
        let page = page(number, of_site);
        frontier.restore_page(page.url.page_id(), &page, NOW);
    }
    frontier.restored();
    let (seconds, held) = (begun.elapsed().as_secs_f64(), memory("VmRSS") - before);
    let of_page = |all: f64| all / f64::from(pages);
    println!("{pages} pages of sites of {of_site}: restored in {seconds:.0} s, {:.2} µs each", of_page(seconds * 1e6));
    println!(
        "memory: {:.2} GiB, {:.1} bytes a page; {:.2} GiB at the peak",
        held / GIB,
        of_page(held),
        memory("VmHWM") / GIB
    );
    let mut numbers: Vec<(u64, u32)> =
        (0..pages).map(|number| (short_id(page(number, of_site).url.page_id()), number)).collect();
    numbers.sort_unstable();
    for tick in 1..=3 {
        let now = NOW + DAY * tick;
        let (begun, mut scanned, mut chosen) = (Instant::now(), 0.0, 0);
        let mut tick = frontier.begin_tick(0, now).expect("the last one was long ago");
        while chosen < CHOSEN
            && let Some(choice) = frontier.next_choice(&mut tick)
        {
            if chosen == 0 {
                scanned = begun.elapsed().as_secs_f64();
            }
            let found = numbers.binary_search_by_key(&short_id(choice.page_id), |(id, _)| *id);
            let mut page = page(numbers[found.expect("it is one of the pages")].1, of_site);
            frontier.hand_out(&choice, &mut page, now);
            chosen += 1;
        }
        let of_choice = (begun.elapsed().as_secs_f64() - scanned) * 1e6 / chosen.max(1) as f64;
        println!(
            "a scan: {:.0} ms, {:.1} ns a page; {chosen} chosen, {of_choice:.1} µs each",
            scanned * 1e3,
            of_page(scanned * 1e9)
        );
    }
}

/// The first half of an id, by which the pages of this example differ.
fn short_id(id: PageId) -> u64 {
    id.0[..8].iter().fold(0, |short, byte| short << 8 | u64::from(*byte))
}

/// A page that was looked at three times.
fn page(number: u32, of_site: u32) -> ScheduledPage {
    let (site, directory) = (number / of_site, number % of_site / 70);
    let url = format!("https://site-{site}.test/part-{directory}/page-{number}");
    let url = CanonicalUrl::parse(&url).expect("it is an address");
    let belief = ChangeBelief { observations: 2, ..ChangeBelief::new(1.0, 10.0 + f64::from(number % 97)) };
    let found = NOW - DAY * 30;
    ScheduledPage {
        last_look_at: Some(NOW - DAY * (number % 20)),
        fetches: 3,
        outcome: Some(FetchOutcome::Fetched),
        ..ScheduledPage::new(url, 1.0, 2, belief, 0, found)
    }
}

/// A figure of this process, in bytes.
fn memory(figure: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find(|line| line.starts_with(figure)).expect("the process has memory");
    let kib = line.split_whitespace().nth(1).and_then(|kib| kib.parse::<f64>().ok());
    kib.expect("it is a number") * 1024.0
}
