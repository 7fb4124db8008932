//! The values of places that show one of a few in turn, such as the answers of two servers. A value that was never among them
//! is news.
//!
//! The server may draw one at each request, which close looks show, or for a whole visit, which only the looks of many visits
//! show: known values come back at random at every few looks. A fact that changes and changes back stays as it is for many looks
//! in between, or follows a rhythm.

use std::collections::BTreeMap;

/// The most places whose values are remembered.
const MAX_PLACES: usize = 48;
/// The most values remembered of a place. The one seen longest ago is dropped.
const MAX_VALUES: usize = 8;
/// A place shows one of a few values if known ones came in a row, at least this many for each of its values.
const RETURNS_PER_VALUE: usize = 2;
/// A place with fewer values needs as many returns as one with this many.
const MIN_VALUES: usize = 3;
/// Known values in a row, beside a pair of close looks that differed, that show a place to draw its values.
const RETURNS_BESIDE_PAIR: u8 = 5;

/// When a place turned to another value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Turn {
    /// Whether the look says something about how often the place turns.
    pub(crate) counts: bool,
    /// Whether the place differed between two close looks, too.
    pub(crate) has_differed: bool,
}

/// The values of one place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct PlaceValues {
    /// The last one first.
    values: Vec<u32>,
    /// Known values in a row.
    returns: u8,
    looks: Recency,
}

/// The last looks at a place, four bits each, the newest lowest: the number of values it has shown since it last showed this
/// one, plus one. So a look that finds it quiet is 1. No look is 0, and a new value [`NEW`](Self::NEW).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Recency(u64);

impl Recency {
    const LOOKS: u32 = 16;
    const QUIET: u64 = 1;
    const NEW: u64 = 15;
    /// Fewer returns prove nothing.
    const MIN_RETURNS: usize = 5;
    /// The same where a value comes back behind two others at least.
    const MIN_RETURNS_OF_MANY: usize = 3;
    /// There may be at most this many looks for each that finds another value.
    const LOOKS_PER_CHANGE: usize = 3;
    /// Looks that repeat those before them, this many earlier at most, follow a rhythm.
    const MAX_PERIOD: u32 = 4;
    /// One look in this many may break a rhythm.
    const LOOKS_PER_BREAK: usize = 10;

    fn push(&mut self, look: u64) {
        self.0 = self.0 << 4 | look;
    }

    /// The looks, the newest first.
    fn looks(self) -> impl Iterator<Item = u64> {
        (0..Self::LOOKS).map(move |at| self.0 >> (4 * at) & 15).take_while(|look| *look != 0)
    }

    /// Whether known values come back at random, and at every few looks.
    fn is_drawn(self) -> bool {
        let (looks, changes) = (self.looks().count(), self.looks().filter(|look| *look != Self::QUIET).count());
        let returns = || self.looks().filter(|look| (Self::QUIET + 1..Self::NEW).contains(look));
        let has_many = returns().any(|look| look > Self::QUIET + 1);
        let min_returns = if has_many { Self::MIN_RETURNS_OF_MANY } else { Self::MIN_RETURNS };
        returns().count() >= min_returns && changes * Self::LOOKS_PER_CHANGE >= looks && !self.has_rhythm()
    }

    fn has_rhythm(self) -> bool {
        (1..=Self::MAX_PERIOD).any(|period| {
            let earlier = Self(self.0 >> (4 * period));
            let breaks = self.looks().zip(earlier.looks()).filter(|(look, before)| look != before).count();
            breaks * Self::LOOKS_PER_BREAK <= earlier.looks().count()
        })
    }
}

/// The values of the places of one page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KnownValues(BTreeMap<u32, PlaceValues>);

/// The findings on the value of a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ValueFinding {
    /// The place shows one of a few values, and this was none of them.
    pub(crate) is_news: bool,
    /// The place shows one of a few values at random.
    pub(crate) is_drawn: bool,
    /// This value was known before.
    pub(crate) is_known: bool,
    /// New values still come one after another, so that one more of them is no news.
    pub(crate) expects_new: bool,
}

impl KnownValues {
    /// Gives places the values of those that they replace, if they have none.
    pub(crate) fn carry(&mut self, moves: &[[u32; 2]]) {
        for [old, new] in moves {
            if let Some(known) = self.0.get(old).filter(|_| self.0.len() < MAX_PLACES).cloned() {
                self.0.entry(*new).or_insert(known);
            }
        }
    }

    /// Records that a place turned from a value to another one.
    pub(crate) fn observe(&mut self, place: u32, [before, after]: [u32; 2], turn: Turn) -> ValueFinding {
        if self.0.len() >= MAX_PLACES && !self.0.contains_key(&place) {
            return ValueFinding::default();
        }
        let known = self.0.entry(place).or_default();
        if known.values.is_empty() {
            known.values.push(before);
        }
        let rank = known.values.iter().position(|value| *value == after);
        let is_news =
            rank.is_none() && usize::from(known.returns) >= RETURNS_PER_VALUE * known.values.len().max(MIN_VALUES);
        let expects_new = usize::from(known.returns) < known.values.len();
        known.returns = if rank.is_some() { known.returns.saturating_add(1) } else { 0 };
        rank.map(|rank| known.values.remove(rank));
        known.values.insert(0, after);
        known.values.truncate(MAX_VALUES);
        if turn.counts {
            known.looks.push(rank.map_or(Recency::NEW, |rank| rank as u64 + 1));
        }
        let is_drawn = known.looks.is_drawn() || turn.has_differed && known.returns >= RETURNS_BESIDE_PAIR;
        ValueFinding { is_news, is_drawn, is_known: rank.is_some(), expects_new }
    }

    /// Records a look that found those places quiet that it did not touch.
    pub(crate) fn observe_quiet(&mut self, is_touched: impl Fn(u32) -> bool) {
        for (_, known) in self.0.iter_mut().filter(|(place, known)| known.looks.0 != 0 && !is_touched(**place)) {
            known.looks.push(Recency::QUIET);
        }
    }

    /// Whether the last value of a place was known before.
    pub(crate) fn has_returned(&self, place: u32) -> bool {
        self.0.get(&place).is_some_and(|known| known.returns > 0)
    }

    /// Forgets the places that are not kept.
    pub(crate) fn retain(&mut self, is_kept: impl Fn(u32) -> bool) {
        self.0.retain(|place, _| is_kept(*place));
    }

    /// The values as numbers: for each place itself with its counts of values and returns, its looks, and its values.
    pub(crate) fn entries(&self) -> Vec<u64> {
        let entries = self.0.iter().flat_map(|(place, known)| {
            let head = u64::from(*place) << 16 | (known.values.len() as u64) << 8 | u64::from(known.returns);
            [head, known.looks.0].into_iter().chain(known.values.iter().map(|value| u64::from(*value)))
        });
        entries.collect()
    }

    /// Rebuilds the values from the result of [`entries`](Self::entries). Returns `None` for any other list.
    pub(crate) fn from_entries(mut entries: impl Iterator<Item = u64>) -> Option<Self> {
        let mut known: BTreeMap<u32, PlaceValues> = BTreeMap::new();
        while let Some(head) = entries.next() {
            let place = u32::try_from(head >> 16).ok()?;
            let (count, returns) = (usize::from((head >> 8) as u8), head as u8);
            let looks = Recency(entries.next()?);
            let values: Vec<u32> = entries.by_ref().take(count).map(u32::try_from).collect::<Result<_, _>>().ok()?;
            if values.len() != count || count > MAX_VALUES || known.len() >= MAX_PLACES {
                return None;
            }
            known.insert(place, PlaceValues { values, returns, looks });
        }
        Some(Self(known))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_value_of_a_place_that_turns_between_two_is_news() {
        let mut known = KnownValues::default();
        for look in 0..8 {
            assert!(!known.observe(7, [look % 2, (look + 1) % 2], Turn::default()).is_news);
        }
        assert!(known.observe(7, [0, 9], Turn::default()).is_news);
        assert!(!known.observe(7, [9, 9], Turn::default()).is_news);
        assert_eq!(KnownValues::from_entries(known.entries().into_iter()), Some(known));
    }

    #[test]
    fn a_place_with_ever_new_values_has_no_news() {
        let mut known = KnownValues::default();
        let turn = Turn { counts: true, has_differed: true };
        let is_silent = |found: ValueFinding| !found.is_news && !found.is_drawn;
        assert!((0..100).all(|look| is_silent(known.observe(7, [look, look + 1], turn))));
        assert_eq!(KnownValues::from_entries(known.entries().into_iter()), Some(known));
    }
}
