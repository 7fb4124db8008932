//! What a worker knows of the origins of its host. Scheme and port have a robots.txt and a connection of their own
//! (RFC 9309 §2.3); the gate is the host's.

use crate::connection::Connection;
use crate::outcome::is_without_connection;
use crate::response::FetchFailure;
use messages::FetchOutcome;
use page::{CanonicalUrl, Timestamp};
use politeness::{RobotsCacheEntry, RobotsFile};
use std::cell::Cell;
use std::time::Duration;

/// Most origins of a host that are remembered. One host could name thousands of ports.
const MAX_ORIGINS: usize = 4;
/// Most sitemaps reported from a robots.txt, and the longest URL among them in bytes.
const MAX_SITEMAPS: usize = 32;
const MAX_SITEMAP_BYTES: usize = 2_048;

/// One scheme and port of a host.
pub(super) struct Origin {
    /// Scheme and authority.
    name: String,
    pub(super) robots: Option<RobotsCacheEntry>,
    /// Crawl delay from robots.txt.
    pub(super) robots_crawl_delay: Option<Duration>,
    /// Why the last fetch of robots.txt got no connection.
    no_connection: Option<FetchFailure>,
    /// When to fetch robots.txt again: when it expires, or earlier if `robots_refresh` says so.
    pub(super) robots_due: Timestamp,
    /// Sitemaps of a newly fetched robots.txt, to be reported with the next result.
    pub(super) sitemaps: Cell<Vec<String>>,
    pub(super) connection: Option<Connection>,
}

impl Origin {
    fn new(name: String) -> Self {
        Self {
            name,
            robots: None,
            robots_crawl_delay: None,
            no_connection: None,
            robots_due: Timestamp::MIN,
            sitemaps: Cell::default(),
            connection: None,
        }
    }

    /// Takes over a newly fetched robots.txt, due again at `due` at the latest.
    pub(super) fn take_robots(
        &mut self,
        entry: RobotsCacheEntry,
        failure: Option<FetchFailure>,
        due: Timestamp,
        product_token: &str,
    ) {
        self.no_connection = failure.filter(is_without_connection);
        self.robots_due = entry.expires_at().min(due);
        self.sitemaps.set(entry.robots().map(sitemaps_of).unwrap_or_default());
        self.robots_crawl_delay = entry.robots().and_then(|robots| robots.crawl_delay(product_token));
        self.robots = Some(entry);
    }

    /// Why robots.txt forbids a URL now. `None` if it is allowed.
    pub(super) fn refusal(&self, url: &CanonicalUrl, product_token: &str) -> Option<FetchFailure> {
        let entry = self.robots.as_ref()?;
        let verdict = entry.check(product_token, url.path_and_query());
        if verdict.allowed {
            return None;
        }
        // The error that made robots.txt unreachable applies to the page too, and tells more.
        if let (None, Some(failure)) = (verdict.rule, &self.no_connection) {
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

/// The origins of a host, the one asked last at the end.
#[derive(Default)]
pub(super) struct Origins(Vec<Origin>);

impl Origins {
    /// The origin of a URL.
    pub(super) fn of(&mut self, url: &CanonicalUrl) -> &mut Origin {
        let name = url.origin();
        let origin = match self.0.iter().position(|origin| origin.name == name) {
            Some(place) => self.0.remove(place),
            None => {
                if self.0.len() == MAX_ORIGINS {
                    self.0.remove(0);
                }
                Origin::new(name.to_owned())
            }
        };
        self.0.push(origin);
        self.0.last_mut().expect("it was just added")
    }

    /// The origin of a URL, if it is known.
    pub(super) fn get(&self, url: &CanonicalUrl) -> Option<&Origin> {
        self.0.iter().find(|origin| origin.name == url.origin())
    }

    /// The longest crawl delay that a robots.txt of the host asks for.
    pub(super) fn crawl_delay(&self) -> Option<Duration> {
        self.0.iter().filter_map(|origin| origin.robots_crawl_delay).max()
    }

    /// Closes all connections.
    pub(super) fn close(&mut self) {
        self.0.iter_mut().for_each(|origin| origin.connection = None);
    }
}

/// The sitemaps of a robots.txt, within the limits on number and length.
fn sitemaps_of(robots: &RobotsFile) -> Vec<String> {
    let sound = robots.sitemaps().iter().filter(|address| address.len() <= MAX_SITEMAP_BYTES);
    sound.take(MAX_SITEMAPS).cloned().collect()
}
