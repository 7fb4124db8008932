//! The bins that a look overlaps, the same for every group of the page.

use crate::rules::{LEVEL_HAZARDS, LEVEL_SHARES, LEVELS};
use change_rate::exp_minus;

/// One number per level, for example its probability.
pub(crate) type LevelRow = [f64; LEVELS];

/// Per bin of a look, the probability that each level spares the page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LookBins {
    first: i32,
    last: i32,
    spared_first: LevelRow,
    spared_last: LevelRow,
}

impl LookBins {
    /// The bins of (from, to]; `None` for an empty span.
    pub(crate) fn of(from_days: f64, to_days: f64) -> Option<Self> {
        if from_days >= to_days || !from_days.is_finite() || !to_days.is_finite() {
            return None;
        }
        let first = bin_of(from_days);
        // A look at exactly midnight overlaps nothing of the day that begins.
        let last = bin_of(to_days) - i32::from(to_days.floor() == to_days);
        let part = |bin: i32| (to_days.min(f64::from(bin) + 1.0) - from_days.max(f64::from(bin))).clamp(0.0, 1.0);
        let spared_first = spared(part(first));
        let spared_last = if last == first { spared_first } else { spared(part(last)) };
        Some(Self { first, last, spared_first, spared_last })
    }

    pub(crate) fn first(&self) -> i32 {
        self.first
    }

    pub(crate) fn last(&self) -> i32 {
        self.last
    }

    /// Per level: the probability that this bin, as far as the look overlaps it, spared the page.
    #[inline]
    pub(crate) fn spared(&self, bin: i32) -> &LevelRow {
        const WHOLE: LevelRow = whole();
        if bin == self.first {
            &self.spared_first
        } else if bin == self.last {
            &self.spared_last
        } else {
            &WHOLE
        }
    }
}

/// The bin of a time. Times some thousands of years away share a bin.
pub(crate) fn bin_of(days: f64) -> i32 {
    // The cast turns NaN into 0.
    days.floor().clamp(-4e6, 4e6) as i32
}

const fn whole() -> LevelRow {
    let mut row = [1.0; LEVELS];
    let mut level = 0;
    while level < LEVELS {
        row[level] = 1.0 - LEVEL_SHARES[level];
        level += 1;
    }
    row
}

fn spared(part: f64) -> LevelRow {
    if part > 0.999 {
        return whole();
    }
    // Level 0 spares everything.
    let mut row = [1.0; LEVELS];
    row.iter_mut().zip(LEVEL_HAZARDS).skip(1).for_each(|(spared, hazard)| *spared = exp_minus(hazard * part));
    row
}
