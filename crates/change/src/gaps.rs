//! Gaps: places between what two versions have in common. A teaser that is another at every fetch has other first words
//! each time, and so never the same slot; but it always stands behind the same paragraph.

use crate::version::UnitKey;
use document::splitmix64;
use std::collections::BTreeMap;

/// Tells the numbers of gaps from those of slots.
const GAP: u32 = 1 << 24;
/// The number of a block behind what stayed is counted up to here.
const MAX_NUMBER: u64 = 16;

/// For each unit of a version that the other version has not, by name, its gap: the last text before it that both have,
/// the number of its block behind that, and whether it is a link.
pub(crate) fn gaps(
    units: impl Iterator<Item = (UnitKey, u32)>,
    in_other: impl Fn(UnitKey) -> bool,
) -> BTreeMap<u64, u32> {
    let mut units: Vec<(u32, bool, UnitKey)> = units.map(|(key, block)| (block, key.is_link(), key)).collect();
    // The text of a block comes before its links.
    units.sort_unstable();
    let mut gaps = BTreeMap::new();
    let (mut behind, mut number, mut last_block) = (0, 0, None);
    for (block, is_link, key) in units {
        let is_common = in_other(key);
        if is_common && !is_link {
            (behind, number, last_block) = (key.name(), 0, Some(block));
        } else if !is_common {
            number += u64::from(last_block != Some(block));
            last_block = Some(block);
            let place = splitmix64(behind ^ splitmix64(number.min(MAX_NUMBER) << 1 | u64::from(is_link)));
            gaps.insert(key.name(), GAP | (place >> 40) as u32);
        }
    }
    gaps
}
