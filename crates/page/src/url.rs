//! Canonical URLs, their 128-bit ids, and the host and site they belong to.
//!
//! A URL is parsed according to the WHATWG URL standard by its reference implementation. Only http and https are
//! accepted; user name, password and fragment are dropped, and the spellings that RFC 3986 §6.2.2 calls equivalent are
//! normalised ([`crate::spelling`]). Parsing itself removes the default port and dot segments. Differences that only
//! usually mean the same page (session ids, tracking parameters) are left to the operator's
//! [`UrlRules`](crate::UrlRules).

use crate::plain;
use crate::spelling::one_spelling;
use core::borrow::Borrow;
use core::net::IpAddr;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// Longest URL kept, in bytes. Longer ones are nearly always traps (session ids, calendars, loops).
pub(crate) const MAX_URL_BYTES: usize = 2_048;

/// Why a string is not a page's URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlProblem {
    #[error("not a URL; write it as https://host/path")]
    Malformed,
    /// The scheme is not http or https.
    #[error("scheme {0:?} is not crawled; only http and https are")]
    Scheme(String),
    /// No host, as in `http:///path`.
    #[error("the URL has no host")]
    NoHost,
    /// Longer than 2,048 bytes.
    #[error("the URL has {0} bytes; at most {MAX_URL_BYTES} are allowed")]
    TooLong(usize),
}

/// The canonical URL of a page. Equal pages have equal bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CanonicalUrl(String);

impl CanonicalUrl {
    /// Parses and normalises an absolute URL.
    pub fn parse(text: &str) -> Result<Self, UrlProblem> {
        match is_plain(text) {
            true => Ok(Self(text.to_owned())),
            false => Self::by_parser(text, None),
        }
    }

    /// Resolves a reference found on this page, as a browser would.
    pub fn join(&self, reference: &str) -> Result<Self, UrlProblem> {
        let (origin, path) = self.0.split_at(self.path_start());
        let path = &path[..query_mark(path).unwrap_or(path.len())];
        match plain::join(origin, path, reference.trim()).filter(|joined| joined.len() <= MAX_URL_BYTES) {
            Some(joined) => Ok(Self(joined)),
            None => Self::by_parser(reference, Some(&self.0)),
        }
    }

    /// Parses a URL with the full parser.
    pub(crate) fn by_parser(text: &str, base: Option<&str>) -> Result<Self, UrlProblem> {
        Self::from_parsed(ada_url::Url::parse(text.trim(), base))
    }

    fn from_parsed<E>(parsed: Result<ada_url::Url, E>) -> Result<Self, UrlProblem> {
        let url = parsed.map_err(|_| UrlProblem::Malformed)?;
        let scheme = url.protocol().trim_end_matches(':');
        if !matches!(scheme, "http" | "https") {
            return Err(UrlProblem::Scheme(scheme.to_owned()));
        }
        // A name with a final dot is the same host.
        let name = url.hostname().strip_suffix('.').unwrap_or(url.hostname());
        if name.is_empty() {
            return Err(UrlProblem::NoHost);
        }
        let colon = if url.port().is_empty() { "" } else { ":" };
        let path = one_spelling(url.pathname());
        // Empty for a bare "?", which is an empty query.
        let query = one_spelling(url.search());
        // Every record with a URL passes here, and `format!` took as long as the parser.
        let text = [scheme, "://", name, colon, url.port(), &path, &query].concat();
        match text.len() {
            length if length > MAX_URL_BYTES => Err(UrlProblem::TooLong(length)),
            // Without its final dot a name may end in another, or in a number, and then it is an address or nothing.
            _ if name.len() < url.hostname().len() => Self::parse(&text),
            _ => Ok(Self(text)),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// `http` or `https`.
    pub fn scheme(&self) -> &str {
        self.split().0
    }

    /// Scheme and authority: `https://example.org`.
    pub fn origin(&self) -> &str {
        &self.0[..self.path_start()]
    }

    /// Path and query as in the request line: `/a/b?c=d`.
    pub fn path_and_query(&self) -> &str {
        &self.0[self.path_start()..]
    }

    /// The path: `/a/b`.
    pub fn path(&self) -> &str {
        let tail = self.path_and_query();
        &tail[..query_mark(tail).unwrap_or(tail.len())]
    }

    /// The query without its question mark: `c=d`.
    pub fn query(&self) -> Option<&str> {
        // What stands before the path has no question mark.
        query_mark(&self.0).map(|mark| &self.0[mark + 1..])
    }

    /// The authority: host name or IP address, with the port unless it is the scheme's default.
    pub fn host(&self) -> Host {
        Host(self.split().1.to_owned())
    }

    /// The host name, or the IP address without brackets. No port.
    pub fn host_name(&self) -> &str {
        name_in(self.split().1)
    }

    /// The IP address, if the URL has one instead of a name.
    pub fn host_address(&self) -> Option<IpAddr> {
        self.host_name().parse().ok()
    }

    /// The port. Defaults to that of the scheme.
    pub fn port(&self) -> u16 {
        let authority = self.split().1;
        let given = authority.rsplit(']').next().unwrap_or_default().split_once(':');
        given.and_then(|(_, port)| port.parse().ok()).unwrap_or(if self.scheme() == "https" { 443 } else { 80 })
    }

    /// The registrable domain, counting private suffixes. An IP address or a single label is its own site.
    pub fn site_key(&self) -> SiteKey {
        site_of(self.host_name())
    }

    pub fn page_id(&self) -> PageId {
        let mut id = [0; 16];
        id.copy_from_slice(&blake3::hash(self.as_str().as_bytes()).as_bytes()[..16]);
        PageId(id)
    }

    /// Scheme, authority, and path with query.
    fn split(&self) -> (&str, &str, &str) {
        let (origin, path) = self.0.split_at(self.path_start());
        let (scheme, authority) = origin.split_at(self.scheme_length());
        (scheme, &authority["://".len()..], path)
    }

    /// Where the path starts. A canonical address has one.
    fn path_start(&self) -> usize {
        let authority = self.scheme_length() + "://".len();
        wide_bytes::find_near(b'/', &self.0.as_bytes()[authority..]).map_or(self.0.len(), |slash| authority + slash)
    }

    fn scheme_length(&self) -> usize {
        // Called many times per fetch, so rely on there being only two schemes.
        if self.0.starts_with("https:") { "https".len() } else { "http".len() }
    }
}

/// Where the query of a path or URL starts.
fn query_mark(text: &str) -> Option<usize> {
    wide_bytes::find_near(b'?', text.as_bytes())
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
        match is_plain(&text) {
            true => Ok(Self(text)),
            false => Self::by_parser(&text, None),
        }
    }
}

impl From<CanonicalUrl> for String {
    fn from(url: CanonicalUrl) -> String {
        url.0
    }
}

/// Whether a text is already canonical, checked without the parser.
fn is_plain(text: &str) -> bool {
    text.len() <= MAX_URL_BYTES && plain::is_canonical(text)
}

/// A page's id: the first 128 bits of the BLAKE3 hash of its canonical URL. The probability of a collision in a crawl
/// of 10¹² pages is 10⁻¹⁵. The URL is stored with it nevertheless.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageId(pub [u8; 16]);

impl Serialize for PageId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for PageId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(SixteenBytes).map(Self)
    }
}

struct SixteenBytes;

impl Visitor<'_> for SixteenBytes {
    type Value = [u8; 16];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("16 bytes")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<[u8; 16], E> {
        bytes.try_into().map_err(|_| E::invalid_length(bytes.len(), &self))
    }
}

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
#[error("{0:?} is not a page id; a page id has 32 hexadecimal digits")]
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

/// The host name of an authority, or the IP address without brackets. No port.
fn name_in(authority: &str) -> &str {
    match authority.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    }
}

fn site_of(host_name: &str) -> SiteKey {
    match host_name.parse() {
        Ok(IpAddr::V6(address)) => SiteKey(format!("[{address}]")),
        Ok(IpAddr::V4(address)) => SiteKey(address.to_string()),
        Err(_) => SiteKey(psl::domain_str(host_name).unwrap_or(host_name).to_owned()),
    }
}

/// An authority such as `www.example.org` or `127.0.0.1:8080`, which answers for a page.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Host(String);

impl Host {
    /// Wraps an authority that was taken from a canonical URL earlier, for example from a stored record.
    pub fn from_authority(authority: impl Into<String>) -> Self {
        Self(authority.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The host name without the port.
    pub fn name(&self) -> HostName {
        HostName(name_in(&self.0).to_owned())
    }

    /// The site that pages of this host belong to.
    pub fn site_key(&self) -> SiteKey {
        site_of(name_in(&self.0))
    }

    /// The page at its root, over plain http.
    ///
    /// # Errors
    /// The authority is none.
    pub fn front_page(&self) -> Result<CanonicalUrl, UrlProblem> {
        CanonicalUrl::parse(&format!("http://{self}/"))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The unit of politeness: a host name, or an IP address without brackets, such as `www.example.org` or `::1`. A machine
/// has one capacity, whatever schemes and ports it is asked under.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HostName(String);

impl HostName {
    pub fn of(url: &CanonicalUrl) -> Self {
        Self(url.host_name().to_owned())
    }

    /// The site that pages of this host belong to.
    pub fn site_key(&self) -> SiteKey {
        site_of(&self.0)
    }

    /// Wraps a name that was taken from a canonical URL earlier, for example from a stored record.
    pub fn from_name(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl HostName {
    /// Whether the host is another or below it: `www.example.org` is below `example.org`.
    pub fn is_at_or_below(&self, other: &Self) -> bool {
        self.0.strip_suffix(&other.0).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    }
}

/// Text equals the name with the same bytes, also as the key of a map.
impl Borrow<str> for HostName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The unit of partitioning, budgets and sweeps: the registrable domain, such as `example.org` or `someone.github.io`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SiteKey(String);

impl SiteKey {
    /// Wraps a site key that was taken from a canonical URL earlier, for example from a stored record.
    pub fn from_domain(domain: impl Into<String>) -> Self {
        Self(domain.into())
    }

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
mod tests;
