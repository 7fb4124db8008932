//! The unspent budget of a simulated policy.

use crate::revisit_policy::PolicyTick;

/// Fetches that the simulation has saved, a day's at most.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SavedFetches {
    pub(super) fetches: f64,
    earned: f64,
    most: f64,
}

impl SavedFetches {
    pub(super) fn earn(&mut self, tick: &PolicyTick) {
        self.earned = tick.budget_per_day * tick.days;
        self.most = tick.budget_per_day.max(1.0 + self.earned);
        self.fetches = (self.fetches + self.earned).min(self.most);
    }

    /// Those that would be lost at the next tick.
    pub(super) fn surplus(&self) -> f64 {
        self.fetches + self.earned - self.most
    }
}
