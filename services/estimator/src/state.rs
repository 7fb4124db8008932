//! The estimator's tables.

use crate::{SweepCell, SweepDay, SweepGroup, SweepSite, SweepSize};
use change_rate::ExtentEvidence;
use messages::topics::KeyKind;
use messages::{impl_message, message_union};
use page::{Host, PageId};
use serde::{Deserialize, Serialize};
use stream::{Table, TableKey};

/// Absent: the page was never observed.
pub const PAGES: Table<PageId, PageBelief> =
    Table::new("pages").bounded_by("`scheduler/pages`", "the removal of the page");

/// Used by the estimator `gamma-grouped`. Absent: none of its pages is known.
pub const GROUPS: Table<GroupKey, GroupBelief> = Table::new("groups")
    .bounded_by("two for each of `estimator/pages`", "the removal of the last page of the site or cell");

/// Used by the estimator `sweeps`. Absent: no page of the group, cell or site is known; or the group was never large
/// enough for a calendar.
pub const SWEEPS: Table<SweepKey, SweepRecord> = Table::new("sweeps").bounded_by(
    "seventeen for each of `estimator/pages`, and the day",
    "the removal of the last page of the group, cell or site",
);

/// Absent: no date of the host's pages was compared with a look.
pub const HOSTS: Table<Host, DatesOfHost> = Table::new("hosts")
    .bounded_by("hosts of `estimator/pages` with dates", "the removal of the last page that had a date");

/// The key of a group in [`GROUPS`]: a site, a zero byte, and for a cell the 8 bytes of its hash, big-endian. The cells
/// of a site follow it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupKey(Vec<u8>);

impl GroupKey {
    /// The key of a whole site.
    pub fn of_site(site: &str) -> Self {
        Self([site.as_bytes(), b"\0"].concat())
    }

    /// The key of a cell of this site.
    pub fn cell(&self, hash: u64) -> Self {
        Self([&self.0[..], &hash.to_be_bytes()].concat())
    }

    /// The hash of the cell that `key` names, if it is a cell of this site.
    pub fn cell_of(&self, key: &Self) -> Option<u64> {
        key.0.strip_prefix(&self.0[..])?.try_into().ok().map(u64::from_be_bytes)
    }

    /// Whether `key` names this group or a cell of this site.
    pub fn covers(&self, key: &Self) -> bool {
        key.0.starts_with(&self.0)
    }
}

impl TableKey for GroupKey {
    const KIND: KeyKind = KeyKind::Group;
    type Bytes = Vec<u8>;

    fn to_bytes(&self) -> Vec<u8> {
        self.0.clone()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.contains(&0).then(|| Self(bytes.to_vec()))
    }
}

/// The key of a record in [`SWEEPS`]: a character, and the 8 bytes of a hash, big-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SweepKey {
    /// Key of a [`SweepGroup`], with the character `g`.
    Group(u64),
    /// Key of a [`SweepCell`], with the character `c`.
    Cell(u64),
    /// Key of a [`SweepSite`], with the character `s`.
    Site(u64),
    /// Key of a [`SweepSize`], with the character `n`.
    Size(u64),
    /// Key of the [`SweepDay`], with the character `t`.
    Today,
}

impl TableKey for SweepKey {
    const KIND: KeyKind = KeyKind::Hash;
    type Bytes = [u8; 9];

    fn to_bytes(&self) -> [u8; 9] {
        let character_and_hash = match *self {
            Self::Group(hash) => (b'g', hash),
            Self::Cell(hash) => (b'c', hash),
            Self::Site(hash) => (b's', hash),
            Self::Size(hash) => (b'n', hash),
            Self::Today => (b't', 0),
        };
        character_and_hash.to_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (character, hash) = <(u8, u64)>::from_bytes(bytes)?;
        match character {
            b'g' => Some(Self::Group(hash)),
            b'c' => Some(Self::Cell(hash)),
            b's' => Some(Self::Site(hash)),
            b'n' => Some(Self::Size(hash)),
            b't' => Some(Self::Today),
            _ => None,
        }
    }
}

message_union! {
    /// A record of [`SWEEPS`].
    #[derive(Clone, Debug, PartialEq)]
    pub enum SweepRecord {
        Group(SweepGroup),
        Cell(SweepCell),
        Site(SweepSite),
        /// The number of pages of a candidate group.
        Size(SweepSize),
        /// The newest day of all calendars.
        Today(SweepDay),
    }
}

/// The state of a page. The schema describes the fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PageBelief {
    pub delta_alpha: f32,
    pub delta_beta_days: f32,
    pub fetches: i64,
    pub observations: i64,
    pub changes: i64,
    pub own_alpha: f32,
    pub own_beta_days: f32,
    pub estimator: String,
    pub numbers: Vec<f32>,
    pub dates: bool,
    pub extent_sum: f32,
    pub extent_changes: f32,
}

impl PageBelief {
    /// The evidence about the extents of the page's changes.
    pub(crate) fn extents(&self) -> ExtentEvidence {
        ExtentEvidence { sum: self.extent_sum, changes: self.extent_changes }
    }

    /// Takes in the extent of a change, if there was one.
    pub(crate) fn observe_extent(&mut self, extent: Option<f64>) {
        let mut extents = self.extents();
        extent.into_iter().for_each(|extent| extents.observe(extent));
        (self.extent_sum, self.extent_changes) = (extents.sum, extents.changes);
    }
}

/// The state of a group for the estimator `gamma-grouped`. The schema describes the fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupBelief {
    pub changes: f64,
    pub page_days: f64,
    pub pages: i64,
}

/// How often the dates claimed for a host's pages were right. The schema describes the fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DatesOfHost {
    pub looks: Vec<i64>,
    pub pages: i64,
}

impl_message!(DatesOfHost, "DatesOfHost", include_str!("../../../schemas/state/DatesOfHost.avsc"));
impl_message!(GroupBelief, "GroupBelief", include_str!("../../../schemas/state/GroupBelief.avsc"));
impl_message!(PageBelief, "PageBelief", include_str!("../../../schemas/state/PageBelief.avsc"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_sweeps_come_back_and_others_are_refused() {
        let keys =
            [SweepKey::Group(1), SweepKey::Cell(u64::MAX), SweepKey::Site(3), SweepKey::Size(4), SweepKey::Today];
        for key in keys {
            assert_eq!(SweepKey::from_bytes(&key.to_bytes()), Some(key));
        }
        assert_eq!(keys[1].to_bytes(), *b"c\xff\xff\xff\xff\xff\xff\xff\xff");
        assert_eq!(SweepKey::from_bytes(b"x12345678"), None);
        assert_eq!(SweepKey::from_bytes(b"g"), None);
    }
}
