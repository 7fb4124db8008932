//! Decides when offsets must jump, so that none is assigned twice.

use crate::high_water::{HighWater, Since};
use crate::layout::{Incarnation, LogKey};
use crate::rocks::Database;
use rocksdb::{Direction, IteratorMode};

/// Result of opening a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    /// Number of the log's incarnation: how often offsets have jumped so far.
    pub incarnation: u32,
    /// Why they jumped this time; `None` if no write is missing.
    pub jump: Option<Jump>,
}

/// Why offsets jumped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jump {
    /// Number of writes known to be missing. There may be more after a power cut.
    pub missing_writes: u64,
    /// Whether the machine may have lost power.
    pub power_cut: bool,
}

/// Whether writes that had not reached the disk may be missing.
pub(crate) fn may_have_lost_power(noted: Option<&HighWater>, boot: Option<&str>) -> bool {
    noted.is_none_or(|noted| !noted.clean && (boot.is_none() || noted.boot.as_deref() != boot))
}

/// Number of the last incarnation recorded in the database.
pub(crate) fn latest(database: &Database) -> Result<u32, rocksdb::Error> {
    let after = LogKey::Incarnation(u32::MAX).encode();
    let mut latest = 0;
    for entry in database.iterator(IteratorMode::From(&after, Direction::Reverse)).take(1) {
        let (key, value) = entry?;
        if key.first() == Some(&LogKey::INCARNATION) {
            latest = Incarnation::decode(&key, &value).map_or(0, |(number, _)| number);
        }
    }
    Ok(latest)
}

/// Whether offsets must jump.
pub(crate) fn judge(noted: Option<&HighWater>, since: &Since, sequence: u64, boot: Option<&str>) -> Option<Jump> {
    let power_cut = may_have_lost_power(noted, boot);
    let Some(noted) = noted else { return Some(Jump { missing_writes: 0, power_cut }) };
    let missing_writes = noted.sequence.saturating_sub(sequence);
    // Closed cleanly, but written to since: by something that writes no mark.
    let unknown = noted.clean && sequence != noted.sequence;
    (power_cut || unknown || missing_writes > 0 || *since == Since::Earlier)
        .then_some(Jump { missing_writes, power_cut })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(sequence: u64, clean: bool, boot: Option<&str>) -> HighWater {
        let boot = boot.map(|boot| format!("boot {boot}\n")).unwrap_or_default();
        HighWater::parse(&format!("sequence {sequence}\nclean {clean}\n{boot}manifest 5\nbytes 0\ndigest x\n")).unwrap()
    }

    fn jump(missing_writes: u64, power_cut: bool) -> Option<Jump> {
        Some(Jump { missing_writes, power_cut })
    }

    #[test]
    fn offsets_jump_when_writes_may_be_missing_and_only_then() {
        let judge = |noted: &HighWater, sequence, boot| judge(Some(noted), &Since::Continued, sequence, boot);
        assert_eq!(judge(&noted(7, true, Some("a")), 7, Some("b")), None, "closed, then the machine was restarted");
        assert_eq!(judge(&noted(7, false, Some("a")), 9, Some("a")), None, "killed");
        assert_eq!(judge(&noted(7, false, Some("a")), 9, Some("b")), jump(0, true), "power cut");
        assert_eq!(judge(&noted(7, false, Some("a")), 4, Some("b")), jump(3, true), "power cut that cost something");
        assert_eq!(judge(&noted(7, false, None), 7, None), jump(0, true), "a machine that does not say");
        assert_eq!(judge(&noted(7, false, Some("a")), 4, Some("a")), jump(3, false), "killed, and the end is lost");
        assert_eq!(judge(&noted(7, true, Some("a")), 4, Some("a")), jump(3, false), "closed, and the end is lost");
        assert_eq!(judge(&noted(7, true, Some("a")), 9, Some("a")), jump(0, false), "written to by something else");
    }

    #[test]
    fn without_a_high_water_mark_the_worst_is_taken_for_granted() {
        assert_eq!(judge(None, &Since::Continued, 9, Some("a")), jump(0, true));
        assert_eq!(judge(Some(&noted(7, true, None)), &Since::Earlier, 7, None), jump(0, false));
    }
}
