//! Records of the sweep calendars, and how they become a [`sweeps::Model`] again.

use change_rate::GroupSums;
use messages::impl_message;
use serde::{Deserialize, Serialize};
use sweeps::{CellPriors, CellState, GroupState};

/// A group's calendar. The fields are described in the schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct SweepGroup {
    pub site: i64,
    pub pages: i64,
    pub first_day: i32,
    pub last_day: i32,
    #[serde(with = "serde_bytes")]
    pub rows: Vec<u8>,
    #[serde(with = "serde_bytes")]
    pub usual: Vec<u8>,
    #[serde(with = "serde_bytes")]
    pub settled: Vec<u8>,
    pub settled_days: f64,
    pub unsettled_day: i32,
    pub hazard_first_day: i32,
    #[serde(with = "serde_bytes")]
    pub hazard_totals: Vec<u8>,
    pub per_day: f32,
}

/// A cell's sums and priors. The fields are described in the schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct SweepCell {
    pub site: i64,
    pub number: i64,
    pub own_changes: f64,
    pub own_page_days: f64,
    pub plain_changes: f64,
    pub plain_page_days: f64,
    pub own_beta_days: f64,
    pub plain_beta_days: f64,
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

impl_message!(SweepGroup, "SweepGroup", include_str!("../../../schemas/state/SweepGroup.avsc"));
impl_message!(SweepCell, "SweepCell", include_str!("../../../schemas/state/SweepCell.avsc"));
impl_message!(SweepSite, "SweepSite", include_str!("../../../schemas/state/SweepSite.avsc"));
impl_message!(SweepSize, "SweepSize", include_str!("../../../schemas/state/SweepSize.avsc"));
impl_message!(SweepDay, "SweepDay", include_str!("../../../schemas/state/SweepDay.avsc"));

impl SweepGroup {
    pub(crate) fn of(state: &GroupState) -> Self {
        Self {
            site: state.site as i64,
            pages: i64::from(state.pages),
            first_day: state.first_bin,
            last_day: state.last_bin,
            rows: pack(&state.rows),
            usual: pack(&state.usual),
            settled: state.settled.iter().flat_map(|sum| sum.to_le_bytes()).collect(),
            settled_days: state.settled_bins,
            unsettled_day: state.unsettled_bin,
            hazard_first_day: state.hazard_first_bin,
            hazard_totals: pack(&state.hazard_totals),
            per_day: state.per_day,
        }
    }

    /// `None` when it does not have one number per level.
    pub(crate) fn state(&self, group: u64) -> Option<GroupState> {
        let settled: Vec<f64> =
            self.settled.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
        Some(GroupState {
            group,
            site: self.site as u64,
            pages: u32::try_from(self.pages).ok()?,
            first_bin: self.first_day,
            last_bin: self.last_day,
            rows: unpack(&self.rows),
            usual: unpack(&self.usual).try_into().ok()?,
            settled: settled.try_into().ok()?,
            settled_bins: self.settled_days,
            unsettled_bin: self.unsettled_day,
            hazard_first_bin: self.hazard_first_day,
            hazard_totals: unpack(&self.hazard_totals),
            per_day: self.per_day,
        })
    }
}

impl SweepCell {
    pub(crate) fn of(state: &CellState, number: i64) -> Self {
        Self {
            site: state.site as i64,
            number,
            own_changes: state.own.changes,
            own_page_days: state.own.page_days,
            plain_changes: state.plain.changes,
            plain_page_days: state.plain.page_days,
            own_beta_days: state.priors.own_beta_days,
            plain_beta_days: state.priors.plain_beta_days,
        }
    }

    pub(crate) fn state(&self, cell: u64) -> CellState {
        CellState {
            cell,
            site: self.site as u64,
            own: GroupSums { changes: self.own_changes, page_days: self.own_page_days },
            plain: GroupSums { changes: self.plain_changes, page_days: self.plain_page_days },
            priors: CellPriors { own_beta_days: self.own_beta_days, plain_beta_days: self.plain_beta_days },
        }
    }
}

fn pack(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn unpack(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}
