//! Change times of pages, drawn from a model or recorded.

mod clock;
mod model;
mod recorded;
mod synthetic;

pub use self::clock::WeeklyCycle;
pub use self::model::{Bulks, ChangeModel, CosmeticNoise, Gaps, Regimes};
pub use self::recorded::RecordedChanges;
pub use self::synthetic::SyntheticChanges;

/// The changes of every page, in the order of time, taken one by one. Future changes do not depend on when they are
/// asked for, so that all policies meet the same changes.
pub trait ChangeSource {
    fn pages(&self) -> usize;

    /// The time of the page's next change that was not taken yet; infinite after the last one.
    fn next_change_days(&self, page: usize) -> f64;

    /// The rate per day of a page that changes as a Poisson process with a constant rate; `None` for any other page,
    /// and when that is unknown.
    fn poisson_rate_per_day(&self, page: usize) -> Option<f64> {
        let _ = page;
        None
    }

    /// The extent of the page's next change, the share of its content that it changes; `None` where extents are not known.
    fn next_extent(&self, page: usize) -> Option<f64> {
        let _ = page;
        None
    }

    fn take_change(&mut self, page: usize);
}
