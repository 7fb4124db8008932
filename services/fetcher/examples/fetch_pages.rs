//! The fetcher's network side by itself, for `make bench` to measure: robots.txt, gates, limits and digests on, no log.
//!
//! `fetch_pages list FILE [KEY=VALUE…]` fetches the addresses of a file; `fetch_pages crawl FILE [KEY=VALUE…]` begins
//! with them, judges every page as the detector judges one that it sees for the first time, and follows links within
//! the host. KEY=VALUE are settings. It prints how many pages and bytes came of it.

#![allow(clippy::unwrap_used, reason = "a tool for this repository")]

use change::{PageState, Version};
use daemon::WebClock;
use document::Body;
use fetcher::{FetchedPage, FetcherRules, PageFetcher};
use messages::{FetchOutcome, FetchRequest, FetchResult};
use page::{CanonicalUrl, PageId, UrlRules};
use settings::{Layers, Settings};
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;
use stream::Clock;

/// Most requests handed to the fetcher and not answered, as `budget.in_flight` bounds them in the loop.
const IN_FLIGHT: u64 = 4_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, file, overrides @ ..] = &arguments[..] else {
        return Err("usage: fetch_pages list|crawl FILE [KEY=VALUE…]".into());
    };
    let overrides = overrides.iter().map(|set| set.split_once('=').ok_or("KEY=VALUE"));
    let overrides = overrides.map(|set| set.map(|(key, value)| (key.to_owned(), value.to_owned())));
    let overrides: Vec<_> = overrides.collect::<Result<_, _>>()?;
    let settings = Settings::from_layers(Layers { files: &[], environment: [], overrides: &overrides })?;
    let urls = settings.urls.rules();
    let clock: Arc<dyn Clock> = Arc::new(WebClock::new(&settings.clock));
    let addresses = std::fs::read_to_string(file)?;
    let mut addresses = addresses.lines();
    let mut fetcher = PageFetcher::start(FetcherRules::new(&settings)?, clock.clone())?;
    let mut frontier = CrawlQueue::default();
    let (mut pages, mut bytes, mut shingles) = (0_u64, 0, 0);
    let mut others: BTreeMap<String, u64> = BTreeMap::new();
    loop {
        while fetcher.in_flight() < IN_FLIGHT {
            let url = match frontier.waiting.pop_front() {
                Some(url) => url,
                None => match addresses.next() {
                    Some(text) if mode == "crawl" => {
                        frontier.add(CanonicalUrl::parse(text)?);
                        continue;
                    }
                    Some(text) => CanonicalUrl::parse(text)?,
                    None => break,
                },
            };
            fetcher.submit(FetchRequest::first(url, clock.now()));
        }
        let Some(FetchedPage { result, body }) = fetcher.next_answer() else { break };
        match body {
            Some(body) => {
                pages += 1;
                bytes += body.len();
                if mode == "crawl" {
                    shingles += judge(&result, &body, &urls, &mut frontier);
                }
            }
            None if result.look.outcome == FetchOutcome::RobotsDisallowed => {}
            None => {
                *others
                    .entry(format!("{:?} {}", result.look.outcome, result.detail.unwrap_or_default()))
                    .or_default() += 1
            }
        }
    }
    println!("{pages} pages, {bytes} bytes, {shingles} bytes of state; others: {others:?}");
    Ok(())
}

/// Pages to be fetched, each once.
#[derive(Default)]
struct CrawlQueue {
    known: HashSet<PageId>,
    waiting: VecDeque<CanonicalUrl>,
}

impl CrawlQueue {
    fn add(&mut self, url: CanonicalUrl) {
        if self.known.insert(url.page_id()) {
            self.waiting.push_back(url);
        }
    }
}

/// Does the detector's work on a page that it sees for the first time. Returns the bytes that it would keep.
fn judge(result: &FetchResult, body: &[u8], urls: &UrlRules, frontier: &mut CrawlQueue) -> usize {
    let body = Body::new(body, result.content_type.as_deref(), Some(result.look.url.as_str()));
    let body = match result.look.validators.content_digest {
        Some(digest) => body.with_digest(digest.0),
        None => body,
    };
    let (version, page) = Version::and_text(&body, urls);
    let mut state = PageState::default();
    let judgement = state.observe(&version, None);
    assert_eq!(judgement.verdict, change::VersionVerdict::First);
    let mut seen = HashSet::new();
    let host = result.look.url.host();
    for link in page.links.iter().filter(|link| !link.is_nofollow()) {
        if seen.insert(link.href.trim().split('#').next())
            && let Ok(target) = result.look.url.join(link.href)
            && target.host() == host
        {
            frontier.add(target);
        }
    }
    state.looks().encode().len() + state.version().encode().len()
}
