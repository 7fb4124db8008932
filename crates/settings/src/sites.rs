//! Settings per host, and the ports and media types that may be fetched.

use crate::sections::Fetch;
use crate::values::{Credentials, OriginPattern, PortRange, Proxy};
use std::collections::BTreeMap;

/// Ports of other services, which could take a request for commands of theirs (Fetch standard, "bad port").
const BAD_PORTS: [u16; 82] = [
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
    111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
    540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
    6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

impl Fetch {
    /// The proxy through which `host` (name without port) is reached.
    pub fn proxy_for(&self, host: &str) -> Option<&Proxy> {
        for_host(&self.proxy, host)
    }

    /// The credentials sent to a host (name without port) over this scheme and port. Credentials for another scheme or
    /// port may belong to another service, or would be readable on the way.
    pub fn credentials_for(&self, scheme: &str, host: &str, port: u16) -> Option<&Credentials> {
        let fitting = self.authentication.iter().filter_map(|(name, credentials)| {
            let OriginPattern { host, origin } = OriginPattern::parse(name)?;
            origin.permits(scheme, port).then(|| (host.to_owned(), credentials))
        });
        for_host(&fitting.collect(), host).copied()
    }

    /// Whether a port may be connected to. One that browsers refuse has to be named by itself: a range does not mean it.
    pub fn allows_port(&self, port: u16) -> bool {
        let is_meant = |range: &PortRange| match BAD_PORTS.contains(&port) {
            true => (range.first, range.last) == (port, port),
            false => (range.first..=range.last).contains(&port),
        };
        self.ports.iter().any(is_meant)
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

/// Whether a host (name without port) is meant by a pattern: `*.test` means `a.test` and `a.b.test`, not `test`; `*` means
/// every host.
pub fn fits_host(pattern: &str, host: &str) -> bool {
    let ends_with = |end: &str| {
        let start = host.len().checked_sub(end.len()).filter(|start| *start > 0);
        start.and_then(|start| host.get(start..)).is_some_and(|host| host.eq_ignore_ascii_case(end))
    };
    pattern.strip_prefix('*').map_or_else(|| pattern.eq_ignore_ascii_case(host), ends_with)
}

/// The entry for a host. An exact entry wins over patterns, and the longest matching pattern over shorter ones.
pub(crate) fn for_host<'a, T>(entries: &'a BTreeMap<String, T>, host: &str) -> Option<&'a T> {
    let fitting = entries.iter().filter(|(pattern, _)| fits_host(pattern, host));
    fitting.max_by_key(|(pattern, _)| (!pattern.starts_with('*'), pattern.len())).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use crate::values::MediaRange;

    #[test]
    fn a_password_goes_to_the_scheme_host_and_port_it_is_for() {
        let mut settings = Settings::default();
        let names = ["a.test", "a.test:8443", "http://b.test", "http://*.c.test:8080", "[::1]:8443"];
        let credentials = |name: &str| Credentials::parse(&format!("me:{name}")).unwrap();
        settings.fetch.authentication = names.map(|name| (name.to_owned(), credentials(name))).into();
        let check = |scheme, host, port, expected: Option<&str>| {
            let found = settings.fetch.credentials_for(scheme, host, port).map(|found| found.reveal().to_owned());
            assert_eq!(found, expected.map(|name| format!("me:{name}")), "{scheme}://{host}:{port}");
        };
        check("https", "A.test", 443, Some("a.test"));
        check("https", "a.test", 8443, Some("a.test:8443"));
        check("http", "a.test", 80, None);
        check("http", "a.test", 443, None);
        check("https", "b.test", 443, None);
        check("http", "b.test", 80, Some("http://b.test"));
        check("http", "x.c.test", 8080, Some("http://*.c.test:8080"));
        check("http", "x.c.test", 80, None);
        check("https", "::1", 8443, Some("[::1]:8443"));
        for wrong in ["ftp://a.test", "a.test:port", "a.test:99999", "https://", "a b"] {
            assert_eq!(OriginPattern::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_proxy_is_read_with_its_password_and_shown_without() {
        let check = |text: &str, host: &str, port, credentials: Option<&str>| {
            let proxy = Proxy::parse(text).unwrap();
            assert_eq!((proxy.host.as_str(), proxy.port), (host, port), "{text}");
            assert_eq!(proxy.credentials.as_ref().map(Credentials::reveal), credentials, "{text}");
            let shown = proxy.with_password(|_| "***");
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
        let default = Settings::default().fetch;
        for (port, allowed) in [(80, true), (8080, true), (6667, false), (2049, false), (5060, false), (10080, false)] {
            assert_eq!(default.allows_port(port), allowed, "{port}");
        }
        assert!(fetch(&["6000-6999", "6667"], &[]).allows_port(6667), "it is named by itself");
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
