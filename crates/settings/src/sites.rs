//! Settings per host, and the ports and media types that may be fetched.

use crate::fetch::is_host_name;
use crate::sections::Fetch;
use std::collections::BTreeMap;
use std::fmt;

/// A secret text. `Debug` hides it, so that it does not reach a log.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The secret itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl Secret {
    /// Accepts a secret without spaces, of printable ASCII and with a length in `bytes`.
    pub(crate) fn parse(text: &str, bytes: std::ops::RangeInclusive<usize>) -> Option<Self> {
        let is_word = bytes.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_word.then(|| Self(text.to_owned()))
    }

    /// Accepts a secret on one line, with or without spaces.
    pub(crate) fn parse_phrase(text: &str) -> Option<Self> {
        let is_line = !text.is_empty() && !text.chars().any(char::is_control);
        is_line.then(|| Self(text.to_owned()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// User name and password for HTTP basic authentication, as `user:password` (RFC 7617).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials(Secret);

impl Credentials {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (user, _) = text.split_once(':')?;
        let is_sound = !user.is_empty() && !text.chars().any(char::is_control);
        is_sound.then(|| Self(Secret(text.to_owned())))
    }

    /// The text that is base64-encoded into the header.
    pub fn reveal(&self) -> &str {
        self.0.reveal()
    }

    /// The credentials with `mask` in place of the password.
    pub(crate) fn masked(&self, mask: &str) -> String {
        let user = self.reveal().split(':').next().unwrap_or_default();
        format!("{user}:{mask}")
    }
}

/// An HTTP proxy: `http://user:password@proxy.example.org:3128`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    /// Host name, or address without brackets.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Credentials for the proxy.
    pub credentials: Option<Credentials>,
}

impl Proxy {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("http://")?;
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (credentials, authority) = match rest.rsplit_once('@') {
            Some((credentials, authority)) => (Some(Credentials::parse(credentials)?), authority),
            None => (None, rest),
        };
        let (host, port) = authority.rsplit_once(':')?;
        let port = port.parse().ok().filter(|port| *port > 0)?;
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let is_host = is_host_name(bare) || bare.parse::<std::net::IpAddr>().is_ok();
        is_host.then(|| Self { host: bare.to_owned(), port, credentials })
    }

    /// The operator's notation, with `mask` in place of the password.
    pub(crate) fn masked(&self, mask: &str) -> String {
        let credentials = self.credentials.as_ref().map(|known| format!("{}@", known.masked(mask))).unwrap_or_default();
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        format!("http://{credentials}{host}:{}", self.port)
    }
}

/// A range of ports, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRange {
    /// Lowest port.
    pub first: u16,
    /// Highest port.
    pub last: u16,
}

impl PortRange {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let port = |text: &str| text.trim().parse::<u16>().ok().filter(|port| *port > 0);
        let (first, last) = (port(first)?, port(last)?);
        (first <= last).then_some(Self { first, last })
    }
}

impl fmt::Display for PortRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last { write!(f, "{}", self.first) } else { write!(f, "{}-{}", self.first, self.last) }
    }
}

/// A media range in lower case: `text/html`, `text/*` or `*/*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaRange {
    kind: String,
    /// `None` matches any subtype.
    subtype: Option<String>,
}

impl MediaRange {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (kind, subtype) = text.trim().split_once('/')?;
        let is_token = |word: &str| {
            !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte))
        };
        let is_sound = match (kind, subtype) {
            ("*", subtype) => subtype == "*",
            (kind, "*") => is_token(kind),
            (kind, subtype) => is_token(kind) && is_token(subtype),
        };
        let subtype = (subtype != "*").then(|| subtype.to_ascii_lowercase());
        is_sound.then(|| Self { kind: kind.to_ascii_lowercase(), subtype })
    }

    fn contains(&self, media_type: &str) -> bool {
        let (kind, subtype) = media_type.split_once('/').unwrap_or((media_type, ""));
        let is_of_kind = self.kind == "*" || self.kind.eq_ignore_ascii_case(kind);
        is_of_kind && self.subtype.as_ref().is_none_or(|own| own.eq_ignore_ascii_case(subtype))
    }
}

impl fmt::Display for MediaRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind, self.subtype.as_deref().unwrap_or("*"))
    }
}

impl Fetch {
    /// The proxy through which `host` (name without port) is reached.
    pub fn proxy_for(&self, host: &str) -> Option<&Proxy> {
        for_host(&self.proxy, host)
    }

    /// The credentials sent to `host` (name without port).
    pub fn credentials_for(&self, host: &str) -> Option<&Credentials> {
        for_host(&self.authentication, host)
    }

    /// Whether a port may be connected to.
    pub fn allows_port(&self, port: u16) -> bool {
        self.ports.iter().any(|range| (range.first..=range.last).contains(&port))
    }

    /// Whether content of this media type, given without parameters, is accepted.
    pub fn allows_content(&self, media_type: &str) -> bool {
        self.content_types.iter().any(|range| range.contains(media_type))
    }

    /// Whether content of any type is accepted.
    pub fn allows_all_content(&self) -> bool {
        self.content_types.iter().any(|range| range.kind == "*")
    }
}

/// The entry for a host. An exact entry wins over patterns, and the longest matching pattern over shorter ones.
/// `*.test` matches `a.test` and `a.b.test`, not `test`; `*` matches everything.
pub(crate) fn for_host<'a, T>(entries: &'a BTreeMap<String, T>, host: &str) -> Option<&'a T> {
    let host = host.to_ascii_lowercase();
    let fits = |pattern: &str| match pattern.strip_prefix('*') {
        Some(suffix) => host.len() > suffix.len() && host.ends_with(suffix),
        None => host == pattern,
    };
    let fitting = entries.iter().filter(|(pattern, _)| fits(&pattern.to_ascii_lowercase()));
    fitting.max_by_key(|(pattern, _)| (!pattern.starts_with('*'), pattern.len())).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;

    #[test]
    fn a_proxy_is_read_with_its_password_and_shown_without() {
        let check = |text: &str, host: &str, port, credentials: Option<&str>| {
            let proxy = Proxy::parse(text).unwrap();
            assert_eq!((proxy.host.as_str(), proxy.port), (host, port), "{text}");
            assert_eq!(proxy.credentials.as_ref().map(Credentials::reveal), credentials, "{text}");
            let shown = proxy.masked("***");
            let masked = credentials.map(|_| "me:***");
            let reread = Proxy::parse(&shown).unwrap();
            assert_eq!((reread.host.as_str(), reread.port), (host, port), "{shown}");
            assert_eq!(reread.credentials.as_ref().map(Credentials::reveal), masked, "{shown}");
            assert!(!format!("{proxy:?}").contains("secret"), "{proxy:?}");
        };
        check("http://proxy.example.org:3128", "proxy.example.org", 3128, None);
        check("http://10.0.0.1:8080/", "10.0.0.1", 8080, None);
        check("http://[::1]:8080", "::1", 8080, None);
        check("http://me:secret@proxy:1", "proxy", 1, Some("me:secret"));
        check("http://me:se@cret:@proxy:1", "proxy", 1, Some("me:se@cret:"));
        for wrong in ["", "proxy:1", "http://proxy", "http://proxy:0", "https://proxy:1", "http://:1", "http://me@p:1"]
        {
            assert_eq!(Proxy::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn ports_and_kinds_of_content_are_ranges() {
        let fetch = |ports: &[&str], types: &[&str]| crate::Fetch {
            ports: ports.iter().map(|text| PortRange::parse(text).unwrap()).collect(),
            content_types: types.iter().map(|text| MediaRange::parse(text).unwrap()).collect(),
            ..Settings::default().fetch
        };
        let some = fetch(&["80", "8000-8999"], &["text/*", "Application/PDF"]);
        for (port, allowed) in [(80, true), (81, false), (8000, true), (8999, true), (9000, false)] {
            assert_eq!(some.allows_port(port), allowed, "{port}");
        }
        for (media_type, allowed) in
            [("text/html", true), ("TEXT/plain", true), ("application/pdf", true), ("image/png", false), ("", false)]
        {
            assert_eq!(some.allows_content(media_type), allowed, "{media_type}");
        }
        assert!(fetch(&[], &["*/*"]).allows_all_content() && !some.allows_all_content());
        for wrong in ["", "0", "80-", "90-80", "70000", "http"] {
            assert_eq!(PortRange::parse(wrong), None, "{wrong}");
        }
        for wrong in ["", "text", "*/html", "text/", "/html", "text/html; charset=x"] {
            assert_eq!(MediaRange::parse(wrong), None, "{wrong}");
        }
    }
}
