//! How the receivers of changes are doing, as `/status`, `recrawl status` and the console show it.

use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, PoisonError};

/// How a receiver of changes is doing. Counts are since the start of the process, times in RFC 3339 by its clock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiverStatus {
    /// Its name in the settings.
    pub name: String,
    /// Where it gets its changes, without what may be a secret. Empty for callers without a token.
    pub target: String,
    pub delivered_total: u64,
    /// Changes that were given up or refused for good, and left out.
    pub left_out_total: u64,
    /// Changes that retention deleted before they were delivered. An upper bound: some may not have been wanted.
    #[serde(default)]
    pub lost_total: u64,
    pub failed_attempts_total: u64,
    /// Attempts in a row that failed, up to the last one.
    #[serde(default)]
    pub failed_in_row: u64,
    /// Changes behind its position, also those that it does not want; absent until they were counted.
    #[serde(default)]
    pub waiting: Option<u64>,
    /// Time of the last delivery since the start.
    #[serde(default)]
    pub last_delivered_at: Option<String>,
    /// Time of the first of the attempts that have all failed since.
    #[serde(default)]
    pub failing_since: Option<String>,
    /// The failure of the last attempt.
    #[serde(default)]
    pub problem: Option<String>,
    /// Time of the next digest, on the clock of the web; absent without digests.
    #[serde(default)]
    pub next_digest_at: Option<String>,
    /// How often it was seen to have all that is there.
    #[serde(default)]
    pub rests_total: u64,
}

impl ReceiverStatus {
    /// Hides what is of no concern to strangers: where changes go, and what the other side says.
    pub(crate) fn hide(&mut self) {
        self.target = String::new();
        self.problem = self.problem.take().map(|_| "shown to callers with the port's token".to_owned());
    }
}

/// The statuses of the receivers of a process. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct ReceiverBoard(Arc<Mutex<Vec<ReceiverHandle>>>);

/// The status of one receiver. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct ReceiverHandle(Arc<Mutex<ReceiverStatus>>);

impl ReceiverBoard {
    /// Adds a receiver.
    pub fn add(&self, name: &str, target: &str) -> ReceiverHandle {
        let status = ReceiverStatus { name: name.to_owned(), target: target.to_owned(), ..ReceiverStatus::default() };
        let handle = ReceiverHandle(Arc::new(Mutex::new(status)));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(handle.clone());
        handle
    }

    /// The statuses, in the order of the settings.
    pub fn statuses(&self) -> Vec<ReceiverStatus> {
        let handles = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        handles.iter().map(ReceiverHandle::status).collect()
    }
}

impl ReceiverHandle {
    pub fn status(&self) -> ReceiverStatus {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn update(&self, update: impl FnOnce(&mut ReceiverStatus)) {
        update(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
