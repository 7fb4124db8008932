//! When pages change: drawn from a model, or recorded.

mod clock;
mod model;
mod recorded;
mod synthetic;

pub use self::clock::Cycle;
pub use self::model::{Bulks, ChangeModel, CosmeticNoise, Gaps, Regimes};
pub use self::recorded::RecordedChanges;
pub use self::synthetic::SyntheticChanges;

/// The changes of every page, in the order of time, taken one by one. What is to come does not depend on when it is
/// asked for, so that all policies meet the same changes.
pub trait ChangeSource {
    /// Of how many pages.
    fn pages(&self) -> usize;

    /// When the page changes next, of the changes not yet taken; infinite when it never does.
    fn next_change_days(&self, page: usize) -> f64;

    /// The rate per day of a page that changes as a Poisson process, at the same rate all the time; `None` for one that
    /// does not, or of which that is not known.
    fn poisson_rate_per_day(&self, page: usize) -> Option<f64> {
        let _ = page;
        None
    }

    /// Takes that change, so that the one after it is next.
    fn take_change(&mut self, page: usize);
}
