//! Whole versions, in which most of the region changes at once. Such a change is news, never noise of places, with one
//! exception: two versions that a server gives in turn. After a few turns only what is new in either of them counts.

use crate::news::News;
use crate::page_state::PageState;
use crate::version::UnitKey;

/// A return to the version before adds this much to the count of turns. Each look without one takes one off.
const RETURN: u8 = 16;
/// Up to this count a return is reported like any change. An edit that is undone and redone is news.
const REPORTED_TURNS: u8 = 3 * RETURN;
/// The highest count of turns. A page that has settled is believed again after as many looks.
const MAX_TURNS: u8 = 120;

impl PageState {
    /// The part of a version's difference that counts: in a turn between two known versions, only the units new in this
    /// one.
    pub(crate) fn news_in_turn(&mut self, keys: &[UnitKey], news: News, is_back_to_back: bool) -> News {
        if !news.is_whole {
            self.record_no_turn();
            return news;
        }
        let from_other = News::between(&self.version.other, keys);
        let returns = !self.version.other.is_empty() && !from_other.is_whole;
        self.version.other = std::mem::take(&mut self.version.units);
        // No author edits most of a page back within two minutes.
        let turns = if is_back_to_back { MAX_TURNS } else { self.looks.turns.saturating_add(RETURN).min(MAX_TURNS) };
        self.looks.turns = if returns { turns } else { RETURN };
        if returns && turns > REPORTED_TURNS { from_other } else { news }
    }

    /// Records a look at which the page did not turn. When the turns are forgotten, so is the other version.
    pub(crate) fn record_no_turn(&mut self) {
        self.looks.turns = self.looks.turns.saturating_sub(1);
        if self.looks.turns == 0 {
            self.version.other = Vec::new();
        }
    }
}
