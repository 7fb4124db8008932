//! The calendar of a group of pages: for each recent day, the probability that a common cause changed a page of it.

use crate::hazard::Hazard;
use crate::look_bins::{LevelRow, LookBins};
use crate::rules::{CARRY, LEVEL_PRIORS, LEVEL_SHARES, LEVELS, LIVE_BINS, PRIOR_BINS};
use std::hint::black_box;

/// Minimum probability of a level, so that a level once ruled out can come back.
const LEAST_PROBABILITY: f64 = 1e-20;

/// The learned state of a calendar. Its [`Hazard`] is stored apart, in the outlook.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Calendar {
    /// Probability of each level, by bin modulo [`LIVE_BINS`].
    rows: Box<[[f32; LEVELS]; LIVE_BINS]>,
    /// The first bin it ever had.
    pub(crate) first: i32,
    /// The bin in which it began. Earlier ones are known from dates only.
    pub(crate) begun: i32,
    /// The newest bin.
    pub(crate) last: i32,
    /// Frequency of each level.
    pub(crate) usual: [f32; LEVELS],
    /// Sums over the settled bins, and the number of these.
    pub(crate) settled: LevelRow,
    pub(crate) settled_bins: f64,
    /// The next bin to settle.
    pub(crate) unsettled: i32,
}

impl Calendar {
    /// A calendar with this one bin.
    pub(crate) fn starting_at(bin: i32) -> (Self, Hazard) {
        let usual = LEVEL_PRIORS.map(|p| p as f32);
        let calendar = Self {
            rows: Box::new([usual; LIVE_BINS]),
            first: bin,
            begun: bin,
            last: bin,
            usual,
            settled: [0.0; LEVELS],
            settled_bins: 0.0,
            unsettled: bin,
        };
        let mut hazard = Hazard::starting_at(bin, calendar.per_day());
        hazard.push(hazard_of(&LEVEL_PRIORS));
        (calendar, hazard)
    }

    /// Adds bins up to this one. Returns whether all totals of the hazard have changed.
    pub(crate) fn extend(&mut self, hazard: &mut Hazard, to: i32) -> bool {
        let missed = i64::from(to) - i64::from(self.last);
        if missed > 8 * LIVE_BINS as i64 {
            // After a silence of years nothing remains of the time before it.
            let learned = (self.usual, self.settled, self.settled_bins);
            let (fresh, fresh_hazard) = Self::starting_at(to);
            *self = Self { usual: learned.0, settled: learned.1, settled_bins: learned.2, ..fresh };
            *self.row_mut(to) = learned.0;
            *hazard = fresh_hazard;
            hazard.replace(to, &[hazard_of(&learned.0.map(f64::from))]);
            hazard.set_per_day(self.per_day());
            return true;
        }
        let mut all = false;
        while self.last < to {
            let mut row = self.usual;
            if self.last - self.first >= 3 {
                for (level, p) in row.iter_mut().enumerate() {
                    let spell = (0..3).map(|back| f64::from(self.row(self.last - back)[level])).sum::<f64>() / 3.0;
                    *p = ((1.0 - CARRY) * f64::from(*p) + CARRY * spell) as f32;
                }
            }
            // The oldest row makes room, and is settled now if it was not.
            self.settle(self.last + 2 - LIVE_BINS as i32);
            self.last += 1;
            *self.row_mut(self.last) = row;
            all |= hazard.push(hazard_of(&row.map(f64::from)));
        }
        all
    }

    /// Adds past bins, back to this one as far as there is room. Returns whether there are new ones.
    pub(crate) fn extend_back(&mut self, hazard: &mut Hazard, to: i32) -> bool {
        let to = to.max(self.last + 1 - LIVE_BINS as i32);
        if to >= self.first {
            return false;
        }
        let usual = self.usual;
        (to..self.first).for_each(|bin| *self.row_mut(bin) = usual);
        hazard.prepend((self.first - to) as usize, hazard_of(&usual.map(f64::from)));
        self.first = to;
        true
    }

    /// Prefetches what a look at these bins needs.
    #[inline]
    pub(crate) fn fetch_ahead(&self, bins: &LookBins) {
        black_box(self.row(bins.first())[0]);
        black_box(self.row(bins.last())[LEVELS - 1]);
    }

    /// Takes in a look. `unchanged` is the probability of finding no change, all causes together. Returns the first bin
    /// that it changed.
    pub(crate) fn look(&mut self, hazard: &mut Hazard, bins: &LookBins, changed: bool, unchanged: f64) -> Option<i32> {
        let first = bins.first().max(self.oldest());
        let last = bins.last().min(self.last);
        if first > last {
            return None;
        }
        let mut hazards = [0.0; LIVE_BINS];
        let count = (last - first + 1) as usize;
        for (bin, hazard) in (first..=last).zip(&mut hazards) {
            let spared = bins.spared(bin);
            let row = self.row_mut(bin);
            let mut p = row.map(f64::from);
            if changed {
                let bin_spared: f64 = p.iter().zip(spared).map(|(p, spared)| p * spared).sum();
                // "Changed" rules out that this bin and everything else spared the page.
                let rest = (unchanged / bin_spared).min(1.0);
                p.iter_mut().zip(spared).for_each(|(p, spared)| *p *= (1.0 - rest * spared).max(1e-12));
            } else {
                p.iter_mut().zip(spared).for_each(|(p, spared)| *p *= spared);
            }
            let scale = 1.0 / p.iter().sum::<f64>();
            p.iter_mut().for_each(|p| *p = (*p * scale).max(LEAST_PROBABILITY));
            *row = p.map(|p| p as f32);
            *hazard = hazard_of(&p);
        }
        hazard.replace(first, &hazards[..count]);
        Some(first)
    }

    /// Learns how often the group is swept, from bins at least `lag` old.
    pub(crate) fn refit(&mut self, hazard: &mut Hazard, lag: i32) {
        self.settle(self.last + 1 - lag);
        let (past, past_bins) = self.past();
        let bins = self.settled_bins + past_bins + PRIOR_BINS;
        for (level, usual) in self.usual.iter_mut().enumerate() {
            *usual = ((self.settled[level] + past[level] + PRIOR_BINS * LEVEL_PRIORS[level]) / bins) as f32;
        }
        hazard.set_per_day(self.per_day());
    }

    /// Scales its knowledge about frequencies down to the fraction `keep`.
    pub(crate) fn temper(&mut self, keep: f64) {
        self.settled.iter_mut().for_each(|sum| *sum *= keep);
        self.settled_bins *= keep;
    }

    /// Sums over the past bins, and the number of these. They are summed anew every day, because the dates of further
    /// pages may still change them. They are forgotten as they leave the ring: what has happened is better known by then.
    fn past(&self) -> (LevelRow, f64) {
        let mut sums = [0.0; LEVELS];
        let bins = self.oldest()..self.begun;
        let count = bins.len() as f64;
        for bin in bins {
            sums.iter_mut().zip(self.row(bin)).for_each(|(sum, p)| *sum += f64::from(*p));
        }
        (sums, count)
    }

    /// Settles the bins before this one.
    fn settle(&mut self, before: i32) {
        self.unsettled = self.unsettled.max(self.oldest()).max(self.begun);
        while self.unsettled < before.min(self.last + 1) {
            let row = *self.row(self.unsettled);
            self.settled.iter_mut().zip(row).for_each(|(sum, p)| *sum += f64::from(p));
            self.settled_bins += 1.0;
            self.unsettled += 1;
        }
    }

    /// Expected share of the pages swept per day.
    fn per_day(&self) -> f64 {
        self.usual.iter().zip(LEVEL_SHARES).map(|(p, share)| f64::from(*p) * share).sum()
    }

    /// The oldest bin that still learns.
    pub(crate) fn oldest(&self) -> i32 {
        self.first.max(self.last + 1 - LIVE_BINS as i32)
    }

    pub(crate) fn row(&self, bin: i32) -> &[f32; LEVELS] {
        &self.rows[bin.rem_euclid(LIVE_BINS as i32) as usize]
    }

    pub(crate) fn row_mut(&mut self, bin: i32) -> &mut [f32; LEVELS] {
        &mut self.rows[bin.rem_euclid(LIVE_BINS as i32) as usize]
    }
}

/// -ln of the probability that a bin spares a page.
fn hazard_of(row: &LevelRow) -> f64 {
    // 1 - sum p q keeps its digits where nothing is likely to happen.
    let swept: f64 = row.iter().zip(LEVEL_SHARES).map(|(p, share)| p * share).sum();
    if swept < 0.01 {
        // Most bins: four terms of the series are as good as an f32 can keep.
        swept * (1.0 + swept * (0.5 + swept * (1.0 / 3.0 + swept * 0.25)))
    } else {
        -(-swept.min(1.0 - 1e-9)).ln_1p()
    }
}
