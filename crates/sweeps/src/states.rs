//! The state of a model as plain numbers for storage.

use crate::belief::CellPriors;
use crate::calendar::Calendar;
use crate::hazard::Hazard;
use crate::rules::{LEVELS, LIVE_BINS};
use change_rate::GroupSums;
use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidState {
    what: &'static str,
    hash: u64,
    problem: &'static str,
}

impl InvalidState {
    pub(crate) fn group(hash: u64, problem: &'static str) -> Self {
        Self { what: "group", hash, problem }
    }

    pub(crate) fn cell(hash: u64, problem: &'static str) -> Self {
        Self { what: "cell", hash, problem }
    }

    pub(crate) fn site(hash: u64, problem: &'static str) -> Self {
        Self { what: "site", hash, problem }
    }
}

impl fmt::Display for InvalidState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "state of {} {:016x}: {}", self.what, self.hash, self.problem)
    }
}

impl std::error::Error for InvalidState {}

/// The stored state of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupState {
    /// Hash that identifies the group.
    #[serde(with = "crate::wire::bits")]
    pub group: u64,
    /// Hash of its site.
    #[serde(with = "crate::wire::bits")]
    pub site: u64,
    #[serde(with = "crate::wire::bits32")]
    pub pages: u32,
    /// The first bin its calendar ever had.
    pub first_bin: i32,
    /// The bin in which its calendar began.
    pub begun_bin: i32,
    /// The newest bin.
    pub last_bin: i32,
    /// Probabilities of the levels of the bins that still learn, oldest first, [`LEVELS`] each.
    #[serde(with = "crate::wire::f32s")]
    pub rows: Vec<f32>,
    /// Frequency of each level.
    #[serde(with = "crate::wire::f32s")]
    pub usual: [f32; LEVELS],
    /// Sums over the settled bins.
    #[serde(with = "crate::wire::f64s")]
    pub settled: [f64; LEVELS],
    /// Number of settled bins.
    pub settled_bins: f64,
    /// The next bin to settle.
    pub unsettled_bin: i32,
    /// The first bin of the hazard.
    pub hazard_first_bin: i32,
    /// [`Hazard::totals`].
    #[serde(with = "crate::wire::f32s")]
    pub hazard_totals: Vec<f32>,
    /// [`Hazard::per_day`].
    pub per_day: f32,
}

impl GroupState {
    pub(crate) fn of(group: u64, site: u64, pages: u32, calendar: &Calendar, hazard: &Hazard) -> Self {
        Self {
            group,
            site,
            pages,
            first_bin: calendar.first,
            begun_bin: calendar.begun,
            last_bin: calendar.last,
            rows: (calendar.oldest()..=calendar.last).flat_map(|bin| *calendar.row(bin)).collect(),
            usual: calendar.usual,
            settled: calendar.settled,
            settled_bins: calendar.settled_bins,
            unsettled_bin: calendar.unsettled,
            hazard_first_bin: hazard.first_bin(),
            hazard_totals: hazard.totals().to_vec(),
            per_day: hazard.per_day() as f32,
        }
    }

    pub(crate) fn into_parts(self) -> Result<(Calendar, Hazard), InvalidState> {
        let wrong = |problem| InvalidState::group(self.group, problem);
        let (mut calendar, _) = Calendar::starting_at(self.first_bin);
        if !(self.first_bin..=self.last_bin).contains(&self.begun_bin) {
            return Err(wrong("its beginning is not between its first bin and its last"));
        }
        calendar.begun = self.begun_bin;
        calendar.last = self.last_bin;
        let live = (calendar.oldest()..=calendar.last).count();
        let row_like = |row: &[f32]| row.iter().all(|p| (0.0..=1.0).contains(p)) && row.iter().sum::<f32>() > 0.5;
        if live > LIVE_BINS || self.rows.len() != live * LEVELS || !self.rows.chunks(LEVELS).all(row_like) {
            return Err(wrong("its rows are not one probability per level and bin"));
        }
        let sums = self.settled.iter().chain([&self.settled_bins]);
        if !row_like(&self.usual) || !sums.clone().all(|sum| *sum >= 0.0 && sum.is_finite()) {
            return Err(wrong("its sums are negative or not finite"));
        }
        for (bin, row) in (calendar.oldest()..).zip(self.rows.chunks(LEVELS)) {
            calendar.row_mut(bin).copy_from_slice(row);
        }
        calendar.usual = self.usual;
        calendar.settled = self.settled;
        calendar.settled_bins = self.settled_bins;
        calendar.unsettled = self.unsettled_bin;
        let hazard = Hazard::from_totals(self.hazard_first_bin, self.hazard_totals, self.per_day)
            .filter(|hazard| hazard.end_bin() == self.last_bin.saturating_add(1))
            .filter(|hazard| hazard.first_bin() <= calendar.oldest())
            .ok_or(InvalidState::group(
                self.group,
                "its hazard is not finite, decreases, or does not match its bins",
            ))?;
        Ok((calendar, hazard))
    }
}

/// The stored state of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellState {
    /// Hash that identifies the cell.
    #[serde(with = "crate::wire::bits")]
    pub cell: u64,
    /// Hash of its site.
    #[serde(with = "crate::wire::bits")]
    pub site: u64,
    /// Evidence of its pages about their own change processes.
    pub own: GroupSums,
    /// Evidence of its pages about all their changes.
    pub plain: GroupSums,
    /// The current priors of its pages.
    pub priors: CellPriors,
}

/// The stored state of a site, apart from its groups and cells.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteState {
    /// Hash that identifies the site.
    #[serde(with = "crate::wire::bits")]
    pub site: u64,
    /// Its [`crate::Outlook::lead`].
    pub lead: f32,
}
