//! Cost of judging a page: microseconds of CPU time from its bytes to the verdict, without fetching or storing anything.
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
            costs[0].push(micros(&edited, |_| (), |(), page| content_digest(page)));
            costs[1].push(micros(&edited, |_| (), |(), page| Version::new(page, HEADER, ADDRESS, &URLS)));
            // The state comes from a store, and goes back to it.
            costs[2].push(micros(
                &edited,
                |place| states[place].clone(),
                |mut state: PageState, page| {
                    let version = Version::new(page, HEADER, ADDRESS, &URLS);
                    (state.observe(&version, None), state)
                },
            ));
            costs[3].push(micros(
                &pages,
                |_| PageState::default(),
                |mut state, page| {
                    let (version, text) = Version::and_text(&Body::new(page, HEADER, ADDRESS), &URLS);
                    (state.observe(&version, None), text, state)
                },
            ));
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

/// CPU time a page. What a page is given, and what is made of it, is built and dropped outside of the measurement.
fn micros<'p, G, M>(pages: &'p [Vec<u8>], given: impl Fn(usize) -> G, work: impl Fn(G, &'p [u8]) -> M) -> f64 {
    let mut nanoseconds = 0;
    for (place, page) in pages.iter().enumerate() {
        let given = given(place);
        let start = cpu_nanoseconds();
        let made = black_box(work(given, black_box(page)));
        nanoseconds += cpu_nanoseconds() - start;
        drop(made);
    }
    nanoseconds as f64 / 1_000.0 / pages.len().max(1) as f64
}

/// CPU time of this thread: other work on the machine hardly disturbs it.
fn cpu_nanoseconds() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
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
