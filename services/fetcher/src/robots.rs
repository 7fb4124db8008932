//! The robots.txt of all hosts that the fetcher has asked lately, reduced to the groups of this crawler. The network
//! thread fills it and goes by it; the stage's thread keeps it in a [table](crate::state::ROBOTS).

use crate::outcome::{is_refused_by_rules, shortened};
use crate::response::{FetchFailure, Response};
use crate::state::{OriginRobots, RobotsKey};
use hyper::header;
use messages::FetchOutcome;
use page::{CanonicalUrl, Timestamp};
use politeness::{RobotsCacheEntry, RobotsFile, RobotsRules};
use preferences::Preferences;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Most bytes that all files take together. The hosts asked longest ago are forgotten first.
const MOST_BYTES: usize = 32 << 20;
/// Bytes that a host takes beside the contents of its files.
const BYTES_PER_HOST: usize = 512;
/// Most origins of a host that are remembered. One host could name thousands of ports.
const MAX_ORIGINS: usize = 4;
/// Most origins that are remembered as asked elsewhere. One that is forgotten is asked for again.
const MOST_ASKED_ELSEWHERE: usize = 10_000;
/// Most sitemaps reported from a robots.txt, and the longest URL among them in bytes.
const MAX_SITEMAPS: usize = 32;
const MAX_SITEMAP_BYTES: usize = 2_048;

/// The robots.txt of one origin: scheme and port have a file of their own (RFC 9309 §2.3).
struct KnownOrigin {
    /// Scheme and authority.
    origin: String,
    entry: RobotsCacheEntry,
    crawl_delay: Option<Duration>,
    /// Why nothing may be sent to the host, by the rules of this crawler.
    failure: Option<FetchFailure>,
    /// Sitemaps of a newly read file, to be reported with the next result.
    sitemaps: Vec<String>,
}

impl KnownOrigin {
    fn new(origin: &str, entry: RobotsCacheEntry, product_token: &str) -> Self {
        let crawl_delay = entry.robots().and_then(|robots| robots.crawl_delay(product_token));
        Self { origin: origin.to_owned(), crawl_delay, failure: None, sitemaps: Vec::new(), entry }
    }

    fn memory_bytes(&self) -> usize {
        self.entry.robots().map_or(0, RobotsFile::memory_bytes) + bytes_of(&self.sitemaps)
    }

    fn stored(&self, product_token: &str) -> OriginRobots {
        OriginRobots {
            product_token: product_token.to_owned(),
            robots_txt: self.entry.robots().map(RobotsFile::to_text),
            allows_all: *self.entry.rules() == RobotsRules::AllowAll,
            expires_at: self.entry.expires_at(),
            unreachable_since: self.entry.unreachable_since(),
        }
    }

    fn restored(origin: &str, stored: &OriginRobots, product_token: &str) -> Self {
        let rules = match &stored.robots_txt {
            Some(text) => RobotsRules::File(Arc::new(RobotsFile::parse(text.as_bytes()))),
            None if stored.allows_all => RobotsRules::AllowAll,
            None => RobotsRules::DisallowAll,
        };
        let entry = RobotsCacheEntry::restored(rules, stored.expires_at, stored.unreachable_since);
        Self::new(origin, entry, product_token)
    }
}

#[derive(Default)]
struct KnownHost {
    /// The origin asked last at the end.
    origins: Vec<KnownOrigin>,
    /// Number of the last use.
    used: u64,
}

impl KnownHost {
    fn memory_bytes(&self) -> usize {
        BYTES_PER_HOST + self.origins.iter().map(KnownOrigin::memory_bytes).sum::<usize>()
    }
}

/// The files by host name, bounded in bytes.
#[derive(Default)]
pub(crate) struct RobotsBook(Mutex<BookState>);

#[derive(Default)]
struct BookState {
    hosts: HashMap<String, KnownHost>,
    /// Origins whose file the fetcher of another site asks for, and until when it is waited for.
    asked_elsewhere: HashMap<String, Timestamp>,
    uses: u64,
    bytes: usize,
}

impl BookState {
    fn origin(&mut self, url: &CanonicalUrl) -> Option<&mut KnownOrigin> {
        self.uses += 1;
        let host = self.hosts.get_mut(url.host_name())?;
        host.used = self.uses;
        host.origins.iter_mut().find(|robots| robots.origin == url.origin())
    }

    fn put(&mut self, host_name: &str, robots: KnownOrigin) {
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
        if self.bytes > MOST_BYTES && self.hosts.len() > 1 {
            self.forget_oldest_half();
        }
    }

    /// Forgets the half of the hosts that were asked longest ago.
    fn forget_oldest_half(&mut self) {
        let mut uses: Vec<_> = self.hosts.values().map(|host| host.used).collect();
        let half = uses.len() / 2;
        let (_, &mut oldest, _) = uses.select_nth_unstable(half);
        self.hosts.retain(|_, host| host.used >= oldest);
        self.bytes = self.hosts.values().map(KnownHost::memory_bytes).sum();
    }
}

impl RobotsBook {
    fn state(&self) -> MutexGuard<'_, BookState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether anything is known of a host.
    pub(crate) fn knows(&self, host_name: &str) -> bool {
        self.state().hosts.contains_key(host_name)
    }

    /// Takes over stored rules, but for those of origins of which something is known. Rules that were stored for a crawler of
    /// another name are skipped.
    pub(crate) fn restore(&self, key: &RobotsKey, stored: &OriginRobots, product_token: &str) {
        let mut state = self.state();
        let known = state.hosts.get(key.host_name());
        let is_known = known.is_some_and(|host| host.origins.iter().any(|robots| robots.origin == key.origin()));
        if stored.product_token == product_token && !is_known {
            state.put(key.host_name(), KnownOrigin::restored(key.origin(), stored, product_token));
        }
    }

    /// The record to store of an origin. `None` if it is not known.
    pub(crate) fn stored(&self, key: &RobotsKey, product_token: &str) -> Option<OriginRobots> {
        let state = self.state();
        let mut origins = state.hosts.get(key.host_name())?.origins.iter();
        Some(origins.find(|robots| robots.origin == key.origin())?.stored(product_token))
    }

    /// Whether the file of a URL's origin is to be asked for.
    pub(crate) fn is_due(&self, url: &CanonicalUrl, now: Timestamp) -> bool {
        self.state().origin(url).is_none_or(|robots| robots.entry.expires_at() <= now)
    }

    /// Notes that the fetcher of another site asks for the file of a URL's origin, and until when it is waited for.
    pub(crate) fn is_asked_elsewhere(&self, url: &CanonicalUrl, until: Timestamp) {
        let mut state = self.state();
        if state.asked_elsewhere.len() >= MOST_ASKED_ELSEWHERE {
            state.asked_elsewhere.clear();
        }
        state.asked_elsewhere.insert(url.origin().to_owned(), until);
    }

    /// Until when the file of a URL's origin is waited for. `None` if no other fetcher asks for it.
    pub(crate) fn asked_elsewhere_until(&self, url: &CanonicalUrl, now: Timestamp) -> Option<Timestamp> {
        let mut state = self.state();
        let until = *state.asked_elsewhere.get(url.origin())?;
        if until <= now {
            state.asked_elsewhere.remove(url.origin());
            return None;
        }
        Some(until)
    }

    /// The file in force for a URL.
    pub(crate) fn entry(&self, url: &CanonicalUrl) -> Option<RobotsCacheEntry> {
        self.state().origin(url).map(|robots| robots.entry.clone())
    }

    /// Takes over the result of an attempt to get a file. It is due again at `due` at the latest.
    pub(crate) fn take(
        &self,
        url: &CanonicalUrl,
        entry: &RobotsCacheEntry,
        failure: Option<&FetchFailure>,
        due: Timestamp,
        product_token: &str,
    ) {
        let entry = entry.clone().reduced_to(product_token).expiring_by(due);
        let sitemaps = entry.robots().map(|robots| sitemaps_of(robots, url)).unwrap_or_default();
        let failure = failure.filter(|failure| is_refused_by_rules(failure));
        let failure = failure.map(|failure| FetchFailure::new(failure.outcome, shortened(failure.detail.clone())));
        let robots = KnownOrigin { failure, sitemaps, ..KnownOrigin::new(url.origin(), entry, product_token) };
        let mut state = self.state();
        state.asked_elsewhere.remove(url.origin());
        state.put(url.host_name(), robots);
    }

    /// The crawl delay of a URL's origin.
    pub(crate) fn crawl_delay(&self, url: &CanonicalUrl) -> Option<Duration> {
        self.state().origin(url).and_then(|robots| robots.crawl_delay)
    }

    /// The longest crawl delay that a file of the host asks for.
    pub(crate) fn crawl_delay_of_host(&self, name: &str) -> Option<Duration> {
        let state = self.state();
        state.hosts.get(name)?.origins.iter().filter_map(|robots| robots.crawl_delay).max()
    }

    /// The sitemaps of a file that was read since this was called last.
    pub(crate) fn new_sitemaps(&self, url: &CanonicalUrl) -> Vec<String> {
        let mut state = self.state();
        let sitemaps = state.origin(url).map(|robots| std::mem::take(&mut robots.sitemaps)).unwrap_or_default();
        state.bytes -= bytes_of(&sitemaps);
        sitemaps
    }

    /// The lines of the file in force on the use of a page.
    pub(crate) fn preferences(&self, url: &CanonicalUrl, product_token: &str) -> Preferences {
        // The lines of a long file are read without the lock of all threads.
        let entry = self.state().origin(url).map(|robots| robots.entry.clone());
        let robots = entry.as_ref().and_then(RobotsCacheEntry::robots);
        let lines = robots.map(|robots| robots.usage(product_token, url.path_and_query()));
        lines.map(|lines| Preferences::of_robots_txt(&lines)).unwrap_or_default()
    }

    /// Why a URL must not be fetched now. `None` if it may be.
    pub(crate) fn refusal(&self, url: &CanonicalUrl, product_token: &str) -> Option<FetchFailure> {
        let mut state = self.state();
        let KnownOrigin { entry, failure, .. } = state.origin(url)?;
        let verdict = entry.check(product_token, url.path_and_query());
        if verdict.allowed {
            return None;
        }
        // The failure that kept robots.txt from being asked for keeps the page from it, too, and says more.
        if let (None, Some(failure)) = (verdict.rule, failure) {
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

fn bytes_of(texts: &[String]) -> usize {
    texts.iter().map(|text| size_of::<String>() + text.len()).sum()
}

/// The sitemaps of the robots.txt of this URL's origin, within the limits on number and length. Relative addresses are
/// relative to the file.
fn sitemaps_of(robots: &RobotsFile, url: &CanonicalUrl) -> Vec<String> {
    let Ok(file) = url.join("/robots.txt") else { return Vec::new() };
    let sound = robots.sitemaps().iter().filter(|address| address.len() <= MAX_SITEMAP_BYTES);
    let resolved = sound.filter_map(|address| file.join(address).ok());
    resolved.filter(|address| *address != file).take(MAX_SITEMAPS).map(String::from).collect()
}

/// The redirect target, if the response is a redirect to a URL that can be crawled.
pub(crate) fn redirect(at: &CanonicalUrl, response: &Response) -> Option<CanonicalUrl> {
    let redirects = matches!(response.status.as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = redirects.then(|| response.headers.get(header::LOCATION)).flatten()?;
    let location = location.as_bytes();
    // Many servers send non-ASCII characters unescaped, in UTF-8.
    if let Ok(text) = str::from_utf8(location) {
        return at.join(text).ok();
    }
    // Any other encoding is not named. Browsers send its bytes back as they came; a host name is read as Latin-1.
    at.join(&escaped(location)).or_else(|_| at.join(&latin1(location))).ok()
}

/// The bytes with those that are not ASCII percent-encoded.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() + 16);
    for &byte in bytes {
        match byte.is_ascii() {
            true => text.push(byte as char),
            false => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| byte as char).collect()
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
            let state = book.state();
            assert!(state.bytes <= MOST_BYTES, "{}", state.bytes);
            assert_eq!(state.bytes, state.hosts.values().map(KnownHost::memory_bytes).sum::<usize>());
        }
        assert!(book.is_due(&url(1), NOW) && !book.is_due(&url(99), NOW));
    }

    #[test]
    fn what_was_stored_says_the_same_after_a_restart() {
        let book = RobotsBook::default();
        take(&book, 0, b"User-agent: bot\nDisallow: /private\nCrawl-delay: 2.5\nUser-agent: *\nDisallow: /\n");
        let absent = RobotsFetch::Answered { status: 404, body: b"", retry_after: None };
        for (number, fetches) in
            [(1, &[absent][..]), (2, &[RobotsFetch::Unreachable]), (3, &[absent, RobotsFetch::Unreachable])]
        {
            for fetch in fetches {
                let entry = RobotsCacheEntry::after(book.entry(&url(number)).as_ref(), *fetch, NOW);
                book.take(&url(number), &entry, None, NOW + page::HOUR, "bot");
            }
        }
        let (after, renamed) = (RobotsBook::default(), RobotsBook::default());
        for number in 0..4 {
            let url = url(number);
            let (key, name) = (RobotsKey::of(&url), url.host_name());
            let stored = book.stored(&key, "bot").unwrap();
            after.restore(&key, &stored, "bot");
            renamed.restore(&key, &stored, "other");
            assert!(!renamed.knows(name));
            let (before, after) = (book.entry(&url).unwrap(), after.entry(&url).unwrap());
            assert_eq!(after.allows("bot", "/private"), before.allows("bot", "/private"), "{number}");
            assert_eq!(after.allows("bot", "/"), before.allows("bot", "/"), "{number}");
            assert_eq!(after.expires_at(), before.expires_at(), "{number}");
            assert_eq!(after.unreachable_since(), before.unreachable_since(), "{number}");
        }
        assert_eq!(after.crawl_delay(&url(0)), Some(Duration::from_millis(2_500)));
    }

    #[test]
    fn sitemaps_are_relative_to_the_file() {
        let book = RobotsBook::default();
        take(
            &book,
            0,
            b"Sitemap: /s.xml\nSitemap: http://other.test/t.xml\nSitemap: maps/u.xml?a#b\nSitemap:\nSitemap: ftp://x\n",
        );
        let expected = ["http://host-0.test/s.xml", "http://other.test/t.xml", "http://host-0.test/maps/u.xml?a"];
        assert_eq!(book.new_sitemaps(&url(0)), expected);
    }

    #[test]
    fn a_redirect_is_followed_whatever_bytes_it_has() {
        let check = |location: &[u8], expected: Option<&str>| {
            let mut headers = hyper::HeaderMap::new();
            headers.insert(header::LOCATION, hyper::header::HeaderValue::from_bytes(location).unwrap());
            let status = hyper::StatusCode::FOUND;
            let found = redirect(&url(0), &Response { status, headers, ..Response::default() });
            assert_eq!(found.as_ref().map(CanonicalUrl::as_str), expected, "{location:?}");
        };
        check("/café?ü=é".as_bytes(), Some("http://host-0.test/caf%C3%A9?%C3%BC=%C3%A9"));
        check(b"/caf\xe9?\xfc=\xe9", Some("http://host-0.test/caf%E9?%FC=%E9"));
        check(b"/\xc3\xa9/\xe9", Some("http://host-0.test/%C3%A9/%E9"));
        check(b"http://m\xfcnchen.test/\xfc", Some("http://xn--mnchen-3ya.test/%C3%BC"));
        check(b"http://a b\xfc/", None);
    }

    #[test]
    fn rules_for_others_take_no_room() {
        let book = RobotsBook::default();
        let mut others = b"User-agent: bot\nDisallow: /private\nUser-agent: other\n".to_vec();
        (0..20_000).for_each(|rule| others.extend(format!("Disallow: /{rule}\n").as_bytes()));
        take(&book, 0, &others);
        assert!(book.state().bytes < 1_000 && book.refusal(&url(0), "bot").is_some());
    }
}
