//! A belief about one page's change rate: Gamma distributed, with shape alpha and rate beta (in days).
//!
//! Read `alpha` as changes and `beta` as days of watching. Averaging the Poisson model over the belief gives the Lomax
//! curve S(t) = (beta / (beta + t))^alpha for a copy's freshness. Because of its heavy tail, an unknown page is never
//! abandoned. Formulas: A5 and B7 of the project's algorithm notes; the crawl value is Olston & Pandey 2008, section
//! 2.2.

use crate::special;
use thiserror::Error;

#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error("{name} is {value}; it must be {expected}")]
pub struct InvalidParameter {
    name: &'static str,
    value: f64,
    expected: &'static str,
}

impl InvalidParameter {
    /// `expected` continues the sentence "it must be".
    pub(crate) fn new(name: &'static str, value: f64, expected: &'static str) -> Self {
        Self { name, value, expected }
    }

    #[inline]
    pub fn check(name: &'static str, value: f64) -> Result<f64, InvalidParameter> {
        let usable = value > 0.0 && value.is_finite();
        if usable { Ok(value) } else { Err(InvalidParameter::new(name, value, "a positive, finite number")) }
    }
}

/// A Gamma distribution over changes per day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gamma {
    alpha: f64,
    beta_days: f64,
}

impl Gamma {
    /// A belief with this shape and this many days of watching; both positive and finite.
    #[inline]
    pub fn new(alpha: f64, beta_days: f64) -> Result<Self, InvalidParameter> {
        Ok(Self {
            alpha: InvalidParameter::check("alpha", alpha)?,
            beta_days: InvalidParameter::check("beta_days", beta_days)?,
        })
    }

    /// For values that are positive and finite by construction.
    #[inline]
    pub(crate) fn of(alpha: f64, beta_days: f64) -> Self {
        debug_assert!(alpha > 0.0 && beta_days > 0.0 && alpha.is_finite() && beta_days.is_finite());
        Self { alpha, beta_days }
    }

    /// The shape: effective number of changes seen.
    #[inline]
    pub fn alpha(self) -> f64 {
        self.alpha
    }

    /// The inverse scale: effective days watched.
    #[inline]
    pub fn beta_days(self) -> f64 {
        self.beta_days
    }

    /// Expected changes per day.
    #[inline]
    pub fn mean(self) -> f64 {
        self.alpha / self.beta_days
    }

    /// The most likely number of changes per day; zero while alpha is below one.
    pub fn mode(self) -> f64 {
        (self.alpha - 1.0).max(0.0) / self.beta_days
    }

    /// The change rate per day that the page's rate is below with this probability (0.05 and 0.95 make a fair range).
    pub fn quantile(self, probability: f64) -> f64 {
        special::gamma_quantile(self.alpha, probability) / self.beta_days
    }

    /// S(t): probability that a copy is still current `days` after it was taken.
    #[inline]
    pub fn fresh_probability(self, days: f64) -> f64 {
        special::exp_minus(self.alpha * special::ln_1p_ratio(days.max(0.0), self.beta_days))
    }

    /// A(t) = ∫ S: expected days of freshness of a copy within `days` of taking it.
    pub fn fresh_days(self, days: f64) -> f64 {
        let ln = special::ln_1p_ratio(days.max(0.0), self.beta_days);
        self.beta_days * ln * exp_m1_ratio(-(self.alpha - 1.0) * ln)
    }

    /// U(t) for freshness alone, A(t) - t S(t), in days: the value of a fetch now, `days` after the last. The best
    /// schedule fetches when weight × U reaches price × cost.
    pub fn crawl_value_binary(self, days: f64) -> f64 {
        self.crawl_values(days).0
    }

    /// U(t) for the harmonic penalty, t - A(t), in days. Grows without bound, so no page is ever abandoned.
    pub fn crawl_value_harmonic(self, days: f64) -> f64 {
        self.crawl_values(days).1
    }

    /// U(t) for the mixed objective: (1 - theta) × freshness + theta × harmonic, theta in 0..=1, in days. Never above
    /// mean × t² / 2, for any theta.
    #[inline]
    pub fn crawl_value(self, days: f64, theta: f64) -> f64 {
        let (binary, harmonic) = self.crawl_values(days);
        (1.0 - theta) * binary + theta * harmonic
    }

    /// Binary and harmonic crawl value together: they share one logarithm and one exponential.
    #[inline]
    fn crawl_values(self, days: f64) -> (f64, f64) {
        let days = days.max(0.0);
        let u = days / self.beta_days;
        // Soon after a look both values are differences of nearly equal numbers, so they are summed as series.
        if u * self.alpha.max(1.0) < 0.02 {
            return self.crawl_values_series(u);
        }
        let ln = special::ln_1p_ratio(u, 1.0);
        let less = self.alpha - 1.0;
        let fresh_probability = special::exp_minus(self.alpha * ln);
        let fresh_days = if less.abs() > 1e-3 {
            // (1 + u)^(1 - alpha) = S (1 + u): no second exponential.
            self.beta_days * (1.0 - fresh_probability * (1.0 + u)) / less
        } else {
            self.beta_days * ln * exp_m1_ratio(-less * ln)
        };
        (fresh_days - days * fresh_probability, days - fresh_days)
    }

    /// Sum over k >= 1 of (-1)^(k+1) (alpha)_k / k! u^(k+1) / (k + 1), once with the factor k and once without.
    fn crawl_values_series(self, u: f64) -> (f64, f64) {
        let (mut coefficient, mut binary, mut harmonic) = (-self.beta_days * u, 0.0, 0.0);
        // Each term is at most a fiftieth of the previous one.
        for k in 1..=8 {
            let k = f64::from(k);
            coefficient *= -(self.alpha + k - 1.0) * u / k;
            let term = coefficient / (k + 1.0);
            harmonic += term;
            binary += k * term;
        }
        (binary, harmonic)
    }
}

/// (e^x - 1) / x, which is 1 at 0.
fn exp_m1_ratio(x: f64) -> f64 {
    if x.abs() < 1e-5 { 1.0 + x / 2.0 + x * x / 6.0 } else { x.exp_m1() / x }
}
