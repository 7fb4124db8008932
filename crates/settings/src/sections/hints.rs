//! The section `[hints]`.

use crate::form::{Count, Flag, Hidden, Map, Optional, Parsed};
use crate::values::Secret;
use page::CanonicalUrl;
use std::collections::BTreeMap;

section! {
    /// Who may say that a page changed.
    hints: Hints {
        /// Whether sitemaps among the known pages are listened to.
        sitemaps: bool = Flag,
        /// Whether feeds among the known pages are.
        feeds: bool = Flag,
        /// Whether sitemaps and feeds that known pages and their hosts name become known.
        discover: bool = Flag,
        /// What whoever posts to `/hints` must know; `None` when nobody may.
        token: Option<Secret> = Optional(Hidden(16, 512)),
        /// IndexNow keys by host.
        indexnow: BTreeMap<String, Secret> = Map {
            value: Hidden(8, 128),
            expected: "hosts with a key each, such as { \"www.example.org\" = \"0123456789abcdef\" }",
            check_name: check_host,
        },
        /// Topics that WebSub hubs may tell of, by the name at the end of the callback's address.
        websub: BTreeMap<String, CanonicalUrl> = Map {
            value: Parsed("the address of a feed", |text| CanonicalUrl::parse(text).ok()),
            expected: "names with the address of a feed each, such as { news = \"https://example.org/feed.xml\" }",
            check_name: check_callback,
        },
        /// The secrets they sign with, by the same names.
        websub_secrets: BTreeMap<String, Secret> = Map {
            value: Hidden(16, 199),
            expected: "names of hints.websub with a secret each",
            check_name: check_callback,
        },
        /// Most pages that one sender may speak of per minute.
        pages_per_minute: u32 = Count::new(1, 10_000_000),
    }
}

fn check_host(host: &str) -> Result<(), String> {
    let authority = CanonicalUrl::parse(&format!("http://{host}/")).map(|url| url.host());
    let is_host = authority.is_ok_and(|authority| authority.as_str() == host);
    if is_host { Ok(()) } else { Err(format!("{host:?} is not a host in lower case, its port behind it if any")) }
}

fn check_callback(name: &str) -> Result<(), String> {
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if is_name { Ok(()) } else { Err(format!("{name:?} is not of letters, digits, '-' and '_'")) }
}
