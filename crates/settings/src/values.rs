//! Values of settings that are more than a number or a word: secrets, proxies, ports, kinds of content, host names.

use std::fmt;
use std::net::IpAddr;

/// A secret text. `Debug` hides it, so that it does not reach a log.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A secret, not checked.
    pub fn new(secret: &str) -> Self {
        Self(secret.to_owned())
    }

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

    /// As they are put into a header, before the encoding.
    pub fn reveal(&self) -> &str {
        self.0.reveal()
    }

    /// As the operator wrote them, with the password as `print` returns it.
    pub(crate) fn with_password(&self, print: impl Fn(&str) -> &str) -> String {
        let (user, password) = self.reveal().split_once(':').unwrap_or_default();
        format!("{user}:{}", print(password))
    }
}

/// An HTTP proxy: `http://user:password@proxy.example.org:3128`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    /// Host name, or address without brackets.
    pub host: String,
    /// TCP port.
    pub port: u16,
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
        let is_host = is_host_name(bare) || bare.parse::<IpAddr>().is_ok();
        is_host.then(|| Self { host: bare.to_owned(), port, credentials })
    }

    /// As the operator wrote it, with the password as `print` returns it.
    pub(crate) fn with_password(&self, print: impl Fn(&str) -> &str) -> String {
        let credentials = self.credentials.as_ref().map(|known| format!("{}@", known.with_password(print)));
        let credentials = credentials.unwrap_or_default();
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        format!("http://{credentials}{host}:{}", self.port)
    }
}

/// A range of ports, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRange {
    pub first: u16,
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
    pub(crate) kind: String,
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

    pub(crate) fn contains(&self, media_type: &str) -> bool {
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

pub(crate) fn is_host_name(text: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    // A name whose last label is a number is a malformed address, such as 127.0.0.
    let last_is_number = text.rsplit('.').next().is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()));
    text.len() <= 253 && !last_is_number && text.split('.').all(label)
}

/// The scheme and the port over which a secret may be sent. Over others it may reach another service, or be read on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecretOrigin {
    scheme: &'static str,
    port: u16,
}

impl SecretOrigin {
    /// `https` and the scheme's default port, unless the operator names others. `None` for an unknown scheme.
    pub fn named(scheme: Option<&str>, port: Option<u16>) -> Option<Self> {
        let (scheme, default_port) = match scheme {
            None | Some("https") => ("https", 443),
            Some("http") => ("http", 80),
            Some(_) => return None,
        };
        Some(Self { scheme, port: port.unwrap_or(default_port) })
    }

    /// Whether requests of this scheme and port may carry the secret.
    pub fn permits(self, scheme: &str, port: u16) -> bool {
        (self.scheme, self.port) == (scheme, port)
    }
}

/// A host pattern, with the scheme and the port at which it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OriginPattern<'a> {
    pub(crate) host: &'a str,
    pub(crate) origin: SecretOrigin,
}

impl<'a> OriginPattern<'a> {
    /// Reads `host`, `host:port`, `http://host` or `http://host:port`.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => (Some(scheme), rest),
            None => (None, text),
        };
        let is_address = rest.parse::<IpAddr>().is_ok();
        let (host, port) = match rest.rsplit_once(':').filter(|_| !is_address && !rest.ends_with(']')) {
            Some((host, port)) => (host, Some(port.parse().ok()?)),
            None => (rest, None),
        };
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let origin = SecretOrigin::named(scheme, port)?;
        is_host_pattern(host).then_some(Self { host, origin })
    }
}

/// Whether a text is a pattern of hosts: a name or an address, `*.` and a name, or `*`. It has no port.
pub fn is_host_pattern(text: &str) -> bool {
    text == "*" || is_host_name(text.strip_prefix("*.").unwrap_or(text)) || text.parse::<IpAddr>().is_ok()
}
