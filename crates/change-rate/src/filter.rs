//! The Gamma filter: after each look, the Gamma belief that has the mean and variance of the exact one.
//!
//! "Something changed within I days" multiplies the belief by 1 - e^(-rate × I), which is no longer a Gamma; assumed
//! density filtering keeps its first two moments. With p = I / (beta + I) and q = 1 - p:
//!
//! ```text
//! m1 = alpha / beta · (1 - q^(alpha+1)) / (1 - q^alpha)
//! m2 = alpha (alpha + 1) / beta² · (1 - q^(alpha+2)) / (1 - q^alpha)
//! alpha' = m1² / (m2 - m1²)        beta' = m1 / (m2 - m1²)
//! ```
//!
//! The difference loses digits and the three powers are one; the same in a form that does not and takes one logarithm
//! and one exponential is
//!
//! ```text
//! h = p / (q^-alpha - 1)           V = 1 + h (2 - p - alpha (p + h))
//! alpha' = alpha (1 + h)² / V      beta' = beta (1 + h) / V
//! ```
//!
//! Where something other than the page's own process leaves the page alone only with probability c, the factor is
//! 1 - c e^(-rate × I) and h = c p / (q^-alpha - c).
//!
//! Every other outcome keeps the belief a Gamma exactly. Source: B7 of the project's algorithm notes, which generalises
//! the half counts of Cho & Garcia-Molina (TOIT 2003) to irregular looks.

use crate::estimator::{ChangeRateEstimator, Outcome, sane_age_days, sane_interval_days, sane_share};
use crate::gamma::{Gamma, InvalidParameter};
use crate::special::{exp_minus_f32, fast_exp_m1_fraction, ln_1p_ratio};

/// Beyond this many changes a belief is as sharp as it needs to be, and the moments begin to lose digits.
const ALPHA_MAX: f64 = 1e4;

/// What is believed of a page before its first look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GammaPrior(Gamma);

impl GammaPrior {
    /// A prior worth `alpha` changes in `beta_days` days; both positive and finite.
    pub fn new(alpha: f64, beta_days: f64) -> Result<Self, InvalidParameter> {
        Gamma::new(alpha, beta_days).map(Self)
    }

    /// For a belief that is positive and finite by construction.
    #[inline]
    pub(crate) fn of(belief: Gamma) -> Self {
        Self(belief)
    }

    /// The belief itself.
    #[inline]
    pub fn belief(self) -> Gamma {
        self.0
    }

    /// Changes that the prior counts for.
    #[inline]
    pub fn alpha(self) -> f64 {
        self.0.alpha()
    }

    /// Days of watching that the prior counts for.
    #[inline]
    pub fn beta_days(self) -> f64 {
        self.0.beta_days()
    }
}

/// 0.4 changes in 100 days: what served best over all budgets on the change histories of real pages.
impl Default for GammaPrior {
    fn default() -> Self {
        Self(Gamma::of(0.4, 100.0))
    }
}

/// What a page's own looks added to the prior. Kept apart from it, so that the prior can be learned anew.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GammaState {
    /// Changes beyond the prior's, never negative.
    pub delta_alpha: f32,
    /// Days of watching beyond the prior's, never negative.
    pub delta_beta_days: f32,
}

/// Assumed-density filter over a Gamma prior, with optional forgetting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GammaFilter {
    prior: GammaPrior,
    forgetting_days: Option<f64>,
    /// 1 / forgetting time, 0 without forgetting: a look costs no division for it.
    fading_per_day: f64,
}

impl GammaFilter {
    /// A filter from this prior. With `forgetting_days`, what was learned fades by 1/e in that time, so that a page
    /// may change its habits; it must be positive and finite.
    pub fn new(prior: GammaPrior, forgetting_days: Option<f64>) -> Result<Self, InvalidParameter> {
        let forgetting_days =
            forgetting_days.map(|days| InvalidParameter::check("forgetting_days", days)).transpose()?;
        Ok(Self {
            prior,
            forgetting_days,
            fading_per_day: forgetting_days.map_or(0.0, |days| days.recip().min(f64::MAX)),
        })
    }

    /// The same filter from another prior.
    #[must_use]
    #[inline]
    pub fn with_prior(self, prior: GammaPrior) -> Self {
        Self { prior, ..self }
    }

    /// The belief before the first look.
    pub fn prior(&self) -> GammaPrior {
        self.prior
    }

    /// The time in which evidence fades by 1/e.
    pub fn forgetting_days(&self) -> Option<f64> {
        self.forgetting_days
    }

    /// The belief that prior and looks add up to.
    #[inline]
    pub fn posterior(&self, state: &GammaState) -> Gamma {
        Gamma::of(
            self.prior.alpha() + f64::from(state.delta_alpha.max(0.0)),
            self.prior.beta_days() + f64::from(state.delta_beta_days.max(0.0)),
        )
    }
}

/// Prior 0.4 in 100 days, forgetting 1000 days.
impl Default for GammaFilter {
    fn default() -> Self {
        Self { prior: GammaPrior::default(), forgetting_days: Some(1000.0), fading_per_day: 1.0 / 1000.0 }
    }
}

impl ChangeRateEstimator for GammaFilter {
    type State = GammaState;

    #[inline]
    fn update(&self, state: &mut GammaState, interval_days: f64, outcome: Outcome) {
        let interval_days = sane_interval_days(interval_days);
        let kept = exp_minus_f32(interval_days * self.fading_per_day);
        let faded = GammaState { delta_alpha: kept * state.delta_alpha, delta_beta_days: kept * state.delta_beta_days };
        if outcome == Outcome::Unchanged {
            // Most looks: days are added, whatever the prior.
            let days = f64::from(faded.delta_beta_days.max(0.0)) + interval_days;
            *state = GammaState { delta_alpha: faded.delta_alpha.max(0.0), delta_beta_days: days as f32 };
            return;
        }
        let belief = self.posterior(&faded).after(interval_days, outcome);
        *state = GammaState {
            delta_alpha: (belief.alpha() - self.prior.alpha()).max(0.0) as f32,
            delta_beta_days: (belief.beta_days() - self.prior.beta_days()).max(0.0) as f32,
        };
    }

    #[inline]
    fn fade(&self, state: &mut GammaState, kept: f64) {
        let kept = sane_share(kept) as f32;
        state.delta_alpha *= kept;
        state.delta_beta_days *= kept;
    }

    /// Adds the evidence. Exact where every look left the belief a Gamma; of changed looks it counts a little too much,
    /// because the later ones add less the more is known.
    fn merge(&self, state: &mut GammaState, other: &GammaState) {
        state.delta_alpha += other.delta_alpha;
        state.delta_beta_days += other.delta_beta_days;
    }

    fn change_rate_per_day(&self, state: &GammaState) -> f64 {
        self.posterior(state).mean()
    }

    fn fresh_probability(&self, state: &GammaState, days: f64) -> f64 {
        self.posterior(state).fresh_probability(days)
    }
}

impl Gamma {
    /// The belief after a look `interval_days` (not negative) after the one before.
    #[inline]
    pub fn after(self, interval_days: f64, outcome: Outcome) -> Gamma {
        let (alpha, beta) = (self.alpha(), self.beta_days());
        let (alpha, beta) = match outcome {
            Outcome::Unchanged => (alpha, beta + interval_days),
            Outcome::Changed => after_some_change(alpha, beta, interval_days, 1.0),
            Outcome::ChangedAt { age_days } => (alpha + 1.0, beta + sane_age_days(age_days, interval_days)),
            Outcome::ChangeCount(count) => (alpha + f64::from(count), beta + interval_days),
        };
        capped(alpha, beta)
    }

    /// The belief about the page's own rate after a look `interval_days` (not negative) after the one before, when
    /// something shared with other pages may have changed it too: with probability `clear` (0..=1) nothing of that
    /// sort did. Unchanged speaks for both and counts in full; changed is the less the page's own doing the smaller
    /// `clear` is, and at 0 tells nothing. The same as [`Gamma::after`] at 1.
    #[inline]
    pub fn after_shared(self, interval_days: f64, changed: bool, clear: f64) -> Gamma {
        let (alpha, beta) = if changed {
            // What is not a number says nothing of others' doing.
            let clear = if clear.is_nan() { 1.0 } else { clear.clamp(0.0, 1.0) };
            after_some_change(self.alpha(), self.beta_days(), interval_days, clear)
        } else {
            (self.alpha(), self.beta_days() + interval_days)
        };
        capped(alpha, beta)
    }
}

/// Both shrink alike, so that the mean stays.
#[inline]
fn capped(alpha: f64, beta: f64) -> Gamma {
    if alpha > ALPHA_MAX { Gamma::of(ALPHA_MAX, beta * (ALPHA_MAX / alpha)) } else { Gamma::of(alpha, beta) }
}

#[inline]
fn after_some_change(alpha: f64, beta: f64, interval_days: f64, clear: f64) -> (f64, f64) {
    // In an instant there is room for one change only.
    if interval_days < 1e-12 * beta && clear == 1.0 {
        return (alpha + 1.0, beta);
    }
    let p = interval_days / (beta + interval_days);
    let (numerator, denominator) = fast_exp_m1_fraction(alpha * ln_1p_ratio(interval_days, beta));
    let h = p * clear * denominator / (numerator + (1.0 - clear) * denominator);
    let grown = 1.0 + h;
    let scale = grown / (1.0 + h * (2.0 - p - alpha * (p + h)));
    (alpha * grown * scale, beta * scale)
}
