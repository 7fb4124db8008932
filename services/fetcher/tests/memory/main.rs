//! The memory that the fetcher takes when everything it fetches is as large as it may be, and no reader takes its results.
//! In a process of its own, whose peak is measured.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

use daemon::WebClock;
use fetcher::{FetcherRules, PageFetcher};
use messages::{FetchOutcome, FetchRequest};
use page::CanonicalUrl;
use settings::{Layers, Settings};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use stream::Clock;

const PATIENCE: Duration = Duration::from_secs(1_800);
/// Without a page for so long, the fetcher waits for memory.
const QUIET: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(10);
const PAGE_BYTES: usize = 4 << 20;
const ROBOTS_BYTES: usize = 500 << 10;
const MOST_MEMORY: u64 = 512 << 20;

/// Bytes that do not compress: xorshift, which nothing else draws by.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// Rules for this crawler, as many as a robots.txt has room for.
fn long_robots() -> Vec<u8> {
    let mut file = b"User-agent: *\n".to_vec();
    let mut rules = (0..).map(|rule| format!("Disallow: /{rule:x}x\n"));
    while file.len() < ROBOTS_BYTES {
        file.extend(rules.next().unwrap().into_bytes());
    }
    file
}

/// A server of all hosts: long robots.txt on those that are named so, and pages of noise. Counts the pages that it sent.
fn serve(sent: &Arc<AtomicUsize>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (page, robots, sent) = (Arc::new(noise(PAGE_BYTES)), Arc::new(long_robots()), sent.clone());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (page, robots, sent) = (page.clone(), robots.clone(), sent.clone());
            std::thread::spawn(move || answer(&mut stream.unwrap(), &page, &robots, &sent));
        }
    });
    address
}

fn answer(stream: &mut TcpStream, page: &[u8], robots: &[u8], sent: &AtomicUsize) {
    let mut head = [0; 4_096];
    while let Ok(length @ 1..) = stream.read(&mut head) {
        let head = String::from_utf8_lossy(&head[..length]);
        let (is_robots, has_robots) = (head.starts_with("GET /robots.txt "), head.contains("host: ruled-"));
        let body: &[u8] = match (is_robots, has_robots) {
            (true, true) => robots,
            (true, false) => b"",
            (false, true) => b"<p>small",
            (false, false) => page,
        };
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\n\r\n", body.len());
        if stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).is_err() {
            return;
        }
        sent.fetch_add(usize::from(!is_robots), Ordering::Relaxed);
    }
}

/// The most memory that this process has had so far, in bytes.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() << 10
}

#[test]
fn pages_and_robots_txt_as_long_as_they_may_be_fit_into_bounded_memory() {
    let sent = Arc::default();
    let overrides = [
        ("fetch.resolve", format!("*.test={}", serve(&sent))),
        ("politeness.crawl_delay", "0s".to_owned()),
        ("politeness.response_time_factor", "0".to_owned()),
        ("politeness.address_delay", "0s".to_owned()),
        // What waits for memory here waits for the test.
        ("fetch.total_timeout", "9m".to_owned()),
        ("fetch.idle_timeout", "9m".to_owned()),
    ];
    let overrides: Vec<_> = overrides.map(|(key, value)| (key.to_owned(), value)).into();
    let settings = Settings::from_layers(Layers { files: &[], environment: [], overrides: &overrides }).unwrap();
    let clock: Arc<dyn Clock> = Arc::new(WebClock::new(&settings.clock));
    let mut fetcher = PageFetcher::start(FetcherRules::new(&settings).unwrap(), clock.clone()).unwrap();
    let pages = (0..300).map(|page| format!("http://large-{}.test/{page}", page / 2));
    let ruled = (0..200).map(|host| format!("http://ruled-{host}.test/"));
    for url in ruled.chain(pages) {
        fetcher.submit(FetchRequest::first(CanonicalUrl::parse(&url).unwrap(), clock.now()));
    }
    // Until nothing more is read. The system's buffers take some pages that the fetcher does not.
    let (mut seen, mut since) = (0, Instant::now());
    while seen == 0 || since.elapsed() < QUIET {
        let now = sent.load(Ordering::Relaxed);
        if now != seen {
            (seen, since) = (now, Instant::now());
        }
        assert!(since.elapsed() < PATIENCE, "{seen} pages were sent");
        std::thread::sleep(POLL);
    }
    let deadline = Instant::now() + PATIENCE;
    while let Some(page) = fetcher.next_answer() {
        assert!(Instant::now() < deadline, "{} are left", fetcher.in_flight());
        assert_eq!(page.result.look.outcome, FetchOutcome::Fetched, "{:?}", page.result.detail);
    }
    assert!(peak_memory() <= MOST_MEMORY, "{} MiB", peak_memory() >> 20);
}
