//! What the scheduler's stores hold.

use messages::topics::Key;
use messages::{Digest, impl_message, message_union};
use mirrors::Ties;
use page::{CanonicalUrl, Host, PageId, Timestamp};
use serde::{Deserialize, Serialize};
use stream::{Table, TableKey};
use sweeps::{CellChange, GroupChange, SiteState};

/// Absence: the page is not known.
pub const PAGES: Table<PageId, ScheduledPage> = Table::new("pages");
/// Absence: nothing was ever asked of the host.
pub const HOSTS: Table<Host, HostSchedule> = Table::new("hosts");
/// What the estimator foretells of sweeps, for the policy live. Absence: nothing was foretold.
pub const OUTLOOK: Table<OutlookKey, OutlookRecord> = Table::new("outlook");

/// The key of a record in [`OUTLOOK`]: a letter, and the 8 bytes of a hash, the highest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutlookKey {
    /// Of an [`OutlookGroup`]: `g`.
    Group(u64),
    /// Of an [`OutlookCell`]: `c`.
    Cell(u64),
    /// Of an [`OutlookSite`]: `s`.
    Site(u64),
}

impl TableKey for OutlookKey {
    const KIND: Key = Key::Hash;
    type Bytes = [u8; 9];

    fn to_bytes(&self) -> [u8; 9] {
        let letter_and_hash = match *self {
            Self::Group(hash) => (b'g', hash),
            Self::Cell(hash) => (b'c', hash),
            Self::Site(hash) => (b's', hash),
        };
        letter_and_hash.to_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (letter, hash) = <(u8, u64)>::from_bytes(bytes)?;
        match letter {
            b'g' => Some(Self::Group(hash)),
            b'c' => Some(Self::Cell(hash)),
            b's' => Some(Self::Site(hash)),
            _ => None,
        }
    }
}

message_union! {
    /// What [`OUTLOOK`] holds.
    #[derive(Clone, Debug, PartialEq)]
    pub enum OutlookRecord {
        /// A group of pages that may change together.
        Group(OutlookGroup),
        /// The prior of a cell.
        Cell(OutlookCell),
        /// Trust in sweeps at a site.
        Site(OutlookSite),
    }
}

/// A page, as the scheduler keeps it. The fields are described in the schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct ScheduledPage {
    pub url: CanonicalUrl,
    pub weight: f64,
    pub depth: i32,
    pub discovered_at: Timestamp,
    pub last_look_at: Option<Timestamp>,
    pub alpha: f64,
    pub beta_days: f64,
    pub attempt: i64,
    pub answered: i64,
    pub lease_until: Option<Timestamp>,
    pub held_until: Option<Timestamp>,
    pub refetch: bool,
    pub failures: i32,
    pub fetches: i64,
    pub changes: i64,
    pub last_change_at: Option<Timestamp>,
    pub outcome: Option<String>,
    pub verdict: Option<String>,
    pub status: Option<u16>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    pub content_digest: Option<Digest>,
    pub body_length: i64,
    pub own_alpha: f32,
    pub own_beta_days: f32,
    pub plain_alpha: f32,
    pub plain_beta_days: f32,
    pub hint_hazard: f64,
    pub hinted: i32,
    pub audit: bool,
    pub audits: i64,
    pub audits_fresh: i64,
    pub probe: bool,
    pub ties: Option<Ties>,
    pub listed: i64,
    pub list_kind: i32,
    pub refetch_in_flight: bool,
    pub probe_in_flight: bool,
}

impl ScheduledPage {
    /// The request under way is given up: what it was made for is still wanted.
    pub(crate) fn give_up_request(&mut self) {
        self.lease_until = None;
        self.refetch |= std::mem::take(&mut self.refetch_in_flight);
        self.probe |= std::mem::take(&mut self.probe_in_flight);
    }
}

/// A host, as the scheduler keeps it. The fields are described in the schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct HostSchedule {
    pub next_permitted_at: Timestamp,
    pub crawl_delay_ms: i64,
    pub paused: bool,
    pub hints_right: Vec<f32>,
    pub hints_wrong: Vec<f32>,
    pub changes_hinted: Vec<f32>,
    pub changes_unhinted: Vec<f32>,
    pub rests_unhinted: Vec<f32>,
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

impl_message!(ScheduledPage, "ScheduledPage", include_str!("../../../schemas/state/ScheduledPage.avsc"));
impl_message!(HostSchedule, "HostSchedule", include_str!("../../../schemas/state/HostSchedule.avsc"));
impl_message!(OutlookGroup, "GroupChange", include_str!("../../../schemas/state/GroupChange.avsc"));
impl_message!(OutlookCell, "CellChange", include_str!("../../../schemas/state/CellChange.avsc"));
impl_message!(OutlookSite, "SiteState", include_str!("../../../schemas/state/SiteState.avsc"));

#[cfg(test)]
mod tests {
    use super::*;
    use messages::{DecodeError, Encoded, Message};
    use mirrors::{Follower, Peer};
    use page::SiteKey;

    #[test]
    fn a_page_that_a_newer_scheduler_kept_is_read_once_its_schema_was_learned() {
        let peer = Peer { page_id: PageId([3; 16]), site: SiteKey::from_domain("b.example") };
        let follower = Follower { peer, weight: 2.0, epoch: 1 };
        let page = ScheduledPage {
            ties: Some(Ties { followers: vec![follower], epoch: 4, ..Ties::default() }),
            outcome: Some("fetched".to_owned()),
            ..sample()
        };
        let field = r#""fields": [{"name": "from_later", "type": "int", "default": 0},"#;
        let json = ScheduledPage::schema_record().json.replacen("\"fields\": [", field, 1);
        // The new field comes first, and zero is a zero byte.
        let datum = [&[0], &page.encode()[10..]].concat();
        let unheard = [&[0xC3, 0x01, 1, 2, 3, 4, 5, 6, 7, 8], &datum[..]].concat();
        assert!(matches!(ScheduledPage::decode(&unheard), Err(DecodeError::UnknownSchema { .. })));
        let fingerprint = messages::schemas::learn(json.as_bytes(), None).unwrap();
        let newer = [&[0xC3, 0x01], &fingerprint.to_bytes()[..], &datum].concat();
        assert_eq!(ScheduledPage::decode(&newer), Ok(page));
    }

    /// A page that was never fetched.
    fn sample() -> ScheduledPage {
        ScheduledPage {
            url: CanonicalUrl::parse("http://a.example/").unwrap(),
            weight: 1.0,
            depth: 0,
            discovered_at: Timestamp::from_micros(7),
            last_look_at: None,
            alpha: 1.0,
            beta_days: 10.0,
            attempt: 0,
            answered: 0,
            lease_until: None,
            held_until: None,
            refetch: false,
            failures: 0,
            fetches: 0,
            changes: 0,
            last_change_at: None,
            outcome: None,
            verdict: None,
            status: None,
            etag: None,
            last_modified: None,
            content_digest: None,
            body_length: 0,
            own_alpha: 0.0,
            own_beta_days: 0.0,
            plain_alpha: 0.0,
            plain_beta_days: 0.0,
            hint_hazard: 0.0,
            hinted: 0,
            audit: false,
            audits: 0,
            audits_fresh: 0,
            probe: false,
            ties: None,
            listed: 0,
            list_kind: 0,
            refetch_in_flight: false,
            probe_in_flight: false,
        }
    }
}
