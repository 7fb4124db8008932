//! Random numbers with a Beta distribution, from uniform ones that the caller provides.

use std::f64::consts::TAU;

/// One draw from Beta(a, b), both positive; `uniform` yields uniform random numbers in 0..1. X / (X + Y) for X and Y
/// with Gamma distributions.
pub(super) fn draw(a: f64, b: f64, uniform: &mut impl FnMut() -> f64) -> f64 {
    let (ln_x, ln_y) = (ln_gamma_draw(a, uniform), ln_gamma_draw(b, uniform));
    1.0 / (1.0 + (ln_y - ln_x).exp())
}

/// The logarithm of one draw from Gamma(shape, 1): Marsaglia & Tsang, *A simple method for generating gamma variables*,
/// ACM TOMS 2000, with their power trick below shape 1 (where the number itself may be too small for a float).
fn ln_gamma_draw(shape: f64, uniform: &mut impl FnMut() -> f64) -> f64 {
    if shape < 1.0 {
        let power = positive(uniform).ln() / shape;
        return power + ln_gamma_draw(shape + 1.0, uniform);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    // About one draw in twenty is rejected; a hundred in a row never are, unless the numbers are not random.
    for _ in 0..100 {
        let normal = (-2.0 * positive(uniform).ln()).sqrt() * (TAU * uniform()).cos();
        let cube_root = 1.0 + c * normal;
        if cube_root <= 0.0 {
            continue;
        }
        let v = cube_root * cube_root * cube_root;
        if positive(uniform).ln() < 0.5 * normal * normal + d * (1.0 - v + v.ln()) {
            return d.ln() + v.ln();
        }
    }
    shape.ln()
}

/// A number in (0, 1], whose logarithm is finite.
fn positive(uniform: &mut impl FnMut() -> f64) -> f64 {
    (1.0 - uniform()).clamp(f64::MIN_POSITIVE, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use chance::{Draws, Lcg};

    #[test]
    fn draws_have_the_mean_and_variance_of_their_distribution() {
        let mut numbers = Lcg(3);
        let mut uniform = || numbers.uniform();
        for (a, b) in [(1.0, 1.0), (0.05, 0.2), (2.0, 5.0), (300.0, 20.0)] {
            let draws: Vec<f64> = (0..40_000).map(|_| draw(a, b, &mut uniform)).collect();
            let mean = draws.iter().sum::<f64>() / 40_000.0;
            let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 40_000.0;
            let (expected, worth) = (a / (a + b), a + b + 1.0);
            let expected_variance = expected * (1.0 - expected) / worth;
            assert!((mean - expected).abs() < 4.0 * (expected_variance / 40_000.0).sqrt(), "{a}, {b}: mean {mean}");
            assert!((variance / expected_variance - 1.0).abs() < 0.06, "{a}, {b}: variance {variance}");
        }
    }
}
