//! The Gamma filter: after each look, the Gamma belief that has the mean and variance of the exact one.
//!
//! "Something changed within I days" multiplies the belief by 1 - e^(-rate × I), which is no longer a Gamma; assumed
//! density filtering keeps its first two moments. With q = beta / (beta + I) and e_a = 1 - q^a:
//!
//! ```text
//! m1 = alpha / beta · e_(alpha+1) / e_alpha
//! m2 = alpha (alpha + 1) / beta² · e_(alpha+2) / e_alpha
//! alpha' = m1² / (m2 - m1²)        beta' = m1 / (m2 - m1²)
//! ```
//!
//! Every other outcome keeps the belief a Gamma exactly. Source: B7 of the project's algorithm notes, which generalises
//! the half counts of Cho & Garcia-Molina (TOIT 2003) to irregular looks.

use crate::estimator::{ChangeRateEstimator, Outcome, sane_interval_days};
use crate::gamma::{Gamma, InvalidParameter};

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

    /// Changes that the prior counts for.
    pub fn alpha(self) -> f64 {
        self.0.alpha()
    }

    /// Days of watching that the prior counts for.
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
}

impl GammaFilter {
    /// A filter from this prior. With `forgetting_days`, what was learned fades by 1/e in that time, so that a page
    /// may change its habits; it must be positive and finite.
    pub fn new(prior: GammaPrior, forgetting_days: Option<f64>) -> Result<Self, InvalidParameter> {
        let forgetting_days =
            forgetting_days.map(|days| InvalidParameter::check("forgetting_days", days)).transpose()?;
        Ok(Self { prior, forgetting_days })
    }

    /// The same filter from another prior.
    #[must_use]
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
        Self { prior: GammaPrior::default(), forgetting_days: Some(1000.0) }
    }
}

impl ChangeRateEstimator for GammaFilter {
    type State = GammaState;

    fn update(&self, state: &mut GammaState, interval_days: f64, outcome: Outcome) {
        let interval_days = sane_interval_days(interval_days);
        let kept = self.forgetting_days.map_or(1.0, |days| (-interval_days / days).exp()) as f32;
        let faded = GammaState { delta_alpha: kept * state.delta_alpha, delta_beta_days: kept * state.delta_beta_days };
        let belief = self.posterior(&faded).after(interval_days, outcome);
        *state = GammaState {
            delta_alpha: (belief.alpha() - self.prior.alpha()).max(0.0) as f32,
            delta_beta_days: (belief.beta_days() - self.prior.beta_days()).max(0.0) as f32,
        };
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
    pub fn after(self, interval_days: f64, outcome: Outcome) -> Gamma {
        let (alpha, beta) = (self.alpha(), self.beta_days());
        let (alpha, beta) = match outcome {
            Outcome::Unchanged => (alpha, beta + interval_days),
            Outcome::Changed => after_some_change(alpha, beta, interval_days),
            Outcome::ChangedAt { age_days } => (alpha + 1.0, beta + age_days.max(0.0).min(interval_days)),
            Outcome::ChangeCount(count) => (alpha + f64::from(count), beta + interval_days),
        };
        // Both shrink alike, so that the mean stays.
        let shrink = (ALPHA_MAX / alpha).min(1.0);
        Gamma::of(alpha * shrink, beta * shrink)
    }
}

fn after_some_change(alpha: f64, beta: f64, interval_days: f64) -> (f64, f64) {
    let ratio = interval_days / beta;
    // In an instant there is room for one change only.
    if ratio < 1e-12 {
        return (alpha + 1.0, beta);
    }
    let ln_q = -ratio.ln_1p();
    let seen = |shape: f64| -(shape * ln_q).exp_m1();
    let m1 = alpha / beta * seen(alpha + 1.0) / seen(alpha);
    let m2 = alpha * (alpha + 1.0) / (beta * beta) * seen(alpha + 2.0) / seen(alpha);
    let variance = (m2 - m1 * m1).max(f64::MIN_POSITIVE);
    (m1 * m1 / variance, m1 / variance)
}
