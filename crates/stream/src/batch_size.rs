//! How much a commit may hold, by how long the last ones took.
//!
//! A transaction that is not written in its time is aborted, and the same one would fail again without end where brokers,
//! links or quotas are slow.

use crate::log::PollLimits;
use std::time::Duration;

/// A commit that takes longer makes the next ones smaller. A fifth of the usual time of a transaction.
const TARGET: Duration = Duration::from_secs(3);

/// A commit this quick lets the next ones be larger.
const QUICK: Duration = Duration::from_millis(750);

/// Smallest share of a full batch.
const LEAST_SHARE: f64 = 1.0 / 1_024.0;

/// Share of a full batch at the start of work whose results cannot be split after a failure.
const FIRST_SHARE: f64 = 1.0 / 32.0;

#[derive(Debug)]
pub(crate) struct BatchSize {
    full: PollLimits,
    share: f64,
}

impl BatchSize {
    /// Begins with full batches.
    pub(crate) fn new(full: PollLimits) -> Self {
        Self { full, share: 1.0 }
    }

    /// Begins with small batches.
    pub(crate) fn cautious(self) -> Self {
        Self { share: FIRST_SHARE, ..self }
    }

    /// Most records and bytes of any batch.
    pub(crate) fn full(&self) -> PollLimits {
        self.full
    }

    /// Most records and bytes of the next batch, at least one record.
    pub(crate) fn limits(&self) -> PollLimits {
        let part = |whole: usize| ((whole as f64 * self.share) as usize).clamp(1, whole.max(1));
        PollLimits { records: part(self.full.records), bytes: part(self.full.bytes) }
    }

    /// Notes a commit of this size.
    pub(crate) fn committed(&mut self, records: usize, bytes: usize, took: Duration) {
        let limits = self.limits();
        let was_large = records >= limits.records / 2 || bytes >= limits.bytes / 2;
        if took > TARGET {
            self.scale(TARGET.as_secs_f64() / took.as_secs_f64());
        } else if took < QUICK && was_large {
            self.scale(2.0);
        }
    }

    /// Notes a commit that failed.
    pub(crate) fn failed(&mut self) {
        self.scale(0.5);
    }

    /// Notes that only so many records of a batch were taken, because they took long.
    pub(crate) fn cut_short(&mut self, taken: usize, of: usize) {
        self.scale(taken as f64 / of.max(1) as f64);
    }

    fn scale(&mut self, factor: f64) {
        self.share = (self.share * factor).clamp(LEAST_SHARE, 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: PollLimits = PollLimits { records: 1_000, bytes: 32 << 20 };

    /// Commits full batches over a link of this many bytes a second, in transactions of 15 s, until one takes less than `wanted`.
    /// Returns how many failed.
    fn failures_over(bytes_per_second: f64, wanted: Duration) -> usize {
        let mut size = BatchSize::new(FULL);
        for failures in 0..100 {
            let limits = size.limits();
            let took = Duration::from_secs_f64(limits.bytes as f64 / bytes_per_second);
            if took < wanted {
                return failures;
            }
            size.failed();
        }
        unreachable!("no batch is small enough")
    }

    #[test]
    fn after_failures_a_batch_is_small_enough_for_a_slow_link() {
        assert_eq!(failures_over(10e6, Duration::from_secs(15)), 0);
        assert_eq!(failures_over(30e3, Duration::from_secs(15)), 7);
    }

    #[test]
    fn a_slow_commit_makes_the_next_ones_as_large_as_the_target_allows() {
        let mut size = BatchSize::new(FULL);
        size.committed(1_000, 32 << 20, Duration::from_secs(12));
        assert_eq!(size.limits(), PollLimits { records: 250, bytes: 8 << 20 });
        size.committed(250, 8 << 20, Duration::from_secs(2));
        assert_eq!(size.limits(), PollLimits { records: 250, bytes: 8 << 20 }, "neither slow nor quick");
    }

    #[test]
    fn quick_commits_of_full_batches_bring_the_full_size_back() {
        let mut size = BatchSize::new(FULL).cautious();
        assert_eq!(size.limits().records, 31);
        for _ in 0..20 {
            size.committed(1, 1, Duration::ZERO);
        }
        assert_eq!(size.limits().records, 31, "they say nothing of larger ones");
        for _ in 0..5 {
            size.committed(size.limits().records, 1, Duration::ZERO);
        }
        assert_eq!(size.limits(), FULL);
    }

    #[test]
    fn a_batch_that_takes_long_makes_the_next_as_large_as_what_was_taken() {
        let mut size = BatchSize::new(FULL);
        size.cut_short(40, 1_000);
        assert_eq!(size.limits().records, 40);
    }

    #[test]
    fn a_batch_has_at_least_one_record() {
        let mut size = BatchSize::new(PollLimits { records: 3, bytes: 100 });
        (0..50).for_each(|_| size.failed());
        assert_eq!(size.limits(), PollLimits { records: 1, bytes: 1 });
    }
}
