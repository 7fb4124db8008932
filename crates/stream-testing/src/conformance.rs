//! The conformance suite that every log must pass, also with stages on top.
//!
//! A log provides a [`Harness`]; [`run`] runs all [`CASES`] on it, several at a time and each on its own topics, and
//! prints every name. Nothing sleeps: a case waits for conditions, up to the harness's deadline. Offsets may have gaps,
//! commits may take a moment to become visible, partitions may be assigned in several rounds.

mod faulty_log;
mod ground;
mod groups;
mod offsets;
mod records;
mod retention;
mod stage;
mod stages;
mod transactions;

pub use self::ground::{ConformanceFixture, Failed};

use page::Timestamp;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use stream::Clock;
use stream::log::{Log, LogError};
use stream::store::StoreProvider;

/// Capability of a log that a case requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing beyond what every log can do.
    Nothing,
    /// Retention and compaction on demand.
    Maintenance,
    /// Maintenance on demand, and dropping of records that every group has consumed.
    ConsumedRetention,
    /// State in changelogs, so that a lost disk is refilled.
    Changelogs,
    /// State in changelogs, and compaction on demand.
    CompactedChangelogs,
}

/// A log under test, created anew for every case.
pub trait Harness {
    /// The log under test.
    fn log(&self) -> Arc<dyn Log>;

    /// Closes the log and opens it again on its stored data. The case has dropped every handle on it.
    fn reopen(&mut self) -> Result<(), LogError>;

    /// An empty disk: stores that outlive their tasks. Every call returns a new one.
    fn stores(&self) -> Arc<dyn StoreProvider>;

    /// Real time; `now` stamps the records, `pause` waits a little between two checks.
    fn clock(&self) -> Arc<dyn Clock>;

    /// Longest wait for a condition.
    fn deadline(&self) -> Duration {
        Duration::from_secs(300)
    }

    /// Prefix of all names, so that runs can share a log.
    fn prefix(&self) -> String {
        String::new()
    }

    /// Whether the log has this capability.
    fn can(&self, need: Need) -> bool;

    /// Runs retention and compaction now. Called only if [`Harness::can`] allows it.
    fn maintain(&self, now: Timestamp) -> Result<(), LogError>;
}

/// One requirement on a log, with its test.
pub struct Case {
    /// Name of the test, which states the requirement.
    pub name: &'static str,
    /// Required capability.
    pub need: Need,
    /// Runs the test.
    pub run: fn(&mut ConformanceFixture) -> Result<(), Failed>,
}

macro_rules! cases {
    ($($module:ident::$name:ident $(needs $need:ident)?;)*) => {
        &[$(Case { name: stringify!($name), need: cases!(@ $($need)?), run: $module::$name }),*]
    };
    (@) => { Need::Nothing };
    (@ $need:ident) => { Need::$need };
}

/// All cases, in the order they start.
pub const CASES: &[Case] = cases![
    records::records_of_a_key_keep_their_order;
    records::offsets_rise;
    records::partitions_are_independent;
    records::timestamps_are_kept;
    records::the_trace_of_a_record_is_kept;
    records::a_missing_value_is_a_tombstone;
    records::an_empty_key_and_an_empty_value_are_kept;
    records::keys_and_values_are_any_bytes;
    records::a_value_of_a_mebibyte_passes;
    records::sixteen_partitions_each_keep_their_own;
    records::a_reader_needs_no_group_and_goes_on_where_it_stopped;
    records::bounds_frame_what_there_is;
    records::records_survive_a_restart;
    records::append_is_all_or_nothing;
    records::unknown_topics_are_errors;
    records::making_topics_again_changes_nothing;
    transactions::aborted_work_is_never_visible;
    transactions::after_an_abort_only_the_second_try_shows;
    transactions::outputs_alone_can_be_committed;
    transactions::an_empty_commit_changes_nothing;
    transactions::a_commit_spans_twenty_topics;
    transactions::ten_thousand_records_fit_into_a_transaction;
    transactions::a_receipt_parts_earlier_from_later_records;
    transactions::a_newer_member_of_the_same_name_fences_the_older;
    transactions::a_record_larger_than_its_topic_takes_is_refused_with_the_rest;
    offsets::positions_alone_can_be_committed;
    offsets::after_an_abort_the_same_records_come_again;
    offsets::delivery_starts_where_it_is_reported;
    offsets::uncommitted_records_come_again_to_the_next_member;
    offsets::a_committed_position_survives_leaving;
    offsets::a_committed_position_survives_a_restart;
    offsets::aborted_positions_do_not_move;
    offsets::groups_do_not_disturb_each_other;
    offsets::a_note_is_kept_with_its_position;
    offsets::the_backlog_counts_what_is_not_committed_and_says_how_old_it_is;
    offsets::the_backlog_is_zero_when_all_is_committed;
    groups::one_member_gets_every_partition;
    groups::nothing_is_delivered_before_start;
    groups::two_members_share_fairly;
    groups::a_partition_is_given_back_before_it_is_given_on;
    groups::a_leaving_member_gives_back;
    groups::a_commit_for_a_lost_partition_fails_and_is_invisible;
    groups::a_poll_gives_no_more_than_asked_for;
    groups::a_long_backlog_does_not_hold_up_other_partitions;
    groups::an_idle_poll_comes_back_empty;
    groups::a_poll_without_room_keeps_the_records;
    groups::a_full_member_receives_that_a_partition_is_taken;
    groups::a_poll_stays_within_its_bytes;
    groups::work_of_a_lost_partition_is_refused_without_a_position_too;
    retention::compaction_keeps_the_last_of_every_key needs Maintenance;
    retention::compaction_keeps_a_fresh_tombstone needs Maintenance;
    retention::compaction_leaves_topics_that_delete_alone needs Maintenance;
    retention::old_records_go_and_young_ones_stay needs Maintenance;
    retention::offsets_go_on_after_everything_went needs Maintenance;
    retention::what_every_group_has_consumed_goes needs ConsumedRetention;
    retention::what_no_one_has_consumed_stays needs ConsumedRetention;
    stages::counts_are_exact_over_crashes_and_lost_answers;
    stages::state_comes_back_from_nothing needs Changelogs;
    stages::a_stale_copy_of_the_state_catches_up needs Changelogs;
    stages::state_ahead_of_its_changelog_is_not_believed needs Changelogs;
    stages::state_comes_back_after_compaction needs CompactedChangelogs;
    stages::a_failed_restore_is_tried_again needs Changelogs;
    stages::schemas_are_written_though_the_first_question_for_them_fails;
    stages::state_moves_between_instances needs Changelogs;
    stages::an_instance_that_goes_closes_its_state_first;
    stages::memory_is_rebuilt_after_a_rewind;
    stages::a_bad_record_is_set_aside_with_its_reason;
    stages::a_stop_commits_nothing;
    stages::what_punctuate_sends_is_committed_once;
    stages::a_broadcast_reaches_every_partition;
    stages::output_ids_are_the_same_after_a_crash;
];

/// Runs all cases whose name contains `only`, on `threads` threads, and prints each result.
///
/// # Panics
/// If a case fails; the message names all that failed.
pub fn run(make: &(dyn Fn() -> Box<dyn Harness> + Sync), threads: usize, only: &str) {
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(case) = CASES.get(next.fetch_add(1, Ordering::SeqCst)) {
                    if case.name.contains(only)
                        && let Err(Failed(reason)) = try_one(make, case)
                    {
                        failures
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .push(format!("{}: {reason}", case.name));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert!(failures.is_empty(), "{} cases failed:\n{}", failures.len(), failures.join("\n"));
}

fn try_one(make: &(dyn Fn() -> Box<dyn Harness> + Sync), case: &Case) -> Result<(), Failed> {
    let harness = make();
    if !harness.can(case.need) {
        println!("case {} ... skipped: this log cannot do {:?}", case.name, case.need);
        return Ok(());
    }
    let clock = harness.clock();
    let began = clock.monotonic();
    let mut ground = ConformanceFixture::new(harness, case.name);
    let result = catch_unwind(AssertUnwindSafe(|| (case.run)(&mut ground)))
        .unwrap_or_else(|_| Err(Failed("panicked; see above".to_owned())));
    let took = clock.monotonic().saturating_sub(began);
    match &result {
        Ok(()) => println!("case {} ... ok ({took:?})", case.name),
        Err(Failed(reason)) => println!("case {} ... FAILED ({took:?}): {reason}", case.name),
    }
    result
}
