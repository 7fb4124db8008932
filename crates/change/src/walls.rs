//! Walls: consent, login or error pages that a host serves with status 200 in the place of many pages. Whatever their
//! language, several pages turn into the same short text.

use crate::guard::MAX_ERROR_PAGE_BYTES;
use crate::host_events::HOST_EVENT_WINDOW_S;
use crate::page_state::PageState;
use crate::version::{UnitKey, Version};
use document::splitmix64;
use std::collections::BTreeSet;

/// So many pages, each of them another before, do not turn into one text by an edit.
const PAGES: usize = 3;
/// The most turns remembered per host. The oldest are forgotten first.
pub(crate) const MAX_TURNED: usize = 24;

/// What the region of a page turns into: a short text that it did not show before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionTurn {
    /// Sign of the region before; `None` for a page that is new.
    before: Option<u64>,
    /// Sign of the region now.
    now: u64,
}

/// A known page that turned into a short text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TurnedPage {
    pub(crate) page: u64,
    pub(crate) before: u64,
    pub(crate) now: u64,
    pub(crate) unix_time: i64,
}

impl PageState {
    /// What this version turns the page into, if that is short and not what it was.
    pub fn turn_into(&self, version: &Version<'_>) -> Option<RegionTurn> {
        if version.region_bytes >= MAX_ERROR_PAGE_BYTES {
            return None;
        }
        let now = sign(version.units.iter().map(|unit| unit.key))?;
        let before = sign(self.version.units.iter().copied());
        (before != Some(now)).then_some(RegionTurn { before, now })
    }
}

/// Sign of the texts of a region in any order. Links are left out: those of a wall lead back to each page.
fn sign(units: impl Iterator<Item = UnitKey>) -> Option<u64> {
    let texts = units.filter(|key| key.in_region() && !key.is_link());
    texts.map(UnitKey::name).reduce(|sign, name| splitmix64(sign ^ name))
}

/// Records a turn. Returns whether it is into a wall: that of other pages within the day before. Pages that were the same
/// before count once, for copies are edited together; a new page counts beside others only.
pub(crate) fn observe_turn(turned: &mut Vec<TurnedPage>, page: u64, unix_time: i64, turn: RegionTurn) -> bool {
    turned.retain(|other| other.page != page);
    forget(turned, unix_time);
    let others = turned.iter().filter(|other| other.now == turn.now);
    let before: BTreeSet<u64> = others.map(|other| other.before).chain(turn.before).collect();
    let is_wall = before.len() + usize::from(turn.before.is_none()) >= PAGES;
    if let Some(before) = turn.before {
        if turned.len() == MAX_TURNED {
            turned.remove(0);
        }
        turned.push(TurnedPage { page, before, now: turn.now, unix_time });
    }
    is_wall
}

/// Forgets the turns of more than a day ago.
pub(crate) fn forget(turned: &mut Vec<TurnedPage>, unix_time: i64) {
    turned.retain(|other| other.unix_time >= unix_time.saturating_sub(HOST_EVENT_WINDOW_S));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_page_that_turns_into_one_text_within_a_day_meets_a_wall() {
        let mut turned = Vec::new();
        let mut is_wall = |page: u64, hour: i64, before: Option<u64>, now: u64| {
            observe_turn(&mut turned, page, hour * 3_600, RegionTurn { before, now })
        };
        assert!(!is_wall(1, 0, Some(1), 9) && !is_wall(2, 1, Some(2), 9));
        assert!(!is_wall(2, 2, Some(2), 9), "the same page is no other");
        assert!(is_wall(3, 3, Some(3), 9) && is_wall(3, 9, Some(3), 9) && is_wall(4, 9, None, 9));
        assert!(!is_wall(5, 9, Some(5), 8), "another text");
        assert!(!is_wall(6, 40, Some(6), 9), "that was long ago");
        // Three addresses of one page.
        assert!(!is_wall(11, 50, Some(7), 10) && !is_wall(12, 50, Some(7), 10) && !is_wall(13, 50, Some(7), 10));
        assert!(!is_wall(14, 50, Some(6), 10) && is_wall(15, 50, Some(5), 10), "and two others");
        // New pages alone are no evidence: they may be copies.
        assert!((20..30).all(|page| !is_wall(page, 60, None, 11)));
        assert!((100..200).all(|page| !is_wall(page, 60, Some(page), page + 1_000)));
        assert_eq!(turned.len(), MAX_TURNED);
    }
}
