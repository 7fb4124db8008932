//! The tables of the scheduler.

use frontier::{HostSchedule, ScheduledPage};
use messages::topics::KeyKind;
use messages::{impl_message, message_union};
use page::{HostName, PageId, Timestamp};
use serde::{Deserialize, Serialize};
use stream::{Table, TableKey};
use sweeps::{CellChange, GroupChange, SiteState};

/// Pages of the frontier. Absence: the page is not known.
pub const PAGES: Table<PageId, ScheduledPage> = Table::new("pages").bounded_by(
    "`crawl.max_pages`, an equal share in each partition; seeds beyond it while others leave theirs",
    "`forget`; pages that make room for seeds, or for others of their host or of smaller sites",
);
/// Hosts of the frontier, by name. Absence: no request was ever made to the host.
pub const HOSTS: Table<HostName, HostSchedule> = Table::new("hosts").bounded_by(
    "hosts of `scheduler/pages`; as many without pages that rest; those that operators paused or blocked",
    "the removal of the last page, once the host's rest is over",
);
/// The estimator's sweep forecasts, for the policy `live`. Absence: no forecast was made.
pub const OUTLOOK: Table<OutlookKey, OutlookRecord> = Table::new("outlook")
    .bounded_by("as `estimator/sweeps` and `estimator/groups`", "the estimator, when their last page is removed");

/// Pages that an operator has forgotten. Nothing but a seed brings them back.
pub const FORGOTTEN: Table<PageId, ForgottenPage> =
    Table::new("forgotten").bounded_by("what operators have forgotten", "a seed that brings the page back");

/// A page that an operator has forgotten. The schema describes the fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgottenPage {
    pub forgotten_at: Timestamp,
    pub last_attempt: i64,
    pub lease_until: Option<Timestamp>,
    pub deleted_at: Option<Timestamp>,
    pub gone_at: Option<Timestamp>,
}

/// Key of a record in [`OUTLOOK`]: a character, then the 8 bytes of a hash, big-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutlookKey {
    /// Key of an [`OutlookGroup`]: `g`.
    Group(u64),
    /// Key of an [`OutlookCell`]: `c`.
    Cell(u64),
    /// Key of an [`OutlookSite`]: `s`.
    Site(u64),
}

impl TableKey for OutlookKey {
    const KIND: KeyKind = KeyKind::Hash;
    type Bytes = [u8; 9];

    fn to_bytes(&self) -> [u8; 9] {
        let message_and_hash = match *self {
            Self::Group(hash) => (b'g', hash),
            Self::Cell(hash) => (b'c', hash),
            Self::Site(hash) => (b's', hash),
        };
        message_and_hash.to_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (message, hash) = <(u8, u64)>::from_bytes(bytes)?;
        match message {
            b'g' => Some(Self::Group(hash)),
            b'c' => Some(Self::Cell(hash)),
            b's' => Some(Self::Site(hash)),
            _ => None,
        }
    }
}

message_union! {
    /// A record in [`OUTLOOK`].
    #[derive(Clone, Debug, PartialEq)]
    pub enum OutlookRecord {
        /// A group of pages that may change together.
        Group(OutlookGroup),
        Cell(OutlookCell),
        Site(OutlookSite),
    }
}

/// A group of pages that may change together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OutlookGroup(pub GroupChange);

/// The prior of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OutlookCell(pub CellChange);

/// Trust in sweeps at a site.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OutlookSite(pub SiteState);

impl_message!(OutlookGroup, "GroupChange", include_str!("../../../schemas/state/GroupChange.avsc"));
impl_message!(OutlookCell, "CellChange", include_str!("../../../schemas/state/CellChange.avsc"));
impl_message!(OutlookSite, "SiteState", include_str!("../../../schemas/state/SiteState.avsc"));
impl_message!(ForgottenPage, "ForgottenPage", include_str!("../../../schemas/state/ForgottenPage.avsc"));
