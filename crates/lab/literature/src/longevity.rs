//! The value of a fetch when content counts by how long it stays (Olston & Pandey, WWW 2008; C21 of the algorithm
//! notes).
//!
//! D(t) is the share of a copy's fragments that are no longer on the page t days later. The value of a fetch is U(t) =
//! t D(t) minus the integral of D over 0..t. Fragments that come and go raise D at once and leave it flat, so U stays
//! small; lasting content raises U. Choosing by D itself is clearly worse.

use change_rate::Gamma;
use thiserror::Error;

/// D(t) as measured: it rises linearly between the points, and stays at its last value.
#[derive(Clone, Debug, PartialEq)]
pub struct DivergenceProfile {
    /// Days and divergence, starting at (0, 0).
    points: Vec<(f64, f64)>,
}

/// An invalid point of a profile.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error("point {index} of the profile is ({days} d, {divergence}); days must increase from 0, divergence lie in 0..=1")]
pub struct InvalidPoint {
    index: usize,
    days: f64,
    divergence: f64,
}

impl DivergenceProfile {
    /// From days since the base version and mean divergence from it, days increasing. A divergence below an earlier one
    /// (content that came back) counts as the earlier one.
    pub fn new(measured: &[(f64, f64)]) -> Result<Self, InvalidPoint> {
        let mut points = vec![(0.0, 0.0)];
        for (index, &(days, divergence)) in measured.iter().enumerate() {
            let (last_days, highest) = points[points.len() - 1];
            let at_start = index == 0 && days == 0.0 && divergence == 0.0;
            if at_start {
                continue;
            }
            if !(days > last_days && days.is_finite() && (0.0..=1.0).contains(&divergence)) {
                return Err(InvalidPoint { index, days, divergence });
            }
            points.push((days, divergence.max(highest)));
        }
        Ok(Self { points })
    }

    /// D(t): share of the copy that is no longer on the page, `days` after it was taken.
    pub fn divergence(&self, days: f64) -> f64 {
        self.up_to(days).0
    }

    /// U(t) = t D(t) - ∫ D, in days: the value of a fetch `days` after the last.
    pub fn crawl_value(&self, days: f64) -> f64 {
        let (divergence, integral) = self.up_to(days);
        (days.max(0.0) * divergence - integral).max(0.0)
    }

    /// D(t) and its integral from 0 to t.
    fn up_to(&self, days: f64) -> (f64, f64) {
        let days = days.max(0.0);
        let mut integral = 0.0;
        for pair in self.points.windows(2) {
            let ((from, low), (to, high)) = (pair[0], pair[1]);
            if days < to {
                let here = low + (high - low) * (days - from) / (to - from);
                return (here, integral + 0.5 * (low + here) * (days - from));
            }
            integral += 0.5 * (low + high) * (to - from);
        }
        let (last_days, last) = self.points[self.points.len() - 1];
        (last, integral + last * (days - last_days))
    }
}

/// A page's learned divergence, in 64 bytes: means at eight lags, each four times the previous one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LearnedDivergence {
    means: [f32; Self::LAGS_DAYS.len()],
    /// Number of observations that each mean counts for.
    counts: [f32; Self::LAGS_DAYS.len()],
}

impl LearnedDivergence {
    /// The lags at which divergence is kept.
    pub const LAGS_DAYS: [f64; 8] = [0.0625, 0.25, 1.0, 4.0, 16.0, 64.0, 256.0, 1024.0];

    /// Factor by which each observation reduces the weight of earlier ones: the last twenty decide.
    const KEPT: f32 = 0.95;

    /// Takes in the share of a version that was gone `days` later. It counts for the nearest lag (by ratio). Ignores a
    /// time that is not positive and a share out of range.
    pub fn observe(&mut self, days: f64, divergence: f64) {
        if !(days > 0.0 && (0.0..=1.0).contains(&divergence)) {
            return;
        }
        let nearest = ((days / Self::LAGS_DAYS[0]).log2() / 2.0).round().clamp(0.0, 7.0) as usize;
        let kept = Self::KEPT * self.counts[nearest];
        self.counts[nearest] = kept + 1.0;
        self.means[nearest] = (kept * self.means[nearest] + divergence as f32) / (kept + 1.0);
    }

    /// The learned profile; without observations nothing diverges.
    pub fn profile(&self) -> DivergenceProfile {
        let mut points = vec![(0.0, 0.0)];
        for ((&days, &mean), &count) in Self::LAGS_DAYS.iter().zip(&self.means).zip(&self.counts) {
            if count > 0.0 {
                let highest = points[points.len() - 1].1;
                points.push((days, f64::from(mean).max(highest)));
            }
        }
        DivergenceProfile { points }
    }
}

/// Fragments of a page with the same change behaviour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FragmentClass {
    /// Their value, as a share of the page's.
    pub share: f64,
    /// Belief about their change rate.
    pub belief: Gamma,
}

/// D(t) of a page of such fragments: Σ share × (1 - S(t)).
pub fn fragment_divergence(classes: &[FragmentClass], days: f64) -> f64 {
    classes.iter().map(|class| class.share * (1.0 - class.belief.fresh_probability(days))).sum()
}

/// U(t) of a page of such fragments, in days. U is linear in D, so the classes' values add up.
pub fn fragment_crawl_value(classes: &[FragmentClass], days: f64) -> f64 {
    classes.iter().map(|class| class.share * class.belief.crawl_value_binary(days)).sum()
}
