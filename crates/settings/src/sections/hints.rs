//! The section `[hints]`.

use crate::form::{Count, Feed, Flag, Hidden, Map, Optional};
use crate::values::Secret;
use page::CanonicalUrl;
use std::collections::BTreeMap;

section! {
    /// Sources of hints that a page changed.
    hints: Hints {
        /// Whether known sitemaps give hints.
        sitemaps: bool = Flag,
        /// Whether known feeds give hints.
        feeds: bool = Flag,
        /// Whether sitemaps and feeds named by known pages and their hosts become known.
        discover: bool = Flag,
        /// Token required to post to `/hints`. `None` disables posting.
        token: Option<Secret> = Optional(Hidden(16, 512)),
        /// IndexNow keys by host.
        indexnow: BTreeMap<String, Secret> = Map {
            value: Hidden(8, 128),
            expected: "a key for each host, such as { \"www.example.org\" = \"0123456789abcdef\" }",
            check_name: check_host,
        },
        /// WebSub topics, by the name at the end of the callback URL.
        websub: BTreeMap<String, CanonicalUrl> = Map {
            value: Feed,
            expected: "the URL of a feed for each name, such as { news = \"https://example.org/feed.xml\" }",
            check_name: check_callback,
        },
        /// WebSub secrets for signatures, by the same names.
        websub_secrets: BTreeMap<String, Secret> = Map {
            value: Hidden(16, 199),
            expected: "a secret for each name in hints.websub",
            check_name: check_callback,
        },
        /// Most pages per minute that one sender may give hints for.
        pages_per_minute: u32 = Count::new(1, 10_000_000),
    }
}

fn check_host(host: &str) -> Result<(), String> {
    let authority = CanonicalUrl::parse(&format!("http://{host}/")).map(|url| url.host());
    let is_host = authority.is_ok_and(|authority| authority.as_str() == host);
    if is_host { Ok(()) } else { Err(format!("{host:?} is not a host name in lower case, with a port if it has one")) }
}

fn check_callback(name: &str) -> Result<(), String> {
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if is_name { Ok(()) } else { Err(format!("{name:?} has other characters than letters, digits, '-' and '_'")) }
}
