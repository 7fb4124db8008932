//! Pure decision functions: how to recover from a failure, and where a task's state and input start.

use crate::log::ErrorKind;
use crate::record::OffsetBounds;
use crate::store::StoreCheckpoint;
use page::Timestamp;
use std::time::Duration;

/// Minimum time changelogs keep tombstones. A store older than this may have missed a deletion.
pub const TOMBSTONES_KEPT: Duration = Duration::from_secs(7 * 24 * 3_600);

/// Longest wait between two attempts. Short compared with the minute within which an operator expects work to resume
/// after an outage, long compared with the cost of an attempt.
pub const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Aborted commits in a row that a member retries before it joins its group again. Brokers refuse commits during a rebalance;
/// the waits between these attempts add up to 5.5 seconds.
const ABORTS_RETRIED: u32 = 8;
/// Longest wait after an abort. A rebalance may wait for this member to take part.
const LONGEST_WAIT_AFTER_ABORT: Duration = Duration::from_secs(1);

/// Programs that share a name fence each other within this time. A longer membership ended because it was suspended.
const FENCED_AGAIN_WITHIN: Duration = Duration::from_secs(60);
/// The program that was there first had a membership at least this many times as long as its last one.
const UNDISTURBED_TIMES: u32 = 3;
/// Shorter last memberships count as this.
const LEAST_MEMBERSHIP: Duration = Duration::from_secs(1);

/// How long a program was a member before others of its name fenced it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fencings {
    /// Age of the stage when it was fenced last; `None` if it never was.
    last_at: Option<Duration>,
    /// The longest of its memberships before the last one.
    longest_before: Option<Duration>,
    /// The last one.
    last: Duration,
}

impl Fencings {
    /// Notes a fencing at this age of the stage.
    pub fn note(&mut self, age: Duration) {
        if self.last_at.is_some() {
            self.longest_before = self.longest_before.max(Some(self.last));
        }
        self.last = age.saturating_sub(self.last_at.unwrap_or_default());
        self.last_at = Some(age);
    }

    /// Whether this program came when another of its name was there. Both fence each other in turns as short as their restores,
    /// but the one that was there first was undisturbed before.
    fn is_younger(&self) -> bool {
        let shortest_of_first = (UNDISTURBED_TIMES * self.last.max(LEAST_MEMBERSHIP)).min(FENCED_AGAIN_WITHIN);
        self.last < FENCED_AGAIN_WITHIN && self.longest_before.is_some_and(|longest| longest < shortest_of_first)
    }
}

/// The next step of a stage after its log failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Wait this long and repeat the call; staged work is kept.
    TryAgain(Duration),
    /// Drop staged work, rebuild the processors, read on from the committed offsets.
    Rewind(Duration),
    /// Drop the member, join again, restore every task.
    Rejoin(Duration),
    /// Give up and say why.
    Stop,
}

/// The wait after the `attempt`-th failure in a row (counted from 1). It doubles from 100 ms up to [`LONGEST_WAIT`], so
/// that an unreachable log is neither hammered nor forgotten.
pub fn wait_after(attempt: u32) -> Duration {
    Duration::from_millis(100 << attempt.saturating_sub(1).min(9)).min(LONGEST_WAIT)
}

/// The reaction to the `attempt`-th failure of this kind since a step succeeded (counted from 1). `fencings` include this one.
pub fn after_failure(kind: ErrorKind, attempt: u32, fencings: &Fencings) -> Recovery {
    let wait = wait_after(attempt);
    match kind {
        ErrorKind::Retry => Recovery::TryAgain(wait),
        ErrorKind::Abort if attempt <= ABORTS_RETRIED => Recovery::Rewind(wait.min(LONGEST_WAIT_AFTER_ABORT)),
        // The member itself is unsound.
        ErrorKind::Abort | ErrorKind::Rejoin => Recovery::Rejoin(wait),
        // Two programs of one name would fence each other for ever, because both answer a fencing by joining again. The
        // younger one gives way. A single fencing may come from a transaction that timed out while the program was
        // suspended.
        ErrorKind::Fenced if fencings.is_younger() => Recovery::Stop,
        ErrorKind::Fenced => Recovery::Rejoin(wait),
        ErrorKind::Stop => Recovery::Stop,
    }
}

/// How to fill one store of a newly assigned task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestoreStep {
    /// The local state is sound: replay the changelog from this offset.
    Replay {
        /// First changelog offset not yet held.
        from: u64,
    },
    /// The local state cannot be brought up to date: empty it and replay the whole changelog.
    Refill {
        /// First offset of the changelog.
        from: u64,
        reason: RefillReason,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefillReason {
    /// The store is empty: a new disk, or a store added by a new version.
    Empty,
    /// Its checkpoint is past the end of its changelog: the topic was recreated, or lost its tail. This is damage: the
    /// local state is set aside.
    AheadOfChangelog,
    /// Its changelog has dropped records it never saw.
    BehindRetention,
    /// It is so old that deletions it never saw may be compacted away.
    TooOld,
}

impl RefillReason {
    /// Whether the local state does not belong to this changelog. Then it is kept, and the operator is warned.
    pub fn is_damage(self) -> bool {
        self == RefillReason::AheadOfChangelog
    }
}

/// How to restore one store. The changelog is the truth, the local store a head start. `is_behind` says whether the
/// changelog has a record that the store has not seen; transaction markers do not count.
pub fn plan_store(held: &StoreCheckpoint, changelog: OffsetBounds, is_behind: bool, now: Timestamp) -> RestoreStep {
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

/// Where input processing resumes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputStart {
    /// First offset to process.
    pub from: u64,
    /// Number of offsets lost to retention before they were processed.
    pub lost: u64,
    /// Number of processed offsets that are gone: the log lost its tail.
    pub vanished: u64,
    /// Whether the group's position was lost and the one in the state was used instead.
    pub from_state: bool,
}

/// Where input processing resumes: at the group's committed offset; if that is lost (brokers forget the offsets of a
/// long absent group), at the position in the state; otherwise at the first record.
pub fn input_start(committed: Option<u64>, state: Option<u64>, input: OffsetBounds) -> InputStart {
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
        plan_store(&held, OffsetBounds { start: 3, end: 10 }, is_behind, NOW)
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
        assert_eq!(plan_store(&unknown_age, OffsetBounds { start: 3, end: 10 }, true, NOW), refilled);
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
        let input = OffsetBounds { start: 8, end: 20 };
        let start = |committed, state| input_start(committed, state, input);
        assert_eq!(start(Some(12), Some(9)), InputStart { from: 12, ..InputStart::default() });
        assert_eq!(start(Some(3), None), InputStart { from: 8, lost: 5, ..InputStart::default() });
        assert_eq!(start(Some(25), None), InputStart { from: 20, vanished: 5, ..InputStart::default() });
        assert_eq!(start(None, None), InputStart { from: 8, ..InputStart::default() });
    }

    #[test]
    fn a_group_that_lost_its_offsets_goes_on_where_the_state_stands() {
        let input = OffsetBounds { start: 8, end: 20 };
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
        let none = Fencings::default();
        assert!(matches!(after_failure(ErrorKind::Abort, ABORTS_RETRIED, &none), Recovery::Rewind(_)));
        assert!(matches!(after_failure(ErrorKind::Abort, ABORTS_RETRIED + 1, &none), Recovery::Rejoin(_)));
        assert_eq!(after_failure(ErrorKind::Stop, 1, &none), Recovery::Stop);
    }

    #[test]
    fn of_two_programs_of_one_name_the_younger_gives_way() {
        // How many fencings at these ages, in seconds, a program outlives.
        let outlived = |ages: &[u64]| {
            let mut fencings = Fencings::default();
            let goes_on = ages.iter().take_while(|age| {
                fencings.note(Duration::from_secs(**age));
                after_failure(ErrorKind::Fenced, 1, &fencings) != Recovery::Stop
            });
            goes_on.count()
        };
        assert_eq!(outlived(&[2, 4]), 1, "it was never undisturbed");
        assert_eq!(outlived(&[20, 22, 24, 28, 29]), 5, "it was there first, for twenty seconds");
        assert_eq!(outlived(&[3_600, 3_620, 3_640]), 3);
        assert_eq!(outlived(&[0, 0]), 1);
        // A laptop that is suspended each night.
        assert_eq!(outlived(&[86_400, 2 * 86_400, 3 * 86_400]), 3);
        assert_eq!(outlived(&[100, 140, 170]), 3, "it was suspended soon after its start, again and again");
    }
}
