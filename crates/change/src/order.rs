//! Which texts of a page stayed where they are, and which moved past them.

use crate::region::PagePart;
use crate::unit_texts::{ShownUnit, UnitTexts};
use crate::version::UnitKey;
use std::collections::{BTreeMap, BTreeSet};

/// A heading weighs as much as this many texts, so that the texts below it are reported as moved and not the heading.
const HEADING_WEIGHT: u64 = 4;

/// The texts of two versions of a page in their order.
pub(crate) struct Order {
    old: Side,
    new: Side,
    /// The names of the texts of the heaviest sequence that has one order in both versions.
    stayed: BTreeSet<u64>,
}

/// The texts of one version, in page order.
struct Side {
    texts: Vec<UnitKey>,
    /// By name: its place in the order, and the name of its heading.
    places: BTreeMap<u64, (usize, Option<u64>)>,
}

impl Side {
    fn of(texts: &UnitTexts) -> Self {
        let headings: BTreeMap<u64, u64> =
            texts.in_sections().map(|(_, _, heading, key, _)| (key.name(), heading)).collect();
        let is_text = |(key, _): &(UnitKey, u32)| !key.is_link() && !key.is_order();
        let texts: Vec<UnitKey> = texts.places().filter(is_text).map(|(key, _)| key).collect();
        let place = |(place, key): (usize, &UnitKey)| (key.name(), (place, headings.get(&key.name()).copied()));
        Self { places: texts.iter().enumerate().map(place).collect(), texts }
    }

    fn heading(&self, key: UnitKey) -> Option<u64> {
        self.places.get(&key.name()).and_then(|(_, heading)| *heading)
    }

    /// The texts that stand right under a heading, in order.
    fn under(&self, heading: u64) -> impl Iterator<Item = UnitKey> {
        let first = self.places.get(&heading).map_or(self.texts.len(), |(place, _)| place + 1);
        let is_under = move |key: &&UnitKey| self.heading(**key) == Some(heading);
        self.texts[first..].iter().take_while(is_under).copied()
    }
}

impl Order {
    pub(crate) fn of(old: &UnitTexts, new: &UnitTexts) -> Self {
        let (old, new) = (Side::of(old), Side::of(new));
        let headings: BTreeSet<u64> = new.places.values().filter_map(|(_, heading)| *heading).collect();
        let both: Vec<(usize, u64, u64)> = new
            .texts
            .iter()
            .filter_map(|key| {
                let (place, _) = old.places.get(&key.name())?;
                let weight = if headings.contains(&key.name()) { HEADING_WEIGHT } else { 1 };
                Some((*place, key.name(), weight))
            })
            .collect();
        let stayed = heaviest_rising(&both).into_iter().collect();
        Self { old, new, stayed }
    }

    /// Leaves out the texts that stand under another heading because a section moved past them, and the section took its
    /// own texts along.
    pub(crate) fn without_those_that_stayed(&self, mut moves: Vec<(UnitKey, UnitKey)>) -> Vec<(UnitKey, UnitKey)> {
        moves.retain(|(went, came)| {
            let headings = [self.old.heading(*went), self.new.heading(*came)];
            let has_section_moved = || headings.into_iter().flatten().any(|heading| self.has_section_moved(heading));
            !(self.stayed.contains(&came.name()) && has_section_moved())
        });
        moves
    }

    /// Whether a heading moved together with a text under it. The text may have been edited in its place.
    fn has_section_moved(&self, heading: u64) -> bool {
        let is_same = |one: UnitKey, other: UnitKey| one.name() == other.name() || one.slot() == other.slot();
        let is_first_same = matches!((self.old.under(heading).next(), self.new.under(heading).next()),
            (Some(one), Some(other)) if is_same(one, other));
        !self.stayed.contains(&heading) && is_first_same
    }
}

/// The slots of the orders among these units whose list of links has replaced as many of its items as it has. The past ones are
/// those that it had before.
pub(crate) fn drawn_anew(units: &[UnitKey], texts: &UnitTexts, past: &[UnitKey]) -> BTreeSet<u32> {
    let orders: Vec<ShownUnit<'_>> =
        units.iter().filter(|key| key.is_order()).filter_map(|key| texts.find(key.name())).collect();
    if orders.is_empty() {
        return BTreeSet::new();
    }
    let is_item = |key: &UnitKey| key.part() == PagePart::Links && !key.is_order();
    // The list whose first item is in a block, and the items and past items of each list, by their slots.
    let (mut list_at, mut items) = (BTreeMap::<u32, u32>::new(), BTreeMap::<u32, usize>::new());
    for (key, block) in texts.places().filter(|(key, _)| is_item(key)) {
        list_at.entry(block).or_insert(key.slot());
        *items.entry(key.slot()).or_default() += 1;
    }
    let mut replaced = BTreeMap::<u32, usize>::new();
    past.iter().filter(|key| is_item(key)).for_each(|key| *replaced.entry(key.slot()).or_default() += 1);
    let is_drawn_anew = |order: &&ShownUnit<'_>| {
        let list = list_at.get(&order.block);
        list.is_some_and(|list| replaced.get(list).is_some_and(|replaced| Some(replaced) >= items.get(list)))
    };
    orders.iter().filter(is_drawn_anew).map(|order| order.key.slot()).collect()
}

/// The names of the heaviest sequence whose places rise. Each item has a place, a name and a weight.
fn heaviest_rising(items: &[(usize, u64, u64)]) -> Vec<u64> {
    let places = items.iter().map(|(place, ..)| place + 1).max().unwrap_or_default();
    // A Fenwick tree of the heaviest sequences that end at a place: their weight, and their last item plus one.
    let mut heaviest = vec![(0_u64, 0_usize); places + 1];
    let mut before = vec![0; items.len()];
    let mut best = (0, 0);
    for (number, (place, _, weight)) in items.iter().enumerate() {
        let (mut at, mut found) = (*place, (0, 0));
        while at > 0 {
            found = found.max(heaviest[at]);
            at &= at - 1;
        }
        before[number] = found.1;
        let reached = (found.0 + weight, number + 1);
        let mut at = place + 1;
        while at <= places {
            heaviest[at] = heaviest[at].max(reached);
            at += at & at.wrapping_neg();
        }
        best = best.max(reached);
    }
    let mut names = Vec::new();
    let mut item = best.1;
    while item > 0 {
        names.push(items[item - 1].1);
        item = before[item - 1];
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_sequence_in_one_order_is_found() {
        let check = |places: &[(usize, u64)], expected: &[u64]| {
            let items: Vec<_> = places.iter().map(|(place, weight)| (*place, *place as u64, *weight)).collect();
            let mut names = heaviest_rising(&items);
            names.reverse();
            assert_eq!(names, expected);
        };
        check(&[], &[]);
        check(&[(0, 1), (1, 1), (2, 1)], &[0, 1, 2]);
        check(&[(2, 1), (0, 1), (1, 1)], &[0, 1]);
        check(&[(2, 4), (0, 1), (1, 1)], &[2]);
        check(&[(3, 1), (0, 1), (4, 1), (1, 1), (2, 1)], &[0, 1, 2]);
    }
}
