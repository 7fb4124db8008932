//! A histogram of look intervals, kept by estimators for irregular looks instead of a list.

use crate::estimator::sane_share;

/// One class for every doubling, from 1.3 seconds to 90 years; both ends are open.
const CLASSES: usize = 32;
/// The first class holds intervals of 2^-16 days and less.
const LOWEST_EXPONENT: i32 = -16;

/// Number of intervals of each length, and their sum. Two histograms can be added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IntervalHistogram {
    counts: [f32; CLASSES],
    days: [f32; CLASSES],
}

impl IntervalHistogram {
    /// Counts an interval, which must not be negative.
    pub(crate) fn add(&mut self, interval_days: f64) {
        // The exponent of a number is its logarithm to base two, rounded down.
        let exponent = ((interval_days.to_bits() >> 52) & 0x7ff) as i32 - 1023;
        let class = (exponent - LOWEST_EXPONENT).clamp(0, CLASSES as i32 - 1) as usize;
        self.counts[class] += 1.0;
        self.days[class] += interval_days as f32;
    }

    /// Multiplies all sums by `kept` (0..=1).
    pub fn fade(&mut self, kept: f64) {
        let kept = sane_share(kept) as f32;
        self.counts.iter_mut().chain(&mut self.days).for_each(|sum| *sum *= kept);
    }

    pub fn merge(&mut self, other: &IntervalHistogram) {
        self.counts.iter_mut().zip(other.counts).for_each(|(sum, more)| *sum += more);
        self.days.iter_mut().zip(other.days).for_each(|(sum, more)| *sum += more);
    }

    /// Number and mean length (days) of the intervals of each non-empty class.
    pub(crate) fn means(&self) -> impl Iterator<Item = (f64, f64)> + Clone + '_ {
        let classes = self.counts.iter().zip(self.days);
        classes.filter(|(count, _)| **count > 0.0).map(|(count, days)| (f64::from(*count), f64::from(days / count)))
    }

    /// Number, and sum in days, of all intervals.
    pub(crate) fn totals(&self) -> (f64, f64) {
        let sum = |of: &[f32]| of.iter().copied().map(f64::from).sum();
        (sum(&self.counts), sum(&self.days))
    }

    /// Class, count and days of each non-empty class, in order.
    pub(crate) fn to_numbers(&self) -> impl Iterator<Item = f32> + '_ {
        let classes = (0..CLASSES).filter(|class| self.counts[*class] > 0.0);
        classes.flat_map(|class| [class as f32, self.counts[class], self.days[class]])
    }

    /// The inverse of `to_numbers`; `None` if the numbers are invalid.
    pub(crate) fn from_numbers(numbers: &[f32]) -> Option<Self> {
        let mut histogram = Self::default();
        let (classes, []) = numbers.as_chunks::<3>() else { return None };
        for [class, count, days] in classes {
            let known = class.fract() == 0.0 && (0.0..CLASSES as f32).contains(class) && *count > 0.0 && *days >= 0.0;
            if !known {
                return None;
            }
            histogram.counts[*class as usize] = *count;
            histogram.days[*class as usize] = *days;
        }
        Some(histogram)
    }
}

/// The zero of a falling, convex function, from a start at or below it, by Newton's method: each step stays at or below
/// the zero, so the method converges. `function` gives value and slope. Never exceeds `end`.
pub(crate) fn zero_of_falling_convex(start: f64, end: f64, function: impl Fn(f64) -> (f64, f64)) -> f64 {
    let mut x = start;
    // Two dozen steps suffice for real pages. Where only exponentials are left, each step still gains a whole exponent.
    for _ in 0..400 {
        let (value, slope) = function(x);
        // Where the exponentials have vanished, a slope of zero of either sign leads to the end.
        let step = value / slope.abs();
        if step.is_nan() || step <= x * 1e-15 {
            break;
        }
        x += step;
        if x >= end {
            return end;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_counted_with_its_like() {
        let mut histogram = IntervalHistogram::default();
        for days in [1.0, 1.5, 1.999, 2.0, 0.0, 1e-9, 1e6] {
            histogram.add(days);
        }
        let means: Vec<_> = histogram.means().collect();
        assert_eq!(means.len(), 4);
        assert_eq!((means[0].0, means[1].0, means[2], means[3]), (2.0, 3.0, (1.0, 2.0), (1.0, 1e6)));
        assert!((means[1].1 - 4.499 / 3.0).abs() < 1e-6);
    }

    #[test]
    fn numbers_that_are_no_histogram_are_refused() {
        for numbers in [&[1.0][..], &[32.0, 1.0, 1.0], &[0.5, 1.0, 1.0], &[1.0, f32::NAN, 1.0], &[1.0, 1.0, -1.0]] {
            assert_eq!(IntervalHistogram::from_numbers(numbers), None, "{numbers:?}");
        }
    }

    #[test]
    fn newtons_method_finds_the_zero_of_an_exponential() {
        let found = zero_of_falling_convex(0.0, 1e3, |x: f64| ((-x).exp() - 1e-12, -(-x).exp()));
        assert!((found - 12.0 * 10.0_f64.ln()).abs() < 1e-12 * found);
        assert_eq!(zero_of_falling_convex(0.0, 5.0, |x: f64| ((-x).exp(), -(-x).exp())), 5.0);
        assert_eq!(zero_of_falling_convex(0.0, 5.0, |_| (0.1, 0.0)), 5.0);
    }
}
