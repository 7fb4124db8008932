//! What else reaches the scheduler: links, commands, hints, and the demand of its other partitions.

use crate::{Band, impl_message};
use page::{CanonicalUrl, Host, PageId, SiteKey, Timestamp};
use serde::{Deserialize, Serialize};
use sweeps::{CellChange, GroupChange};

/// Detector to scheduler: the links of one page to one site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageLinks {
    /// The page the links stand on.
    pub source_page_id: PageId,
    /// Its address.
    pub source_url: CanonicalUrl,
    /// The site that all of the links point to; the record key.
    pub target_site: SiteKey,
    /// When the page was fetched.
    pub found_at: Timestamp,
    /// The links, each address once.
    pub links: Vec<Link>,
    /// Known pages of the site that the source lists, when it is a sitemap or feed.
    pub listed: i64,
    /// What kind of list the source is; `None` when it is none, or these links say nothing of it.
    pub list_kind: Option<HintKind>,
}

/// One link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Where it points to.
    pub url: CanonicalUrl,
    /// Its text, shortened; empty when it has none.
    pub anchor: String,
    /// Its rel attribute; empty when it has none.
    pub rel: String,
}

/// Operator to scheduler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// What to do.
    pub kind: CommandKind,
    /// The page it is about.
    pub url: Option<CanonicalUrl>,
    /// The host it is about.
    pub host: Option<Host>,
    /// How much a seeded page matters; 1 is ordinary.
    pub weight: f64,
    /// When the operator said so.
    pub issued_at: Timestamp,
}

/// What an operator wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandKind {
    /// Know this page.
    Seed,
    /// Forget this page.
    Forget,
    /// Fetch this page now.
    Refetch,
    /// Fetch nothing from this host.
    PauseHost,
    /// Fetch from this host again.
    ResumeHost,
    /// What a newer program wants, and this one does not know.
    Unknown,
}

/// Someone outside says that a page changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeHint {
    /// The page's address.
    pub url: CanonicalUrl,
    /// Its name.
    pub page_id: PageId,
    /// Who says so.
    pub kind: HintKind,
    /// When we learned of it.
    pub hinted_at: Timestamp,
    /// When the change is said to have happened.
    pub changed_at: Option<Timestamp>,
    /// The address of the sitemap or feed, or who pinged.
    pub source: String,
}

/// Who says that a page changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HintKind {
    /// `lastmod` of a sitemap.
    Sitemap,
    /// An entry of a feed.
    Feed,
    /// A call from outside.
    Ping,
    /// A WebSub hub.
    Websub,
}

/// One scheduler partition to all: how much fetching it wants at which price. The latest of each partition counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Demand {
    /// The partition that speaks; the record key.
    pub stage_partition: i32,
    /// When it counted.
    pub published_at: Timestamp,
    /// Pages it knows.
    pub pages: i64,
    /// Those of them that were never fetched.
    pub never_fetched: i64,
    /// Fetches per day that this partition brings to the shared budget.
    pub budget_fetches_per_day: f64,
    /// What its pages want, by bin; what a bin means follows from the policy.
    pub histogram: Vec<f32>,
    /// The revisit policy the bins are meant for.
    pub policy: String,
    /// The price it goes by; 0 when there is none yet.
    pub price: f64,
}

/// Estimator to scheduler: when pages of one site are believed to have changed together. What it leaves out stays as it
/// was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepForecast {
    /// The site; the record key.
    pub site_key: SiteKey,
    /// When the estimator made it.
    pub made_at: Timestamp,
    /// By how much sweeps have predicted the site's looks better than own rates alone, in ln units.
    pub lead: Option<f32>,
    /// Groups whose calendars changed.
    pub groups: Vec<GroupChange>,
    /// Cells whose priors changed.
    pub cells: Vec<CellChange>,
}

/// Detector to matcher: a page has, or no longer has, a band of its text's sketch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageBand {
    /// The band; the record key.
    pub band: Band,
    /// The page's name.
    pub page_id: PageId,
    /// The authority of its host.
    pub host: Host,
    /// When the version was fetched that the sketch is of.
    pub version_at: Timestamp,
    /// `mirrors::TextSketch`; none when the page no longer has the band.
    #[serde(with = "serde_bytes")]
    pub sketch: Option<Vec<u8>>,
}

/// Matcher and schedulers to a scheduler: `mirrors::Letter`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MirrorLetter {
    /// The page that is spoken to.
    pub to: PageId,
    /// The site of that page; the record key.
    pub to_site: SiteKey,
    /// The page spoken of: who speaks, but for a candidate.
    pub about: PageId,
    /// The site of that page.
    pub about_site: SiteKey,
    /// What is said.
    pub saying: MirrorSaying,
    /// The address of who asks or accepts.
    pub url: Option<CanonicalUrl>,
    /// The importance of who asks or accepts; else 0.
    pub weight: f64,
    /// Candidate, follow: the version of the page spoken to; none for its current one. Leave: the version in which who leaves
    /// was found changed; none when it leaves for another reason.
    pub version_at: Option<Timestamp>,
    /// Candidate: the version of the page spoken of; none for its current one.
    pub of_version_at: Option<Timestamp>,
    /// Follow, accept, leave: how many ties the follower had ended when it asked.
    pub epoch: i64,
}

/// What pages with the same text say to each other: `mirrors::Saying`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MirrorSaying {
    /// The page spoken of has your text.
    Candidate,
    /// I would follow you.
    Follow,
    /// Do.
    Accept,
    /// Do no longer.
    Release,
    /// I do no longer.
    Leave,
    /// What a newer program says, and this one does not know.
    Unknown,
}

impl_message!(PageBand, "PageBand", include_str!("../../../schemas/PageBand.avsc"));
impl_message!(MirrorLetter, "MirrorLetter", include_str!("../../../schemas/MirrorLetter.avsc"));
impl_message!(PageLinks, "PageLinks", include_str!("../../../schemas/PageLinks.avsc"));
impl_message!(Command, "Command", include_str!("../../../schemas/Command.avsc"));
impl_message!(ChangeHint, "ChangeHint", include_str!("../../../schemas/ChangeHint.avsc"));
impl_message!(Demand, "Demand", include_str!("../../../schemas/Demand.avsc"));
impl_message!(SweepForecast, "SweepForecast", include_str!("../../../schemas/SweepForecast.avsc"));
