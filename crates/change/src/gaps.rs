//! Gaps: places between what two versions have in common. A teaser that is another at every fetch has other first words
//! each time, and so never the same slot; but it always stands behind the same paragraph.

use crate::change_record::words_in_common;
use crate::region::PagePart;
use crate::unit_texts::{ShownUnit, UnitTexts};
use crate::version::{UnitKey, Version};
use document::splitmix64;
use std::collections::{BTreeMap, BTreeSet};

/// Tells the numbers of gaps from those of slots.
const GAP: u32 = 1 << 24;
/// The number of a block behind what stayed is counted up to here.
const MAX_NUMBER: u64 = 16;
/// The share of words in common below which a link in the place of another is another teaser.
const MIN_COMMON: f64 = 0.3;

/// The gaps of the units that only one of two versions has.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    /// By name.
    gaps: BTreeMap<u64, u32>,
    /// Names of the links and texts that were swapped for others in lists of links.
    teasers: BTreeSet<u64>,
}

impl Gaps {
    /// Finds the gaps between the texts of a version and a newer one.
    pub(crate) fn between(old: &UnitTexts, new: &Version<'_>) -> Self {
        let unframed = new.units.iter().filter(|unit| unit.key.part() != PagePart::Frame && !unit.is_order());
        let came = gaps(unframed.map(|unit| (unit.key, unit.block)), |key| old.find(key.name()).is_some());
        let went = gaps(old.places(), |key| new.find(key.name()).is_some());
        let teasers = swapped_teasers((old, &went), (new, &came));
        Self { gaps: came.into_iter().chain(went).map(|(key, gap)| (key.name(), gap)).collect(), teasers }
    }

    /// The gap of a unit that only one of the versions has, if it is outside the frame.
    pub(crate) fn of(&self, key: &UnitKey) -> Option<u32> {
        self.gaps.get(&key.name()).copied()
    }

    /// Whether the unit is part of a teaser in a list of links that was swapped for another, or of the other.
    pub(crate) fn is_swapped_teaser(&self, key: &UnitKey) -> bool {
        self.teasers.contains(&key.name())
    }
}

/// The units of a version that the other has not, in page order, with their gaps: the last text before it that both
/// have, the number of its block behind that, and whether it is a link.
fn gaps(units: impl Iterator<Item = (UnitKey, u32)>, in_other: impl Fn(UnitKey) -> bool) -> Vec<(UnitKey, u32)> {
    let mut units: Vec<(u32, bool, UnitKey)> = units.map(|(key, block)| (block, key.is_link(), key)).collect();
    // The text of a block comes before its links.
    units.sort_unstable();
    let mut gaps = Vec::new();
    let (mut behind, mut number, mut last_block) = (0, 0, None);
    for (block, is_link, key) in units {
        let is_common = in_other(key);
        if is_common && !is_link {
            (behind, number, last_block) = (key.name(), 0, Some(block));
        } else if !is_common {
            number += u64::from(last_block != Some(block));
            last_block = Some(block);
            let place = splitmix64(behind ^ splitmix64(number.min(MAX_NUMBER) << 1 | u64::from(is_link)));
            gaps.push((key, GAP | (place >> 40) as u32));
        }
    }
    gaps
}

/// Items of lists of links, in whose place others lead elsewhere in other words.
fn swapped_teasers(
    (old, went): (&UnitTexts, &[(UnitKey, u32)]),
    (new, came): (&Version<'_>, &[(UnitKey, u32)]),
) -> BTreeSet<u64> {
    let is_listed = |key: &UnitKey| key.is_link() && key.part() == PagePart::Links;
    let old_links: BTreeMap<u32, ShownUnit<'_>> = went
        .iter()
        .filter(|(key, _)| is_listed(key))
        .filter_map(|(key, gap)| Some((*gap, old.find(key.name())?)))
        .collect();
    if old_links.is_empty() {
        return BTreeSet::new();
    }
    let new_texts = new.unit_texts();
    let new_links = came
        .iter()
        .filter(|(key, _)| is_listed(key))
        .filter_map(|(key, gap)| Some((*old_links.get(gap)?, new_texts.find(key.name())?)));
    // The words of a link are its place.
    let is_other = |(old, new): &(ShownUnit<'_>, ShownUnit<'_>)| {
        old.text != new.text && words_in_common(old.place, new.place) < MIN_COMMON
    };
    let swapped: Vec<[u32; 2]> = new_links.filter(is_other).map(|(old, new)| [old.block, new.block]).collect();
    let blocks = |side: usize| swapped.iter().map(|blocks| blocks[side]).collect::<BTreeSet<u32>>();
    let (old_blocks, new_blocks) = (blocks(0), blocks(1));
    let went = went.iter().filter(|(key, _)| old.find(key.name()).is_some_and(|unit| old_blocks.contains(&unit.block)));
    let came = came.iter().filter(|(key, _)| new.find(key.name()).is_some_and(|unit| new_blocks.contains(&unit.block)));
    went.chain(came).map(|(key, _)| key.name()).collect()
}
