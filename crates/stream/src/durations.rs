//! A histogram of durations.

use std::time::Duration;

/// Upper bounds of the buckets, in seconds. Longer durations fall into one more bucket at the end.
const BOUNDS_S: [f64; 14] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0];

/// A histogram of durations, with fixed buckets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Durations {
    counts: [u64; BOUNDS_S.len() + 1],
    sum: Duration,
}

impl Durations {
    /// Counts one duration.
    pub fn add(&mut self, duration: Duration) {
        let class = BOUNDS_S.partition_point(|bound| *bound < duration.as_secs_f64());
        self.counts[class] += 1;
        self.sum += duration;
    }

    /// Sum of all durations, in seconds.
    pub fn sum_s(&self) -> f64 {
        self.sum.as_secs_f64()
    }

    /// Number of durations counted.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Upper bound of each bucket in seconds, with the count of that bucket alone (not cumulative).
    pub fn classes(&self) -> impl Iterator<Item = (f64, u64)> {
        BOUNDS_S.into_iter().chain([f64::INFINITY]).zip(self.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_counts_in_the_first_class_that_reaches_it() {
        let mut durations = Durations::default();
        [1_u64, 2, 3, 40_000].into_iter().for_each(|ms| durations.add(Duration::from_millis(ms)));
        let filled: Vec<_> = durations.classes().filter(|(_, count)| *count > 0).collect();
        assert_eq!(filled, [(0.001, 1), (0.002, 1), (0.005, 1), (f64::INFINITY, 1)]);
        assert_eq!((durations.count(), durations.sum_s()), (4, 40.006));
    }
}
