//! What the estimator's stores hold.

use crate::{SweepCell, SweepGroup, SweepSite};
use messages::schemas::SchemaRecord;
use messages::{Message, impl_message};
use serde::{Deserialize, Serialize};
use stream::StoreId;

/// Key: the 16 bytes of a page id. Value: [`PageBelief`]. Absence: never observed.
pub const PAGES: StoreId = StoreId(0);

/// Key: a site, a zero byte, the 8 bytes of the hash of a cell (nothing for the whole site). Value: [`GroupBelief`]. Absence: nothing was learned.
/// For the estimator gamma-grouped.
pub const GROUPS: StoreId = StoreId(1);

/// For the estimator sweeps. Keys are a letter and the 8 bytes of a hash, values by letter:
///
/// | letter | value | absence |
/// |---|---|---|
/// | [`GROUP`] | [`SweepGroup`](crate::SweepGroup) | it was never large enough to have a calendar |
/// | [`CELL`] | [`SweepCell`](crate::SweepCell) | no page of it was observed |
/// | [`SITE`] | [`SweepSite`](crate::SweepSite) | no page of it was observed |
/// | [`SIZE`] | pages of a candidate group, 4 bytes, the lowest first | none |
/// | [`TODAY`], hash 0 | the newest day of the calendars since 1970, 4 bytes, the lowest first | no page was observed |
pub const SWEEPS: StoreId = StoreId(2);

/// Begins the keys of groups in [`SWEEPS`].
pub const GROUP: u8 = b'g';
/// Begins the keys of cells.
pub const CELL: u8 = b'c';
/// Begins the keys of sites.
pub const SITE: u8 = b's';
/// Begins the keys of the sizes of candidate groups.
pub const SIZE: u8 = b'n';
/// Begins the key of the newest day.
pub const TODAY: u8 = b't';

/// A page, as the estimator keeps it. The fields are described in the schema.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
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
}

/// A group of pages, as the estimator gamma-grouped keeps it. The fields are described in the schema.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct GroupBelief {
    pub changes: f64,
    pub page_days: f64,
}

impl_message!(GroupBelief, "GroupBelief", include_str!("../../../schemas/state/GroupBelief.avsc"));
impl_message!(PageBelief, "PageBelief", include_str!("../../../schemas/state/PageBelief.avsc"));

/// The schemas of what the stores hold.
pub fn state_schemas() -> Vec<SchemaRecord> {
    vec![
        PageBelief::schema_record(),
        GroupBelief::schema_record(),
        SweepGroup::schema_record(),
        SweepCell::schema_record(),
        SweepSite::schema_record(),
    ]
}

/// The key of a thing by its letter and hash.
pub fn key(letter: u8, hash: u64) -> [u8; 9] {
    let mut key = [letter; 9];
    key[1..].copy_from_slice(&hash.to_be_bytes());
    key
}
