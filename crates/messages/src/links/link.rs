//! Links as they are found on pages.

use crate::{PageFocus, impl_message};
use page::{CanonicalUrl, PageId, SiteKey, Timestamp};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Target of the link.
    pub url: CanonicalUrl,
    /// Link text, shortened. Empty if it has none.
    pub anchor: String,
    /// The `rel` attribute. Empty if it has none.
    pub rel: String,
}

impl Link {
    /// The `rel` of a sitemap named by robots.txt, …
    pub const SITEMAP: &str = "sitemap";
    /// … of one named by a sitemap index, …
    pub const INDEXED_SITEMAP: &str = "index";
    /// … and of a feed named by a page.
    pub const FEED: &str = "alternate";
}

/// A site that links of a page lead to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkedSite {
    pub site: SiteKey,
    /// Number of the links, each target counted once.
    pub links: i32,
}

/// Detector to scheduler: the links from one page to one site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageLinks {
    /// The page with the links.
    pub source_page_id: PageId,
    pub source_url: CanonicalUrl,
    /// The site that all the links point to. Also the record key.
    pub target_site: SiteKey,
    /// Time of the fetch.
    pub found_at: Timestamp,
    /// The links, without duplicate URLs.
    pub links: Vec<Link>,
}

/// Detector to ranker: the links of a page that may be followed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageOutLinks {
    /// The page with the links. Its site is the record key.
    pub source_page_id: PageId,
    pub source_url: CanonicalUrl,
    /// Time of the fetch.
    pub found_at: Timestamp,
    /// Whether the page was looked at for the first time.
    pub is_first_look: bool,
    /// Whether the page says that it is a copy of another, or that it is not to be indexed.
    pub is_unwanted: bool,
    /// Hash of its text without digits, by which pages of a trap are alike.
    pub text_hash: i64,
    /// The links, without duplicate URLs.
    pub links: Vec<Link>,
    /// Judgement of the page and its links by the topics. `None` without topics.
    pub focus: Option<PageFocus>,
    /// Whether the look found the links of the last one, which `links` leaves out.
    #[serde(default)]
    pub is_repeated: bool,
    /// Other sites that those links lead to.
    #[serde(default)]
    pub repeated_sites: Vec<LinkedSite>,
}

impl_message!(PageLinks, "PageLinks", include_str!("../../../../schemas/PageLinks.avsc"));
impl_message!(PageOutLinks, "PageOutLinks", include_str!("../../../../schemas/PageOutLinks.avsc"));
