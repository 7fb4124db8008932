//! Cost of a fetch of a page, so that a limit on bytes chooses pages and does not only stop.
//!
//! Value competes per cost (w U / c, H8 of the algorithm notes). Where fetches are scarce every page costs 1. Where
//! bytes are, a page costs its bytes over those of the mean page: a feed of 2 kB that answers 304 most of the time is
//! looked at a hundred times for one look at a page of 500 kB.

use crate::rules::FrontierRules;
use revisit::columns::Slot;
use revisit::rows::Rows;

/// Weight of the last fetch in the learned bytes of a page.
const NEWEST: f64 = 0.25;
/// Bounds of the cost, so that one wrong number neither hides a page nor makes it everybody's first.
const LEAST_COST: f64 = 0.02;
const MOST_COST: f64 = 50.0;
/// Bytes that all fetches would take over those that there are: below the first fetches alone are scarce, above the
/// second bytes alone.
const SCARCE: (f64, f64) = (0.8, 1.2);

/// Bytes that a fetch is expected to take while none is known. Few pages are longer.
const UNKNOWN_BYTES: f64 = (128 << 10) as f64;

/// Bytes that a fetch of a page is expected to take, after one that took this many.
pub(crate) fn learned_bytes(before: f64, fetches_before: i64, wire_bytes: i64) -> f64 {
    let newest = wire_bytes.max(0) as f64;
    if fetches_before > 0 { before + NEWEST * (newest - before) } else { newest }
}

/// The bytes of all pages. Empty where bytes are not limited.
#[derive(Debug, Default)]
pub(crate) struct FetchCosts {
    /// By slot; 0: not known.
    bytes: Rows<f32>,
    sum: f64,
    known: usize,
}

impl FetchCosts {
    /// Sets the bytes of a page; 0: not known.
    pub(crate) fn set(&mut self, slot: Slot, bytes: f64, rules: &FrontierRules) {
        if rules.bytes_per_day.is_none() {
            return;
        }
        let new = bytes as f32;
        let old = std::mem::replace(self.bytes.at(slot.index(), 0.0), new);
        self.known = self.known + usize::from(new > 0.0) - usize::from(old > 0.0);
        self.sum = (self.sum + f64::from(new) - f64::from(old)).max(0.0);
    }

    /// Bytes that a fetch of any page is expected to take.
    pub(crate) fn expected_bytes(&self) -> f64 {
        if self.known > 0 { (self.sum / self.known as f64).max(1.0) } else { UNKNOWN_BYTES }
    }

    /// Cost of a fetch of a page with these bytes.
    pub(crate) fn of(&self, bytes: f64, rules: &FrontierRules) -> f64 {
        let Some(bytes_per_day) = rules.bytes_per_day.filter(|_| self.known > 0 && bytes > 0.0) else { return 1.0 };
        let mean = self.expected_bytes();
        let wanted = rules.budget_per_day * mean / bytes_per_day.max(f64::MIN_POSITIVE);
        let scarce = ((wanted - SCARCE.0) / (SCARCE.1 - SCARCE.0)).clamp(0.0, 1.0);
        (1.0 + scarce * (bytes / mean - 1.0)).clamp(LEAST_COST, MOST_COST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use settings::{Layers, Settings};

    fn rules(bytes_per_second: Option<&str>) -> FrontierRules {
        let mut overrides = vec![("budget.fetches_per_second".to_owned(), "1".to_owned())];
        overrides.extend(bytes_per_second.map(|bytes| ("budget.bytes_per_second".to_owned(), bytes.to_owned())));
        let settings = Settings::from_layers(Layers { files: &[], environment: [], overrides: &overrides });
        FrontierRules::new(&settings.expect("good settings"), 1)
    }

    fn costs(rules: &FrontierRules) -> (f64, f64) {
        let mut costs = FetchCosts::default();
        for (slot, bytes) in [(0, 2_000.0), (1, 18_000.0), (2, 5.0), (2, 0.0)] {
            costs.set(Slot::new(slot), bytes, rules);
        }
        (costs.of(2_000.0, rules), costs.of(18_000.0, rules))
    }

    #[test]
    fn pages_cost_their_bytes_as_far_as_bytes_are_scarce() {
        assert_eq!(costs(&rules(None)), (1.0, 1.0));
        assert_eq!(costs(&rules(Some("100KiB"))), (1.0, 1.0), "there are enough for ten times the fetches");
        let (small, large) = costs(&rules(Some("2KiB")));
        assert!((small - 0.2).abs() < 1e-6 && (large - 1.8).abs() < 1e-6, "{small} {large}");
        let unknown = FetchCosts::default().of(2_000.0, &rules(Some("2KiB")));
        assert_eq!(unknown, 1.0);
    }

    #[test]
    fn bytes_are_learned_and_an_unmodified_answer_makes_a_page_cheaper() {
        let first = learned_bytes(0.0, 0, 100_000);
        let after = (1..20).fold(first, |bytes, fetches| learned_bytes(bytes, fetches, 300));
        assert!(first == 100_000.0 && after < 1_000.0, "{first} {after}");
    }
}
