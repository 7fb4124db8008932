//! Health of a stage: its public status, and its reaction to failures of the log.

use crate::clock::Clock;
use crate::histogram::Histogram;
use crate::invariants::{AT_RUN_TIME, BrokenInvariant};
use crate::log::{ErrorKind, LogError};
use crate::protocol::{Fencings, Recovery, after_failure};
use metrics::Metric;
use metrics::stage::{BATCH_RECORDS, COMMIT_SECONDS, POLL_TO_COMMIT_SECONDS, RESTORE_SECONDS};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tracing::{error, info, warn};

/// Interval between refreshes of lag and figures, in real time.
const STATUS_EVERY: Duration = Duration::from_millis(500);

/// Interval between estimates of the size of the state, in real time. An estimate reads the index of every file.
const STATE_SIZE_EVERY: Duration = Duration::from_secs(10);

/// The histograms of every stage, with the bounds of their buckets.
const HISTOGRAMS: [(&Metric, &[f64]); 4] = [
    (BATCH_RECORDS, Histogram::RECORDS),
    (POLL_TO_COMMIT_SECONDS, Histogram::SECONDS),
    (COMMIT_SECONDS, Histogram::SECONDS),
    (RESTORE_SECONDS, Histogram::LONG_SECONDS),
];

/// A record that is further ahead is reported: it was made by a process whose clock differs.
const REPORTED_AHEAD: Duration = Duration::from_secs(10);

/// How long the furthest record counts, in real time, and the interval between two reports.
const AHEAD_FOR: Duration = Duration::from_secs(60);

/// A stage that has failed for longer than a group waits for a member (`kafka.session_timeout`) is not ready any more.
const READY_WHILE_FAILING: Duration = Duration::from_secs(45);

/// Status of a stage, shared with its readers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageStatus {
    pub name: String,
    /// Assigned and restored partitions.
    pub partitions: Vec<u32>,
    /// Assigned partitions not restored yet.
    pub restoring: Vec<u32>,
    /// Whether the stage has joined its group and restored its assigned partitions, and has not failed for long since.
    pub ready: bool,
    /// How long every step has failed by the last one. `None` while steps succeed.
    pub failing_for: Option<Duration>,
    /// Turns of the loop since start. If this stands still, the stage hangs.
    pub turns_total: u64,
    /// Records processed since start.
    pub processed_total: u64,
    /// Records set aside since start.
    pub set_aside_total: u64,
    /// Transactions committed since start.
    pub commits_total: u64,
    /// Failures of the log since start.
    pub failures_total: u64,
    /// Memberships given up after a failure, in order to join again, since start.
    pub rejoins_total: u64,
    /// Changelog records replayed since start.
    pub restored_records_total: u64,
    /// Stores that were emptied and refilled from their changelogs since start.
    pub stores_refilled_total: u64,
    /// Task states that were damaged or foreign and were set aside, since start.
    pub state_set_aside_total: u64,
    /// Input offsets that retention dropped before they were processed, since start.
    pub input_lost_total: u64,
    /// Answers left out because they were too large for their topic, since start.
    pub answers_left_out_total: u64,
    /// Records that had to wait for their schema since start.
    pub held_total: u64,
    /// Number of violations by invariant; every checked invariant has an entry.
    pub violations: BTreeMap<&'static str, u64>,
    /// Assignments and revocations of partitions since start.
    pub rebalances_total: u64,
    /// Changelog records still to replay before all assigned partitions are restored, by the offsets of the log.
    pub restore_remaining_records: u64,
    /// How far the input of the last minute was ahead of this process's clock, in real time. More than a few seconds
    /// mean that the clocks of two processes differ.
    pub input_ahead: Duration,
    /// Bytes on disk of the state of the assigned and restored partitions, by the store's estimate.
    pub state_bytes: u64,
    /// Histograms of the stage.
    pub histograms: BTreeMap<&'static Metric, Histogram>,
    /// The missing schema, while a record waits for it.
    pub waits_for: Option<String>,
    /// How often the figures were computed since start.
    pub refreshes_total: u64,
    /// The processors' figures, summed over partitions.
    pub figures: BTreeMap<&'static Metric, f64>,
    /// Answers to requests since start by their kind, if the stage has requests in flight.
    pub answers: BTreeMap<&'static str, u64>,
    /// Last failure; `None` if there was none, or the stage has recovered from it.
    pub last_error: Option<String>,
}

/// A stage cannot go on; the message says why.
#[derive(Clone, Debug, thiserror::Error)]
#[error("stage {stage} stopped: {message}")]
pub struct Stopped {
    pub stage: String,
    pub message: String,
}

/// Health of one stage, updated by the thread that runs it.
pub struct StageHealth {
    stage: String,
    /// Failures since the last step that succeeded, by kind: an outage that was waited for is no reason to wait long before
    /// joining anew, and counts as no abort.
    failures_in_a_row: [u32; ErrorKind::COUNT],
    fencings: Fencings,
    /// Age of the stage at the first of these failures.
    failing_since: Option<Duration>,
    refreshed_at: Option<Duration>,
    sized_at: Option<Duration>,
    /// When the record was read that was furthest ahead.
    ahead_at: Option<Duration>,
    status: Arc<Mutex<StageStatus>>,
}

impl StageHealth {
    /// Health of a stage that has not joined its group yet.
    pub fn new(stage: &str) -> Self {
        let violations = AT_RUN_TIME.into_iter().map(|invariant| (invariant, 0)).collect();
        let histograms = HISTOGRAMS.into_iter().map(|(what, bounds)| (what, Histogram::new(bounds))).collect();
        let status = StageStatus { name: stage.to_owned(), violations, histograms, ..StageStatus::default() };
        Self {
            stage: stage.to_owned(),
            failures_in_a_row: [0; ErrorKind::COUNT],
            fencings: Fencings::default(),
            failing_since: None,
            refreshed_at: None,
            sized_at: None,
            ahead_at: None,
            status: Arc::new(Mutex::new(status)),
        }
    }

    /// A handle on the status for other threads.
    pub fn status(&self) -> Arc<Mutex<StageStatus>> {
        self.status.clone()
    }

    pub fn update(&self, update: impl FnOnce(&mut StageStatus)) {
        update(&mut self.status.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Counts the start of a turn.
    pub fn turned(&self) {
        self.update(|status| status.turns_total += 1);
    }

    /// Counts a violated invariant. The stage goes on: stopping would not repair it.
    pub fn check(&self, checked: Result<(), BrokenInvariant>) {
        if let Err(broken) = checked {
            error!(stage = self.stage, invariant = broken.invariant, how = broken.how, "an invariant is broken");
            self.update(|status| *status.violations.entry(broken.invariant).or_default() += 1);
        }
    }

    /// Adds a value to one of the histograms of every stage.
    pub fn measured(&self, what: &'static Metric, value: f64) {
        self.update(|status| {
            if let Some(histogram) = status.histograms.get_mut(what) {
                histogram.add(value);
            }
        });
    }

    /// Ends a row of failures after a successful step.
    pub fn worked(&mut self) {
        let failures: u32 = self.failures_in_a_row.iter().sum();
        if failures > 0 {
            info!(stage = self.stage, failures, "the log works again");
            self.failures_in_a_row = [0; ErrorKind::COUNT];
            self.failing_since = None;
            self.update(|status| {
                status.last_error = None;
                status.failing_for = None;
            });
        }
    }

    /// Records a failure of the log, `age` after the start of the stage, and decides how to recover.
    pub fn failed(&mut self, error: &LogError, age: Duration) -> Recovery {
        self.failures_in_a_row[error.kind as usize] += 1;
        let attempt = self.failures_in_a_row[error.kind as usize];
        let failing_for = age.saturating_sub(*self.failing_since.get_or_insert(age));
        self.update(|status| {
            status.failures_total += 1;
            status.failing_for = Some(failing_for);
            status.ready &= failing_for < READY_WHILE_FAILING;
            status.last_error = Some(error.message.clone());
        });
        if error.kind == ErrorKind::Fenced {
            self.fencings.note(age);
        }
        let recovery = after_failure(error.kind, attempt, &self.fencings);
        warn!(stage = self.stage, error = error.message, ?recovery, attempt, "log failed");
        recovery
    }

    /// Records that the stage cannot go on.
    pub fn stopped(&self, message: String) -> Stopped {
        error!(stage = self.stage, message, "stage stopped");
        self.update(|status| {
            status.ready = false;
            status.last_error = Some(message.clone());
        });
        Stopped { stage: self.stage.clone(), message }
    }

    /// Counts an assignment or revocation of partitions.
    pub fn rebalanced(&self) {
        self.update(|status| status.rebalances_total += 1);
    }

    /// Counts a membership given up for a new one.
    pub fn rejoins(&self) {
        self.update(|status| status.rejoins_total += 1);
    }

    /// Records that the stage has left its group.
    pub fn left(&self) {
        self.update(|status| {
            status.ready = false;
            status.partitions.clear();
            status.restoring.clear();
            status.restore_remaining_records = 0;
            status.state_bytes = 0;
        });
    }

    /// Records how far the input just read is ahead of this process's clock, in real time. `now` is monotonic.
    pub fn input_ahead(&mut self, ahead: Duration, now: Duration) {
        let known = self.status.lock().unwrap_or_else(PoisonError::into_inner).input_ahead;
        let is_over = self.ahead_at.is_none_or(|at| now.saturating_sub(at) >= AHEAD_FOR);
        if ahead <= known && !is_over {
            return;
        }
        if is_over && ahead >= REPORTED_AHEAD {
            warn!(
                stage = self.stage,
                ?ahead,
                "a record of the input was made in the future: the clocks of two processes differ"
            );
        }
        self.ahead_at = Some(now);
        self.update(|status| status.input_ahead = ahead);
    }

    /// Whether to refresh lag and figures now.
    pub fn is_due(&mut self, clock: &dyn Clock) -> bool {
        has_passed(STATUS_EVERY, &mut self.refreshed_at, clock)
    }

    /// Whether to estimate the size of the state now.
    pub fn is_sizing_due(&mut self, clock: &dyn Clock) -> bool {
        has_passed(STATE_SIZE_EVERY, &mut self.sized_at, clock)
    }

    /// Makes the refresh due at once: the last figures stay readable and should include everything done.
    pub fn make_due(&mut self) {
        self.refreshed_at = None;
        self.sized_at = None;
    }
}

/// Whether an interval has passed since it last had. The first time it has.
fn has_passed(interval: Duration, last: &mut Option<Duration>, clock: &dyn Clock) -> bool {
    let now = clock.monotonic();
    let has_passed = last.is_none_or(|last| now.saturating_sub(last) >= interval);
    if has_passed {
        *last = Some(now);
    }
    has_passed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::positions_never_go_back;
    use crate::position::Position;

    #[test]
    fn failures_are_counted_by_kind_until_a_step_succeeds() {
        let mut health = StageHealth::new("stage");
        let mut failed = |kind| health.failed(&LogError::new(kind, "why"), Duration::ZERO);
        let first = Duration::from_millis(100);
        for _ in 0..20 {
            failed(ErrorKind::Retry);
        }
        assert_eq!(failed(ErrorKind::Abort), Recovery::Rewind(first), "after a long outage");
        assert_eq!(failed(ErrorKind::Rejoin), Recovery::Rejoin(first));
        for _ in 0..7 {
            failed(ErrorKind::Abort);
            failed(ErrorKind::Retry);
        }
        assert!(matches!(failed(ErrorKind::Abort), Recovery::Rejoin(_)), "the ninth abort, whatever came between");
        health.worked();
        let again = health.failed(&LogError::new(ErrorKind::Abort, "why"), Duration::ZERO);
        assert_eq!(again, Recovery::Rewind(first));
    }

    #[test]
    fn the_furthest_record_of_a_minute_shows_that_clocks_differ() {
        let mut health = StageHealth::new("stage");
        let mut shown_after = |ahead, now| {
            health.input_ahead(Duration::from_secs(ahead), Duration::from_secs(now));
            health.status().lock().unwrap_or_else(PoisonError::into_inner).input_ahead.as_secs()
        };
        let shown = [(0, 100), (660, 101), (0, 130), (700, 140), (0, 199), (3, 200)];
        assert_eq!(shown.map(|(ahead, now)| shown_after(ahead, now)), [0, 660, 660, 700, 700, 3]);
    }

    #[test]
    fn a_stage_that_fails_for_longer_than_a_session_is_not_ready() {
        let mut health = StageHealth::new("stage");
        let status = health.status();
        let shown = || {
            let status = status.lock().unwrap_or_else(PoisonError::into_inner);
            (status.ready, status.failing_for.map(|span| span.as_secs()))
        };
        let error = LogError::new(ErrorKind::Retry, "no answer");
        health.update(|status| status.ready = true);
        health.failed(&error, Duration::from_secs(100));
        health.failed(&error, Duration::from_secs(144));
        assert_eq!(shown(), (true, Some(44)));
        health.failed(&error, Duration::from_secs(145));
        assert_eq!(shown(), (false, Some(45)));
        health.worked();
        health.update(|status| status.ready = true);
        health.failed(&error, Duration::from_secs(200));
        assert_eq!(shown(), (true, Some(0)), "a row of failures begins anew");
    }

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
