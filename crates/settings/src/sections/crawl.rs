//! The section `[crawl]`.

use crate::fault::SettingFault;
use crate::form::{Choice, Count, Form, List, Optional, Path, Text};
use page::CanonicalUrl;
use std::path::PathBuf;

section! {
    /// The scope of the crawl, and its operator.
    crawl: Crawl {
        /// File with one seed per line, for [`crate::seeds::parse`].
        seeds: Option<PathBuf> = Optional(Path("a file name, such as \"seeds.txt\"")),
        /// State directory.
        data: Option<PathBuf> = Optional(Path("a directory name, such as \"recrawl-data\"")),
        /// Product token with version, sent to sites and matched against robots.txt.
        user_agent: String = Text("a product name with a version, such as \"recrawl/0.1\"", is_user_agent),
        /// Contact for site owners: an http(s) URL or a mailto.
        contact: Option<String> = Optional(CONTACT),
        /// Which discovered links become pages.
        discover: Discover = Choice(&[
            ("none", Discover::None),
            ("same-host", Discover::SameHost),
            ("same-site", Discover::SameSite),
            ("anywhere", Discover::Anywhere),
        ]),
        /// Files of regular expressions, each of which an address must pass.
        url_filters: Vec<PathBuf> = List(Path("file names, such as [\"regex-urlfilter.txt\"]")),
        /// Most known pages, seeds included. Links found beyond that are only counted.
        max_pages: u64 = Count::new(1, 1_000_000_000_000),
        /// Most known pages of one host.
        max_pages_per_host: Option<u64> = Optional(Count::new(1, 1_000_000_000_000)),
        /// Most links between a seed and a discovered page.
        max_depth: u32 = Count::new(0, 1_000),
    }
}

/// Which discovered links become pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discover {
    /// None: only seeds are crawled.
    None,
    /// Links to the same authority.
    SameHost,
    /// Links within the same registrable domain.
    SameSite,
    /// All links.
    Anywhere,
}

const CONTACT: Text = Text(
    "a web page or mail address where owners of sites can reach you, such as \"https://example.org/our-crawler\" or \
     \"mailto:crawler@example.org\"",
    is_contact,
);

impl Crawl {
    /// The `User-Agent` header: the product, followed by the contact if there is one.
    pub fn user_agent_header(&self) -> String {
        match &self.contact {
            Some(contact) => format!("{} (+{contact})", self.user_agent),
            None => self.user_agent.clone(),
        }
    }

    /// The user agent up to the slash; it is matched against robots.txt.
    pub fn product_token(&self) -> &str {
        self.user_agent.split('/').next().unwrap_or_default().trim()
    }

    /// The fault of a missing contact, unless only loopback is crawled.
    pub fn contact_required_fault(&self, is_loopback_only: bool) -> Option<SettingFault> {
        (self.contact.is_none() && !is_loopback_only).then(|| SettingFault {
            origin: None,
            key: Some("crawl.contact".to_owned()),
            problem: "is not set, but the crawl includes hosts other than this machine".to_owned(),
            remedy: format!("write {}", CONTACT.expected()),
        })
    }
}

/// The text goes into a header and, up to the slash, is matched against robots.txt.
fn is_user_agent(text: &str) -> bool {
    let product = text.split(['/', ' ']).next().unwrap_or_default();
    let in_product = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !product.is_empty() && product.bytes().all(in_product) && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

/// The text goes into a header in parentheses, so it may contain neither parentheses nor spaces.
fn is_contact(text: &str) -> bool {
    let is_plain = text.bytes().all(|byte| (b'!'..=b'~').contains(&byte) && !b"()\\\"".contains(&byte));
    let is_mail =
        |address: &str| address.split_once('@').is_some_and(|(name, host)| !name.is_empty() && !host.is_empty());
    is_plain && text.strip_prefix("mailto:").map_or_else(|| CanonicalUrl::parse(text).is_ok(), is_mail)
}
