//! Upper bounds on the values of pages, many pages at a time. Most pages are skipped by their bound alone.

use super::SECONDS_PER_DAY;
use super::entry::PageRecord;
use super::terms::{GroupTerms, Terms};
use sweeps::rules::PRIOR_ALPHA;

/// Number of ages, in powers of two days, for which hazards are precomputed. Hazards at other ages are bounded by
/// these.
pub(super) const AGES: usize = 10;

/// Factor that covers the rounding of bounds, which are computed in f32 for speed.
pub(super) const SLACK: f64 = 1.0 + 1e-5;

/// An upper bound on [`kernel`] (times [`SLACK`]), a few per cent above it, without an exponential:
/// e^-x >= (1 - x / 16)^16.
#[inline]
fn kernel_at_most(x: f32, theta: f32) -> f32 {
    let square = 0.5 * x * x;
    let root = 1.0 - x * (1.0 / 16.0);
    let root = if root > 0.0 { root } else { 0.0 };
    let fourth = root * root * (root * root);
    let eighth = fourth * fourth;
    let spared = eighth * eighth;
    // The constant covers rounding where the value is nearly zero.
    let binary = lesser(square, 1.0 - (1.0 + x) * spared + 4e-6);
    binary + theta * (lesser(square, x) - binary)
}

/// Minimum in one instruction: [`f32::min`] takes four, because it handles NaN.
#[inline]
fn lesser(a: f32, b: f32) -> f32 {
    if b < a { b } else { a }
}

/// Upper bound on P2(x) / x, which is largest at x = 1.793.
const MOST_BINARY_PER_DAY: f32 = 0.2985;

/// An upper bound on [`Gamma::crawl_value`] (times [`SLACK`]) without logarithm or exponential. For every rate λ,
/// P2(λt) / λ and (λt - 1 + e^-λt) / λ are at most λt² / 2; the first is at most 0.2985 t, the second t. For a >= 1,
/// (1 + u)^a >= 1 + a u. So with x = (alpha + 1) t / beta the first is on average at most
/// mean × t² × (x - ln(1 + x)) / x², where ln(1 + x) >= x (6 + 3 x) / (6 + 6 x + x²), its Padé approximant.
#[inline]
pub(super) fn crawl_value_at_most(alpha: f32, beta_days: f32, days: f32, theta: f32) -> f32 {
    let u = days / beta_days;
    let (x, mean_square) = ((alpha + 1.0) * u, alpha * u * days);
    let binary = lesser(mean_square * (3.0 + x) / (6.0 + x * (6.0 + x)), MOST_BINARY_PER_DAY * days);
    binary + theta * (lesser(0.5 * mean_square, days) - binary)
}

/// An upper bound on alpha ln(1 + days / beta) (times [`SLACK`]), without logarithm and with one division:
/// ln(1 + u) <= u (6 + u) / (6 + 4 u), its Padé approximant.
#[inline]
fn hazard_at_most(alpha: f32, beta_days: f32, days: f32) -> f32 {
    let six = 6.0 * beta_days;
    alpha * days * (six + days) / (beta_days * (six + 4.0 * days))
}

/// The part of a membership's terms that bounds need, in one cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct BoundTerms {
    own_beta_days: f32,
    plain_beta_days: f32,
    trust: f32,
    sweeps_per_day: f32,
    pub(super) sentinel: f32,
    /// The highest value in list B of this membership so far.
    pub(super) probe: f32,
    /// Summed hazard of the last 1, 2, 4 … days.
    recent: [f32; AGES],
}

impl BoundTerms {
    pub(super) fn of(terms: &Terms, groups: &[GroupTerms<'_>]) -> Self {
        let mut recent = [0.0; AGES];
        for group in terms.groups.as_slice() {
            recent.iter_mut().zip(groups[*group as usize].recent).for_each(|(sum, more)| *sum += more);
        }
        Self {
            own_beta_days: terms.priors.own_beta_days as f32,
            plain_beta_days: terms.priors.plain_beta_days as f32,
            trust: terms.trust as f32,
            sweeps_per_day: terms.sweeps_per_day as f32,
            sentinel: (SLACK * terms.sentinel) as f32,
            probe: f32::NEG_INFINITY,
            recent,
        }
    }
}

/// Pages bounded together: SIMD handles four or more of them at once.
pub(super) const LANES: usize = 16;

/// Upper bounds on the values of consecutive pages.
pub(super) struct ValueBounds {
    /// Days since the last look.
    pub(super) days: [f32; LANES],
    /// Bound on the value of the page itself.
    pub(super) own: [f32; LANES],
    /// The same, with the value of a first look into its groups.
    pub(super) first: [f32; LANES],
}

/// The inputs of the bounds, page by page.
struct Lanes {
    weight: [f32; LANES],
    own_alpha: [f32; LANES],
    own_beta_days: [f32; LANES],
    plain_alpha: [f32; LANES],
    plain_beta_days: [f32; LANES],
    recent: [f32; LANES],
    trust: [f32; LANES],
    sweeps_per_day: [f32; LANES],
    /// Infinite for pages without a bound.
    more: [f32; LANES],
}

impl ValueBounds {
    /// Bounds of up to [`LANES`] pages, with one [`BoundTerms`] per membership. Uses no logarithm, no exponential and
    /// no calendar. Meaningless at vacant slots.
    #[inline]
    pub(super) fn of(pages: &[PageRecord], terms: &[BoundTerms], now_seconds: f64, theta: f32) -> Self {
        const NONE: [f32; LANES] = [0.0; LANES];
        let mut bounds = Self { days: NONE, own: NONE, first: NONE };
        let mut lanes = Lanes {
            weight: NONE,
            own_alpha: NONE,
            own_beta_days: NONE,
            plain_alpha: NONE,
            plain_beta_days: NONE,
            recent: NONE,
            trust: NONE,
            sweeps_per_day: NONE,
            more: NONE,
        };
        for (i, page) in pages.iter().take(LANES).enumerate() {
            let Some(terms) = terms.get(page.membership as usize) else { continue };
            // Precise enough for a bound, without a division.
            let days = ((now_seconds - f64::from(page.last_look)) * (1.0 / SECONDS_PER_DAY)).max(0.0) as f32;
            // The exponent, rounded up unless the number is a power of two.
            let age = ((days.to_bits() + 0x7f_ffff) >> 23).saturating_sub(127) as usize;
            bounds.days[i] = days;
            bounds.first[i] = terms.sentinel;
            lanes.weight[i] = page.weight;
            lanes.own_alpha[i] = PRIOR_ALPHA as f32 + page.belief.own.delta_alpha;
            lanes.own_beta_days[i] = terms.own_beta_days + page.belief.own.delta_beta_days;
            lanes.plain_alpha[i] = PRIOR_ALPHA as f32 + page.belief.plain.delta_alpha;
            lanes.plain_beta_days[i] = terms.plain_beta_days + page.belief.plain.delta_beta_days;
            lanes.recent[i] = terms.recent[age.min(AGES - 1)];
            lanes.trust[i] = terms.trust;
            lanes.sweeps_per_day[i] = terms.sweeps_per_day;
            lanes.more[i] = if age < AGES { 0.0 } else { f32::INFINITY };
        }
        for i in 0..LANES {
            let (days, alpha, beta_days) = (bounds.days[i], lanes.own_alpha[i], lanes.own_beta_days[i]);
            let swept = kernel_at_most(hazard_at_most(alpha, beta_days, days) + lanes.recent[i], theta);
            // Divided by the mean rate: alpha / beta, plus sweeps.
            let swept = swept * beta_days / (alpha + lanes.sweeps_per_day[i] * beta_days);
            let plain = crawl_value_at_most(lanes.plain_alpha[i], lanes.plain_beta_days[i], days, theta);
            let value = lanes.trust[i] * swept + (1.0 - lanes.trust[i]) * plain;
            bounds.own[i] = SLACK as f32 * lanes.weight[i] * value + lanes.more[i];
            bounds.first[i] += bounds.own[i];
        }
        bounds
    }
}

#[cfg(test)]
mod tests {
    use super::super::index::{hazard, kernel};
    use super::*;
    use crate::kernels;
    use change_rate::Gamma;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_kernel_is_the_mixed_one_and_its_bound_is_near(ln_x in -20.0..6.0f64, theta in 0.0..=1.0f64) {
            let x = ln_x.exp();
            let expected = kernels::mixed(x, theta);
            // Near .03, where the series ends, ten digits remain.
            prop_assert!((kernel(x, theta) / expected - 1.0).abs() < 1e-5, "{} {expected}", kernel(x, theta));
            let at_most = SLACK * f64::from(kernel_at_most(x as f32, theta as f32));
            prop_assert!(at_most >= expected * (1.0 - 1e-9), "{at_most} {expected}");
            prop_assert!(x < 1e-2 || at_most < (1.3 + theta) * expected, "{at_most} {expected}");
        }

        #[test]
        fn the_crawl_values_bound_is_one_and_near_soon_after_a_look(
            ln_alpha in -3.0..8.0f64, ln_beta in -3.0..8.0f64, ln_days in -5.0..9.0f64, theta in 0.0..=1.0f64,
        ) {
            let (belief, days) = (Gamma::new(ln_alpha.exp(), ln_beta.exp()).unwrap(), ln_days.exp());
            let exact = belief.crawl_value(days, theta);
            let at_most = SLACK * f64::from(crawl_value_at_most(belief.alpha() as f32, belief.beta_days() as f32, days as f32, theta as f32));
            prop_assert!(at_most >= exact * (1.0 - 1e-9), "{at_most} {exact}");
            let soon = days * (belief.alpha() + 1.0) / belief.beta_days() < 0.1;
            prop_assert!(!soon || at_most < 1.1 * exact, "{at_most} {exact}");
        }

        #[test]
        fn the_hazards_bound_is_one(ln_alpha in -3.0..8.0f64, ln_beta in -3.0..8.0f64, ln_u in -20.0..10.0f64) {
            let (belief, u) = (Gamma::new(ln_alpha.exp(), ln_beta.exp()).unwrap(), ln_u.exp());
            let (alpha, beta_days, days) = (belief.alpha(), belief.beta_days(), u * belief.beta_days());
            let at_most = SLACK * f64::from(hazard_at_most(alpha as f32, beta_days as f32, days as f32));
            let exact = hazard(belief, days);
            prop_assert!(at_most >= exact, "{at_most} {exact}");
            prop_assert!(u > 3.0 || at_most < 1.1 * exact, "{at_most} {exact}");
        }
    }
}
