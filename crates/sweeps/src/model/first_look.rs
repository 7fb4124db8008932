//! Evidence of the first look at a page.

use super::SweepModel;
use crate::belief::OwnEvidence;
use crate::look_bins::bin_of;
use crate::place::PagePlace;
use crate::rules::{DATES_REACH_DAYS, FIRST_DATE_WEIGHT};
use change_rate::GammaState;

impl SweepModel {
    /// Takes in the date that a page gives at its first look: it changed `age_days` before, and not since. Pages of a
    /// group with the same age are evidence of a past sweep, so calendars get past days as far back as they still learn.
    /// An age that is not positive, from a date after the look, is ignored.
    pub fn first_look(&mut self, place: &PagePlace, belief: &mut OwnEvidence, at_days: f64, age_days: f64) {
        // Written so that NaN returns, too.
        if !(age_days > 0.0 && at_days.is_finite()) {
            return;
        }
        let changed_days = at_days - age_days.min(DATES_REACH_DAYS);
        let members = self.members(place);
        for &group in members.groups.as_slice() {
            let hazard = &mut self.outlook.groups[group as usize].hazard;
            if self.calendars[group as usize].extend_back(hazard, bin_of(changed_days - 1.0)) {
                let first_bin = hazard.first_bin();
                self.report(group, first_bin, f32::INFINITY);
            }
        }
        let before = *belief;
        if age_days <= DATES_REACH_DAYS {
            self.absorb(&members, belief, changed_days - 1.0, changed_days, true);
        }
        self.absorb(&members, belief, changed_days, at_days, false);
        let learned = *belief;
        belief.own = part_way(before.own, learned.own);
        belief.plain = part_way(before.plain, learned.plain);
        let cell = &mut self.cells[members.cell as usize];
        cell.own.replace(&learned.own, &belief.own);
        cell.plain.replace(&learned.plain, &belief.plain);
    }
}

fn part_way(from: GammaState, to: GammaState) -> GammaState {
    let part = |from: f32, to: f32| from + FIRST_DATE_WEIGHT as f32 * (to - from);
    GammaState {
        delta_alpha: part(from.delta_alpha, to.delta_alpha),
        delta_beta_days: part(from.delta_beta_days, to.delta_beta_days),
    }
}
