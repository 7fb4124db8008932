//! Walls: consent, login or error pages that a host serves with status 200 in the place of many pages. Whatever their
//! language, the same short text replaces the regions of several pages.

use crate::host_events::HOST_EVENT_WINDOW_S;
use crate::page_state::PageState;
use crate::stand_in::MAX_ERROR_PAGE_BYTES;
use crate::version::{UnitKey, Version};
use chance::splitmix64;
use std::collections::BTreeSet;

/// One text in place of the different texts of this many pages is a wall and no edit.
const PAGES: usize = 3;
/// A text in the place of this many pages is no news of each of them.
const EVERYWHERE: usize = 8;
/// The most replacements remembered per host. The oldest are forgotten first.
pub(crate) const MAX_REPLACED: usize = 24;

/// The replacement of a page's region by a short text that it did not show before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionReplacement {
    /// Sign of the region before; `None` for a page that is new.
    before: Option<u64>,
    /// Sign of the region now.
    now: u64,
}

/// A known page whose region was replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReplacedPage {
    pub(crate) page: u64,
    pub(crate) before: u64,
    pub(crate) now: u64,
    pub(crate) unix_time: i64,
}

impl PageState {
    /// The replacement of the page's region by this version, if that is short and differs. Watched parts are no sign of a
    /// wall: on many pages they say "Sold out".
    pub fn replacement_by(&self, version: &Version<'_>) -> Option<RegionReplacement> {
        if version.is_watched() || version.region_bytes >= MAX_ERROR_PAGE_BYTES {
            return None;
        }
        let now = sign(version.units.iter().map(|unit| unit.key))?;
        let before = sign(self.version.units.iter().copied());
        (before != Some(now)).then_some(RegionReplacement { before, now })
    }
}

/// Sign of the texts of a region in any order. Links are left out: those of a wall lead back to each page.
fn sign(units: impl Iterator<Item = UnitKey>) -> Option<u64> {
    let texts = units.filter(|key| key.in_region() && !key.is_link());
    texts.map(UnitKey::name).reduce(|sign, name| splitmix64(sign ^ name))
}

/// Records a replacement. Returns whether it is by a wall: by the text that replaced other pages within the day before.
/// Pages that had one text before count once, because copies are edited together. A new page counts only beside others.
pub(crate) fn observe_replacement(
    replaced: &mut Vec<ReplacedPage>,
    page: u64,
    unix_time: i64,
    replacement: RegionReplacement,
) -> bool {
    replaced.retain(|other| other.page != page);
    forget(replaced, unix_time);
    let others = replaced.iter().filter(|other| other.now == replacement.now);
    let before: BTreeSet<u64> = others.map(|other| other.before).chain(replacement.before).collect();
    let is_wall = before.len() + usize::from(replacement.before.is_none()) >= PAGES;
    if let Some(before) = replacement.before {
        if replaced.len() == MAX_REPLACED {
            replaced.remove(0);
        }
        replaced.push(ReplacedPage { page, before, now: replacement.now, unix_time });
    }
    is_wall
}

/// Whether the text stands in the place of so many pages that it is no news of each of them.
pub(crate) fn is_everywhere(replaced: &[ReplacedPage], replacement: RegionReplacement) -> bool {
    replaced.iter().filter(|other| other.now == replacement.now).count() >= EVERYWHERE
}

/// Forgets the replacements of more than a day ago.
pub(crate) fn forget(replaced: &mut Vec<ReplacedPage>, unix_time: i64) {
    replaced.retain(|other| other.unix_time >= unix_time.saturating_sub(HOST_EVENT_WINDOW_S));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_page_replaced_by_one_text_within_a_day_meets_a_wall() {
        let mut replaced = Vec::new();
        let mut is_wall = |page: u64, hour: i64, before: Option<u64>, now: u64| {
            observe_replacement(&mut replaced, page, hour * 3_600, RegionReplacement { before, now })
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
        assert_eq!(replaced.len(), MAX_REPLACED);
    }

    #[test]
    fn a_text_in_the_place_of_eight_pages_is_everywhere() {
        let mut replaced = Vec::new();
        let mut is_everywhere = |page: u64, now: u64| {
            let replacement = RegionReplacement { before: Some(page), now };
            observe_replacement(&mut replaced, page, 0, replacement);
            super::is_everywhere(&replaced, replacement)
        };
        assert!((1..8).all(|page| !is_everywhere(page, 9)) && is_everywhere(8, 9));
        assert!(!is_everywhere(9, 10), "another text");
    }
}
