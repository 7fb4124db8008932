//! The belief about one page.

use crate::rules::{FORGETTING_DAYS, PRIOR_ALPHA, PRIOR_BETA_DAYS};
use change_rate::{Gamma, GammaState, exp_minus};
use serde::{Deserialize, Serialize};

/// Evidence of a page's own looks beyond the prior of its cell, in 16 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OwnEvidence {
    /// Evidence about its own change process, without sweeps.
    pub own: GammaState,
    /// Evidence about all its changes, as if there were no sweeps.
    pub plain: GammaState,
}

impl OwnEvidence {
    /// The same evidence, scaled down to the fraction `keep`.
    #[must_use]
    pub fn tempered(self, keep: f64) -> Self {
        Self { own: faded(self.own, keep), plain: faded(self.plain, keep) }
    }
}

#[inline]
pub(crate) fn faded(state: GammaState, keep: f64) -> GammaState {
    let keep = keep as f32;
    GammaState { delta_alpha: keep * state.delta_alpha, delta_beta_days: keep * state.delta_beta_days }
}

/// The fraction of evidence that remains after some days.
#[inline]
pub(crate) fn kept_after(days: f64) -> f64 {
    exp_minus(days / FORGETTING_DAYS)
}

/// The belief about a cell's pages before their first look: the days of watching that the prior counts for, with its
/// [`PRIOR_ALPHA`] changes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellPriors {
    /// For a page's own process.
    pub own_beta_days: f64,
    /// For all its changes.
    pub plain_beta_days: f64,
}

impl Default for CellPriors {
    fn default() -> Self {
        Self { own_beta_days: PRIOR_BETA_DAYS, plain_beta_days: PRIOR_BETA_DAYS }
    }
}

impl CellPriors {
    /// The belief about a page's own change rate, without sweeps.
    #[inline]
    pub fn own(&self, belief: &OwnEvidence) -> Gamma {
        posterior(self.own_beta_days, belief.own)
    }

    /// The belief about a page's change rate, all causes together.
    #[inline]
    pub fn plain(&self, belief: &OwnEvidence) -> Gamma {
        posterior(self.plain_beta_days, belief.plain)
    }
}

/// Combines prior and evidence. Invalid evidence (from elsewhere) is ignored.
#[inline]
pub(crate) fn posterior(prior_beta_days: f64, evidence: GammaState) -> Gamma {
    let beyond = |number: f32| if number > 0.0 && number.is_finite() { f64::from(number) } else { 0.0 };
    Gamma::new(PRIOR_ALPHA + beyond(evidence.delta_alpha), prior_beta_days + beyond(evidence.delta_beta_days))
        .expect("the prior is positive and the evidence is not negative")
}
