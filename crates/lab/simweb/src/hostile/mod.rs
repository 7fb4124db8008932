//! A web that misbehaves on purpose: every way to answer wrongly that we know of, each with what should come of it.
//!
//! [`misbehaviours`] is the list, put together from a table per kind. [`HostileWeb`] plays it on a socket: hyper's
//! server would refuse to send most of it, so this one writes bytes as they stand in the tables. A case is found by the
//! first label of the host's name, so `http://status-line-absent.test/` gets what its line in the table says.
//!
//! Expectations are written for a fetcher set to [`KEPT_BYTES`], [`PACKED_BYTES`] and [`REDIRECTS`], and to 64 KiB of
//! header; all other limits are its own.

mod addresses;
mod bodies;
mod codings;
mod framing;
mod headers;
mod http2;
mod markup;
mod redirects;
mod robots;
mod script;
mod server;
mod status_lines;
mod validators;

pub use crate::hostile::http2::{http2_greeting, http2_misbehaviours};
pub use crate::hostile::script::{Asked, Reply, Step};
pub use crate::hostile::server::{Ending, HostileWeb, play};

/// Longest body that the fetcher under test keeps.
pub const KEPT_BYTES: u64 = 256 << 10;
/// Longest packed body that it receives.
pub const PACKED_BYTES: u64 = 64 << 10;
/// Redirects that it follows.
pub const REDIRECTS: usize = 5;

/// What should come of a fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expect {
    /// Outcome in the words of `FetchResult.avsc`.
    pub outcome: &'static str,
    /// Status of the last response; `None` when there is none, or it does not matter.
    pub status: Option<u16>,
    /// Length of the body; `None` when it does not matter.
    pub body_length: Option<u64>,
    /// Whether the body is cut.
    pub truncated: bool,
}

impl Expect {
    /// A page of this length.
    pub const fn page(length: u64) -> Self {
        Self { outcome: "fetched", status: Some(200), body_length: Some(length), truncated: false }
    }

    /// A page of whatever length, whole.
    pub const fn some_page() -> Self {
        Self { body_length: None, ..Self::page(0) }
    }

    /// The first [`KEPT_BYTES`] of a page.
    pub const fn cut_page() -> Self {
        Self { truncated: true, ..Self::page(KEPT_BYTES) }
    }

    /// No page, for this reason.
    pub const fn none(outcome: &'static str) -> Self {
        Self { outcome, status: None, body_length: Some(0), truncated: false }
    }

    /// An answer that is no page.
    pub const fn answer(outcome: &'static str, status: u16) -> Self {
        Self { status: Some(status), ..Self::none(outcome) }
    }
}

/// One way to misbehave.
pub struct Misbehaviour {
    /// What it is, as a label of a host's name.
    pub name: String,
    /// The address to fetch.
    pub url: String,
    /// Whether the server is so slow that only the fetcher's own limits of time end it.
    pub stalls: bool,
    /// What should come of it.
    pub expect: Expect,
    /// What should come of a second look, with the validators and the digest of the first.
    pub again: Option<Expect>,
    /// What robots.txt is answered with.
    pub robots: Reply,
    /// What everything else is answered with.
    pub page: Reply,
}

impl Misbehaviour {
    fn new(name: impl Into<String>, page: Reply, expect: Expect) -> Self {
        let name = name.into();
        let url = format!("http://{name}.test/");
        let robots = script::raw("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        Self { name, url, stalls: false, expect, again: None, robots, page }
    }

    fn stalling(self) -> Self {
        Self { stalls: true, ..self }
    }

    fn again(self, expect: Expect) -> Self {
        Self { again: Some(expect), ..self }
    }

    fn robots(self, robots: Reply) -> Self {
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
        let cases: Vec<_> = misbehaviours().into_iter().chain(http2_misbehaviours()).collect();
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
