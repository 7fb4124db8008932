//! The robots.txt of all hosts that the fetcher has asked lately, reduced to the groups of this crawler.

use crate::outcome::is_without_connection;
use crate::response::{FetchFailure, Response};
use hyper::header;
use messages::FetchOutcome;
use page::{CanonicalUrl, Timestamp};
use politeness::{RobotsCacheEntry, RobotsFile};
use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;

/// Most bytes that all files take together. The hosts asked longest ago are forgotten first.
const MOST_BYTES: usize = 32 << 20;
/// Bytes that a host takes beside the contents of its files.
const BYTES_PER_HOST: usize = 512;
/// Most origins of a host that are remembered. One host could name thousands of ports.
const MAX_ORIGINS: usize = 4;
/// Most sitemaps reported from a robots.txt, and the longest URL among them in bytes.
const MAX_SITEMAPS: usize = 32;
const MAX_SITEMAP_BYTES: usize = 2_048;

/// The robots.txt of one origin: scheme and port have a file of their own (RFC 9309 §2.3).
struct OriginRobots {
    /// Scheme and authority.
    origin: String,
    entry: RobotsCacheEntry,
    crawl_delay: Option<Duration>,
    /// Why the last attempt got no answer.
    failure: Option<FetchFailure>,
    /// When to ask again.
    due: Timestamp,
    /// Sitemaps of a newly read file, to be reported with the next result.
    sitemaps: Vec<String>,
}

impl OriginRobots {
    fn memory_bytes(&self) -> usize {
        self.entry.robots().map_or(0, RobotsFile::memory_bytes)
    }
}

#[derive(Default)]
struct HostRobots {
    /// The origin asked last at the end.
    origins: Vec<OriginRobots>,
    /// Number of the last use.
    used: u64,
}

impl HostRobots {
    fn memory_bytes(&self) -> usize {
        BYTES_PER_HOST + self.origins.iter().map(OriginRobots::memory_bytes).sum::<usize>()
    }
}

/// The files by host name, bounded in bytes.
#[derive(Default)]
pub(crate) struct RobotsBook(RefCell<BookState>);

#[derive(Default)]
struct BookState {
    hosts: HashMap<String, HostRobots>,
    uses: u64,
    bytes: usize,
}

impl BookState {
    fn origin(&mut self, url: &CanonicalUrl) -> Option<&mut OriginRobots> {
        self.uses += 1;
        let host = self.hosts.get_mut(url.host_name())?;
        host.used = self.uses;
        host.origins.iter_mut().find(|robots| robots.origin == url.origin())
    }

    fn put(&mut self, host_name: &str, robots: OriginRobots) {
        self.uses += 1;
        let host = self.hosts.entry(host_name.to_owned()).or_default();
        host.used = self.uses;
        let before = if host.origins.is_empty() { 0 } else { host.memory_bytes() };
        host.origins.retain(|other| other.origin != robots.origin);
        if host.origins.len() == MAX_ORIGINS {
            host.origins.remove(0);
        }
        host.origins.push(robots);
        self.bytes = self.bytes - before + host.memory_bytes();
    }

    /// Forgets the half of the hosts that were asked longest ago.
    fn forget_oldest_half(&mut self) {
        let mut uses: Vec<_> = self.hosts.values().map(|host| host.used).collect();
        let half = uses.len() / 2;
        let (_, &mut oldest, _) = uses.select_nth_unstable(half);
        self.hosts.retain(|_, host| host.used >= oldest);
        self.bytes = self.hosts.values().map(HostRobots::memory_bytes).sum();
    }
}

impl RobotsBook {
    /// Whether the file of a URL's origin is to be asked for.
    pub(crate) fn is_due(&self, url: &CanonicalUrl, now: Timestamp) -> bool {
        self.0.borrow_mut().origin(url).is_none_or(|robots| robots.due <= now)
    }

    /// The file in force for a URL.
    pub(crate) fn entry(&self, url: &CanonicalUrl) -> Option<RobotsCacheEntry> {
        self.0.borrow_mut().origin(url).map(|robots| robots.entry.clone())
    }

    /// Takes over what an attempt to get a file led to. It is due again at `due` at the latest.
    pub(crate) fn take(
        &self,
        url: &CanonicalUrl,
        entry: &RobotsCacheEntry,
        failure: Option<FetchFailure>,
        due: Timestamp,
        product_token: &str,
    ) {
        let entry = entry.clone().reduced_to(product_token);
        let robots = OriginRobots {
            origin: url.origin().to_owned(),
            crawl_delay: entry.robots().and_then(|robots| robots.crawl_delay(product_token)),
            failure,
            due: entry.expires_at().min(due),
            sitemaps: entry.robots().map(sitemaps_of).unwrap_or_default(),
            entry,
        };
        let mut state = self.0.borrow_mut();
        state.put(url.host_name(), robots);
        if state.bytes > MOST_BYTES && state.hosts.len() > 1 {
            state.forget_oldest_half();
        }
    }

    /// The crawl delay of a URL's origin.
    pub(crate) fn crawl_delay(&self, url: &CanonicalUrl) -> Option<Duration> {
        self.0.borrow_mut().origin(url).and_then(|robots| robots.crawl_delay)
    }

    /// The longest crawl delay that a file of the host asks for.
    pub(crate) fn crawl_delay_of_host(&self, name: &str) -> Option<Duration> {
        let state = self.0.borrow();
        state.hosts.get(name)?.origins.iter().filter_map(|robots| robots.crawl_delay).max()
    }

    /// The sitemaps of a file that was read since this was called last.
    pub(crate) fn new_sitemaps(&self, url: &CanonicalUrl) -> Vec<String> {
        self.0.borrow_mut().origin(url).map(|robots| std::mem::take(&mut robots.sitemaps)).unwrap_or_default()
    }

    /// Why a URL must not be fetched now. `None` if it may be.
    pub(crate) fn refusal(&self, url: &CanonicalUrl, product_token: &str) -> Option<FetchFailure> {
        let mut state = self.0.borrow_mut();
        let OriginRobots { entry, failure, .. } = state.origin(url)?;
        let verdict = entry.check(product_token, url.path_and_query());
        if verdict.allowed {
            return None;
        }
        // The error that made robots.txt unreachable applies to the page too, and tells more.
        if let (None, Some(failure)) = (verdict.rule, failure.as_ref().filter(|failure| is_without_connection(failure)))
        {
            return Some(failure.clone());
        }
        let (outcome, detail) = match (verdict.rule, entry.unreachable_since()) {
            (Some(rule), _) => (FetchOutcome::RobotsDisallowed, format!("robots.txt: {rule}")),
            (None, Some(since)) => (FetchOutcome::RobotsUnavailable, format!("robots.txt unreachable since {since}")),
            (None, None) => (FetchOutcome::RobotsDisallowed, "robots.txt".to_owned()),
        };
        Some(FetchFailure::new(outcome, detail))
    }
}

/// The sitemaps of a robots.txt, within the limits on number and length.
fn sitemaps_of(robots: &RobotsFile) -> Vec<String> {
    let sound = robots.sitemaps().iter().filter(|address| address.len() <= MAX_SITEMAP_BYTES);
    sound.take(MAX_SITEMAPS).cloned().collect()
}

/// The redirect target, if the response is a redirect to a URL that can be crawled.
pub(crate) fn redirect(at: &CanonicalUrl, response: &Response) -> Option<CanonicalUrl> {
    let redirects = matches!(response.status.as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = redirects.then(|| response.headers.get(header::LOCATION)).flatten()?;
    // Many servers send non-ASCII characters unescaped, in UTF-8.
    at.join(str::from_utf8(location.as_bytes()).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use politeness::RobotsFetch;

    const NOW: Timestamp = Timestamp::from_secs(1_000);

    fn url(number: usize) -> CanonicalUrl {
        CanonicalUrl::parse(&format!("http://host-{number}.test/private")).unwrap()
    }

    fn take(book: &RobotsBook, number: usize, body: &[u8]) {
        let fetch = RobotsFetch::Answered { status: 200, body, retry_after: None };
        let entry = RobotsCacheEntry::after(None, fetch, NOW);
        book.take(&url(number), &entry, None, NOW + page::DAY, "bot");
    }

    #[test]
    fn the_files_of_all_hosts_together_are_bounded_and_those_in_use_stay() {
        let book = RobotsBook::default();
        let mut large = b"User-agent: *\n".to_vec();
        (0..20_000).for_each(|rule| large.extend(format!("Disallow: /{rule}\n").as_bytes()));
        take(&book, 0, b"User-agent: bot\nDisallow: /private\n");
        for number in 1..100 {
            take(&book, number, &large);
            assert!(book.refusal(&url(0), "bot").is_some(), "it was asked a moment ago");
            let state = book.0.borrow();
            assert!(state.bytes <= MOST_BYTES, "{}", state.bytes);
            assert_eq!(state.bytes, state.hosts.values().map(HostRobots::memory_bytes).sum::<usize>());
        }
        assert!(book.is_due(&url(1), NOW) && !book.is_due(&url(99), NOW));
    }

    #[test]
    fn rules_for_others_take_no_room() {
        let book = RobotsBook::default();
        let mut others = b"User-agent: bot\nDisallow: /private\nUser-agent: other\n".to_vec();
        (0..20_000).for_each(|rule| others.extend(format!("Disallow: /{rule}\n").as_bytes()));
        take(&book, 0, &others);
        assert!(book.0.borrow().bytes < 1_000 && book.refusal(&url(0), "bot").is_some());
    }
}
