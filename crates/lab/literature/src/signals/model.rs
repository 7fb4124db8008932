//! Closed forms for a page with known rates.
//!
//! Changes come at λ per day, each announced with probability rec; false signals come at ν per day. Together, signals
//! come at γ = rec λ + ν and unannounced changes at α = (1 - rec) λ. With n signals and t days since the look, the copy
//! is current with probability S = e^(-α t) (ν / γ)^n = e^-σ. The *stale exponent* σ = α t + b n, with b = ln(γ / ν),
//! replaces time: it is α τ_eff in the notes, and valid for a recall of 1 too.

use super::quality::SignalQuality;
use revisit::kernels;

/// Maximum of terms summed. Signals that need more are so weak that they act like passing time.
const TERMS: u32 = 128;

/// A page's changes and its site's signals about them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignalModel {
    change_rate_per_day: f64,
    quality: SignalQuality,
}

/// The cycles of fetching a page whenever its stale exponent reaches a threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FetchCycle {
    /// Mean days from one fetch to the next (ψ).
    pub days: f64,
    /// Mean days per cycle in which the copy is current (W).
    pub fresh_days: f64,
}

impl SignalModel {
    /// A page with this change rate, on a site with such signals. A rate that is not positive counts as 0.
    pub fn new(change_rate_per_day: f64, quality: SignalQuality) -> Self {
        let change_rate_per_day = if change_rate_per_day > 0.0 { change_rate_per_day.min(f64::MAX) } else { 0.0 };
        Self { change_rate_per_day, quality }
    }

    /// Changes per day that no signal announces (α).
    pub fn silent_changes_per_day(&self) -> f64 {
        (1.0 - self.quality.recall()) * self.change_rate_per_day
    }

    /// Signals per day that no change causes (ν); infinite when no signal is true.
    pub fn false_signals_per_day(&self) -> f64 {
        let (recall, precision) = (self.quality.recall(), self.quality.precision());
        if recall == 0.0 { 0.0 } else { recall * self.change_rate_per_day * (1.0 - precision) / precision }
    }

    /// σ after this time and number of signals.
    pub fn stale_exponent(&self, days: f64, signals: u32) -> f64 {
        // Without signals, an infinite exponent per signal must not count.
        let announced = if signals == 0 { 0.0 } else { f64::from(signals) * self.quality.signal_exponent() };
        self.silent_changes_per_day() * days.max(0.0) + announced
    }

    /// S = e^-σ: probability that the copy is current.
    pub fn fresh_probability(&self, days: f64, signals: u32) -> f64 {
        (-self.stale_exponent(days, signals)).exp()
    }

    /// The cycle of fetching whenever the stale exponent reaches `threshold`. Infinite for a page that never changes.
    pub fn cycle(&self, threshold: f64) -> FetchCycle {
        self.sums(threshold).0
    }

    /// V = W - e^-σ ψ in days: the value of a fetch at this stale exponent, per unit of weight. The best rule fetches
    /// where V / cost is greatest. Without signals it is P(2, λ t) / λ.
    pub fn crawl_value(&self, stale_exponent: f64) -> f64 {
        let rate = self.change_rate_per_day;
        if rate == 0.0 || stale_exponent.is_nan() || stale_exponent <= 0.0 {
            return 0.0;
        }
        let (cycle, converged) = self.sums(stale_exponent);
        if self.quality.signal_exponent() == 0.0 || !converged {
            return kernels::binary(stale_exponent) / rate;
        }
        let silent = self.silent_changes_per_day();
        let all = rate + self.false_signals_per_day();
        let days = stale_exponent / silent;
        // Soon after a look the two terms are nearly equal. Before a single signal can reach the threshold, their
        // difference has a series.
        if all * days < 0.05 && stale_exponent <= self.quality.signal_exponent() {
            return silent_series(silent, all, days);
        }
        (cycle.fresh_days - (-stale_exponent).exp() * cycle.days).max(0.0)
    }

    /// ψ and W, and whether their sums are complete.
    fn sums(&self, threshold: f64) -> (FetchCycle, bool) {
        let (rate, silent, lies) =
            (self.change_rate_per_day, self.silent_changes_per_day(), self.false_signals_per_day());
        let (signals, all) = (rate - silent + lies, rate + lies);
        let step = self.quality.signal_exponent();
        if rate == 0.0 {
            return (FetchCycle { days: f64::INFINITY, fresh_days: f64::INFINITY }, true);
        }
        if step == 0.0 || signals <= 0.0 {
            let days = threshold / silent;
            return (FetchCycle { days, fresh_days: -(-threshold).exp_m1() / rate }, true);
        }
        let (mut cycle, mut lie_probability) = (FetchCycle { days: 0.0, fresh_days: 0.0 }, 1.0);
        for k in 0..TERMS {
            // Time left to the threshold after k signals, if only silent changes counted.
            let left = if k == 0 { threshold } else { threshold - f64::from(k) * step };
            if left.is_nan() || left <= 0.0 {
                return (cycle, true);
            }
            let left_days = left / silent;
            let days = poisson_above(k, signals * left_days) / signals;
            let fresh_days = lie_probability / all * poisson_above(k, all * left_days);
            cycle.days += days;
            cycle.fresh_days += fresh_days;
            if days <= 1e-16 * cycle.days && fresh_days <= 1e-16 * cycle.fresh_days {
                return (cycle, true);
            }
            lie_probability *= lies / all;
        }
        (cycle, false)
    }
}

/// V for small times, when no signal is needed to reach the threshold: with s = α + γ (`all`), Σ over m >= 1 of
/// (-1)^(m+1) t^(m+1) / (m+1)! α (s^m - α^m) / (s - α).
fn silent_series(silent: f64, all: f64, days: f64) -> f64 {
    // (s^m - α^m) / (s - α), without the difference.
    let (mut quotient, mut silent_power) = (1.0, silent);
    let (mut factor, mut sum) = (0.5 * days * days, 0.0);
    for m in 2..=12 {
        sum += silent * factor * quotient;
        factor *= -days / f64::from(m + 1);
        quotient = all * quotient + silent_power;
        silent_power *= silent;
    }
    sum
}

/// Probability that a Poisson variable with this mean exceeds `count`: P(count + 1, mean), the incomplete gamma
/// function.
fn poisson_above(count: u32, mean: f64) -> f64 {
    if mean > 700.0 + f64::from(TERMS) {
        return 1.0;
    }
    let mut term = (-mean).exp();
    if mean >= f64::from(count) + 2.0 {
        let mut sum = term;
        for j in 1..=count {
            term *= mean / f64::from(j);
            sum += term;
        }
        return 1.0 - sum;
    }
    // For a small mean: sum the tail itself.
    for j in 1..=count + 1 {
        term *= mean / f64::from(j);
    }
    let (mut sum, mut j) = (term, count + 1);
    while term > 1e-17 * sum {
        j += 1;
        term *= mean / f64::from(j);
        sum += term;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_poisson_tail_is_the_incomplete_gamma_function() {
        for (count, mean, expected) in [
            (0, 0.3, 1.0 - (-0.3_f64).exp()),
            (1, 2.0, 0.593_994_150_290_161_9),
            (1, 20.0, 0.999_999_956_715_773_9),
            (2, 1.0, 0.080_301_397_071_394_19),
            (3, 1e-3, 4.163_334_722_05e-14),
        ] {
            let got = poisson_above(count, mean);
            assert!((got - expected).abs() <= 1e-10 * expected, "{count}, {mean}: {got}, expected {expected}");
        }
        assert_eq!(poisson_above(5, f64::INFINITY), 1.0);
    }
}
