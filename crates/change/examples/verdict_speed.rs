//! What it costs to judge a page: microseconds of CPU time from its bytes to the verdict, without fetching or storing
//! anything.
//!
//! `cargo run -p change --example verdict_speed -- DIRECTORY…` reads the HTML files of each directory. Every page is judged
//! against itself with one paragraph less, and seen for the first time. Printed are median, least and most of the rounds; BLAKE3 of the same pages takes
//! turns with it, to know other work on the machine by.

use change::{PageState, Version};
use document::{Body, content_digest};
use page::UrlRules;
use std::hint::black_box;

/// The allocator of the programs.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ROUNDS: usize = 7;
static URLS: UrlRules = UrlRules::none();
const HEADER: Option<&str> = Some("text/html; charset=utf-8");
const ADDRESS: Option<&str> = Some("https://docs.test/manual/page.html");

fn main() -> std::io::Result<()> {
    for directory in std::env::args().skip(1) {
        let pages = html_files(&directory)?;
        let states: Vec<PageState> = pages.iter().map(|page| first_look(page)).collect();
        let edited: Vec<Vec<u8>> = pages.iter().map(|page| edit(page)).collect();
        println!("{directory}: {} pages", pages.len());
        let mut costs: [Vec<f64>; 4] = Default::default();
        for _ in 0..ROUNDS {
            // What the verdict changes in a state is no part of the next round.
            let mut known = states.clone();
            costs[0].push(micros(&edited, |_, page| _ = black_box(content_digest(page))));
            costs[1].push(micros(&edited, |_, page| _ = black_box(Version::new(page, HEADER, ADDRESS, &URLS))));
            costs[2].push(micros(&edited, |place, page| {
                let version = Version::new(page, HEADER, ADDRESS, &URLS);
                _ = black_box(known[place].observe(&version, None));
            }));
            costs[3].push(micros(&pages, |_, page| {
                let (version, text) = Version::and_text(&Body::new(page, HEADER, ADDRESS), &URLS);
                let mut state = PageState::default();
                _ = black_box((state.observe(&version, None), text));
            }));
        }
        let names =
            ["BLAKE3 of the page", "the version", "the version and its verdict", "the first look, with the text"];
        for (name, costs) in names.iter().zip(costs) {
            println!("{name:29} {:.1?} µs a page", spread(costs));
        }
    }
    Ok(())
}

fn first_look(page: &[u8]) -> PageState {
    let mut state = PageState::default();
    state.observe(&Version::new(page, HEADER, ADDRESS, &URLS), None);
    state
}

/// The page with a paragraph before its first one, or else at its end.
fn edit(page: &[u8]) -> Vec<u8> {
    let place = page.windows(3).position(|three| three == b"<p>").unwrap_or(page.len());
    [&page[..place], b"<p>A new paragraph came today. ", &page[place..]].concat()
}

/// Median, least and most.
fn spread(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [values[values.len() / 2], values[0], values[values.len() - 1]]
}

fn micros(pages: &[Vec<u8>], mut work: impl FnMut(usize, &[u8])) -> f64 {
    let start = cpu_micros();
    for (place, page) in pages.iter().enumerate() {
        work(place, black_box(page));
    }
    (cpu_micros() - start) / pages.len().max(1) as f64
}

/// CPU time of this thread: other work on the machine hardly disturbs it.
fn cpu_micros() -> f64 {
    // The kernel brings the account up to date when the thread gives way, and otherwise only at each tick.
    std::thread::yield_now();
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").expect("this example runs on Linux");
    let nanoseconds = statistics.split_whitespace().next().and_then(|first| first.parse::<f64>().ok());
    nanoseconds.expect("schedstat begins with the time on the CPU in ns") / 1e3
}

fn html_files(directory: &str) -> std::io::Result<Vec<Vec<u8>>> {
    let mut pages = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "html") {
            pages.push(std::fs::read(path)?);
        }
    }
    Ok(pages)
}
