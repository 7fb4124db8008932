//! Decide, then do: what follows from a failure, and where a task's state and input come from. Functions of facts.

use crate::log::ErrorKind;
use crate::record::Bounds;
use crate::store::StoreCheckpoint;
use page::Timestamp;
use std::time::Duration;

/// How long changelogs keep tombstones, at the least. A store older than this may have missed a deletion.
pub const TOMBSTONES_KEPT: Duration = Duration::from_secs(7 * 24 * 3_600);

/// Longest wait between two tries. Short beside the minute within which an operator expects work to go on after an
/// outage, long beside what a try costs.
pub const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// A member that is fenced sooner after its start than this has taken the name of a living one.
pub const YOUNG: Duration = Duration::from_secs(60);

/// What a stage does after its log failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Wait this long and make the same call again; nothing staged is lost.
    TryAgain(Duration),
    /// Drop what is staged, make the processors anew, read on from the committed offsets.
    Rewind(Duration),
    /// Drop the member, join again, restore every task.
    Rejoin(Duration),
    /// Give up and say why.
    Stop,
}

/// The wait before the try after the `attempt`-th failure in a row (counted from 1): doubling from 100 ms to
/// [`LONGEST_WAIT`], so that an unreachable log is neither hammered nor forgotten.
pub fn wait_after(attempt: u32) -> Duration {
    Duration::from_millis(100 << attempt.saturating_sub(1).min(9)).min(LONGEST_WAIT)
}

/// What to do after the `attempt`-th failure in a row (counted from 1) of a stage that started `age` ago and was fenced
/// so often since, this time included.
pub fn after_failure(kind: ErrorKind, attempt: u32, age: Duration, fencings: u32) -> Recovery {
    let wait = wait_after(attempt);
    match kind {
        ErrorKind::Retry => Recovery::TryAgain(wait),
        ErrorKind::Abort if attempt <= 3 => Recovery::Rewind(wait),
        // An abort that does not help three times in a row means the member itself is unsound.
        ErrorKind::Abort | ErrorKind::Rejoin => Recovery::Rejoin(wait),
        // Two programs of one name would take turns for ever. Both answer a fencing by joining again, which fences the
        // other; the younger gives way. Once may be the end of a transaction in which it slept for too long.
        ErrorKind::Fenced if age < YOUNG && fencings >= 2 => Recovery::Stop,
        ErrorKind::Fenced => Recovery::Rejoin(wait),
        ErrorKind::Stop => Recovery::Stop,
    }
}

/// How to fill one store of a newly assigned task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestoreStep {
    /// What is on disk is sound: replay the changelog from this offset.
    Replay {
        /// First changelog offset not yet held.
        from: u64,
    },
    /// What is on disk cannot be brought up to date: empty it and replay everything.
    Refill {
        /// First changelog offset there is.
        from: u64,
        /// Why.
        reason: RefillReason,
    },
}

/// Why a store is filled anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefillReason {
    /// It holds nothing: a new disk, or a store that a new version has added.
    Empty,
    /// It names offsets that its changelog does not have: the topic was made anew, or has lost its tail. Damage: what is
    /// on disk is set aside.
    AheadOfChangelog,
    /// Its changelog has dropped records that it never saw.
    BehindRetention,
    /// It has been away for so long that deletions it never saw may be compacted away.
    TooOld,
}

impl RefillReason {
    /// Whether what is on disk does not belong to this changelog, so that an operator should hear of it and may want it
    /// back.
    pub fn is_damage(self) -> bool {
        self == RefillReason::AheadOfChangelog
    }
}

/// Where the state of one store comes from. The changelog is the truth; the local store is a head start. `is_behind`
/// says whether the changelog has had a record that the store has not seen: a transaction marker does not count.
pub fn plan_store(held: &StoreCheckpoint, changelog: Bounds, is_behind: bool, now: Timestamp) -> RestoreStep {
    let refill = |reason| RestoreStep::Refill { from: changelog.start, reason };
    let Some(next) = held.changelog_next else { return refill(RefillReason::Empty) };
    if next > changelog.end {
        return refill(RefillReason::AheadOfChangelog);
    }
    if next < changelog.start && is_behind {
        return refill(RefillReason::BehindRetention);
    }
    let is_old = held.complete_as_of.is_none_or(|as_of| now.saturating_since(as_of) >= TOMBSTONES_KEPT);
    if is_behind && is_old {
        return refill(RefillReason::TooOld);
    }
    RestoreStep::Replay { from: next }
}

/// Where input processing goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputStart {
    /// First offset to process.
    pub from: u64,
    /// Offsets that were never processed and are gone: retention took them.
    pub lost: u64,
    /// Offsets that were processed and are gone: the log has lost its tail.
    pub vanished: u64,
    /// Whether the group's position was lost and the state's own was used in its place.
    pub from_state: bool,
}

/// Where input processing goes on: at the group's committed offset; where that is lost (a group that was away for
/// longer than brokers keep offsets), where the state says it stands; else with the first record there is.
pub fn input_start(committed: Option<u64>, state: Option<u64>, input: Bounds) -> InputStart {
    let Some(next) = committed.or(state) else { return InputStart { from: input.start, ..InputStart::default() } };
    InputStart {
        from: next.clamp(input.start, input.end),
        lost: input.start.saturating_sub(next),
        vanished: next.saturating_sub(input.end),
        from_state: committed.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use page::DAY;

    const NOW: Timestamp = Timestamp::from_secs(100_000_000);

    fn plan(next: Option<u64>, is_behind: bool, age: Duration) -> RestoreStep {
        let held = StoreCheckpoint { changelog_next: next, complete_as_of: Some(NOW - age) };
        plan_store(&held, Bounds { start: 3, end: 10 }, is_behind, NOW)
    }

    #[test]
    fn a_store_that_has_seen_everything_replays_nothing_however_old_it_is() {
        assert_eq!(plan(Some(10), false, 100 * TOMBSTONES_KEPT), RestoreStep::Replay { from: 10 });
        // The last offset is a transaction marker, which is never delivered.
        assert_eq!(plan(Some(9), false, 100 * TOMBSTONES_KEPT), RestoreStep::Replay { from: 9 });
    }

    #[test]
    fn a_stale_store_replays_what_it_missed() {
        assert_eq!(plan(Some(4), true, DAY), RestoreStep::Replay { from: 4 });
    }

    #[test]
    fn a_store_that_may_have_missed_a_deletion_is_refilled() {
        let refilled = RestoreStep::Refill { from: 3, reason: RefillReason::TooOld };
        assert_eq!(plan(Some(4), true, TOMBSTONES_KEPT), refilled);
        let unknown_age = StoreCheckpoint { changelog_next: Some(4), complete_as_of: None };
        assert_eq!(plan_store(&unknown_age, Bounds { start: 3, end: 10 }, true, NOW), refilled);
    }

    #[test]
    fn an_empty_store_is_filled_from_nothing() {
        assert_eq!(plan(None, true, DAY), RestoreStep::Refill { from: 3, reason: RefillReason::Empty });
    }

    #[test]
    fn a_store_that_does_not_fit_its_changelog_is_not_believed() {
        let reason = |step| match step {
            RestoreStep::Refill { reason, .. } => reason,
            replay => panic!("{replay:?}"),
        };
        assert_eq!(reason(plan(Some(11), false, DAY)), RefillReason::AheadOfChangelog);
        assert_eq!(reason(plan(Some(2), true, DAY)), RefillReason::BehindRetention);
    }

    #[test]
    fn input_goes_on_where_the_group_stands_and_says_what_is_missing() {
        let input = Bounds { start: 8, end: 20 };
        let start = |committed, state| input_start(committed, state, input);
        assert_eq!(start(Some(12), Some(9)), InputStart { from: 12, ..InputStart::default() });
        assert_eq!(start(Some(3), None), InputStart { from: 8, lost: 5, ..InputStart::default() });
        assert_eq!(start(Some(25), None), InputStart { from: 20, vanished: 5, ..InputStart::default() });
        assert_eq!(start(None, None), InputStart { from: 8, ..InputStart::default() });
    }

    #[test]
    fn a_group_that_lost_its_offsets_goes_on_where_the_state_stands() {
        let input = Bounds { start: 8, end: 20 };
        let expected = InputStart { from: 15, from_state: true, ..InputStart::default() };
        assert_eq!(input_start(None, Some(15), input), expected);
    }

    #[test]
    fn waits_double_and_stay_bounded() {
        assert_eq!(wait_after(1), Duration::from_millis(100));
        assert_eq!(wait_after(2), Duration::from_millis(200));
        assert_eq!(wait_after(1_000), LONGEST_WAIT);
    }

    #[test]
    fn an_abort_that_does_not_help_ends_in_a_new_member() {
        assert!(matches!(after_failure(ErrorKind::Abort, 1, DAY, 0), Recovery::Rewind(_)));
        assert!(matches!(after_failure(ErrorKind::Abort, 4, DAY, 0), Recovery::Rejoin(_)));
        assert_eq!(after_failure(ErrorKind::Stop, 1, DAY, 0), Recovery::Stop);
    }

    #[test]
    fn of_two_programs_of_one_name_the_younger_gives_way() {
        let young = Duration::from_secs(2);
        assert!(matches!(after_failure(ErrorKind::Fenced, 1, young, 1), Recovery::Rejoin(_)));
        assert_eq!(after_failure(ErrorKind::Fenced, 1, young, 2), Recovery::Stop);
        assert!(matches!(after_failure(ErrorKind::Fenced, 1, DAY, 2), Recovery::Rejoin(_)));
    }
}
