//! The rules in force for an authority after an attempt to fetch its robots.txt, and when they expire (RFC 9309 §2.3
//! and §2.4).
//!
//! | attempt | rules in force |
//! |---|---|
//! | 2xx | those of the file |
//! | 304 | unchanged |
//! | 3xx that leads nowhere, 4xx except 429 | everything is allowed |
//! | 5xx, 429, or no response | the last valid rules, an absent file included; without them everything is forbidden, for 30 days |
//!
//! An answer is valid for a day. An unreachable file is retried each time it has been missing twice as long, after 5
//! minutes at first and at least daily, and not before the server's `Retry-After`, which may ask for a day at most.

use crate::robots::{RobotsFile, RobotsVerdict};
use page::{DAY, MINUTE, Timestamp};
use std::sync::Arc;
use std::time::Duration;

/// Most redirects in a row that the caller follows before it reports [`RobotsFetch::RedirectLeadsNowhere`].
pub const MAX_ROBOTS_REDIRECTS: usize = 5;

/// How long an unreachable file forbids everything. After that it counts as absent.
pub const UNREACHABLE_GRACE: Duration = Duration::from_secs(30 * 86_400);

/// How long an answer is valid: RFC 9309 allows at most a day.
const FRESH: Duration = DAY;
const FIRST_RETRY: Duration = Duration::from_secs(5 * MINUTE.as_secs());

/// Result of an attempt to fetch a robots.txt, after redirects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RobotsFetch<'a> {
    /// The server answered with this status. The body matters only for 2xx.
    Answered {
        status: u16,
        /// The unpacked body. Of one that was cut, the [whole lines](crate::whole_lines).
        body: &'a [u8],
        /// How long the server asked to wait.
        retry_after: Option<Duration>,
    },
    /// More than [`MAX_ROBOTS_REDIRECTS`] redirects in a row, or one to a place that must not be fetched.
    RedirectLeadsNowhere,
    /// No complete response: name not found, connection refused, timeout, broken transfer.
    Unreachable,
}

/// The robots.txt rules in force for one authority, and their expiry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsCacheEntry {
    rules: RobotsRules,
    expires_at: Timestamp,
    /// Start of the time that the file has been unreachable. `None` while it is reachable.
    unreachable_since: Option<Timestamp>,
}

/// The rules in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RobotsRules {
    /// There is no file: everything is allowed.
    AllowAll,
    /// Nothing is known of the file: nothing is allowed.
    DisallowAll,
    /// Those of the file.
    File(Arc<RobotsFile>),
}

impl RobotsCacheEntry {
    /// An entry that was stored.
    pub fn restored(rules: RobotsRules, expires_at: Timestamp, unreachable_since: Option<Timestamp>) -> Self {
        Self { rules, expires_at, unreachable_since }
    }

    /// The entry after an attempt at `now`, given the previous entry.
    pub fn after(previous: Option<&RobotsCacheEntry>, fetch: RobotsFetch<'_>, now: Timestamp) -> Self {
        let fresh = |rules| Self { rules, expires_at: now + FRESH, unreachable_since: None };
        match fetch {
            RobotsFetch::Answered { status: 200..=299, body, .. } => {
                fresh(RobotsRules::File(Arc::new(RobotsFile::parse(body))))
            }
            RobotsFetch::Answered { status: 304, .. } => match previous {
                Some(Self { rules: RobotsRules::File(robots), .. }) => fresh(RobotsRules::File(Arc::clone(robots))),
                // A 304 without a cached copy is not a valid answer.
                _ => Self::unreachable(previous, None, now),
            },
            RobotsFetch::Answered { status: 429, retry_after, .. } => Self::unreachable(previous, retry_after, now),
            RobotsFetch::Answered { status: 300..=499, .. } | RobotsFetch::RedirectLeadsNowhere => {
                fresh(RobotsRules::AllowAll)
            }
            RobotsFetch::Answered { retry_after, .. } => Self::unreachable(previous, retry_after, now),
            RobotsFetch::Unreachable => Self::unreachable(previous, None, now),
        }
    }

    fn unreachable(previous: Option<&RobotsCacheEntry>, retry_after: Option<Duration>, now: Timestamp) -> Self {
        let since = previous.and_then(|entry| entry.unreachable_since).unwrap_or(now);
        let missing_for = now.saturating_since(since);
        let rules = match previous.map(|entry| &entry.rules) {
            Some(RobotsRules::File(robots)) => RobotsRules::File(Arc::clone(robots)),
            Some(RobotsRules::AllowAll) => RobotsRules::AllowAll,
            _ if missing_for >= UNREACHABLE_GRACE => RobotsRules::AllowAll,
            _ => RobotsRules::DisallowAll,
        };
        let pause = missing_for.max(retry_after.unwrap_or_default()).clamp(FIRST_RETRY, FRESH);
        Self { rules, expires_at: now + pause, unreachable_since: Some(since) }
    }

    /// The entry with the groups of this crawler only.
    #[must_use]
    pub fn reduced_to(mut self, product_token: &str) -> Self {
        if let RobotsRules::File(robots) = &self.rules {
            self.rules = RobotsRules::File(Arc::new(robots.reduced_to(product_token)));
        }
        self
    }

    /// The entry, expiring no later than at this time.
    #[must_use]
    pub fn expiring_by(mut self, latest: Timestamp) -> Self {
        self.expires_at = self.expires_at.min(latest);
        self
    }

    /// Whether this crawler may fetch this path and query, and the rule that decides. See [`RobotsFile::check`].
    pub fn check(&self, product_token: &str, path_and_query: &str) -> RobotsVerdict<'_> {
        match &self.rules {
            RobotsRules::File(robots) => robots.check(product_token, path_and_query),
            RobotsRules::AllowAll => RobotsVerdict::without_rule(true),
            RobotsRules::DisallowAll => RobotsVerdict::without_rule(false),
        }
    }

    /// Whether this crawler may fetch this path and query.
    pub fn allows(&self, product_token: &str, path_and_query: &str) -> bool {
        self.check(product_token, path_and_query).allowed
    }

    pub fn rules(&self) -> &RobotsRules {
        &self.rules
    }

    /// When the file must be fetched again.
    pub fn expires_at(&self) -> Timestamp {
        self.expires_at
    }

    /// Start of the time that the file has been unreachable. `None` if the last attempt was answered.
    pub fn unreachable_since(&self) -> Option<Timestamp> {
        self.unreachable_since
    }

    /// The file in force, if any, for its crawl delay and sitemaps.
    pub fn robots(&self) -> Option<&RobotsFile> {
        match &self.rules {
            RobotsRules::File(robots) => Some(robots),
            RobotsRules::AllowAll | RobotsRules::DisallowAll => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use page::HOUR;

    const NOW: Timestamp = Timestamp::from_secs(1_700_000_000);
    const FILE: RobotsFetch<'_> =
        RobotsFetch::Answered { status: 200, body: b"User-agent: *\nDisallow: /private\n", retry_after: None };

    fn answered(status: u16) -> RobotsFetch<'static> {
        RobotsFetch::Answered { status, body: b"User-agent: *\nDisallow: /\n", retry_after: None }
    }

    #[test]
    fn without_a_copy_the_status_decides() {
        let check = |fetch, allowed| {
            assert_eq!(RobotsCacheEntry::after(None, fetch, NOW).allows("x", "/public"), allowed, "{fetch:?}");
        };
        check(FILE, true);
        for status in [301, 400, 401, 403, 404, 410, 451] {
            check(answered(status), true);
        }
        for status in [304, 429, 500, 503, 599, 100, 0] {
            check(answered(status), false);
        }
        check(RobotsFetch::RedirectLeadsNowhere, true);
        check(RobotsFetch::Unreachable, false);
    }

    #[test]
    fn the_last_good_copy_holds_while_the_file_cannot_be_had() {
        let good = RobotsCacheEntry::after(None, FILE, NOW);
        for fetch in [RobotsFetch::Unreachable, answered(503), answered(429), answered(304)] {
            let kept = RobotsCacheEntry::after(Some(&good), fetch, NOW + DAY);
            assert!(kept.allows("x", "/public") && !kept.allows("x", "/private"), "{fetch:?}");
        }
        let gone = RobotsCacheEntry::after(Some(&good), answered(404), NOW + DAY);
        assert!(gone.allows("x", "/private"));
        let absent = RobotsCacheEntry::after(None, answered(404), NOW);
        let failing = RobotsCacheEntry::after(Some(&absent), answered(503), NOW + DAY);
        assert!(failing.allows("x", "/private"), "that there is no file was the last good answer");
        assert_eq!(failing.unreachable_since(), Some(NOW + DAY));
    }

    #[test]
    fn the_server_says_when_to_ask_for_an_unreachable_file_again_within_a_day() {
        let check = |status, asked, waits| {
            let fetch = RobotsFetch::Answered { status, body: b"", retry_after: Some(asked) };
            assert_eq!(RobotsCacheEntry::after(None, fetch, NOW).expires_at(), NOW + waits, "{status}");
        };
        check(503, 2 * HOUR, 2 * HOUR);
        check(429, 2 * HOUR, 2 * HOUR);
        check(503, MINUTE, 5 * MINUTE);
        check(503, 9 * DAY, DAY);
        check(404, 2 * HOUR, DAY);
    }

    #[test]
    fn a_reduced_entry_says_the_same_to_this_crawler() {
        let body = b"User-agent: a\nDisallow: /a\nUser-agent: b\nUser-agent: c\nDisallow: /b\nCrawl-delay: 3\n\
            User-agent: *\nDisallow: /other\nSitemap: http://x.test/s.xml\n";
        let whole = RobotsCacheEntry::after(None, RobotsFetch::Answered { status: 200, body, retry_after: None }, NOW);
        for token in ["a", "B", "c", "d"] {
            let reduced = whole.clone().reduced_to(token);
            for path in ["/a", "/b", "/other"] {
                assert_eq!(reduced.check(token, path), whole.check(token, path), "{token} {path}");
            }
            let (robots, reduced) = (whole.robots().unwrap(), reduced.robots().unwrap());
            assert_eq!(reduced.crawl_delay(token), robots.crawl_delay(token));
            assert_eq!(reduced.sitemaps(), robots.sitemaps());
            assert!(reduced.memory_bytes() < robots.memory_bytes());
        }
    }

    #[test]
    fn a_file_missing_for_thirty_days_no_longer_forbids() {
        let mut entry = RobotsCacheEntry::after(None, RobotsFetch::Unreachable, NOW);
        let mut now = NOW;
        let mut attempts = 0;
        while !entry.allows("x", "/") {
            now = entry.expires_at();
            entry = RobotsCacheEntry::after(Some(&entry), RobotsFetch::Unreachable, now);
            attempts += 1;
        }
        assert!(now.saturating_since(NOW) >= UNREACHABLE_GRACE);
        assert!(now.saturating_since(NOW) < UNREACHABLE_GRACE + 2 * DAY);
        assert!((30..50).contains(&attempts), "{attempts}");
    }

    #[test]
    fn an_answer_holds_for_a_day_and_a_failure_for_minutes() {
        assert_eq!(RobotsCacheEntry::after(None, FILE, NOW).expires_at(), NOW + DAY);
        assert_eq!(RobotsCacheEntry::after(None, answered(404), NOW).expires_at(), NOW + DAY);
        let failed = RobotsCacheEntry::after(None, RobotsFetch::Unreachable, NOW);
        assert_eq!(failed.expires_at(), NOW + 5 * MINUTE);
        let still = RobotsCacheEntry::after(Some(&failed), RobotsFetch::Unreachable, NOW + HOUR);
        assert_eq!(still.expires_at(), NOW + 2 * HOUR);
        assert_eq!(still.unreachable_since(), Some(NOW));
    }
}
