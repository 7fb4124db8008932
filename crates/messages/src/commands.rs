//! Commands of operators, and records of their effects on pages and hosts.

use crate::{AnswerKind, FetchOutcome, Look, impl_message};
use page::{CanonicalUrl, Host, PageId, Timestamp};
use serde::{Deserialize, Serialize};

/// Operator to scheduler: a command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Command {
    pub kind: CommandKind,
    /// The page; `None` for a command about a host.
    pub url: Option<CanonicalUrl>,
    /// The host; `None` for a command about a page.
    pub host: Option<Host>,
    /// Weight of a seeded page; 1 is ordinary.
    pub weight: f64,
    pub issued_at: Timestamp,
    /// The [`AuditedOrder`](crate::AuditedOrder) that it is part of. `None`: its effect is not recorded.
    pub order_id: Option<String>,
    /// The share of a partition in a command that goes to all of them.
    pub share: Option<CommandShare>,
}

impl Command {
    /// A command of this kind, still without a page or host, of ordinary weight and outside of any order.
    pub fn new(kind: CommandKind, issued_at: Timestamp) -> Self {
        Self { kind, url: None, host: None, weight: 1.0, issued_at, order_id: None, share: None }
    }
}

/// The share of one partition of the scheduler in a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandShare {
    /// The record key: any that leads to the partition.
    pub routing_key: String,
    /// Pages with lower ids are done.
    pub from: Option<PageId>,
}

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
    /// Ends a block.
    UnblockHost,
    /// Removes all pages of a host and of the hosts below it.
    ForgetSite,
    /// Removes the pages that were found first on a page or on the pages of a site, but no seeds. Each partition has its share.
    ForgetDiscovered,
    /// A command of a newer version that this one does not know.
    Unknown,
}

impl CommandKind {
    /// All that an operator can give.
    pub const ALL: [Self; 10] = [
        Self::Seed,
        Self::ListedSeed,
        Self::Forget,
        Self::Refetch,
        Self::PauseHost,
        Self::ResumeHost,
        Self::BlockHost,
        Self::UnblockHost,
        Self::ForgetSite,
        Self::ForgetDiscovered,
    ];

    /// The command's word, on the command line and over HTTP.
    pub fn word(self) -> &'static str {
        match self {
            Self::Seed => "seed",
            Self::ListedSeed => "seeds",
            Self::Forget => "forget",
            Self::Refetch => "refetch",
            Self::PauseHost => "pause",
            Self::ResumeHost => "resume",
            Self::BlockHost => "block",
            Self::UnblockHost => "unblock",
            Self::ForgetSite => "forget-site",
            Self::ForgetDiscovered => "forget-discovered",
            Self::Unknown => "unknown",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    pub fn subject(self) -> CommandSubject {
        match self {
            Self::Seed | Self::ListedSeed | Self::Forget | Self::Refetch | Self::Unknown => CommandSubject::Pages,
            Self::PauseHost | Self::ResumeHost | Self::BlockHost | Self::UnblockHost | Self::ForgetSite => {
                CommandSubject::Hosts
            }
            Self::ForgetDiscovered => CommandSubject::Sources,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandSubject {
    Pages,
    Hosts,
    /// Pages, or sites with all their pages, on which others were found.
    Sources,
}

/// The order to forget a page. It travels round the loop as a fetch does, behind the page's earlier records, and each
/// stage deletes its state of the page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageRemoval {
    /// The page. Its site is the record key.
    pub url: CanonicalUrl,
    /// When the scheduler deleted it.
    pub removed_at: Timestamp,
    /// Number of the last request for the page, if an operator has forgotten it. Answers to it and to earlier requests
    /// are ignored, however late they come. Absent: the page made room for another.
    pub last_attempt: Option<i64>,
}

/// Scheduler to detector: the first request for a seed brought no page. The detector publishes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeedFailure {
    /// The page. Its site is the record key.
    pub url: CanonicalUrl,
    /// When the request was sent, or refused without being sent.
    pub failed_at: Timestamp,
    pub outcome: FetchOutcome,
    pub status: Option<u16>,
    pub is_redirected: bool,
}

impl SeedFailure {
    /// The failure that a look reports. `None` if the look brought the page, or the request comes back to be sent again.
    pub fn of(look: &Look) -> Option<Self> {
        AnswerKind::of(look).is_failure().then(|| Self {
            url: look.url.clone(),
            failed_at: look.fetched_at,
            outcome: look.outcome,
            status: look.status,
            is_redirected: look.final_url.is_some(),
        })
    }

    /// The kind of answer under which status and logs report it.
    pub fn kind(&self) -> AnswerKind {
        AnswerKind::of_outcome(self.outcome, self.is_redirected)
    }
}

/// Broadcast of a scheduler partition to all fetchers: an operator blocked or paused a host, or ended that. Requests that were
/// handed out before are not sent any more. The latest per host counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostStop {
    /// The host, whichever port is named. Its name is also the record key.
    pub host: Host,
    /// Whether nothing may be requested from it.
    pub stopped: bool,
    /// When the scheduler took the command.
    pub taken_at: Timestamp,
}

impl_message!(Command, "Command", include_str!("../../../schemas/Command.avsc"));
impl_message!(PageRemoval, "PageRemoval", include_str!("../../../schemas/PageRemoval.avsc"));
impl_message!(SeedFailure, "SeedFailure", include_str!("../../../schemas/SeedFailure.avsc"));
impl_message!(HostStop, "HostStop", include_str!("../../../schemas/HostStop.avsc"));
