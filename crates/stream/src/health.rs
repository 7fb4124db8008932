//! How a stage is doing: what others may see of it, and what it does when the log fails.

use crate::durations::Durations;
use crate::invariants::{AT_RUN_TIME, Broken};
use crate::log::{ErrorKind, LogError};
use crate::protocol::{Recovery, after_failure};
use crate::runner::Clock;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tracing::{error, info, warn};

/// How often lag and figures are refreshed, in real time.
const STATUS_EVERY: Duration = Duration::from_millis(500);

/// How a stage is doing; shared with whoever shows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageStatus {
    /// Stage name.
    pub name: String,
    /// Partitions assigned and restored.
    pub partitions: Vec<u32>,
    /// Partitions assigned and not restored yet.
    pub restoring: Vec<u32>,
    /// Whether the stage has joined its group and restored what it was assigned.
    pub ready: bool,
    /// Turns of the loop since start. A stage at which this stands still hangs.
    pub turns_total: u64,
    /// Records processed since start.
    pub processed_total: u64,
    /// Records set aside since start.
    pub set_aside_total: u64,
    /// Transactions committed since start.
    pub commits_total: u64,
    /// Failures of the log since start.
    pub failures_total: u64,
    /// Memberships given up after a failure, to join anew, since start.
    pub rejoins_total: u64,
    /// Changelog records replayed since start.
    pub restored_records_total: u64,
    /// Stores that were emptied and refilled from their changelogs since start.
    pub stores_refilled_total: u64,
    /// States of tasks that were damaged or another's, and set aside, since start.
    pub state_set_aside_total: u64,
    /// Input offsets that retention took before they were processed, since start.
    pub input_lost_total: u64,
    /// Answers that were larger than their topic takes and so left out, since start.
    pub answers_left_out_total: u64,
    /// Records that had to wait for their schema since start.
    pub held_total: u64,
    /// Invariants that were found broken, by name; those that are looked at are all there.
    pub violations: BTreeMap<&'static str, u64>,
    /// How long things took, by name.
    pub durations: BTreeMap<&'static str, Durations>,
    /// What is waited for, while a record cannot be read for want of its schema.
    pub waits_for: Option<String>,
    /// The processors' own figures, added up over partitions.
    pub figures: BTreeMap<&'static str, f64>,
    /// Last failure, if any.
    pub last_error: Option<String>,
}

/// A stage cannot go on; the message says why.
#[derive(Clone, Debug, thiserror::Error)]
#[error("stage {stage} stopped: {message}")]
pub struct Stopped {
    /// The stage.
    pub stage: String,
    /// Why.
    pub message: String,
}

/// The health of one stage, kept by whoever turns its loop.
pub struct StageHealth {
    stage: String,
    failures_in_a_row: u32,
    fencings: u32,
    refreshed_at: Option<Duration>,
    status: Arc<Mutex<StageStatus>>,
}

impl StageHealth {
    /// Of a stage that has not joined its group yet.
    pub fn new(stage: &str) -> Self {
        let violations = AT_RUN_TIME.into_iter().map(|invariant| (invariant, 0)).collect();
        let status = StageStatus { name: stage.to_owned(), violations, ..StageStatus::default() };
        Self {
            stage: stage.to_owned(),
            failures_in_a_row: 0,
            fencings: 0,
            refreshed_at: None,
            status: Arc::new(Mutex::new(status)),
        }
    }

    /// A handle for other threads.
    pub fn status(&self) -> Arc<Mutex<StageStatus>> {
        self.status.clone()
    }

    /// Changes what is seen.
    pub fn update(&self, update: impl FnOnce(&mut StageStatus)) {
        update(&mut self.status.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// A turn begins.
    pub fn turned(&self) {
        self.update(|status| status.turns_total += 1);
    }

    /// Counts an invariant that was found broken. The work goes on: what is wrong is not made better by stopping.
    pub fn check(&self, checked: Result<(), Broken>) {
        if let Err(broken) = checked {
            error!(stage = self.stage, invariant = broken.invariant, how = broken.how, "an invariant is broken");
            self.update(|status| *status.violations.entry(broken.invariant).or_default() += 1);
        }
    }

    /// Something took so long.
    pub fn took(&self, what: &'static str, duration: Duration) {
        self.update(|status| status.durations.entry(what).or_default().add(duration));
    }

    /// A step came through.
    pub fn worked(&mut self) {
        if self.failures_in_a_row > 0 {
            info!(stage = self.stage, failures = self.failures_in_a_row, "log is back");
            self.failures_in_a_row = 0;
            self.update(|status| status.last_error = None);
        }
    }

    /// The log failed, `age` after the stage was started: what is to be done.
    pub fn failed(&mut self, error: &LogError, age: Duration) -> Recovery {
        self.failures_in_a_row += 1;
        self.update(|status| {
            status.failures_total += 1;
            status.last_error = Some(error.message.clone());
        });
        self.fencings += u32::from(error.kind == ErrorKind::Fenced);
        let recovery = after_failure(error.kind, self.failures_in_a_row, age, self.fencings);
        warn!(stage = self.stage, error = error.message, ?recovery, attempt = self.failures_in_a_row, "log failed");
        recovery
    }

    /// The stage cannot go on.
    pub fn stopped(&self, message: String) -> Stopped {
        error!(stage = self.stage, message, "stage stopped");
        self.update(|status| {
            status.ready = false;
            status.last_error = Some(message.clone());
        });
        Stopped { stage: self.stage.clone(), message }
    }

    /// A membership is given up for a new one.
    pub fn rejoins(&self) {
        self.update(|status| status.rejoins_total += 1);
    }

    /// The stage is in its group no more.
    pub fn left(&self) {
        self.update(|status| {
            status.ready = false;
            status.partitions.clear();
            status.restoring.clear();
        });
    }

    /// Whether lag and figures are to be refreshed now.
    pub fn is_due(&mut self, clock: &dyn Clock) -> bool {
        let now = clock.monotonic();
        let is_due = self.refreshed_at.is_none_or(|before| now.saturating_sub(before) >= STATUS_EVERY);
        if is_due {
            self.refreshed_at = Some(now);
        }
        is_due
    }

    /// They are due at once: the last ones stay readable, and should tell of everything that was done.
    pub fn make_due(&mut self) {
        self.refreshed_at = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::positions_never_go_back;
    use crate::position::Position;

    #[test]
    fn what_is_found_broken_is_counted_and_what_holds_is_not() {
        let health = StageHealth::new("stage");
        let before = Position::at(5);
        health.check(positions_never_go_back(Some(&before), &Position::at(6)));
        health.check(positions_never_go_back(Some(&before), &Position::at(4)));
        let status = health.status();
        let violations = status.lock().unwrap_or_else(PoisonError::into_inner).violations.clone();
        assert_eq!(violations.keys().copied().collect::<Vec<_>>(), AT_RUN_TIME);
        assert_eq!(violations["positions_never_go_back"], 1);
        assert_eq!(violations.values().sum::<u64>(), 1);
    }
}
