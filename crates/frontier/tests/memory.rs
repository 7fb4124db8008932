//! The memory that a known page takes in the frontier. In a program of its own, whose allocator counts.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

use frontier::{Frontier, FrontierRules, PageRequest, RequestState, ScheduledPage};
use messages::ChangeBelief;
use page::{CanonicalUrl, Timestamp};
use settings::{Layers, Settings};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering};

/// Bytes that a page may take, with its share of the memory of its host and its site.
const MOST_BYTES: f64 = 90.0;
/// The same where few pages share a host or a directory, or where the pages of hosts are limited.
const MOST_BYTES_ALONE: f64 = 125.0;
/// Bytes of a page that waits for its next look.
const MOST_BYTES_WAITING: f64 = 165.0;
/// Pages of a web, just beyond a power of two: tables that double are at their emptiest then.
const PAGES: u32 = 140_000;

struct Counting;

static HELD: AtomicIsize = AtomicIsize::new(0);

// SAFETY: it hands every call on as it is.
#[allow(unsafe_code, reason = "an allocator is unsafe by its trait")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn frontier(overrides: &[(&str, &str)]) -> Frontier {
    let overrides: Vec<_> = overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let settings = Settings::from_layers(Layers { files: &[], environment: [], overrides: &overrides }).unwrap();
    Frontier::new(FrontierRules::new(&settings, 1))
}

/// Bytes that each of these pages takes.
fn bytes_of_page(overrides: &[(&str, &str)], page: impl Fn(u32) -> ScheduledPage) -> f64 {
    let mut frontier = frontier(overrides);
    let before = HELD.load(Ordering::Relaxed);
    for number in 0..PAGES {
        let page = page(number);
        frontier.restore_page(page.url.page_id(), &page, Timestamp::from_secs(1_700_000_000));
    }
    frontier.restored();
    let held = HELD.load(Ordering::Relaxed) - before;
    drop(frontier);
    held as f64 / f64::from(PAGES)
}

fn new_page(url: &str, depth: i32) -> ScheduledPage {
    let found = Timestamp::from_secs(1_699_000_000);
    ScheduledPage::new(CanonicalUrl::parse(url).unwrap(), 1.0, depth, ChangeBelief::new(1.0, 10.0), 0, found)
}

/// Sites of 500 pages in seven directories.
fn of_large_site(number: u32) -> String {
    format!("https://site-{}.test/part-{}/page-{number}", number / 500, number % 7)
}

/// Sites of 40 pages in ten directories.
fn of_small_site(number: u32) -> String {
    format!("https://www.site-{}.test/{}/{}/page-{number}.html", number / 40, number % 3, number % 10)
}

/// Sites of 100 pages, each in a directory of its own.
fn in_own_directory(number: u32) -> String {
    format!("https://site-{}.test/articles/{number}-title/", number / 100)
}

fn looked_at(url: &str) -> ScheduledPage {
    let mut page = new_page(url, 2);
    page.last_look_at = Some(Timestamp::from_secs(1_699_900_000));
    page.outcome = Some(messages::FetchOutcome::Fetched);
    page.fetches = 3;
    page.belief.observations = 2;
    page
}

#[test]
fn a_page_takes_few_bytes() {
    let new = bytes_of_page(&[], |number| new_page(&of_large_site(number), 0));
    let looked = bytes_of_page(&[], |number| looked_at(&of_large_site(number)));
    let small = bytes_of_page(&[], |number| looked_at(&of_small_site(number)));
    let own = bytes_of_page(&[], |number| looked_at(&in_own_directory(number)));
    let held = bytes_of_page(&[], |number| {
        let state = RequestState::Held { until: Timestamp::from_secs(1_700_100_000) };
        let request = PageRequest { state, ..PageRequest::new(0) };
        ScheduledPage { request, ..looked_at(&of_large_site(number)) }
    });
    let limited = bytes_of_page(&[("crawl.max_pages_per_host", "1000")], |number| looked_at(&of_large_site(number)));
    eprintln!(
        "new {new:.1}, looked at {looked:.1}, of small sites {small:.1}, in own directories {own:.1}, limited {limited:.1}, held {held:.1}"
    );
    assert!(new.max(looked) <= MOST_BYTES);
    assert!(small.max(own).max(limited) <= MOST_BYTES_ALONE);
    assert!(held <= MOST_BYTES_WAITING);
}
