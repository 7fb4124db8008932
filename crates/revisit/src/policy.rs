//! The rule by which pages compete for fetches.

/// How pages compete for the fetch budget.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Policy {
    /// Every page equally often: the page with the oldest look comes next. The baseline of every comparison.
    Uniform,
    /// The fetch that buys the most weighted freshness comes next.
    Optimal {
        /// Share of the harmonic penalty in the objective, in 0..=1. At 0 only freshness counts, and pages that change
        /// too fast for their weight are abandoned; a little more keeps all of them visited at next to no cost.
        theta: f64,
    },
}

impl Policy {
    /// The share of the harmonic penalty that keeps every page visited at the cost of .0004 of freshness (C20 of the
    /// algorithm notes). On recorded change times it cost nothing.
    pub const DEFAULT_THETA: f64 = 0.01;
}

/// Optimal, with [`Policy::DEFAULT_THETA`].
impl Default for Policy {
    fn default() -> Self {
        Policy::Optimal { theta: Self::DEFAULT_THETA }
    }
}
