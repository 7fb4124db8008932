//! Second looks: how a place that merely differs at every fetch is told from one that truly changes as often. Whatever
//! differs between two fetches with hardly any time between them is noise. Nothing is ignored before the first such pair.

use crate::page_state::PageState;

/// The longest time in seconds between two back-to-back fetches.
pub const BACK_TO_BACK_S: i64 = 120;
/// Each request of a second fetch that taught nothing doubles the versions to wait before the next, up to this often.
pub(crate) const MAX_SECOND_LOOK_DOUBLINGS: u8 = 6;
/// So many requests are followed by one of a third fetch where the second found the same bytes.
const THIRD_LOOKS: u8 = 3;

/// Whether a fetch so long after the previous one is back to back with it.
pub(crate) fn is_back_to_back(since_last_look_s: Option<i64>) -> bool {
    matches!(since_last_look_s, Some(0..=BACK_TO_BACK_S))
}

impl PageState {
    /// Requests a second fetch while one would be informative, but not at every version.
    pub(crate) fn wants_second_look(&mut self) -> bool {
        self.looks.rest = self.looks.rest.saturating_sub(1);
        let wanted = self.looks.rest == 0 && self.looks.slots.has_suspects();
        if wanted {
            self.looks.asked = (self.looks.asked + 1).min(MAX_SECOND_LOOK_DOUBLINGS);
            self.looks.rest = 1 << self.looks.asked;
        }
        wanted
    }

    /// Requests a third fetch where the second found the same bytes: what differs at half of the fetches is then missed
    /// half as often. It counts as a version waited for, so that no fourth follows.
    pub(crate) fn wants_third_look(&mut self) -> bool {
        let wanted = (1..=THIRD_LOOKS).contains(&self.looks.asked) && self.looks.rest == 1 << self.looks.asked;
        self.looks.rest -= u8::from(wanted);
        wanted
    }

    /// Records a second fetch in which these slots differed.
    pub(crate) fn prove(&mut self, differing: &[u32]) {
        self.looks.slots.prove(differing);
        self.looks.asked = 0;
    }
}
