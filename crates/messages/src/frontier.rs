//! Further messages to the scheduler: links, commands, hints, demand, sweeps, mirrors and troubles.

use crate::{Band, Look, impl_message};
use page::{CanonicalUrl, Host, PageId, SiteKey, Timestamp};
use serde::{Deserialize, Serialize};
use sweeps::{CellChange, GroupChange};

/// Detector to scheduler: the links from one page to one site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageLinks {
    /// The page with the links.
    pub source_page_id: PageId,
    /// URL of that page.
    pub source_url: CanonicalUrl,
    /// The site that all the links point to. Also the record key.
    pub target_site: SiteKey,
    /// Time of the fetch.
    pub found_at: Timestamp,
    /// The links, without duplicate URLs.
    pub links: Vec<Link>,
}

/// Detector to scheduler: what a look at a sitemap or feed said of known pages of its site. A long list takes several
/// records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteListing {
    /// The sitemap or feed.
    pub list_page_id: PageId,
    /// Its site. Also the record key.
    pub site_key: SiteKey,
    /// Its type.
    pub kind: HintKind,
    /// Time of the look.
    pub read_at: Timestamp,
    /// Time of the look before. `None`: this is the first.
    pub previous_read_at: Option<Timestamp>,
    /// Number of known pages that the list names, dated or not, in all records of the look.
    pub listed: i64,
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
    /// URL of the page.
    pub url: CanonicalUrl,
    /// The earliest time of the change. A date without a time leaves the whole day open.
    pub changed_from: Timestamp,
    /// The latest time.
    pub changed_until: Timestamp,
}

/// A link.
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

/// Operator to scheduler: a command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// What to do.
    pub kind: CommandKind,
    /// The page concerned.
    pub url: Option<CanonicalUrl>,
    /// The host concerned.
    pub host: Option<Host>,
    /// Weight of a seeded page; 1 is ordinary.
    pub weight: f64,
    /// When the operator issued it.
    pub issued_at: Timestamp,
}

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandKind {
    /// Adds a page, also one that an operator has forgotten.
    Seed,
    /// Adds a page of a list, unless an operator has forgotten it: lists are sent again at every start.
    ListedSeed,
    /// Removes a page.
    Forget,
    /// Fetches a page now.
    Refetch,
    /// Stops fetching from a host.
    PauseHost,
    /// Resumes fetching from a host.
    ResumeHost,
    /// Stops fetching from a host, and takes in no pages of it.
    BlockHost,
    /// Ends that.
    UnblockHost,
    /// A command of a newer version that this one does not know.
    Unknown,
}

/// A hint from outside that a page changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeHint {
    /// URL of the page.
    pub url: CanonicalUrl,
    /// Id of the page.
    pub page_id: PageId,
    /// Source of the hint.
    pub kind: HintKind,
    /// When we received the hint.
    pub hinted_at: Timestamp,
    /// Stated time of the change.
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

/// Broadcast of a scheduler partition to all others: how much it wants to fetch at which price. The latest per
/// partition counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Demand {
    /// The sending partition. Also the record key.
    pub stage_partition: i32,
    /// Time of the count.
    pub published_at: Timestamp,
    /// Number of pages in the partition.
    pub pages: i64,
    /// Number of those that were never fetched.
    pub never_fetched: i64,
    /// Fetches per day that this partition adds to the shared budget.
    pub budget_fetches_per_day: f64,
    /// Demand of its pages by bin. The policy defines the bins.
    pub histogram: Vec<f32>,
    /// The revisit policy that defines the bins.
    pub policy: String,
    /// The price that the partition uses; 0 before there is one.
    pub price: f64,
}

/// Broadcast of a scheduler partition to all fetchers: an operator blocked or paused a host, or ended that. Requests that were
/// handed out before are not sent any more. The latest per host counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostStop {
    /// The host, whichever port is named. Its name is also the record key.
    pub host: Host,
    /// Whether it is to be asked for nothing.
    pub stopped: bool,
    /// When the scheduler took the command.
    pub told_at: Timestamp,
}

/// Estimator to scheduler: when pages of one site are believed to have changed together. Omitted parts stay unchanged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepForecast {
    /// The site. Also the record key.
    pub site_key: SiteKey,
    /// When the estimator made it.
    pub made_at: Timestamp,
    /// How much better sweeps have predicted the site's fetches than the pages' own rates alone, in ln units. `None`
    /// means unchanged.
    pub lead: Option<f32>,
    /// Groups whose calendars changed.
    pub groups: Vec<GroupChange>,
    /// Cells whose priors changed.
    pub cells: Vec<CellChange>,
}

/// Detector to matcher: a page has, or no longer has, a band of its text's sketch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageBand {
    /// The band. Also the record key.
    pub band: Band,
    /// Id of the page.
    pub page_id: PageId,
    /// Authority of the page's host.
    pub host: Host,
    /// Fetch time of the version that was sketched.
    pub version_at: Timestamp,
    /// `mirrors::TextSketch`. `None` if the page no longer has the band.
    #[serde(with = "serde_bytes")]
    pub sketch: Option<Vec<u8>>,
}

/// Matcher or scheduler to scheduler: `mirrors::Letter`, a message between two pages with the same text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MirrorLetter {
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

/// The messages between pages with the same text: `mirrors::Saying`. A follower is not fetched itself but through the
/// page that it follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MirrorSaying {
    /// To a page: the page concerned has the same text.
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

/// Scheduler to scheduler: a host failed or asked to wait when a redirect from another site led to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TroubleNotice {
    /// The address that was asked for. Its site is the record key.
    pub url: CanonicalUrl,
    /// The page whose redirects led there.
    pub page_id: PageId,
    /// When the request went out.
    pub fetched_at: Timestamp,
    /// Milliseconds to the end of the response or the failure.
    pub latency_ms: i32,
    /// HTTP status; absent when no response arrived.
    pub status: Option<u16>,
    /// Seconds the server asked to wait.
    pub retry_after_s: Option<i64>,
    /// Crawl-delay of the host's robots.txt, in milliseconds.
    pub robots_crawl_delay_ms: Option<i64>,
}

impl TroubleNotice {
    /// Of the host that a look led to.
    pub fn of(look: &Look) -> Self {
        Self {
            url: look.answered_by().clone(),
            page_id: look.page_id,
            fetched_at: look.fetched_at,
            latency_ms: look.latency_ms,
            status: look.status,
            retry_after_s: look.retry_after_s,
            robots_crawl_delay_ms: look.robots_crawl_delay_ms,
        }
    }
}

impl_message!(TroubleNotice, "TroubleNotice", include_str!("../../../schemas/TroubleNotice.avsc"));
impl_message!(PageBand, "PageBand", include_str!("../../../schemas/PageBand.avsc"));
impl_message!(MirrorLetter, "MirrorLetter", include_str!("../../../schemas/MirrorLetter.avsc"));
impl_message!(PageLinks, "PageLinks", include_str!("../../../schemas/PageLinks.avsc"));
impl_message!(Command, "Command", include_str!("../../../schemas/Command.avsc"));
impl_message!(ChangeHint, "ChangeHint", include_str!("../../../schemas/ChangeHint.avsc"));
impl_message!(SiteListing, "SiteListing", include_str!("../../../schemas/SiteListing.avsc"));
impl_message!(HostStop, "HostStop", include_str!("../../../schemas/HostStop.avsc"));
impl_message!(Demand, "Demand", include_str!("../../../schemas/Demand.avsc"));
impl_message!(SweepForecast, "SweepForecast", include_str!("../../../schemas/SweepForecast.avsc"));
