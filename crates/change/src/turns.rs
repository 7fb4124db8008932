//! Whole versions: most of the region at once. Such a change is news, never noise of places, with one exception: two
//! versions that a server gives in turn. After a few turns only what is new in either of them counts.

use crate::page_state::{PageState, only_in};
use crate::version::UnitKey;

/// Fewer units are no whole version: a page of one counter changes wholly at every look.
const LEAST_UNITS: usize = 4;
/// How much a return to the version before adds to the turns remembered; each look without one takes one off.
const RETURN: u8 = 16;
/// Returns are told up to here: two in a row. An edit that is undone, and redone, is news.
const TOLD_TURNS: u8 = 3 * RETURN;
/// The most turns remembered, so that a page which has settled is believed again after as many looks.
const MAX_TURNS: u8 = 120;

/// The units of the region that came and went between two versions.
#[derive(Debug, Default)]
pub(crate) struct Difference {
    pub(crate) added: Vec<UnitKey>,
    pub(crate) removed: Vec<UnitKey>,
    /// Whether most of the region came, and most of it went.
    pub(crate) is_whole: bool,
}

impl Difference {
    /// Of two lists sorted by name. A unit that only moved into or out of the region is still on the page.
    pub(crate) fn of(new: &[UnitKey], old: &[UnitKey]) -> Self {
        let (mut added, mut removed) = (only_in(new, old), only_in(old, new));
        added.retain(|key| key.in_region());
        removed.retain(|key| key.in_region());
        let inside = |keys: &[UnitKey]| keys.iter().filter(|key| key.in_region()).count();
        let is_most = |part: &[UnitKey], of| part.len() >= LEAST_UNITS && 2 * part.len() > inside(of);
        let is_whole = is_most(&added, new) && is_most(&removed, old);
        Self { added, removed, is_whole }
    }
}

impl PageState {
    /// The difference of a version that counts. Of a turn between two known versions that is what is new in this one.
    pub(crate) fn difference_in_turn(
        &mut self,
        keys: &[UnitKey],
        difference: Difference,
        is_back_to_back: bool,
    ) -> Difference {
        if !difference.is_whole {
            self.record_no_turn();
            return difference;
        }
        let from_other = Difference::of(keys, &self.version.other);
        let returns = !self.version.other.is_empty() && !from_other.is_whole;
        self.version.other = std::mem::take(&mut self.version.units);
        // Nobody edits most of a page back within two minutes.
        let turns = if is_back_to_back { MAX_TURNS } else { self.looks.turns.saturating_add(RETURN).min(MAX_TURNS) };
        self.looks.turns = if returns { turns } else { RETURN };
        if returns && turns > TOLD_TURNS { from_other } else { difference }
    }

    /// Records a look at which the page did not turn. When the turns are forgotten, so is the other version.
    pub(crate) fn record_no_turn(&mut self) {
        self.looks.turns = self.looks.turns.saturating_sub(1);
        if self.looks.turns == 0 {
            self.version.other = Vec::new();
        }
    }
}
