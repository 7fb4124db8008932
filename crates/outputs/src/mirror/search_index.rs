//! The interface of a search index, and how it answers.

use super::batch::PageUpdate;
use crate::sink::Undelivered;

/// The fate of an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The index has it.
    Applied,
    /// The index has a newer version of the page already.
    Superseded,
    /// It may go better later. With the reason.
    Later(String),
    /// The index would refuse the same again. With the reason.
    Rejected(String),
}

/// An index that is filled anew beside the one in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rebuild {
    /// Into this new index.
    Into(String),
    /// The engine cannot do that.
    Impossible,
}

/// Takes the updates of pages.
pub trait SearchIndex {
    /// Creates the index if it does not exist.
    ///
    /// # Errors
    /// The server does not answer, or not as this engine does.
    fn prepare(&mut self) -> Result<(), Undelivered>;

    /// Applies updates of different pages. Returns their fates in the same order.
    ///
    /// # Errors
    /// None of them, or an unknown part, was applied. `Refused` is about this request, and parts of it may be taken.
    fn apply(&mut self, updates: &[&PageUpdate]) -> Result<Vec<Fate>, Undelivered>;

    /// Turns to a new index, which is called by this moment in Unix seconds.
    fn rebuild(&mut self, _moment: i64) -> Rebuild {
        Rebuild::Impossible
    }

    /// Turns to a new index that was begun by a run before.
    fn continue_rebuild(&mut self, _index: &str) {}

    /// Lets searches use the new index, and deletes the one before.
    ///
    /// # Errors
    /// The server does not answer, or refuses.
    fn put_in_use(&mut self) -> Result<(), Undelivered> {
        Ok(())
    }
}
