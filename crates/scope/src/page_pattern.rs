//! Patterns of pages: a host, or a host with a path, in which `*` stands for anything; or a regular expression.

use fancy_regex::{Regex, RegexBuilder};
use page::CanonicalUrl;
use settings::SecretOrigin;

/// The prefix of a regular expression.
const REGEX: &str = "regex:";

/// Steps after which the search for an expression with look-around or back-references is given up. Others need none.
pub(crate) const MOST_STEPS: usize = 100_000;

/// Whether a page is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternMatch {
    Yes,
    No,
    /// The search for an expression was given up. Sites choose their addresses, so they can bring this about.
    Unknown,
}

/// Pages of a host, of a path on it, or with an address in which a regular expression is found.
#[derive(Clone, Debug)]
pub enum PagePattern {
    /// Pages of a host, or of a path on it.
    Place(PlacePattern),
    /// With an address in which an expression is found.
    Expression(Box<Regex>),
}

/// Pages of a host, or of a path on it.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacePattern {
    scheme: Option<String>,
    /// In lower case, without port.
    host: String,
    port: Option<u16>,
    /// With the query. `None`: all of the host.
    path: Option<String>,
}

impl PartialEq for PagePattern {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Place(a), Self::Place(b)) => a == b,
            (Self::Expression(a), Self::Expression(b)) => a.as_str() == b.as_str(),
            (Self::Place(_), Self::Expression(_)) | (Self::Expression(_), Self::Place(_)) => false,
        }
    }
}

impl PagePattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// Says what is wrong with it, and what to write.
    pub fn parse(text: &str) -> Result<Self, (String, String)> {
        match text.strip_prefix(REGEX) {
            Some(expression) => match RegexBuilder::new(expression).backtrack_limit(MOST_STEPS).build() {
                Ok(expression) => Ok(Self::Expression(Box::new(expression))),
                Err(error) => {
                    let example = "write an expression such as regex:^https?://shop\\.example/(en|de)/".to_owned();
                    Err((format!("{expression:?} is no regular expression: {error}"), example))
                }
            },
            None => PlacePattern::parse(text).map(Self::Place),
        }
    }

    /// Whether a page is meant.
    pub fn matches(&self, url: &CanonicalUrl) -> PatternMatch {
        let found = match self {
            Self::Place(place) => Ok(place.includes(url)),
            Self::Expression(expression) => expression.is_match(url.as_str()),
        };
        match found {
            Ok(true) => PatternMatch::Yes,
            Ok(false) => PatternMatch::No,
            Err(_) => PatternMatch::Unknown,
        }
    }

    /// Whether a page is certainly meant.
    pub fn includes(&self, url: &CanonicalUrl) -> bool {
        self.matches(url) == PatternMatch::Yes
    }

    /// Whether secrets for its pages may be sent with a request for this one. The scheme and the port are those that the
    /// pattern names, otherwise https and its port. An expression names none.
    pub(crate) fn permits_secrets(&self, url: &CanonicalUrl) -> bool {
        let origin = match self {
            Self::Place(place) => SecretOrigin::named(place.scheme.as_deref(), place.port),
            Self::Expression(_) => SecretOrigin::named(None, None),
        };
        origin.is_some_and(|origin| origin.permits(url.scheme(), url.port()))
    }

    /// A pattern of these pages that permits secrets for the scheme and port of an address.
    pub(crate) fn with_origin_of(&self, url: &CanonicalUrl) -> String {
        let is_default =
            SecretOrigin::named(Some(url.scheme()), None).is_some_and(|it| it.permits(url.scheme(), url.port()));
        let port = if is_default { String::new() } else { format!(":{}", url.port()) };
        let (host, path) = match self {
            Self::Place(place) => (place.host.as_str(), place.path.as_deref().unwrap_or("/*")),
            Self::Expression(_) => (url.host_name(), "/*"),
        };
        let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        format!("{}://{host}{port}{path}", url.scheme())
    }

    /// Whether all pages of its hosts are meant.
    pub(crate) fn is_of_whole_hosts(&self) -> bool {
        matches!(self, Self::Place(PlacePattern { scheme: None, port: None, path: None, .. }))
    }

    /// Whether pages of a host are meant.
    pub(crate) fn includes_host(&self, host_name: &str) -> bool {
        matches!(self, Self::Place(place) if fits(&place.host, host_name))
    }
}

impl PlacePattern {
    fn parse(text: &str) -> Result<Self, (String, String)> {
        let example = "write a host such as shop.example or *.example, or a path on it such as shop.example/lamps/*";
        let fault = |problem: String| Err((problem, example.to_owned()));
        if text.contains('#') {
            return Err(("a page has no #fragment".to_owned(), "leave out the # and what follows".to_owned()));
        }
        if text.is_empty() || text.chars().any(char::is_whitespace) {
            return fault(format!("{text:?} is no pattern of pages"));
        }
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme @ ("http" | "https"), rest)) => (Some(scheme.to_owned()), rest),
            Some((scheme, _)) => return fault(format!("pages have no scheme {scheme:?}")),
            None => (None, text),
        };
        let (authority, path) = match rest.find(['/', '?']) {
            Some(end) => rest.split_at(end),
            None => (rest, ""),
        };
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => match port.parse() {
                Ok(port) => (host, Some(port)),
                Err(_) => return fault(format!("{port:?} is no port")),
            },
            _ => (authority, None),
        };
        if host.is_empty() {
            return fault(format!("{text:?} names no host"));
        }
        // Host names with non-ASCII characters are compared in the form in which they are asked for.
        let host = match host.contains('*') {
            true => host.to_lowercase(),
            false => match CanonicalUrl::parse(&format!("http://{host}/")) {
                Ok(url) => url.host_name().to_owned(),
                Err(_) => return fault(format!("{host:?} is no host")),
            },
        };
        let path = match path {
            "" => None,
            path if path.starts_with('?') => Some(format!("/{}", encoded(path))),
            path => Some(encoded(path)),
        };
        Ok(Self { scheme, host, port, path })
    }

    fn includes(&self, url: &CanonicalUrl) -> bool {
        self.scheme.as_ref().is_none_or(|scheme| scheme == url.scheme())
            && self.port.is_none_or(|port| port == url.port())
            && fits(&self.host, url.host_name())
            && self.path.as_ref().is_none_or(|path| fits(path, url.path_and_query()))
    }
}

/// A path with its non-ASCII characters encoded as in a canonical URL.
fn encoded(path: &str) -> String {
    let encode = |byte: u8| match byte.is_ascii() {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    path.bytes().map(encode).collect()
}

/// Whether a text matches a pattern from beginning to end. Every piece between stars is searched once, from the end of
/// the piece before it: the leftmost place leaves the most room for the others.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let mut pieces = rest.split('*').peekable();
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return text.ends_with(piece);
        }
        match text.find(piece) {
            Some(place) => text = &text[place + piece.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_names_a_host_or_a_path_on_it() {
        let check = |pattern: &str, url: &str, expected| {
            let (pattern, url) = (PagePattern::parse(pattern).unwrap(), CanonicalUrl::parse(url).unwrap());
            assert_eq!(pattern.includes(&url), expected, "{pattern:?} {url}");
        };
        check("shop.example", "https://shop.example/any/thing?x=1", true);
        check("shop.example", "https://www.shop.example/", false);
        check("*.example", "https://www.shop.example/", true);
        check("Shop.Example/lamp", "http://shop.example/lamp", true);
        check("shop.example/lamp", "http://shop.example/lamps", false);
        check("shop.example/lamp", "http://shop.example/lamp?size=2", false);
        check("shop.example/lamp*", "http://shop.example/lamp?size=2", true);
        check("shop.example/*/lamp/*.html", "http://shop.example/en/lamp/7.html", true);
        check("shop.example/*/lamp/*.html", "http://shop.example/lamp/7.html", false);
        check("https://shop.example/", "http://shop.example/", false);
        check("https://shop.example/*", "https://shop.example/a", true);
        check("shop.example:8443", "https://shop.example:8443/", true);
        check("shop.example:8443", "https://shop.example/", false);
        check("*", "https://a.test/", true);
        check("müller.example/käse", "https://müller.example/käse", true);
        check("regex:^https?://a\\.test/(en|de)/", "https://a.test/de/x", true);
        check("regex:^https?://a\\.test/(en|de)/", "https://a.test/fr/x", false);
        check("a.test/*a*a*a*a*b", &format!("http://a.test/{}", "a".repeat(2_000)), false);
    }

    #[test]
    fn what_is_no_pattern_is_refused_with_what_to_write() {
        let check = |text: &str, expected: &str| {
            let (problem, remedy) = PagePattern::parse(text).unwrap_err();
            assert_eq!(problem, expected);
            assert!(remedy.starts_with("write ") || remedy.starts_with("leave "), "{remedy}");
        };
        check("", "\"\" is no pattern of pages");
        check("a b", "\"a b\" is no pattern of pages");
        check("/lamp", "\"/lamp\" names no host");
        check("ftp://a.test", "pages have no scheme \"ftp\"");
        check("a.test:x", "\"x\" is no port");
        let (problem, remedy) = PagePattern::parse("regex:(").unwrap_err();
        assert!(problem.starts_with("\"(\" is no regular expression: ") && remedy.starts_with("write an expression "));
        check("a.test/#price", "a page has no #fragment");
    }
}
