//! Addresses: one spelling per page, its 128-bit name, and the host and site it belongs to.
//!
//! An address is parsed as the WHATWG URL standard says, then: scheme http or https only, user name and password
//! dropped, fragment dropped. The default port and dot segments are gone after parsing.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use url::Url;

/// Longest address we keep, in bytes. Longer ones are nearly always traps (session ids, calendars, loops).
const MAX_URL_BYTES: usize = 2_048;

/// Why a string is not the address of a page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlProblem {
    /// It does not parse.
    #[error("not a URL: {0}; write it as https://host/path")]
    Malformed(url::ParseError),
    /// Something other than http or https.
    #[error("scheme {0:?} is not crawled; only http and https are")]
    Scheme(String),
    /// No host, as in `http:///path`.
    #[error("the URL names no host")]
    NoHost,
    /// Longer than we keep.
    #[error("the URL has {0} bytes; at most {MAX_URL_BYTES} are kept")]
    TooLong(usize),
}

/// A page's address in its one spelling. Equal pages have equal bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CanonicalUrl(Url);

impl CanonicalUrl {
    /// Parses and normalises an absolute address.
    pub fn parse(text: &str) -> Result<Self, UrlProblem> {
        Self::from_url(Url::parse(text.trim()).map_err(UrlProblem::Malformed)?)
    }

    /// Resolves a reference found on this page, as a browser would.
    pub fn join(&self, reference: &str) -> Result<Self, UrlProblem> {
        Self::from_url(self.0.join(reference.trim()).map_err(UrlProblem::Malformed)?)
    }

    fn from_url(mut url: Url) -> Result<Self, UrlProblem> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlProblem::Scheme(url.scheme().to_owned()));
        }
        if url.host_str().is_none_or(str::is_empty) {
            return Err(UrlProblem::NoHost);
        }
        url.set_fragment(None);
        // Neither can fail: the URL has a host and is not file:.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        match url.as_str().len() {
            length if length > MAX_URL_BYTES => Err(UrlProblem::TooLong(length)),
            _ => Ok(Self(url)),
        }
    }

    /// The address as text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The parsed form, for network code.
    pub fn as_url(&self) -> &Url {
        &self.0
    }

    /// `http` or `https`.
    pub fn scheme(&self) -> &str {
        self.0.scheme()
    }

    /// Path and query as they go on the request line: `/a/b?c=d`.
    pub fn path_and_query(&self) -> &str {
        &self.0[url::Position::BeforePath..url::Position::AfterQuery]
    }

    /// The authority: host name or address, with the port when it is not the scheme's own.
    pub fn host(&self) -> Host {
        Host(self.0[url::Position::BeforeHost..url::Position::AfterPort].to_owned())
    }

    /// The registrable domain, private suffixes included; an address or a bare name stands for itself.
    pub fn site_key(&self) -> SiteKey {
        let host = self.0.host_str().unwrap_or_default();
        let name = match self.0.host() {
            Some(url::Host::Domain(name)) => name.trim_end_matches('.'),
            _ => return SiteKey(host.to_owned()),
        };
        SiteKey(psl::domain_str(name).unwrap_or(name).to_owned())
    }

    /// The page's 128-bit name.
    pub fn page_id(&self) -> PageId {
        let mut id = [0; 16];
        id.copy_from_slice(&blake3::hash(self.as_str().as_bytes()).as_bytes()[..16]);
        PageId(id)
    }
}

impl fmt::Display for CanonicalUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for CanonicalUrl {
    type Err = UrlProblem;

    fn from_str(text: &str) -> Result<Self, UrlProblem> {
        Self::parse(text)
    }
}

impl TryFrom<String> for CanonicalUrl {
    type Error = UrlProblem;

    fn try_from(text: String) -> Result<Self, UrlProblem> {
        Self::parse(&text)
    }
}

impl From<CanonicalUrl> for String {
    fn from(url: CanonicalUrl) -> String {
        url.0.into()
    }
}

/// A page's name: the first 128 bits of the BLAKE3 hash of its canonical address. Two pages of a crawl of 10¹² share
/// one with probability 10⁻¹⁵; the address is kept beside it all the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PageId(pub [u8; 16]);

impl fmt::Display for PageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for PageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PageId({self})")
    }
}

/// A string that is not 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a page id; it has 32 hexadecimal digits")]
pub struct ParsePageIdError(String);

impl FromStr for PageId {
    type Err = ParsePageIdError;

    fn from_str(text: &str) -> Result<Self, ParsePageIdError> {
        let problem = || ParsePageIdError(text.to_owned());
        if text.len() != 32 || !text.is_ascii() {
            return Err(problem());
        }
        let mut id = [0; 16];
        for (index, byte) in id.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).map_err(|_| problem())?;
        }
        Ok(PageId(id))
    }
}

/// The unit of politeness: an authority such as `www.example.org` or `127.0.0.1:8080`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Host(String);

impl Host {
    /// Wraps an authority that was taken from a canonical address before (a stored record, say).
    pub fn from_authority(authority: impl Into<String>) -> Self {
        Self(authority.into())
    }

    /// The authority as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The unit of partitioning, budgets and sweeps: the registrable domain, such as `example.org` or `someone.github.io`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SiteKey(String);

impl SiteKey {
    /// The domain as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SiteKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_address_has_one_spelling() {
        let check = |text: &str, expected: &str| assert_eq!(CanonicalUrl::parse(text).unwrap().as_str(), expected);
        check("HTTP://Example.ORG:80/a/../b?x=1#top", "http://example.org/b?x=1");
        check(" https://user:secret@example.org ", "https://example.org/");
        check("http://127.0.0.1:8080", "http://127.0.0.1:8080/");
        check("https://bücher.example/", "https://xn--bcher-kva.example/");
    }

    #[test]
    fn what_cannot_be_crawled_says_why() {
        let check = |text: &str, part: &str| {
            let message = CanonicalUrl::parse(text).unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        };
        check("ftp://example.org/", "only http and https");
        check("example.org", "not a URL");
        check("mailto:a@example.org", "scheme \"mailto\"");
        check(&format!("http://example.org/{}", "a".repeat(3_000)), "at most 2048");
    }

    #[test]
    fn host_and_site_follow_the_public_suffix_list() {
        let check = |text: &str, host: &str, site: &str| {
            let url = CanonicalUrl::parse(text).unwrap();
            assert_eq!((url.host().as_str(), url.site_key().as_str()), (host, site), "{text}");
        };
        check("https://www.example.co.uk/x", "www.example.co.uk", "example.co.uk");
        check("https://someone.github.io:8443/", "someone.github.io:8443", "someone.github.io");
        check("http://127.0.0.1:9/", "127.0.0.1:9", "127.0.0.1");
        check("http://[::1]:9/", "[::1]:9", "[::1]");
        check("http://localhost/", "localhost", "localhost");
        check("http://a.b.test/", "a.b.test", "b.test");
    }

    #[test]
    fn a_page_id_is_pinned_and_round_trips() {
        let id = CanonicalUrl::parse("https://example.org/").unwrap().page_id();
        assert_eq!(id.to_string(), "4854567ae92fe62dc4b00756efcac36f");
        assert_eq!(id.to_string().parse(), Ok(id));
        assert!("xyz".parse::<PageId>().is_err());
    }

    proptest! {
        #[test]
        fn canonical_form_is_a_fixed_point(path in "[a-zA-Z0-9/._?=&%-]{0,60}") {
            if let Ok(url) = CanonicalUrl::parse(&format!("http://Example.org/{path}")) {
                prop_assert_eq!(CanonicalUrl::parse(url.as_str()).unwrap(), url);
            }
        }
    }
}
