//! Records of the sweep calendars.

use messages::impl_message;
use serde::{Deserialize, Serialize};
use sweeps::{CellState, GroupState};

/// A group's calendar.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SweepGroup(pub GroupState);

/// A cell's sums and priors. The fields are described in the schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct SweepCell {
    pub number: i64,
    pub state: CellState,
}

/// A site's score. The fields are described in the schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct SweepSite {
    pub site_key: page::SiteKey,
    pub lead: f32,
}

/// How many pages a candidate group has. The fields are described in the schema.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct SweepSize {
    pub pages: i64,
}

/// The newest day of the calendars. The fields are described in the schema.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct SweepDay {
    pub today: i32,
}

impl_message!(SweepGroup, "GroupState", include_str!("../../../schemas/state/GroupState.avsc"));
impl_message!(SweepCell, "SweepCell", include_str!("../../../schemas/state/SweepCell.avsc"));
impl_message!(SweepSite, "SweepSite", include_str!("../../../schemas/state/SweepSite.avsc"));
impl_message!(SweepSize, "SweepSize", include_str!("../../../schemas/state/SweepSize.avsc"));
impl_message!(SweepDay, "SweepDay", include_str!("../../../schemas/state/SweepDay.avsc"));
