//! A prior for every host, learned from the beliefs about its pages (empirical Bayes).
//!
//! The means of its pages give a host its own rate, pulled towards that of the other hosts. The difference between the
//! means and the means of logarithms, over all hosts, gives the shape of the prior:
//!
//! ```text
//! m_host = (sum of means + κ m) / (pages + κ)          m = geometric mean over hosts of their mean rate
//! ln alpha0 - ψ(alpha0) = s = mean over hosts of ln(mean of means) - mean of E[ln λ]          beta0 = alpha0 / m_host
//! ```
//!
//! Source: B8 of the algorithm notes. [`GroupSums`](crate::GroupSums) is the form that the running system uses: it
//! keeps the shape and works on the evidence instead of the beliefs, so that nothing from the prior is counted.

use crate::filter::GammaPrior;
use crate::gamma::Gamma;
use crate::special::digamma_and_slope;

/// κ: number of pages that the other hosts count for.
const OTHER_HOSTS_PAGES: f64 = 5.0;
/// Minimum of pages with looks for a host to count for the common shape.
const SHAPE_PAGES_NEEDED: f64 = 10.0;
/// Minimum of pages with looks for a level of the hierarchy to be used.
const LEVEL_PAGES_NEEDED: f64 = 20.0;
/// Bounds on s.
const SPREAD_RANGE: (f64, f64) = (0.08, 3.0);

/// Sums of the beliefs about the pages of a host with looks. Two sets can be added.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BeliefSums {
    /// Pages with at least one look that has a comparable previous look.
    pub pages: f64,
    /// Sum over the pages of the mean rate, per day.
    pub means_per_day: f64,
    /// Sum over the pages of the mean of the logarithm of the rate per day.
    pub ln_means: f64,
}

impl BeliefSums {
    /// Adds a page with looks.
    pub fn add(&mut self, belief: Gamma) {
        self.pages += 1.0;
        self.means_per_day += belief.mean();
        self.ln_means += belief.mean_ln();
    }

    /// Replaces what one page contributed.
    pub fn replace(&mut self, before: Gamma, after: Gamma) {
        self.means_per_day += after.mean() - before.mean();
        self.ln_means += after.mean_ln() - before.mean_ln();
    }

    pub fn merge(&mut self, other: &BeliefSums) {
        self.pages += other.pages;
        self.means_per_day += other.means_per_day;
        self.ln_means += other.ln_means;
    }

    /// ln of the mean rate, minus the mean of ln rate: 0 if all pages are known to be alike, larger the more they
    /// differ. `None` without pages.
    fn spread(&self) -> Option<f64> {
        (self.pages > 0.0).then(|| (self.means_per_day / self.pages).ln() - self.ln_means / self.pages)
    }

    /// The sums at the deepest level with enough pages (20), else at the first. Levels are given from the widest (all
    /// pages; registered domain; host; first directory).
    pub fn deepest(levels: &[BeliefSums]) -> BeliefSums {
        let enough = levels.iter().rev().find(|level| level.pages >= LEVEL_PAGES_NEEDED);
        enough.or(levels.first()).copied().unwrap_or_default()
    }
}

/// Shape and mean of a host's prior, learned from all hosts together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostPriors {
    alpha: f64,
    mean_per_day: f64,
}

impl HostPriors {
    /// Learns the shape and the mean over hosts from the sums of each host. Where they are not enough (no host has enough
    /// pages, or any), the values are those of `before`. Due about twice a day.
    pub fn learned<'a>(hosts: impl IntoIterator<Item = &'a BeliefSums>, before: GammaPrior) -> Self {
        let (mut rated, mut ln_means, mut shaped, mut spreads) = (0.0, 0.0, 0.0, 0.0);
        for host in hosts {
            let Some(spread) = host.spread().filter(|spread| spread.is_finite()) else { continue };
            rated += 1.0;
            ln_means += (host.means_per_day / host.pages).ln();
            if host.pages >= SHAPE_PAGES_NEEDED {
                shaped += 1.0;
                spreads += spread;
            }
        }
        let usual = before.alpha() / before.beta_days();
        Self {
            alpha: if shaped > 0.0 { shape(spreads / shaped) } else { before.alpha() },
            mean_per_day: if rated > 0.0 { (ln_means / rated).exp() } else { usual },
        }
    }

    /// The shape of every host's prior.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The geometric mean over hosts of their mean rate.
    pub fn mean_per_day(&self) -> f64 {
        self.mean_per_day
    }

    /// The prior of the pages of one host.
    pub fn prior_of(&self, host: &BeliefSums) -> GammaPrior {
        let pulled = host.means_per_day.max(0.0) + OTHER_HOSTS_PAGES * self.mean_per_day;
        let mean = pulled / (host.pages.max(0.0) + OTHER_HOSTS_PAGES);
        GammaPrior::of(Gamma::of(self.alpha, self.alpha / mean))
    }
}

/// The alpha with ln alpha - ψ(alpha) = `spread`, with the spread limited to 0.08..=3.
fn shape(spread: f64) -> f64 {
    exact_shape(spread.clamp(SPREAD_RANGE.0, SPREAD_RANGE.1))
}

/// A closed form within 2 % of the solution of ln alpha - ψ(alpha) = s.
fn approximate_shape(spread: f64) -> f64 {
    (3.0 - spread + ((spread - 3.0) * (spread - 3.0) + 24.0 * spread).sqrt()) / (12.0 * spread)
}

/// The solution, by Newton's method.
fn exact_shape(spread: f64) -> f64 {
    let mut alpha = approximate_shape(spread);
    for _ in 0..4 {
        let (digamma, slope) = digamma_and_slope(alpha);
        alpha -= (alpha.ln() - digamma - spread) / (1.0 / alpha - slope);
    }
    alpha
}

impl Gamma {
    /// The mean of the logarithm of the rate (per day): ψ(alpha) - ln beta.
    pub fn mean_ln(self) -> f64 {
        digamma_and_slope(self.alpha()).0 - self.beta_days().ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_as_computed() {
        for (spread, approximate, exact) in [
            (0.05, 10.1613729925, 10.1638222914),
            (0.2, 2.64803240289, 2.65485096556),
            (0.5, 1.12866697878, 1.13772472715),
            (1.0, 0.607625218511, 0.61555676648),
            (2.0, 0.333333333333, 0.33811677188),
        ] {
            assert!((approximate_shape(spread) / approximate - 1.0).abs() < 1e-9, "{spread}");
            assert!((exact_shape(spread) / exact - 1.0).abs() < 1e-9, "{spread}: {}", exact_shape(spread));
        }
        assert_eq!(shape(0.0), exact_shape(0.08));
        assert_eq!(shape(100.0), exact_shape(3.0));
    }
}
