//! The behaviour and misbehaviour of hosts.

use crate::seeds::hash;
use chance::{splitmix64, unit};
use page::Timestamp;
use std::time::Duration;

/// The robots.txt of a host.
#[derive(Clone, Debug, PartialEq)]
pub struct HostRobots {
    /// Status of `/robots.txt`; anything but 200 has no body.
    pub status: u16,
    /// Path prefixes that no crawler may fetch. Prefixes only: no `*` or `$`.
    pub disallow: Vec<String>,
    /// `Crawl-delay` in seconds.
    pub crawl_delay_s: Option<f64>,
}

impl Default for HostRobots {
    fn default() -> Self {
        Self { status: 200, disallow: Vec::new(), crawl_delay_s: None }
    }
}

impl HostRobots {
    /// The text of the file.
    pub fn text(&self) -> String {
        let mut text = String::from("User-agent: *\n");
        for prefix in &self.disallow {
            text.push_str(&format!("Disallow: {prefix}\n"));
        }
        if self.disallow.is_empty() {
            text.push_str("Disallow:\n");
        }
        if let Some(seconds) = self.crawl_delay_s {
            text.push_str(&format!("Crawl-delay: {seconds}\n"));
        }
        text
    }

    /// Whether the host forbids fetching this path. A file that does not exist forbids nothing; one that the server
    /// fails to serve forbids everything (RFC 9309 §2.3.1).
    pub fn disallows(&self, path: &str) -> bool {
        match self.status {
            200 => self.disallow.iter().any(|prefix| !prefix.is_empty() && path.starts_with(prefix)),
            500..=599 => true,
            _ => false,
        }
    }
}

/// The sitemap of a host, which its robots.txt names.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum HostSitemap {
    /// The host has no sitemap.
    #[default]
    None,
    /// It lists the pages that exist and may be fetched, with the date of their last change.
    Truthful,
    /// It shows the content of a truthful one from this many days before.
    Stale { days: f64 },
    /// It dates every page now.
    Lying,
    /// It lists this share of the pages, always the same ones.
    Partial { share: f64 },
    /// It is an index of files in which the pages are among many entries of no page.
    Huge {
        /// Number of entries of no page: half of them on other hosts, half addresses that do not exist.
        filler: usize,
    },
}

impl HostSitemap {
    /// A sitemap that is wrong in one of the ways of real ones, chosen by these bits.
    pub(crate) fn misleading(bits: u64) -> Self {
        match bits % 4 {
            0 => Self::Stale { days: 3.0 },
            1 => Self::Lying,
            2 => Self::Partial { share: 0.5 },
            _ => Self::Huge { filler: 40_000 },
        }
    }
}

/// Which pages have a Last-Modified, and whether it is true, where the host sends it at all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PageDates {
    /// This share of the pages, always the same ones, with the true time.
    True { share: f64 },
    /// All, with the time of the answer.
    Now,
}

/// The validators that a host sends and honours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValidatorSupport {
    /// `ETag` and `If-None-Match`.
    pub etag: bool,
    /// `Last-Modified` and `If-Modified-Since`, in virtual time.
    pub last_modified: bool,
}

/// The dials of one host.
#[derive(Clone, Debug, PartialEq)]
pub struct HostDials {
    pub robots: HostRobots,
    pub validators: ValidatorSupport,
    /// Real (not virtual) time before every answer.
    pub latency: Duration,
    /// Its sitemap, at `/sitemap.xml`.
    pub sitemap: HostSitemap,
    /// The pages on which it sends Last-Modified, and whether the times are true.
    pub dates: PageDates,
    /// Status for a page that is gone: 404, or 410 when the host knows that it is gone for good.
    pub gone_status: u16,
}

impl Default for HostDials {
    fn default() -> Self {
        Self {
            robots: HostRobots::default(),
            validators: ValidatorSupport { etag: true, last_modified: true },
            latency: Duration::ZERO,
            sitemap: HostSitemap::None,
            dates: PageDates::True { share: 1.0 },
            gone_status: 404,
        }
    }
}

impl HostDials {
    /// The dials of this host. This share of the hosts like it misleads by the sitemap.
    pub(crate) fn misleading(mut self, host: &str, share: f64, seed: u64) -> Self {
        let drawn = splitmix64(seed ^ hash(&[host, "sitemap"]));
        if self.sitemap == HostSitemap::Truthful && unit(drawn) < share {
            self.sitemap = HostSitemap::misleading(splitmix64(drawn));
        }
        self
    }
}

/// One kind of misbehaviour. Durations are real time; `Retry-After` is the value of the header.
#[derive(Clone, Debug, PartialEq)]
pub enum WebFault {
    /// Answers with this status and a short body: 404, 410, 500, 503, 429 …
    Status {
        code: u16,
        /// `Retry-After` in seconds.
        retry_after_s: Option<u32>,
    },
    /// Waits before an otherwise normal answer.
    Latency(Duration),
    /// Declares the whole body, sends half of it and resets the connection.
    ResetMidBody,
    /// Spreads the body over this much time.
    SlowBody(Duration),
    /// Redirects this many times (each to the page's own path with `?hop=N`) and then serves the page.
    Redirect {
        /// 301, 302, 307 or 308.
        code: u16,
        /// Number of redirects before the page.
        hops: u32,
    },
    /// Redirects to the same path behind this address, for example of another host. Also robots.txt.
    RedirectTo {
        /// 301, 302, 307 or 308.
        code: u16,
        /// Prefix of the target, before the path: scheme, host and port.
        address: String,
    },
    /// Redirects to the same address with TLS or, if that is not `secure`, without, and serves it there. Names only: a port
    /// stays as it is.
    RedirectToScheme {
        /// 301, 302, 307 or 308.
        code: u16,
        /// Whether to https.
        secure: bool,
    },
    /// Redirects for ever, in a circle of three addresses.
    RedirectLoop {
        /// 301, 302, 307 or 308.
        code: u16,
    },
    /// Sends this many bytes of filler instead of the page, without declaring a length.
    OversizeBody { bytes: u64 },
    /// Sends generated text in ISO 8859-1, declared as UTF-8.
    WrongCharset,
    /// Sends this many random bytes instead of the page, the same for a path each time. They do not compress.
    Noise { bytes: usize },
}

/// The scope of a fault.
#[derive(Clone, Debug, PartialEq)]
pub enum FaultScope {
    /// This share of the pages, always the same ones.
    Pages(f64),
    /// This share of the requests for pages, chosen by seed, page and number of the request.
    Requests(f64),
    /// This path only; the only scope that includes `/robots.txt`.
    Path(String),
}

/// A fault with its scope and period. Of several that apply to a request the first one is used.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultRule {
    /// One host, or all of them.
    pub host: Option<String>,
    /// Which pages or requests of it.
    pub scope: FaultScope,
    /// Start of its period, in virtual time …
    pub from: Timestamp,
    /// … and end of it.
    pub until: Timestamp,
    /// The fault with which the server answers the requests in scope.
    pub fault: WebFault,
}

impl FaultRule {
    /// A rule for all hosts, at all times.
    pub fn everywhere(scope: FaultScope, fault: WebFault) -> Self {
        Self { host: None, scope, from: Timestamp::MIN, until: Timestamp::MAX, fault }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_draws_which_sitemaps_mislead_and_all_kinds_do() {
        let truthful = HostDials { sitemap: HostSitemap::Truthful, ..HostDials::default() };
        let draw = |seed, share| {
            let one = |host| truthful.clone().misleading(&format!("host-{host}.test"), share, seed).sitemap;
            (0..400).map(one).collect::<Vec<_>>()
        };
        let count = |drawn: &[HostSitemap], kind: fn(&HostSitemap) -> bool| drawn.iter().filter(|it| kind(it)).count();
        let drawn = draw(1, 0.5);
        assert!((160..240).contains(&count(&drawn, |it| *it == HostSitemap::Truthful)));
        for kind in [
            |it: &HostSitemap| matches!(it, HostSitemap::Stale { .. }),
            |it: &HostSitemap| *it == HostSitemap::Lying,
            |it: &HostSitemap| matches!(it, HostSitemap::Partial { .. }),
            |it: &HostSitemap| matches!(it, HostSitemap::Huge { .. }),
        ] {
            assert!((30..70).contains(&count(&drawn, kind)));
        }
        assert!(draw(1, 0.5) == drawn && draw(2, 0.5) != drawn);
        assert_eq!(count(&draw(1, 0.0), |it| *it == HostSitemap::Truthful), 400);
        assert_eq!(HostDials::default().misleading("a.test", 1.0, 1).sitemap, HostSitemap::None);
    }

    #[test]
    fn robots_binds_as_its_status_says() {
        let check = |status, path, disallowed| {
            let robots = HostRobots { status, disallow: vec!["/private".into(), String::new()], crawl_delay_s: None };
            assert_eq!(robots.disallows(path), disallowed, "{status} {path}");
        };
        check(200, "/private/x", true);
        check(200, "/public", false);
        check(404, "/private/x", false);
        check(503, "/public", true);
    }
}
