//! Why a record could not be processed, and what happens to it.

use crate::store::StoreError;
use crate::table::TableError;
use wire::DecodeError;

/// Why a record could not be processed. Each reason decides what happens to the record.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ProcessError {
    /// The record is invalid: its staged work is rolled back, and the record is set aside with this reason.
    #[error("{0}")]
    SetAside(String),
    /// The record is of a newer version whose schema has not arrived yet: the batch waits for it.
    #[error("{0}")]
    Await(String),
    /// The task's state on disk is damaged. It is set aside and refilled where a changelog holds it.
    #[error("{0}")]
    Damaged(String),
    /// A bug or failure of ours: the stage stops, nothing of the batch is committed.
    #[error("{0}")]
    Stop(String),
}

/// Maps an unreadable record: a newer version waits for its schema.
impl From<DecodeError> for ProcessError {
    fn from(error: DecodeError) -> Self {
        match error.is_temporary() {
            true => ProcessError::Await(error.to_string()),
            false => ProcessError::SetAside(error.to_string()),
        }
    }
}

impl From<StoreError> for ProcessError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Damaged(what) => ProcessError::Damaged(what),
            StoreError::Failed(why) => ProcessError::Stop(why),
        }
    }
}

/// An entry of a newer version waits for its schema. Any other unreadable entry is damage.
impl From<TableError> for ProcessError {
    fn from(error: TableError) -> Self {
        match error {
            TableError::Unreadable { error: ref cause, .. } if cause.is_temporary() => {
                ProcessError::Await(error.to_string())
            }
            TableError::Unreadable { .. } => ProcessError::Damaged(error.to_string()),
            TableError::Store(error) => error.into(),
        }
    }
}
