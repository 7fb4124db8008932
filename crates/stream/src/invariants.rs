//! Invariants that hold despite all failures and that a running stage checks, counting violations. Each is a pure
//! function named after its invariant.
//!
//! The simulation checks them, too, and others for which it needs a view of all stages and of the whole log.

use crate::position::Position;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{invariant} is broken: {how}")]
pub struct BrokenInvariant {
    pub invariant: &'static str,
    /// The value found instead.
    pub how: String,
}

/// Invariants that a running stage checks: their inputs are at hand and cheap to compare.
pub const AT_RUN_TIME: [&str; 3] =
    ["every_input_counted_once", "positions_never_go_back", "progress_not_ahead_of_position"];

/// Whether an invariant holds; `how` describes the violation.
pub fn ensure(invariant: &'static str, holds: bool, how: impl FnOnce() -> String) -> Result<(), BrokenInvariant> {
    if holds { Ok(()) } else { Err(BrokenInvariant { invariant, how: how() }) }
}

/// The results of one input partition name the offsets they came from. Each input has at most one result, and results
/// come in the order of their inputs.
pub fn every_input_counted_once(offsets: impl IntoIterator<Item = u64>) -> Result<(), BrokenInvariant> {
    let mut last = None;
    for offset in offsets {
        ensure("every_input_counted_once", last.is_none_or(|last| last < offset), || {
            format!("the result of offset {offset} comes behind that of {}", last.unwrap_or_default())
        })?;
        last = Some(offset);
    }
    Ok(())
}

/// A committed position only moves forward, and finished offsets stay finished. `before` is `None` for a group without
/// a commit, or whose positions were forgotten.
pub fn positions_never_go_back(before: Option<&Position>, after: &Position) -> Result<(), BrokenInvariant> {
    let Some(before) = before else { return Ok(()) };
    ensure("positions_never_go_back", before.next <= after.next, || {
        format!("the position went back from {} to {}", before.next, after.next)
    })?;
    let kept = after.finished();
    let undone = before.finished().into_iter().find(|offset| *offset >= after.next && !kept.contains(offset));
    ensure("positions_never_go_back", undone.is_none(), || {
        format!("offset {} was noted as finished and is not any more", undone.unwrap_or_default())
    })
}

/// The input offset in a task's changelog is never ahead of the group's position: both are committed together.
pub fn progress_not_ahead_of_position(
    progress: Option<u64>,
    committed: Option<&Position>,
) -> Result<(), BrokenInvariant> {
    let next = committed.map(|position| position.next);
    ensure("progress_not_ahead_of_position", progress <= next, || {
        format!("the state stands at {progress:?}, the group at {next:?}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_once_and_in_the_order_of_their_inputs() {
        assert!(every_input_counted_once([1, 2, 5]).is_ok());
        assert!(every_input_counted_once([1, 2, 2]).is_err());
    }

    #[test]
    fn positions_and_notes_only_move_on() {
        let position =
            |next, finished: &[u64]| Position { next, note: crate::position::note(next, finished.iter().copied()) };
        let before = position(3, &[5, 6]);
        assert!(positions_never_go_back(Some(&before), &position(4, &[5, 6])).is_ok());
        assert!(positions_never_go_back(Some(&before), &position(7, &[])).is_ok());
        assert!(positions_never_go_back(Some(&before), &position(2, &[5, 6])).is_err());
        assert!(positions_never_go_back(Some(&before), &position(3, &[5])).is_err());
        assert!(progress_not_ahead_of_position(Some(3), Some(&before)).is_ok());
        assert!(progress_not_ahead_of_position(Some(4), Some(&before)).is_err());
    }
}
