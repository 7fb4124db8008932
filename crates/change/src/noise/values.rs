//! The values of places that show one of a few in turn, such as the answers of two servers. A value that was never among them
//! is news.

use std::collections::BTreeMap;

/// The most places whose values are remembered.
const MAX_PLACES: usize = 48;
/// A place with more values does not turn between a few: it draws them from many.
const MAX_VALUES: usize = 4;
/// A place shows one of a few values if known ones came in a row, at least this many for each of its values.
const RETURNS_PER_VALUE: usize = 2;
/// A place with fewer values needs as many returns as one with this many.
const MIN_VALUES: usize = 3;

/// The values of one place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct PlaceValues {
    /// Empty if there were too many.
    values: Vec<u32>,
    has_too_many: bool,
    /// Known values in a row.
    returns: u8,
}

/// The values of the places of one page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KnownValues(BTreeMap<u32, PlaceValues>);

impl KnownValues {
    /// Records that a place turned from a value to another one. Returns whether the place shows one of a few values and this was none
    /// of them.
    pub(crate) fn observe(&mut self, place: u32, [before, after]: [u32; 2]) -> bool {
        if self.0.len() >= MAX_PLACES && !self.0.contains_key(&place) {
            return false;
        }
        let known = self.0.entry(place).or_default();
        if known.has_too_many {
            return false;
        }
        if known.values.is_empty() {
            known.values.push(before);
        }
        if known.values.contains(&after) {
            known.returns = known.returns.saturating_add(1);
            return false;
        }
        let is_news = usize::from(known.returns) >= RETURNS_PER_VALUE * known.values.len().max(MIN_VALUES);
        known.returns = 0;
        known.values.push(after);
        if known.values.len() > MAX_VALUES {
            *known = PlaceValues { has_too_many: true, ..PlaceValues::default() };
        }
        is_news
    }

    /// Whether the last value of a place was known before.
    pub(crate) fn has_returned(&self, place: u32) -> bool {
        self.0.get(&place).is_some_and(|known| known.returns > 0)
    }

    /// Forgets the places that are not kept.
    pub(crate) fn retain(&mut self, is_kept: impl Fn(u32) -> bool) {
        self.0.retain(|place, _| is_kept(*place));
    }

    /// The values as numbers: for each place itself with its count of returns, or 255 if it has too many, and its values.
    pub(crate) fn entries(&self) -> Vec<u64> {
        let entries = self.0.iter().flat_map(|(place, known)| {
            let state = if known.has_too_many { u8::MAX } else { known.returns.min(u8::MAX - 1) };
            let head = 1 << 40 | u64::from(*place) << 8 | u64::from(state);
            [head].into_iter().chain(known.values.iter().map(|value| u64::from(*value)))
        });
        entries.collect()
    }

    /// Rebuilds the values from the result of [`entries`](Self::entries). Returns `None` for any other list.
    pub(crate) fn from_entries(entries: impl Iterator<Item = u64>) -> Option<Self> {
        let mut known: BTreeMap<u32, PlaceValues> = BTreeMap::new();
        let mut last = None;
        for entry in entries {
            if entry >> 40 == 0 {
                let values = &mut known.get_mut(&last?)?.values;
                values.push(u32::try_from(entry).ok()?);
                if values.len() > MAX_VALUES {
                    return None;
                }
                continue;
            }
            let place = (entry >> 8) as u32;
            let state = entry as u8;
            last = Some(place);
            let has_too_many = state == u8::MAX;
            let returns = if has_too_many { 0 } else { state };
            known.insert(place, PlaceValues { values: Vec::new(), has_too_many, returns });
        }
        (known.len() <= MAX_PLACES).then_some(Self(known))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_value_of_a_place_that_turns_between_two_is_news() {
        let mut known = KnownValues::default();
        for look in 0..8 {
            assert!(!known.observe(7, [look % 2, (look + 1) % 2]));
        }
        assert!(known.observe(7, [0, 9]));
        assert!(!known.observe(7, [9, 9]));
        assert_eq!(KnownValues::from_entries(known.entries().into_iter()), Some(known));
    }

    #[test]
    fn a_place_with_ever_new_values_has_no_news() {
        let mut known = KnownValues::default();
        assert!((0..100).all(|look| !known.observe(7, [look, look + 1])));
        assert_eq!(KnownValues::from_entries(known.entries().into_iter()), Some(known));
    }
}
