//! How much of a page a copy misses. Two versions far apart were not compared: the truth lies between two bounds. On real
//! pages with numbers and dates, whose changes hit the same part again, it is near the lower one; on texts that are written
//! on, near the upper one (`docs/MEASUREMENTS.md`).

/// The part of its page that a copy misses, as shares of the content in 0..=1: 0 while it is current. As scores they are
/// staleness weighted by the extent of changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct MissedExtent {
    /// Largest extent of a missed change: what it misses if all of them hit the same part.
    pub largest: f64,
    /// 1 - Π (1 - extent): what it misses if they hit parts that have nothing to do with each other.
    pub together: f64,
}

impl MissedExtent {
    /// Adds a missed change.
    pub(crate) fn add(&mut self, extent: f64) {
        self.largest = self.largest.max(extent);
        self.together += (1.0 - self.together) * extent;
    }

    /// Adds the integral over a time with a constant `missed`.
    pub(crate) fn count(&mut self, weighted_days: f64, missed: MissedExtent) {
        self.largest += weighted_days * missed.largest;
        self.together += weighted_days * missed.together;
    }

    /// The mean of integrals over this many days times weight.
    pub(crate) fn over(self, weighted_days: f64) -> Self {
        let mean = |sum: f64| if weighted_days > 0.0 { sum / weighted_days } else { 0.0 };
        Self { largest: mean(self.largest), together: mean(self.together) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_hit_the_same_part_or_others() {
        let mut missed = MissedExtent::default();
        [0.2, 0.5, 0.1].into_iter().for_each(|extent| missed.add(extent));
        assert_eq!(missed.largest, 0.5);
        assert!((missed.together - (1.0 - 0.8 * 0.5 * 0.9)).abs() < 1e-12);
    }
}
