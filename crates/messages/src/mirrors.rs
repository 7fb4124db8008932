//! Pages that are copies of each other: how they are found, and their agreement on which is fetched.

use crate::{Band, impl_message};
use page::{CanonicalUrl, Host, PageId, SiteKey, Timestamp};
use serde::{Deserialize, Serialize};

/// Detector to matcher: a page has, or no longer has, a band of the sketch of its text or links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageBand {
    /// The band. Also the record key.
    pub band: Band,
    pub page_id: PageId,
    /// Authority of the page's host.
    pub host: Host,
    /// Fetch time of the version that was sketched.
    pub version_at: Timestamp,
    /// `mirrors::MirrorSketch`. `None` if the page no longer has the band.
    #[serde(with = "serde_bytes")]
    pub sketch: Option<Vec<u8>>,
}

/// Matcher or scheduler to scheduler: a message between two pages that are copies of each other, by the protocol of `mirrors`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MirrorMessage {
    /// The page addressed.
    pub to: PageId,
    /// Site of that page. Also the record key.
    pub to_site: SiteKey,
    /// The page concerned. It is the sender, except for a candidate.
    pub about: PageId,
    /// Site of that page.
    pub about_site: SiteKey,
    /// Type of the message.
    pub saying: MirrorSaying,
    /// Follow, accept: URL of the sender.
    pub url: Option<CanonicalUrl>,
    /// Follow, accept: importance of the sender. Otherwise 0.
    pub weight: f64,
    /// Candidate, follow: the version of the addressed page; `None` is its current one. Leave: the version in which the
    /// sender was found changed; `None` if it leaves for another reason.
    pub version_at: Option<Timestamp>,
    /// Candidate: the version of the page concerned. `None` is its current one.
    pub of_version_at: Option<Timestamp>,
    /// Follow, accept, leave: the number of ties that the follower had ended when it asked.
    pub epoch: i64,
}

/// The messages between copies: `mirrors::Saying`. A follower is not fetched itself but through the
/// page that it follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MirrorSaying {
    /// To a page: the page concerned is a copy of it.
    Candidate,
    /// A page asks to follow the addressed page.
    Follow,
    /// The addressed page may follow the sender.
    Accept,
    /// The addressed page must stop following the sender.
    Release,
    /// The sender no longer follows the addressed page.
    Leave,
    /// A message of a newer version that this one does not know.
    Unknown,
}

impl_message!(PageBand, "PageBand", include_str!("../../../schemas/PageBand.avsc"));
impl_message!(MirrorMessage, "MirrorMessage", include_str!("../../../schemas/MirrorMessage.avsc"));
