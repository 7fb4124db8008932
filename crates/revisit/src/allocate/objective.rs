//! Objectives that a fetch schedule minimises, and how often each page is fetched at a price.
//!
//! Every objective here has the form (weight / change rate) × k(change rate / fetch rate). So a page's best fetch rate
//! is change rate × φ(price × z) with one ratio z = cost × change rate / weight (for age: cost × change rate² /
//! weight). Sources: A5, C8, C9, C13, C14 and C17 of the algorithm notes.

use super::PageTerms;
use crate::kernels::{self, VisitOrder};

/// The penalty to minimise on average, weighted by importance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Objective {
    /// (1 - theta) × staleness + theta × harmonic penalty, theta in 0..=1; evenly spaced fetches. With theta 0, pages
    /// that change too fast for their weight are never fetched; with theta above 0, every page is fetched.
    Mixed {
        /// Share of the harmonic penalty.
        theta: f64,
    },
    /// Age of stale copies, in days; evenly spaced fetches (Cho & Garcia-Molina, TODS 2003).
    Age,
    /// Number of unseen changes; evenly spaced fetches.
    MissedChanges,
    /// Staleness with fetches at random times (Azar et al., PNAS 2018).
    RandomFreshness,
    /// Harmonic penalty with fetches at random times (LambdaCrawl; Kolobov et al., NeurIPS 2019).
    RandomHarmonic,
}

impl Objective {
    /// Freshness alone (Cho & Garcia-Molina, TODS 2003).
    pub const FRESHNESS: Objective = Objective::Mixed { theta: 0.0 };
    /// The harmonic penalty alone.
    pub const HARMONIC: Objective = Objective::Mixed { theta: 1.0 };

    /// Average penalty of one page at a fetch rate: days for [`Objective::Age`], a plain number otherwise. Zero for a
    /// page that never changes.
    pub fn average_penalty(self, change_rate_per_day: f64, fetches_per_day: f64) -> f64 {
        if change_rate_per_day <= 0.0 {
            return 0.0;
        }
        let r = change_rate_per_day / fetches_per_day;
        match self {
            Objective::Mixed { theta } => {
                let stale = 1.0 - kernels::average_freshness(VisitOrder::Fixed, r);
                // Avoids zero times the infinite penalty of a page that is never fetched.
                if theta <= 0.0 { stale } else { (1.0 - theta) * stale + theta * harmonic(VisitOrder::Fixed, r) }
            }
            Objective::Age if fetches_per_day <= 0.0 => f64::INFINITY,
            Objective::Age => kernels::average_age(VisitOrder::Fixed, r) / fetches_per_day,
            Objective::MissedChanges => 0.5 * r,
            Objective::RandomFreshness => 1.0 - kernels::average_freshness(VisitOrder::PurelyRandom, r),
            Objective::RandomHarmonic => harmonic(VisitOrder::PurelyRandom, r),
        }
    }

    /// dφ / d ln y, given φ at that point.
    pub(crate) fn slope(self, ln_y: f64, fetches_per_change: f64) -> f64 {
        let x = 1.0 / fetches_per_change;
        let kernel_slope = match self {
            Objective::MissedChanges => return -0.5 * fetches_per_change,
            Objective::RandomFreshness => return if ln_y > 0.0 { 0.0 } else { -0.5 * (-0.5 * ln_y).exp() },
            Objective::RandomHarmonic => {
                let inverse = (-ln_y).exp();
                return -inverse / (1.0 + 4.0 * inverse).sqrt();
            }
            Objective::Mixed { theta } => kernels::mixed_slope(x, theta),
            Objective::Age => kernels::age_slope(x),
        };
        if x.is_finite() { -fetches_per_change * fetches_per_change * ln_y.exp() / kernel_slope } else { 0.0 }
    }
}

fn harmonic(order: VisitOrder, r: f64) -> f64 {
    if r.is_finite() { kernels::average_harmonic_penalty(order, r) } else { f64::INFINITY }
}

/// Fetch rate by price: computed exactly by an objective, or from a table ([`crate::demand_curve::DemandCurve`]).
pub trait DemandByPrice {
    /// The objective that the rates are best for.
    fn objective(&self) -> Objective;

    /// φ(y): fetches per change of a page with ln(price × z) = `ln_y`. Falls as `ln_y` grows.
    fn fetches_per_change(&self, ln_y: f64) -> f64;

    /// ln z of a page with a positive change rate and weight.
    fn ln_ratio(&self, page: &PageTerms) -> f64 {
        let mut ratio = page.cost * page.change_rate_per_day / page.weight;
        if self.objective() == Objective::Age {
            ratio *= page.change_rate_per_day;
        }
        ratio.ln()
    }
}

impl DemandByPrice for Objective {
    fn objective(&self) -> Objective {
        *self
    }

    fn fetches_per_change(&self, ln_y: f64) -> f64 {
        match *self {
            Objective::Mixed { theta } => 1.0 / kernels::inverse_mixed(ln_y.exp(), theta),
            Objective::Age => 1.0 / kernels::inverse_age(ln_y.exp()),
            Objective::MissedChanges => (-0.5 * (ln_y + std::f64::consts::LN_2)).exp(),
            Objective::RandomFreshness => (-0.5 * ln_y).exp_m1().max(0.0),
            Objective::RandomHarmonic => {
                // (√(1 + 4/y) - 1) / 2, without cancellation at large y.
                let inverse = (-ln_y).exp();
                2.0 * inverse / (1.0 + (1.0 + 4.0 * inverse).sqrt())
            }
        }
    }
}
