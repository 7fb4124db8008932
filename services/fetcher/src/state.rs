//! The table of the fetcher: the robots.txt rules of each origin, for the day that they hold and for as long as the file
//! cannot be had.

use messages::impl_message;
use messages::topics::KeyKind;
use page::{CanonicalUrl, SiteKey, Timestamp};
use politeness::RobotsFile;
use serde::{Deserialize, Serialize};
use stream::{Table, TableKey};

/// Absence: no robots.txt of the origin was asked for, or it is not kept (`kept_robots`).
pub const ROBOTS: Table<RobotsKey, OriginRobots> = Table::new("robots").bounded_by(
    "64 files of a site; after 16, those of hosts of its pages only; none of a site without pages",
    "the sweep of the requests, a month after the file was due",
);

/// Key of a record in [`ROBOTS`]: the site, the name of the host and the origin, with zero bytes between. So the hosts of a
/// site stand together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RobotsKey(String);

impl RobotsKey {
    /// The key for the origin of a URL.
    pub fn of(url: &CanonicalUrl) -> Self {
        Self(format!("{}\0{}\0{}", url.site_key(), url.host_name(), url.origin()))
    }

    /// The bytes that the keys of all hosts of a site begin with.
    pub fn prefix_of(site: &SiteKey) -> Vec<u8> {
        format!("{site}\0").into_bytes()
    }

    /// The bytes that the keys of all origins of a URL's host begin with.
    pub fn prefix_of_host(url: &CanonicalUrl) -> Vec<u8> {
        format!("{}\0{}\0", url.site_key(), url.host_name()).into_bytes()
    }

    pub fn site(&self) -> &str {
        self.part(0)
    }

    pub fn host_name(&self) -> &str {
        self.part(1)
    }

    /// Scheme, host and port, as in a URL.
    pub fn origin(&self) -> &str {
        self.part(2)
    }

    fn part(&self, place: usize) -> &str {
        self.0.splitn(3, '\0').nth(place).unwrap_or_default()
    }
}

impl TableKey for RobotsKey {
    const KIND: KeyKind = KeyKind::SiteHost;
    type Bytes = Vec<u8>;

    fn to_bytes(&self) -> Vec<u8> {
        self.0.clone().into_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        str::from_utf8(bytes).ok().filter(|key| key.matches('\0').count() == 2).map(|key| Self(key.to_owned()))
    }
}

/// The stored robots.txt of one origin. The schema describes the fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OriginRobots {
    pub product_token: String,
    pub robots_txt: Option<String>,
    pub allows_all: bool,
    pub expires_at: Timestamp,
    pub unreachable_since: Option<Timestamp>,
}

impl OriginRobots {
    /// The rule that forbids a page of this origin to this crawler, as a line of robots.txt. `None` if none does, or if the
    /// rules are for a crawler of another name.
    pub fn forbidding_line(&self, url: &CanonicalUrl, product_token: &str) -> Option<String> {
        let robots = RobotsFile::parse(self.robots_txt.as_ref()?.as_bytes());
        let verdict = robots.check(product_token, url.path_and_query());
        let is_forbidden = !verdict.allowed && self.product_token == product_token;
        verdict.rule.filter(|_| is_forbidden).map(|pattern| format!("Disallow: {pattern}"))
    }
}

impl_message!(OriginRobots, "OriginRobots", include_str!("../../../schemas/state/OriginRobots.avsc"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_forbids_a_page_is_that_for_its_crawler() {
        let rules = "User-agent: *\nDisallow: /cart\nAllow: /cart/help\nDisallow: /*?sort=\n";
        let robots = OriginRobots {
            product_token: "recrawl".to_owned(),
            robots_txt: Some(rules.to_owned()),
            allows_all: false,
            expires_at: Timestamp::from_secs(0),
            unreachable_since: None,
        };
        let line = |url: &str, agent: &str| robots.forbidding_line(&CanonicalUrl::parse(url).unwrap(), agent);
        for (url, expected) in [
            ("https://a.test/cart/1", Some("Disallow: /cart")),
            ("https://a.test/lamps?sort=price", Some("Disallow: /*?sort=")),
            ("https://a.test/cart/help", None),
            ("https://a.test/", None),
        ] {
            assert_eq!(line(url, "recrawl").as_deref(), expected, "{url}");
        }
        assert_eq!(line("https://a.test/cart/1", "other"), None);
    }
}
