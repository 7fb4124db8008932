//! Hints that pages changed: from outside, and from the lists of their sites.

use crate::impl_message;
use page::{CanonicalUrl, PageId, SiteKey, Timestamp};
use serde::{Deserialize, Serialize};

/// A hint from outside that a page changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeHint {
    pub url: CanonicalUrl,
    pub page_id: PageId,
    pub kind: HintKind,
    /// When we received the hint.
    pub hinted_at: Timestamp,
    /// Time of the change as the hint states it.
    pub changed_at: Option<Timestamp>,
    /// URL of the sitemap or feed, or the sender of the ping.
    pub source: String,
}

/// Source of a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HintKind {
    /// The `lastmod` of a sitemap.
    Sitemap,
    /// An entry of a feed.
    Feed,
    /// A call to our HTTP interface.
    Ping,
    /// A WebSub hub.
    Websub,
}

/// Detector to scheduler: the entries of a sitemap or feed about known pages of its site. A long list takes several
/// records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteListing {
    /// The sitemap or feed.
    pub list_page_id: PageId,
    /// Its site. Also the record key.
    pub site_key: SiteKey,
    /// Whether it is a sitemap or a feed.
    pub kind: HintKind,
    /// Time of the look.
    pub read_at: Timestamp,
    /// Time of the look before. `None`: this is the first.
    pub previous_read_at: Option<Timestamp>,
    /// Number of known pages that the list names, dated or not, in all records of the look.
    pub listed: i64,
    /// Number of pages of its site that the list names, of which no look is known, and that are not followed.
    pub untaken: i64,
    /// Whether this is the look's first record.
    pub is_first: bool,
    /// Whether this is the look's last record. Pages in none of them are no longer listed.
    pub is_last: bool,
    /// Known pages with a date.
    pub pages: Vec<ListedPage>,
}

/// When a page last changed, according to a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedPage {
    pub url: CanonicalUrl,
    /// The earliest time of the change. A date without a time leaves the whole day open.
    pub changed_from: Timestamp,
    /// The latest time of the change.
    pub changed_until: Timestamp,
}

impl_message!(ChangeHint, "ChangeHint", include_str!("../../../schemas/ChangeHint.avsc"));
impl_message!(SiteListing, "SiteListing", include_str!("../../../schemas/SiteListing.avsc"));
