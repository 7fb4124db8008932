//! The Gamma filter: after each look, the Gamma belief with the mean and variance of the exact one.
//!
//! "Something changed within I days" multiplies the belief by 1 - e^(-rate × I), so it is no longer a Gamma;
//! assumed-density filtering keeps its first two moments. With p = I / (beta + I) and q = 1 - p:
//!
//! ```text
//! m1 = alpha / beta · (1 - q^(alpha+1)) / (1 - q^alpha)
//! m2 = alpha (alpha + 1) / beta² · (1 - q^(alpha+2)) / (1 - q^alpha)
//! alpha' = m1² / (m2 - m1²)        beta' = m1 / (m2 - m1²)
//! ```
//!
//! The difference loses digits, and the three powers can be computed as one. The same in a form that is stable and
//! takes one logarithm and one exponential:
//!
//! ```text
//! h = p / (q^-alpha - 1)           V = 1 + h (2 - p - alpha (p + h))
//! alpha' = alpha (1 + h)² / V      beta' = beta (1 + h) / V
//! ```
//!
//! If causes other than the page's own process spare the page with probability c only, the factor is
//! 1 - c e^(-rate × I) and h = c p / (q^-alpha - c).
//!
//! After every other outcome the belief is exactly a Gamma. Source: B7 of the project's algorithm notes, which
//! generalises the half counts of Cho & Garcia-Molina (TOIT 2003) to irregular looks.

use crate::estimator::{ChangeRateEstimator, LookOutcome, sane_age_days, sane_interval_days, sane_share};
use crate::gamma::{Gamma, InvalidParameter};
use crate::special::{exp_minus_f32, fast_exp_m1_fraction, ln_1p_ratio};

/// Maximum alpha: a belief with more changes is sharp enough, and the moments begin to lose digits.
const ALPHA_MAX: f64 = 1e4;

/// The belief about a page before its first look.
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

    /// The prior as a belief.
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

/// 0.4 changes in 100 days: the best over all budgets on the change histories of real pages.
impl Default for GammaPrior {
    fn default() -> Self {
        Self(Gamma::of(0.4, 100.0))
    }
}

/// Evidence of a page's own looks beyond the prior. Stored apart, so that the prior can be learned again.
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
    /// 1 / forgetting time, 0 without forgetting: saves a division per look.
    fading_per_day: f64,
}

impl GammaFilter {
    /// A filter with this prior. With `forgetting_days`, which must be positive and finite, evidence fades to 1/e in
    /// that time, so that a page may change its habits.
    pub fn new(prior: GammaPrior, forgetting_days: Option<f64>) -> Result<Self, InvalidParameter> {
        let forgetting_days =
            forgetting_days.map(|days| InvalidParameter::check("forgetting_days", days)).transpose()?;
        Ok(Self {
            prior,
            forgetting_days,
            fading_per_day: forgetting_days.map_or(0.0, |days| days.recip().min(f64::MAX)),
        })
    }

    #[must_use]
    #[inline]
    pub fn with_prior(self, prior: GammaPrior) -> Self {
        Self { prior, ..self }
    }

    /// The belief before the first look.
    pub fn prior(&self) -> GammaPrior {
        self.prior
    }

    /// The time in which evidence fades to 1/e.
    pub fn forgetting_days(&self) -> Option<f64> {
        self.forgetting_days
    }

    /// The belief from prior and looks together.
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
    fn update(&self, state: &mut GammaState, interval_days: f64, outcome: LookOutcome) {
        let interval_days = sane_interval_days(interval_days);
        let kept = exp_minus_f32(interval_days * self.fading_per_day);
        let faded = GammaState { delta_alpha: kept * state.delta_alpha, delta_beta_days: kept * state.delta_beta_days };
        if outcome == LookOutcome::Unchanged {
            // Most looks only add days, whatever the prior.
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

    /// Adds the evidence. Exact where every look left the belief a Gamma. Changed looks count slightly too much,
    /// because later ones add less the more is known.
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
    /// The belief after a look `interval_days` (not negative) after the previous one.
    #[inline]
    pub fn after(self, interval_days: f64, outcome: LookOutcome) -> Gamma {
        let (alpha, beta) = (self.alpha(), self.beta_days());
        let (alpha, beta) = match outcome {
            LookOutcome::Unchanged => (alpha, beta + interval_days),
            LookOutcome::Changed => after_some_change(alpha, beta, interval_days, 1.0),
            LookOutcome::ChangedAt { age_days } => (alpha + 1.0, beta + sane_age_days(age_days, interval_days)),
            LookOutcome::ChangeCount(count) => (alpha + f64::from(count), beta + interval_days),
        };
        capped(alpha, beta)
    }

    /// The belief about the page's own rate after a look `interval_days` (not negative) after the previous one, when a
    /// cause shared with other pages may have changed it too. `clear` (0..=1) is the probability that no such cause
    /// did. "Unchanged" is evidence against both and counts in full. "Changed" says less about the page's own process
    /// the smaller `clear` is, and nothing at 0. At 1 this is [`Gamma::after`].
    #[inline]
    pub fn after_shared(self, interval_days: f64, changed: bool, clear: f64) -> Gamma {
        let (alpha, beta) = if changed {
            // NaN says nothing about other causes.
            let clear = if clear.is_nan() { 1.0 } else { clear.clamp(0.0, 1.0) };
            after_some_change(self.alpha(), self.beta_days(), interval_days, clear)
        } else {
            (self.alpha(), self.beta_days() + interval_days)
        };
        capped(alpha, beta)
    }
}

/// Scales both, so that the mean stays.
#[inline]
fn capped(alpha: f64, beta: f64) -> Gamma {
    if alpha > ALPHA_MAX { Gamma::of(ALPHA_MAX, beta * (ALPHA_MAX / alpha)) } else { Gamma::of(alpha, beta) }
}

#[inline]
fn after_some_change(alpha: f64, beta: f64, interval_days: f64, clear: f64) -> (f64, f64) {
    // An instant has room for one change only.
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
