//! The shape of a difference between two looks: the tokens that changed, their text and their neighbours. Noise is learned for
//! tokens and not for whole texts, so that a view counter beside a price does not hide the price.

use super::runs::{LookTimes, Partners, ReadUnit, Run, difference_between, is_data};
use crate::gaps::Gaps;
use crate::pairing::{UnitPair, paired};
use crate::unit_texts::UnitTexts;
use crate::version::UnitKey;
use document::passage_hash;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Two versions that differ in more units than this are not compared by their tokens.
const MAX_UNITS: usize = 1_024;

/// The runs of the units that only one of two versions has. Both units of a pair have the same ones.
#[derive(Debug, Default)]
pub(crate) struct Differences {
    /// The runs of each pair.
    pairs: Vec<Vec<Run>>,
    /// The pair of a unit, by its name.
    pair_of: BTreeMap<u64, usize>,
    /// The names of the units of which at least half of the tokens stayed.
    edited: BTreeSet<u64>,
    /// The names of the units that state a price which the other version does not state there, or are structured data.
    amounts: BTreeSet<u64>,
    moves: Vec<[u32; 2]>,
}

impl Differences {
    /// Compares the units that were removed with those that were added in their place.
    pub(crate) fn between(
        (old, removed): (&UnitTexts, &[UnitKey]),
        (new, added): (&UnitTexts, &[UnitKey]),
        gaps: &Gaps,
        times: LookTimes,
    ) -> Self {
        if removed.is_empty() || added.is_empty() || removed.len() + added.len() > MAX_UNITS {
            return Self::default();
        }
        let (before, after) = (read(old, removed), read(new, added));
        let amounts = other_amounts(&before, &after).chain(other_amounts(&after, &before)).collect();
        let mut found = Self { amounts, ..Self::default() };
        for (before, after) in partners(before.iter().collect(), after.iter().collect()) {
            let (one, other) = (before.unit, after.unit);
            let slots = [one, other].map(|unit| Some(u64::from(unit.key.slot())));
            let gaps = [one, other].map(|unit| gaps.around(&unit.key).map(u64::from));
            let names = [one.key.name(), other.key.name()];
            if let Some(difference) = difference_between((before, after), [slots, gaps], times) {
                found.edited.extend(names.iter().filter(|_| difference.is_edit));
                found.pair_of.extend(names.map(|name| (name, found.pairs.len())));
                found.pairs.push(difference.runs);
                found.moves.extend(difference.moves);
            }
        }
        found
    }

    /// Whether a unit is another one's edit: at least half of its tokens stayed.
    pub(crate) fn is_edit(&self, key: &UnitKey) -> bool {
        self.edited.contains(&key.name())
    }

    /// Whether a unit states a price that no unit of the other version states, or is structured data.
    pub(crate) fn states_other_amount(&self, key: &UnitKey) -> bool {
        self.amounts.contains(&key.name())
    }

    /// The runs of a unit that has a partner in the other version.
    pub(crate) fn of(&self, key: &UnitKey) -> Option<&[Run]> {
        self.pair_of.get(&key.name()).map(|pair| self.pairs[*pair].as_slice())
    }

    /// The places of tokens to which an edit beside them has given another name: the old one and the new one.
    pub(crate) fn moves(&self) -> &[[u32; 2]] {
        &self.moves
    }

    /// The runs of all pairs.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Run> {
        self.pairs.iter().flatten()
    }
}

/// The units that are shown, in page order.
fn read<'t>(texts: &'t UnitTexts, keys: &[UnitKey]) -> Vec<ReadUnit<'t>> {
    let shown = keys.iter().filter(|key| !key.is_order()).filter_map(|key| texts.find(key.name()));
    let mut units: Vec<ReadUnit<'t>> = shown.map(ReadUnit::of).collect();
    units.sort_by_key(|read| read.unit.block);
    units
}

/// The names of the units that state prices which the others do not, and of structured data.
fn other_amounts(units: &[ReadUnit<'_>], others: &[ReadUnit<'_>]) -> impl Iterator<Item = u64> {
    let known: BTreeSet<&str> = others.iter().flat_map(ReadUnit::prices).collect();
    let is_other = move |read: &&ReadUnit<'_>| is_data(read.unit) || read.prices().any(|price| !known.contains(price));
    units.iter().filter(is_other).map(|read| read.unit.key.name())
}
/// Pairs the units of two versions. Units that differ only in numbers, dates and ids come first, and links are paired by their
/// addresses without keys, then by their texts. The rest is paired as it is reported.
fn partners<'u, 't>(mut before: Vec<&'u ReadUnit<'t>>, mut after: Vec<&'u ReadUnit<'t>>) -> Vec<Partners<'u, 't>> {
    let mut partners = Vec::new();
    let is_link = |read: &ReadUnit<'_>| read.unit.key.is_link();
    take_alike(&mut before, &mut after, &mut partners, |read| {
        is_link(read).then(|| passage_hash(read.unit.text.as_bytes()))
    });
    take_alike(&mut before, &mut after, &mut partners, |read| is_link(read).then(|| read.without_keys()).flatten());
    take_alike(&mut before, &mut after, &mut partners, |read| is_link(read).then_some(read.skeleton));
    take_alike(&mut before, &mut after, &mut partners, |read| (!is_link(read)).then_some(read.skeleton));
    let [before_by_name, after_by_name] = [&before, &after].map(|units| {
        units.iter().map(|read| (read.unit.key.name(), *read)).collect::<BTreeMap<u64, &'u ReadUnit<'t>>>()
    });
    let [before, after] = [before, after].map(|units| units.iter().map(|read| read.unit).collect::<Vec<_>>());
    let of_pair = |(one, other): UnitPair<'t>| {
        Some((*before_by_name.get(&one?.key.name())?, *after_by_name.get(&other?.key.name())?))
    };
    partners.extend(paired(&before, &after).into_iter().filter_map(of_pair));
    partners
}

/// Takes the units that are alike in both lists, in their order.
fn take_alike<'u, 't>(
    before: &mut Vec<&'u ReadUnit<'t>>,
    after: &mut Vec<&'u ReadUnit<'t>>,
    partners: &mut Vec<Partners<'u, 't>>,
    likeness: impl Fn(&ReadUnit<'t>) -> Option<u64>,
) {
    let mut waiting: BTreeMap<u64, VecDeque<&'u ReadUnit<'t>>> = BTreeMap::new();
    for read in &*before {
        if let Some(alike) = likeness(read) {
            waiting.entry(alike).or_default().push_back(read);
        }
    }
    let mut taken = BTreeSet::new();
    after.retain(|read| {
        let partner = likeness(read).and_then(|alike| waiting.get_mut(&alike)?.pop_front());
        if let Some(partner) = partner {
            taken.insert(partner.unit.key.name());
            partners.push((partner, read));
        }
        partner.is_none()
    });
    before.retain(|read| !taken.contains(&read.unit.key.name()));
}
