//! The incomplete gamma function, for quantiles of a belief: series below a + 1, continued fraction above (Abramowitz &
//! Stegun 6.5.29 and 6.5.31, the latter by Lentz's method). The digamma function, for means of logarithms. And faster
//! forms of ln(1 + x), e^x - 1 and e^-x for the hot paths: taking in a look, and scoring millions of pages.

use libm::lgamma;
use std::f64::consts::{LN_2, LOG2_E, SQRT_2};

/// P(a, x), the probability that a Gamma(a, 1) variable is at most x.
pub(crate) fn regularised_lower_gamma(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let scale = (a * x.ln() - x - lgamma(a)).exp();
    if x < a + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
        while term > sum * f64::EPSILON {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        return (sum * scale).min(1.0);
    }
    let mut b = x + 1.0 - a;
    let mut c = f64::MAX;
    let mut d = 1.0 / b;
    let mut fraction = d;
    for k in 1..100_000 {
        let k = f64::from(k);
        let numerator = -k * (k - a);
        b += 2.0;
        d = 1.0 / (numerator * d + b);
        c = b + numerator / c;
        let factor = c * d;
        fraction *= factor;
        if (factor - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    (1.0 - fraction * scale).max(0.0)
}

/// The x with P(a, x) = `probability`, by bisection on ln x: slow (some microseconds) and robust. Zero for probability
/// 0 and infinity for 1.
pub(crate) fn gamma_quantile(a: f64, probability: f64) -> f64 {
    if probability <= 0.0 {
        return 0.0;
    }
    if probability >= 1.0 {
        return f64::INFINITY;
    }
    // Above: the mean plus forty deviations and forty means of an exponential. Below: the smallest float.
    let (mut low, mut high) = (-745.0, (a + 40.0 * a.sqrt() + 40.0).ln());
    while high - low > 1e-13 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if regularised_lower_gamma(a, middle.exp()) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    (0.5 * (low + high)).exp()
}

/// ψ(a) = d ln Γ(a) / da for a > 0, and its derivative: by recurrence up to 10, where the asymptotic series (Abramowitz
/// & Stegun 6.3.18 and 6.4.12) reaches full precision.
pub(crate) fn digamma_and_slope(a: f64) -> (f64, f64) {
    let (mut digamma, mut slope, mut x) = (0.0, 0.0, a);
    while x < 10.0 {
        digamma -= 1.0 / x;
        slope += 1.0 / (x * x);
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    digamma += x.ln()
        - 0.5 / x
        - y * (1.0 / 12.0
            - y * (1.0 / 120.0 - y * (1.0 / 252.0 - y * (1.0 / 240.0 - y * (1.0 / 132.0 - y * 691.0 / 32_760.0)))));
    slope += (1.0
        + 0.5 / x
        + y * (1.0 / 6.0
            - y * (1.0 / 30.0 - y * (1.0 / 42.0 - y * (1.0 / 30.0 - y * (5.0 / 66.0 - y * 691.0 / 2_730.0))))))
        / x;
    (digamma, slope)
}

/// ln(1 + x / y) for finite x >= 0 and y > 0, within 4e-13 of its value.
#[inline]
pub fn ln_1p_ratio(x: f64, y: f64) -> f64 {
    // 1 + x / y = 2^exponent × mantissa; ln mantissa = 2 artanh s.
    let (exponent, s) = if x > 0.5 * y {
        let bits = (1.0 + x / y).to_bits();
        let mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1.0_f64.to_bits());
        let (mantissa, more) = if mantissa > SQRT_2 { (0.5 * mantissa, 1) } else { (mantissa, 0) };
        (f64::from((bits >> 52) as i32 - 1023 + more), (mantissa - 1.0) / (mantissa + 1.0))
    } else {
        (0.0, x / (2.0 * y + x))
    };
    // In pairs of terms, so that they can be computed in parallel.
    let s2 = s * s;
    let s4 = s2 * s2;
    let low = (1.0 + s2 * (1.0 / 3.0)) + s4 * (1.0 / 5.0 + s2 * (1.0 / 7.0));
    let high = (1.0 / 9.0 + s2 * (1.0 / 11.0)) + s4 * (1.0 / 13.0 + s2 * (1.0 / 15.0));
    exponent * LN_2 + 2.0 * s * (low + s4 * s4 * high)
}

/// e^x - 1 for x >= 0 as numerator and denominator, within 2e-13. Up to a half, e^x = (E + O) / (E - O) by the Padé
/// approximation with five terms each (E even, O odd). A caller that divides by the result saves the division for the
/// result itself.
#[inline]
pub(crate) fn fast_exp_m1_fraction(x: f64) -> (f64, f64) {
    if x > 0.5 {
        return (x.exp() - 1.0, 1.0);
    }
    let square = x * x;
    let even = 1.0 + square * (1.0 / 9.0 + square * (1.0 / 1008.0));
    let odd = x * (0.5 + square * (1.0 / 72.0 + square * (1.0 / 30_240.0)));
    (2.0 * odd, even - odd)
}

/// e^-x for x >= 0, within 1e-13 of its value up to 708; above that, and for NaN, almost zero.
#[inline]
pub fn exp_minus(x: f64) -> f64 {
    // Adding it leaves no room for a fraction: the lowest bits of the sum are the nearest integer.
    const WHOLE: f64 = 6_755_399_441_055_744.0;
    // ln 2 in two parts: products of integers with the first are exact.
    const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let x = if x < 708.0 { x } else { 708.0 };
    let shifted = x * LOG2_E + WHOLE;
    let halvings = shifted - WHOLE;
    // The rest is at most half of ln 2 in absolute value.
    let r = halvings * LN_2_HIGH - x + halvings * LN_2_LOW;
    let (r2, r4) = (r * r, r * r * (r * r));
    let low = (1.0 + r) + r2 * (0.5 + r * (1.0 / 6.0));
    let middle = (1.0 / 24.0 + r * (1.0 / 120.0)) + r2 * (1.0 / 720.0 + r * (1.0 / 5_040.0));
    let high = (1.0 / 40_320.0 + r * (1.0 / 362_880.0)) + r2 * (1.0 / 3_628_800.0 + r * (1.0 / 39_916_800.0));
    let power = f64::from_bits(1023_u64.wrapping_sub(shifted.to_bits()) << 52);
    power * (low + r4 * (middle + r4 * high))
}

/// e^-x for x >= 0, in the precision of stored evidence. Most fading is slight: days compared with years.
#[inline]
pub(crate) fn exp_minus_f32(x: f64) -> f32 {
    if x > 0.25 {
        return exp_minus(x) as f32;
    }
    let x2 = x * x;
    let rest = (0.5 - x * (1.0 / 6.0)) + x2 * ((1.0 / 24.0 - x * (1.0 / 120.0)) + x2 * (1.0 / 720.0));
    ((1.0 - x) + x2 * rest) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, expected: f64, tolerance: f64) {
        assert!((got - expected).abs() <= tolerance * expected.abs(), "got {got}, expected {expected}");
    }

    #[test]
    fn the_distribution_function_has_its_known_values() {
        for x in [1e-6, 0.1, 1.0, 1.9, 2.1, 20.0] {
            close(regularised_lower_gamma(1.0, x), -(-x).exp_m1(), 1e-13);
            close(regularised_lower_gamma(2.0, x), -(-x).exp_m1() - x * (-x).exp(), 1e-9);
        }
        close(regularised_lower_gamma(0.5, 0.5), 0.682_689_492_137_085_9, 1e-13);
        close(regularised_lower_gamma(0.5, 2.0), 0.954_499_736_103_641_6, 1e-13);
    }

    #[test]
    fn the_fast_forms_agree_with_the_library() {
        for step in 0..4000 {
            let x = (f64::from(step) / 50.0 - 60.0).exp();
            close(ln_1p_ratio(x, 1.0), x.ln_1p(), 4e-13);
            close(ln_1p_ratio(3.0, 3.0 / x), x.ln_1p(), 5e-13);
            if x < 708.0 {
                close(exp_minus(x), (-x).exp(), 1e-13);
            } else {
                assert!(exp_minus(x) < 1e-300);
            }
            close(f64::from(exp_minus_f32(x)).max(1e-38), (-x).exp().max(1e-38), f64::from(f32::EPSILON));
            let (numerator, denominator) = fast_exp_m1_fraction(x);
            if x < 700.0 {
                close(numerator / denominator, x.exp_m1(), 2e-13);
            } else {
                assert_eq!((numerator, denominator), (x.exp() - 1.0, 1.0));
            }
        }
        assert_eq!((ln_1p_ratio(0.0, 1.0), fast_exp_m1_fraction(0.0).0, exp_minus(0.0)), (0.0, 0.0, 1.0));
    }

    #[test]
    fn the_digamma_function_has_its_known_values() {
        const EULER: f64 = 0.577_215_664_901_532_9;
        let squared = std::f64::consts::PI * std::f64::consts::PI;
        for (a, digamma, slope) in [
            (1.0, -EULER, squared / 6.0),
            (0.5, -EULER - 2.0 * 2.0_f64.ln(), squared / 2.0),
            (2.0, 1.0 - EULER, squared / 6.0 - 1.0),
            (10.0, 2.251_752_589_066_721, 0.105_166_335_681_685_75),
            (1e6, 13.815_510_057_964_19, 1.000_000_500_000_166_7e-6),
        ] {
            close(digamma_and_slope(a).0, digamma, 1e-13);
            close(digamma_and_slope(a).1, slope, 1e-13);
        }
    }

    #[test]
    fn quantiles_have_their_known_values() {
        close(gamma_quantile(1.0, 0.05), 0.051_293_294_387_550_58, 1e-11);
        close(gamma_quantile(5.0, 0.95), 18.307_038_053_275_146 / 2.0, 1e-11);
        close(gamma_quantile(0.5, 0.682_689_492_137_085_9), 0.5, 1e-11);
        close(gamma_quantile(10_000.0, 0.5), 10_000.0 - 1.0 / 3.0 + 8.0 / (405.0 * 10_000.0), 1e-9);
    }
}
