//! Worth that travels along links, and the pages that they lead to.

use crate::{LinkFocus, impl_message};
use page::{CanonicalUrl, PageId, SiteKey, Timestamp};
use serde::{Deserialize, Serialize};

/// Ranker to ranker: the cash and the site value that the links of a page give to pages of another site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkCash {
    /// The site that the links point to. Also the record key.
    pub target_site: SiteKey,
    /// The page with the links.
    pub source_page_id: PageId,
    pub source_site: SiteKey,
    /// Links between that page and a seed.
    pub source_depth: i32,
    /// Time of the fetch.
    pub found_at: Timestamp,
    /// Whether pages that are new count as news of the page with the links.
    pub is_news: bool,
    /// Natural logarithm of the value that each link adds to the target's site.
    #[serde(default)]
    pub source_value_ln: f64,
    /// The links, without duplicate URLs.
    pub links: Vec<CashLink>,
    /// Judgement of the links by the topics. `None` without topics.
    pub focus: Option<LinkFocus>,
    /// Cash from trusted pages that each target receives, in the order of the links. Empty: none receives any.
    #[serde(default)]
    pub trust: Vec<f64>,
    /// Links to the site that were counted before and count again for its value. They give no cash.
    #[serde(default)]
    pub repeated_links: i32,
}

/// A link and the cash that it gives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CashLink {
    /// Target of the link.
    pub url: CanonicalUrl,
    /// OPIC's cash that the target receives.
    pub cash: f64,
}

/// Ranker to ranker: the virtual page's cash for the pages of one partition (`importance::opic`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VirtualCash {
    /// A text that Kafka's partitioner sends to the partition. Also the record key.
    pub routing_key: String,
    /// For all pages of the partition together.
    pub cash: f64,
    /// For the trusted pages of the partition together, in the system that begins at trusted pages.
    #[serde(default)]
    pub trust: f64,
}

/// Broadcast of a ranker partition to all others. The latest per partition counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankTotals {
    /// The sending partition. Also the record key.
    pub stage_partition: i32,
    /// Time of the count.
    pub published_at: Timestamp,
    /// Rises with every record of the partition.
    pub number: i64,
    /// Number of pages with an account.
    pub pages: i64,
    /// Cash noted at visits of its pages.
    pub noted: f64,
    /// Number of the pages that are trusted.
    #[serde(default)]
    pub trusted_pages: i64,
    /// Cash from trusted pages noted at visits.
    #[serde(default)]
    pub trust_noted: f64,
    /// Number of sites with a value by the links of other sites.
    #[serde(default)]
    pub valued_sites: i64,
    /// Sum of the natural logarithms of their values.
    #[serde(default)]
    pub site_values_ln: f64,
}

/// Ranker to scheduler: pages that links lead to, and their worth. A known page gets its new worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankedPages {
    /// Site of the pages. Also the record key.
    pub site_key: SiteKey,
    /// The page that links them. Absent if their worth changed for another reason.
    pub source_page_id: Option<PageId>,
    /// Site of that page.
    pub source_site: Option<SiteKey>,
    /// Time of its fetch.
    pub found_at: Timestamp,
    /// Whether pages that are new count as news of that page.
    pub is_news: bool,
    pub pages: Vec<RankedPage>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankedPage {
    pub url: CanonicalUrl,
    /// Links between the page and a seed; 0 if that is not known.
    pub depth: i32,
    /// Its weight by its links; 1 is average.
    pub importance: f64,
}

/// Scheduler to scheduler: a page of another partition has shown links to new pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PagesShown {
    /// The page with the links.
    pub page_id: PageId,
    /// Its site. Also the record key.
    pub site_key: SiteKey,
    /// Number of the new pages.
    pub pages: i64,
}

impl_message!(LinkCash, "LinkCash", include_str!("../../../../schemas/LinkCash.avsc"));
impl_message!(VirtualCash, "VirtualCash", include_str!("../../../../schemas/VirtualCash.avsc"));
impl_message!(RankTotals, "RankTotals", include_str!("../../../../schemas/RankTotals.avsc"));
impl_message!(RankedPages, "RankedPages", include_str!("../../../../schemas/RankedPages.avsc"));
impl_message!(PagesShown, "PagesShown", include_str!("../../../../schemas/PagesShown.avsc"));
