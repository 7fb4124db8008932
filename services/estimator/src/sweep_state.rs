//! The records of the sweep calendars.

use messages::impl_message;
use serde::{Deserialize, Serialize};
use sweeps::{CellState, GroupState};

/// The sweep calendar of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SweepGroup(pub GroupState);

/// The sums and priors of a cell. The schema describes the fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepCell {
    pub number: i64,
    pub state: CellState,
}

/// The score of a site, and the extents of its changes. The schema describes the fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepSite {
    pub site_key: page::SiteKey,
    pub lead: f32,
    pub extent_sum: f32,
    pub extent_changes: f32,
}

/// The number of pages of a candidate group. The schema describes the fields.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepSize {
    pub pages: i64,
}

/// The newest day of all calendars. The schema describes the fields.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepDay {
    pub today: i32,
}

impl_message!(SweepGroup, "GroupState", include_str!("../../../schemas/state/GroupState.avsc"));
impl_message!(SweepCell, "SweepCell", include_str!("../../../schemas/state/SweepCell.avsc"));
impl_message!(SweepSite, "SweepSite", include_str!("../../../schemas/state/SweepSite.avsc"));
impl_message!(SweepSize, "SweepSize", include_str!("../../../schemas/state/SweepSize.avsc"));
impl_message!(SweepDay, "SweepDay", include_str!("../../../schemas/state/SweepDay.avsc"));
