//! The crawl value, tabulated for all pages of a host.
//!
//! In units of 1 / λ, the value depends only on recall, precision and stale exponent. So one table serves every page
//! with signals of one quality.

use super::model::SignalModel;
use super::quality::SignalQuality;

const POINTS: usize = 64;
const LN_FIRST: f64 = -10.0;
const LN_STEP: f64 = 14.0 / (POINTS - 1) as f64;

/// Beyond this recall only signals count, and the value has steps that no table can follow.
const RECALL_MAX: f64 = 0.99;

/// ln(λ V) at 64 stale exponents from e^-10 to e^4, evenly spaced in the logarithm.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueTable {
    ln_values: [f64; POINTS],
}

impl ValueTable {
    /// For signals of this quality. Takes some hundred microseconds: keep one per quality, rounded as needed.
    pub fn new(quality: SignalQuality) -> Self {
        let quality = SignalQuality::new(quality.recall().min(RECALL_MAX), quality.precision()).unwrap_or(quality);
        let model = SignalModel::new(1.0, quality);
        let ln_value = |point: usize| model.crawl_value((LN_FIRST + LN_STEP * point as f64).exp()).ln();
        Self { ln_values: std::array::from_fn(ln_value) }
    }

    /// [`SignalModel::crawl_value`] within 1 % (3 % at a recall of 0.95, where signals nearly make steps), in days.
    /// Zero for a page that never changes.
    pub fn crawl_value(&self, change_rate_per_day: f64, stale_exponent: f64) -> f64 {
        if change_rate_per_day.is_nan()
            || change_rate_per_day <= 0.0
            || stale_exponent.is_nan()
            || stale_exponent <= 0.0
        {
            return 0.0;
        }
        let position = (stale_exponent.ln() - LN_FIRST) / LN_STEP;
        // Below the first point the value continues as a power; above the last it has reached its bound.
        let position = position.min((POINTS - 1) as f64);
        let left = (position.max(0.0) as usize).min(POINTS - 2);
        let (low, high) = (self.ln_values[left], self.ln_values[left + 1]);
        (low + (high - low) * (position - left as f64)).exp() / change_rate_per_day
    }
}
