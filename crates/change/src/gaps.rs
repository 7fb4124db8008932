//! Gaps: places between texts that two versions have in common. A teaser that is replaced at every fetch has other first words
//! each time, so its slot differs. It still stands behind the same paragraph.

use crate::region::PagePart;
use crate::unit_texts::UnitTexts;
use crate::version::UnitKey;
use chance::splitmix64;
use std::collections::BTreeMap;

/// Bit that distinguishes the numbers of gaps from those of slots.
const GAP: u32 = 1 << 24;
/// Bit that distinguishes the gaps of units that were edited in their slot from those of others.
const EDITED: u32 = 1 << 25;
/// The number of a block behind the last text that stayed is counted up to here.
const MAX_NUMBER: u64 = 16;

/// Whether a place that is no place of tokens is a gap. Otherwise it is a slot.
pub(crate) fn is_gap(place: u32) -> bool {
    place & GAP != 0
}

/// The gaps of the units that only one of two versions has.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    /// By name.
    gaps: BTreeMap<u64, u32>,
    /// The slots in which as many units came as went, sorted.
    edited: Vec<u32>,
}

impl Gaps {
    /// Finds the gaps between a version and a newer one. `removed` and `added` are the units in which they differ.
    pub(crate) fn between((old, removed): (&UnitTexts, &[UnitKey]), (new, added): (&UnitTexts, &[UnitKey])) -> Self {
        let came = gaps(new.places(), &new.shared_with(old));
        let went = gaps(old.places(), &old.shared_with(new));
        let [lost, gained] = [removed, added].map(slots);
        let mut lost = lost.into_iter().peekable();
        let is_edited = |slot: &(u32, usize)| {
            while lost.next_if(|other| other.0 < slot.0).is_some() {}
            lost.next_if(|other| other.0 == slot.0).is_some_and(|other| other.1 == slot.1)
        };
        let edited = gained.into_iter().filter(is_edited).map(|(slot, _)| slot).collect();
        Self { gaps: came.into_iter().chain(went).map(|(key, gap)| (key.name(), gap)).collect(), edited }
    }

    /// The gap of a unit that only one of the versions has, if it is outside the frame. A unit that was edited in its
    /// slot has a gap of its own: it is no teaser, and may stand where a teaser stood at another look.
    pub(crate) fn of(&self, key: &UnitKey) -> Option<u32> {
        let is_edited = self.edited.binary_search(&key.slot()).is_ok();
        self.gaps.get(&key.name()).map(|gap| if is_edited { gap ^ EDITED } else { *gap })
    }

    /// The gap that a unit is in, edited or not. Whatever differs there between back-to-back fetches is noise.
    pub(crate) fn around(&self, key: &UnitKey) -> Option<u32> {
        self.gaps.get(&key.name()).copied()
    }
}

/// The slots that the units are in, sorted, with the number of units in each. Lists of links are left out: one slot
/// holds all links of a list, and a new link is no edit of an old one.
fn slots(keys: &[UnitKey]) -> Vec<(u32, usize)> {
    let mut slots: Vec<u32> = keys.iter().filter(|key| key.part() != PagePart::Links).map(|key| key.slot()).collect();
    slots.sort_unstable();
    slots.chunk_by(|one, other| one == other).map(|same| (same[0], same.len())).collect()
}

/// The units of a version that the other has not, in page order, with their gaps: the last text before it that both
/// have, the number of its block behind that, and whether it is a link of a text that both have. The links of another
/// text are in the gap of their text: they came or went with it.
fn gaps(units: impl Iterator<Item = (UnitKey, u32)>, shared: &[bool]) -> Vec<(UnitKey, u32)> {
    let mut gaps = Vec::new();
    let (mut behind, mut number, mut last_block, mut block_of_other_text) = (0, 0, None, None);
    for ((key, block), &is_common) in units.zip(shared) {
        if is_common && !key.is_link() {
            (behind, number, last_block) = (key.name(), 0, Some(block));
        } else if !is_common {
            number += u64::from(last_block != Some(block));
            last_block = Some(block);
            if !key.is_link() {
                block_of_other_text = last_block;
            }
            let is_other_link = key.is_link() && block_of_other_text != last_block;
            let place = splitmix64(behind ^ splitmix64(number.min(MAX_NUMBER) << 1 | u64::from(is_other_link)));
            gaps.push((key, GAP | (place >> 40) as u32));
        }
    }
    gaps
}
