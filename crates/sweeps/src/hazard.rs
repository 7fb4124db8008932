//! The sweep hazard of a group as a running total over time.

use crate::rules::KEPT_BINS;
use std::hint::black_box;

/// Bins dropped at once, so that drops are rare.
const DROPPED_BINS: usize = 64;

/// The summed sweep hazard of a group. The difference of the totals at two times is -ln of the probability that sweeps
/// spared a page of the group in between. Before and after the known bins it grows by `per_day`.
#[derive(Clone, Debug, PartialEq)]
pub struct Hazard {
    first_bin: i32,
    /// Total before each bin, and after the last: one more number than bins.
    totals: Vec<f32>,
    per_day: f32,
}

impl Hazard {
    /// A hazard without bins.
    pub(crate) fn starting_at(bin: i32, per_day: f64) -> Self {
        Self { first_bin: bin, totals: vec![0.0], per_day: per_day as f32 }
    }

    /// From totals; the first is the total before `first_bin`. `None` unless they are finite and never fall, and
    /// `per_day` is finite and not negative.
    pub fn from_totals(first_bin: i32, totals: Vec<f32>, per_day: f32) -> Option<Self> {
        let rising = totals.windows(2).all(|pair| pair[0] <= pair[1]);
        let finite = totals.iter().all(|total| total.is_finite()) && !totals.is_empty();
        (rising && finite && per_day >= 0.0 && per_day.is_finite()).then_some(Self { first_bin, totals, per_day })
    }

    /// The day of the first bin kept.
    pub fn first_bin(&self) -> i32 {
        self.first_bin
    }

    /// The day after the last bin.
    pub fn end_bin(&self) -> i32 {
        self.first_bin.saturating_add(self.bins() as i32)
    }

    /// The total before each bin and after the last.
    pub fn totals(&self) -> &[f32] {
        &self.totals
    }

    /// Expected share of the group's pages swept per day (mu).
    pub fn per_day(&self) -> f64 {
        f64::from(self.per_day)
    }

    /// Prefetches the newest totals.
    #[inline]
    pub fn fetch_ahead(&self) {
        black_box(self.totals.last().copied());
    }

    /// The total up to a time; only differences are meaningful.
    #[inline]
    pub fn until(&self, days: f64) -> f64 {
        let x = days - f64::from(self.first_bin);
        let bins = self.bins();
        if x <= 0.0 {
            f64::from(self.totals[0]) + f64::from(self.per_day) * x
        } else if x < bins as f64 {
            let bin = x as usize;
            let (before, after) = (f64::from(self.totals[bin]), f64::from(self.totals[bin + 1]));
            before + (x - bin as f64) * (after - before)
        } else {
            f64::from(self.totals[bins]) + f64::from(self.per_day) * (x - bins as f64)
        }
    }

    /// The hazard over (from, to]; zero for an empty span.
    #[inline]
    pub fn between(&self, from_days: f64, to_days: f64) -> f64 {
        if from_days < to_days { (self.until(to_days) - self.until(from_days)).max(0.0) } else { 0.0 }
    }

    fn bins(&self) -> usize {
        self.totals.len() - 1
    }

    pub(crate) fn set_per_day(&mut self, per_day: f64) {
        self.per_day = per_day as f32;
    }

    /// Adds a bin. Returns `true` when old bins were dropped to make room.
    pub(crate) fn push(&mut self, hazard: f64) -> bool {
        let full = self.bins() >= KEPT_BINS + DROPPED_BINS;
        if full {
            self.totals.drain(..DROPPED_BINS);
            self.first_bin += DROPPED_BINS as i32;
            let base = self.totals[0];
            self.totals.iter_mut().for_each(|total| *total -= base);
        }
        let last = self.totals[self.bins()];
        self.totals.push(last + hazard as f32);
        full
    }

    /// Adds bins of this hazard before the first.
    pub(crate) fn prepend(&mut self, bins: usize, hazard: f64) {
        let hazard = hazard as f32;
        let before = (0..bins).map(|bin| bin as f32 * hazard);
        let after = self.totals.iter().map(|total| total - self.totals[0] + bins as f32 * hazard);
        self.totals = before.chain(after).collect();
        self.first_bin -= bins as i32;
    }

    /// Replaces the hazards of the bins from `first` on, and shifts the totals after them.
    pub(crate) fn replace(&mut self, first: i32, hazards: &[f64]) {
        let start = (first - self.first_bin) as usize;
        let old_end = self.totals[start + hazards.len()];
        for (i, &hazard) in (start..).zip(hazards) {
            self.totals[i + 1] = self.totals[i] + hazard as f32;
        }
        let end = start + hazards.len();
        let moved = self.totals[end] - old_end;
        for i in end + 1..self.totals.len() {
            // Rounding must not make a total fall.
            self.totals[i] = (self.totals[i] + moved).max(self.totals[i - 1]);
        }
    }

    /// Takes over totals from `first` on. Replaces everything where they do not join.
    pub(crate) fn splice(&mut self, oldest: i32, first: i32, totals: &[f32], per_day: f32) {
        let joins = first >= self.first_bin && first <= self.end_bin() && oldest == self.first_bin;
        if joins {
            self.totals.truncate((first - self.first_bin) as usize);
            // Changes too small to publish may have left the totals before the join slightly too high.
            let ceiling = totals.first().copied().unwrap_or(f32::INFINITY);
            self.totals.iter_mut().rev().take_while(|total| **total > ceiling).for_each(|total| *total = ceiling);
            self.totals.extend_from_slice(totals);
        } else {
            self.first_bin = first;
            self.totals = totals.to_vec();
        }
        self.per_day = per_day;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_do_not_fall_where_news_join_what_was_received_before() {
        let mut hazard = Hazard::from_totals(5, vec![0.0, 0.25, 0.5, 0.5], 0.01).expect("rising");
        hazard.splice(5, 7, &[0.375, 0.5, 0.75], 0.02);
        assert_eq!(hazard.totals(), [0.0, 0.25, 0.375, 0.5, 0.75]);
        hazard.splice(5, 7, &[0.125, 0.5], 0.02);
        assert_eq!(hazard.totals(), [0.0, 0.125, 0.125, 0.5]);
        assert!(Hazard::from_totals(hazard.first_bin(), hazard.totals().to_vec(), 0.02).is_some());
    }
}
