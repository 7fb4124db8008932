//! A histogram with fixed buckets, for the metrics.

use std::time::Duration;

/// A histogram. Its buckets are fixed, so that those of several processes can be added up.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    bounds: &'static [f64],
    /// One count per bound, and one for what exceeds them all.
    counts: Vec<u64>,
    sum: f64,
}

impl Histogram {
    /// Buckets for durations from a millisecond to half a minute, in seconds.
    pub const SECONDS: &'static [f64] =
        &[0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0];
    /// Buckets for durations from ten milliseconds to two hours, in seconds.
    pub const LONG_SECONDS: &'static [f64] =
        &[0.01, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 1_800.0, 3_600.0, 7_200.0];
    /// Buckets for numbers of records.
    pub const RECORDS: &'static [f64] = &[1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1_000.0, 5_000.0];

    /// An empty histogram with these upper bounds of buckets, in increasing order.
    pub fn new(bounds: &'static [f64]) -> Self {
        Self { bounds, counts: vec![0; bounds.len() + 1], sum: 0.0 }
    }

    pub fn add(&mut self, value: f64) {
        self.counts[self.bounds.partition_point(|bound| *bound < value)] += 1;
        self.sum += value;
    }

    /// Counts one duration, in seconds.
    pub fn add_duration(&mut self, duration: Duration) {
        self.add(duration.as_secs_f64());
    }

    pub fn sum(&self) -> f64 {
        self.sum
    }

    /// Number of values counted.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Upper bound of each bucket, with the count of that bucket alone (not cumulative).
    pub fn buckets(&self) -> impl Iterator<Item = (f64, u64)> {
        self.bounds.iter().copied().chain([f64::INFINITY]).zip(self.counts.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_counts_in_the_first_bucket_that_reaches_it() {
        let mut durations = Histogram::new(Histogram::SECONDS);
        [1_u64, 2, 3, 40_000].into_iter().for_each(|ms| durations.add_duration(Duration::from_millis(ms)));
        let filled: Vec<_> = durations.buckets().filter(|(_, count)| *count > 0).collect();
        assert_eq!(filled, [(0.001, 1), (0.002, 1), (0.005, 1), (f64::INFINITY, 1)]);
        assert_eq!(durations.count(), 4);
        assert!((durations.sum() - 40.006).abs() < 1e-9, "{}", durations.sum());
    }

    #[test]
    fn bounds_increase() {
        for bounds in [Histogram::SECONDS, Histogram::LONG_SECONDS, Histogram::RECORDS] {
            assert!(bounds.is_sorted_by(|lower, upper| lower < upper), "{bounds:?}");
        }
    }
}
