//! Decide, then do: what follows from a failure, and where a task's state comes from. Functions of facts.

use crate::log::ErrorKind;
use crate::record::Bounds;
use crate::store::Checkpoint;
use page::Timestamp;
use std::time::Duration;

/// How long changelogs keep tombstones, at the least. A store older than this may have missed a deletion.
pub const TOMBSTONES_KEPT: Duration = Duration::from_secs(24 * 3_600);

/// What a stage does after its log failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Wait this long and make the same call again; nothing staged is lost.
    TryAgain(Duration),
    /// Abort the transaction, drop what is staged, make the processors anew, read on from the committed offsets.
    Rewind(Duration),
    /// Drop the member, join again, restore every task.
    Rejoin(Duration),
    /// Give up and say why.
    Stop,
}

/// What to do after the `attempt`-th failure in a row (counted from 1). Waits double from 100 ms to 30 s, so that an
/// unreachable log is neither hammered nor forgotten.
pub fn after_failure(kind: ErrorKind, attempt: u32) -> Recovery {
    let wait = Duration::from_millis(100 << attempt.saturating_sub(1).min(9)).min(Duration::from_secs(30));
    match kind {
        ErrorKind::Retry => Recovery::TryAgain(wait),
        ErrorKind::Abort if attempt <= 3 => Recovery::Rewind(wait),
        // An abort that does not help three times in a row means the member itself is unsound.
        ErrorKind::Abort | ErrorKind::Rejoin => Recovery::Rejoin(wait),
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
    },
}

/// How to bring a task to life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestorePlan {
    /// Whether the whole local state must be emptied first.
    pub clear: bool,
    /// First changelog offset to replay, by store.
    pub replay_from: Vec<u64>,
    /// Where input processing goes on.
    pub input_from: u64,
}

/// Facts a restore is decided on.
#[derive(Clone, Debug)]
pub struct RestoreFacts<'a> {
    /// What the local store says of itself.
    pub checkpoint: &'a Checkpoint,
    /// What each changelog holds, by store.
    pub changelogs: &'a [Bounds],
    /// The group's committed next input offset.
    pub committed_input: Option<u64>,
    /// What the input partition holds.
    pub input: Bounds,
    /// The time now, on the clock that stamped the checkpoint.
    pub now: Timestamp,
}

/// Where a task's state comes from. The changelog is the truth; the local store is only a head start. It is thrown away
/// when it is ahead of the changelog (the topic was made anew), behind what the changelog still holds, or older than
/// tombstones are kept.
pub fn plan_restore(facts: &RestoreFacts<'_>) -> RestorePlan {
    let step = |store: usize| -> RestoreStep {
        let bounds = facts.changelogs[store];
        match facts.checkpoint.changelog_next.get(store).copied().flatten() {
            Some(next) if next >= bounds.start && next <= bounds.end => RestoreStep::Replay { from: next },
            _ => RestoreStep::Refill { from: bounds.start },
        }
    };
    let steps: Vec<_> = (0..facts.changelogs.len()).map(step).collect();
    let too_old = match facts.checkpoint.written_at {
        Some(written_at) => {
            facts.now.saturating_since(written_at) >= TOMBSTONES_KEPT && behind(&steps, facts.changelogs)
        }
        None => false,
    };
    let clear = too_old || steps.iter().any(|step| matches!(step, RestoreStep::Refill { .. }));
    let replay_from = steps
        .iter()
        .zip(facts.changelogs)
        .map(|(step, bounds)| match step {
            RestoreStep::Replay { from } if !clear => *from,
            _ => bounds.start,
        })
        .collect();
    // Nothing committed yet: begin with what there is. A committed offset the log has dropped since: go on from the
    // first record there is.
    let input_from = facts.committed_input.unwrap_or(facts.input.start).max(facts.input.start);
    RestorePlan { clear, replay_from, input_from }
}

fn behind(steps: &[RestoreStep], changelogs: &[Bounds]) -> bool {
    steps
        .iter()
        .zip(changelogs)
        .any(|(step, bounds)| !matches!(step, RestoreStep::Replay { from } if *from == bounds.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(next: Option<u64>, start: u64, end: u64, age: Duration) -> RestorePlan {
        let now = Timestamp::from_secs(10_000_000);
        plan_restore(&RestoreFacts {
            checkpoint: &Checkpoint { input_next: Some(5), changelog_next: vec![next], written_at: Some(now - age) },
            changelogs: &[Bounds { start, end }],
            committed_input: Some(7),
            input: Bounds { start: 0, end: 9 },
            now,
        })
    }

    #[test]
    fn a_store_at_the_end_of_its_changelog_replays_nothing() {
        let expected = RestorePlan { clear: false, replay_from: vec![10], input_from: 7 };
        assert_eq!(plan(Some(10), 0, 10, Duration::ZERO), expected);
        // However old: nothing happened since, so nothing was missed.
        assert_eq!(plan(Some(10), 0, 10, 100 * TOMBSTONES_KEPT), expected);
    }

    #[test]
    fn a_stale_store_replays_what_it_missed() {
        assert_eq!(
            plan(Some(4), 0, 10, Duration::ZERO),
            RestorePlan { clear: false, replay_from: vec![4], input_from: 7 }
        );
    }

    #[test]
    fn a_store_that_may_have_missed_a_deletion_is_refilled() {
        assert!(plan(Some(4), 0, 10, TOMBSTONES_KEPT).clear);
    }

    #[test]
    fn an_empty_store_is_filled_from_nothing() {
        assert_eq!(plan(None, 3, 10, Duration::ZERO), RestorePlan { clear: true, replay_from: vec![3], input_from: 7 });
    }

    #[test]
    fn a_store_ahead_of_its_changelog_is_not_believed() {
        assert_eq!(
            plan(Some(11), 0, 10, Duration::ZERO),
            RestorePlan { clear: true, replay_from: vec![0], input_from: 7 }
        );
    }

    #[test]
    fn input_goes_on_with_the_first_record_there_is_when_the_committed_one_is_gone() {
        let facts = RestoreFacts {
            checkpoint: &Checkpoint::default(),
            changelogs: &[],
            committed_input: Some(3),
            input: Bounds { start: 8, end: 9 },
            now: Timestamp::MIN,
        };
        assert_eq!(plan_restore(&facts).input_from, 8);
        assert_eq!(plan_restore(&RestoreFacts { committed_input: None, ..facts }).input_from, 8);
    }

    #[test]
    fn waits_double_and_stay_bounded() {
        let wait = |attempt| match after_failure(ErrorKind::Retry, attempt) {
            Recovery::TryAgain(wait) => wait,
            other => panic!("{other:?}"),
        };
        assert_eq!(wait(1), Duration::from_millis(100));
        assert_eq!(wait(2), Duration::from_millis(200));
        assert_eq!(wait(1_000), Duration::from_secs(30));
    }

    #[test]
    fn an_abort_that_does_not_help_ends_in_a_new_member() {
        assert!(matches!(after_failure(ErrorKind::Abort, 1), Recovery::Rewind(_)));
        assert!(matches!(after_failure(ErrorKind::Abort, 4), Recovery::Rejoin(_)));
        assert_eq!(after_failure(ErrorKind::Stop, 1), Recovery::Stop);
    }
}
