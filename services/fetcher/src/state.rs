//! The table of the fetcher: the robots.txt rules of each host, for the day that they hold and for as long as the file
//! cannot be had.

use messages::impl_message;
use messages::topics::KeyKind;
use page::{CanonicalUrl, SiteKey, Timestamp};
use politeness::RobotsFile;
use serde::{Deserialize, Serialize};
use stream::{Table, TableKey};

/// Absence: no robots.txt of the host was asked for.
pub const ROBOTS: Table<RobotsKey, HostRobots> = Table::new("robots");

/// Key of a record in [`ROBOTS`]: the site, a zero byte, the name of the host. So the hosts of a site stand together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RobotsKey(String);

impl RobotsKey {
    pub fn new(site: &SiteKey, host_name: &str) -> Self {
        Self(format!("{site}\0{host_name}"))
    }

    /// The bytes that the keys of all hosts of a site begin with.
    pub fn prefix_of(site: &SiteKey) -> Vec<u8> {
        format!("{site}\0").into_bytes()
    }

    pub fn host_name(&self) -> &str {
        self.0.split_once('\0').map_or("", |(_, name)| name)
    }
}

impl TableKey for RobotsKey {
    const KIND: KeyKind = KeyKind::SiteHost;
    type Bytes = Vec<u8>;

    fn to_bytes(&self) -> Vec<u8> {
        self.0.clone().into_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        str::from_utf8(bytes).ok().filter(|key| key.contains('\0')).map(|key| Self(key.to_owned()))
    }
}

/// The stored record of a host. The schema describes the fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostRobots {
    pub product_token: String,
    pub origins: Vec<OriginRobots>,
}

/// The robots.txt of one origin of a host. The schema describes the fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OriginRobots {
    pub origin: String,
    pub robots_txt: Option<String>,
    pub allows_all: bool,
    pub expires_at: Timestamp,
    pub unreachable_since: Option<Timestamp>,
}

impl HostRobots {
    /// The rule that forbids a page to this crawler, as a line of robots.txt. `None` if none does, or if the rules are for
    /// a crawler of another name.
    pub fn forbidding_line(&self, url: &CanonicalUrl, product_token: &str) -> Option<String> {
        let origin = self.origins.iter().find(|known| known.origin == url.origin())?;
        let robots = RobotsFile::parse(origin.robots_txt.as_ref()?.as_bytes());
        let verdict = robots.check(product_token, url.path_and_query());
        let is_forbidden = !verdict.allowed && self.product_token == product_token;
        verdict.rule.filter(|_| is_forbidden).map(|pattern| format!("Disallow: {pattern}"))
    }
}

impl_message!(HostRobots, "HostRobots", include_str!("../../../schemas/state/HostRobots.avsc"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_forbids_a_page_is_that_of_its_origin_and_crawler() {
        let origin = |origin: &str, robots_txt: &str| OriginRobots {
            origin: origin.to_owned(),
            robots_txt: Some(robots_txt.to_owned()),
            allows_all: false,
            expires_at: Timestamp::from_secs(0),
            unreachable_since: None,
        };
        let rules = "User-agent: *\nDisallow: /cart\nAllow: /cart/help\nDisallow: /*?sort=\n";
        let origins = vec![origin("http://a.test", "User-agent: *\nDisallow: /\n"), origin("https://a.test", rules)];
        let robots = HostRobots { product_token: "recrawl".to_owned(), origins };
        let line = |url: &str, agent: &str| robots.forbidding_line(&CanonicalUrl::parse(url).unwrap(), agent);
        for (url, expected) in [
            ("https://a.test/cart/1", Some("Disallow: /cart")),
            ("https://a.test/lamps?sort=price", Some("Disallow: /*?sort=")),
            ("https://a.test/cart/help", None),
            ("https://a.test/", None),
            ("http://a.test/", Some("Disallow: /")),
            ("https://a.test:8443/cart", None),
        ] {
            assert_eq!(line(url, "recrawl").as_deref(), expected, "{url}");
        }
        assert_eq!(line("https://a.test/cart/1", "other"), None);
    }
}
