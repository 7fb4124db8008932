//! A web that misbehaves on purpose: every wrong way to answer that we know of, each with its expected outcome.
//!
//! [`misbehaviours`] is the list, assembled from one table per kind. [`HostileWeb`] plays it on a socket: hyper's
//! server would refuse to send most of it, so this one writes the bytes of the tables as they are. A case is found by
//! the first label of the host's name, so `http://status-line-absent.test/` gets the case of that name.
//!
//! Expectations are for a fetcher set to [`KEPT_BYTES`], [`PACKED_BYTES`] and [`REDIRECTS`], and to 64 KiB of header,
//! with its own defaults otherwise.

mod addresses;
mod bodies;
mod codings;
mod framing;
mod headers;
mod http2;
mod http2_connections;
mod http2_heads;
mod markup;
mod piecemeal;
mod proxies;
mod redirects;
mod robots;
mod script;
mod server;
mod status_lines;
mod validators;
mod view;

pub use crate::hostile::http2::{http2_greeting, http2_misbehaviours};
pub use crate::hostile::piecemeal::{PIECEMEAL_BYTES, piecemeal};
pub use crate::hostile::proxies::proxy_misbehaviours;
pub use crate::hostile::script::{Asked, ReplyScript, ScriptStep};
pub use crate::hostile::server::{Ending, HostileWeb};
pub use crate::hostile::view::{SeenConnection, SeenRequest, ServerBooks, ServerView};

/// Maximum body length that the fetcher under test keeps.
pub const KEPT_BYTES: u64 = 256 << 10;
/// Maximum length of a compressed body that it receives.
pub const PACKED_BYTES: u64 = 64 << 10;
/// Maximum of redirects that the fetcher follows.
pub const REDIRECTS: usize = 5;

/// The expected result of a fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expect {
    /// Outcome as named in `FetchResult.avsc`.
    pub outcome: &'static str,
    /// Expected status of the last response. `None` when no response is expected, or any status is accepted.
    pub status: Option<u16>,
    /// Length of the body; `None` when any is accepted.
    pub body_length: Option<u64>,
    /// Whether the body is cut.
    pub truncated: bool,
}

impl Expect {
    /// A page of this length.
    pub const fn page(length: u64) -> Self {
        Self { outcome: "fetched", status: Some(200), body_length: Some(length), truncated: false }
    }

    /// A whole page of any length.
    pub const fn some_page() -> Self {
        Self { body_length: None, ..Self::page(0) }
    }

    /// The first [`KEPT_BYTES`] of a page.
    pub const fn cut_page() -> Self {
        Self { truncated: true, ..Self::page(KEPT_BYTES) }
    }

    /// No page, with this outcome.
    pub const fn none(outcome: &'static str) -> Self {
        Self { outcome, status: None, body_length: Some(0), truncated: false }
    }

    /// An answer that is not a page.
    pub const fn answer(outcome: &'static str, status: u16) -> Self {
        Self { status: Some(status), ..Self::none(outcome) }
    }
}

pub struct Misbehaviour {
    /// Its name, usable as a label of a host name.
    pub name: String,
    pub url: String,
    /// Whether the server is so slow that only the fetcher's own timeouts end it.
    pub stalls: bool,
    /// Number of requests for robots.txt that the server is to see.
    pub robots_requests: usize,
    /// Number of other requests that it is to see at each look.
    pub page_requests: usize,
    pub expect: Expect,
    /// Expected result of a second fetch, with the validators and the digest of the first.
    pub again: Option<Expect>,
    /// Answer to a request for robots.txt.
    pub robots: ReplyScript,
    /// Answer to any other request.
    pub page: ReplyScript,
}

impl Misbehaviour {
    fn new(name: impl Into<String>, page: ReplyScript, expect: Expect) -> Self {
        let name = name.into();
        let url = format!("http://{name}.test/");
        let robots = script::raw("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        Self { name, url, stalls: false, robots_requests: 1, page_requests: 1, expect, again: None, robots, page }
    }

    fn stalling(self) -> Self {
        Self { stalls: true, ..self }
    }

    /// Expects this many requests at each look, besides those for robots.txt.
    fn asked(self, page_requests: usize) -> Self {
        Self { page_requests, ..self }
    }

    fn asked_for_robots(self, robots_requests: usize) -> Self {
        Self { robots_requests, ..self }
    }

    fn again(self, expect: Expect) -> Self {
        Self { again: Some(expect), ..self }
    }

    fn robots(self, robots: ReplyScript) -> Self {
        Self { robots, ..self }
    }

    fn url(self, url: impl Into<String>) -> Self {
        Self { url: url.into(), ..self }
    }
}

/// Every misbehaviour over HTTP/1.1. Names are unique.
pub fn misbehaviours() -> Vec<Misbehaviour> {
    let tables = [
        status_lines::cases(),
        headers::cases(),
        framing::cases(),
        bodies::cases(),
        codings::cases(),
        redirects::cases(),
        addresses::cases(),
        robots::cases(),
        validators::cases(),
        markup::cases(),
    ];
    tables.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn there_are_at_least_a_hundred_and_fifty_and_each_has_a_name_of_its_own() {
        let cases: Vec<_> = [misbehaviours(), http2_misbehaviours(), piecemeal(), proxy_misbehaviours()]
            .into_iter()
            .flatten()
            .collect();
        assert!(cases.len() >= 150, "{}", cases.len());
        let names: BTreeSet<_> = cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names.len(), cases.len());
        let is_label = |name: &&str| {
            name.len() < 64
                && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        };
        assert_eq!(names.iter().find(|name| !is_label(name)), None);
    }
}
