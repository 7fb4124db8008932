//! Everything that is learned of a page's noise, and what a look adds to it.

use super::differences::Differences;
use super::forms::Forms;
use super::places::{Pair, Places};
use super::runs::{LookTimes, Run};
use super::values::{KnownValues, Turn};
use crate::gaps::Gaps;
use crate::second_looks::is_back_to_back;
use crate::version::UnitKey;
use std::collections::{BTreeMap, BTreeSet};

/// The most values remembered of a look that waits for another one.
const MAX_UNSETTLED: usize = 128;

/// The most seconds between two looks that say how often a place turns. A fact that changes daily would turn at every look, if
/// looks were rarer.
const MAX_SINCE_S: i64 = 3 * 3_600;

/// The noise of one page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Noise {
    pub(crate) places: Places,
    pub(crate) values: KnownValues,
    pub(crate) forms: Forms,
    /// The values of a look that was not accepted yet, by place, until the next one says whether they last. A value is odd if the
    /// place had shown it before.
    pub(crate) unsettled: BTreeMap<u32, u32>,
}

/// The units in which a version differs from the one before.
pub(crate) struct ChangedUnits<'u> {
    pub(crate) added: &'u [UnitKey],
    pub(crate) removed: &'u [UnitKey],
    pub(crate) gaps: &'u Gaps,
    pub(crate) differences: &'u Differences,
    pub(crate) times: LookTimes,
    /// The order of a list, before and after an item of it was edited.
    pub(crate) renamed_order: Option<[UnitKey; 2]>,
}

/// The order of the only list of which an item was edited, before and after.
pub(crate) fn renamed_order(old: &[UnitKey], new: &[UnitKey]) -> Option<[UnitKey; 2]> {
    let [old, new] = [old, new].map(|units| units.iter().copied().filter(|key| key.is_order()).collect::<Vec<_>>());
    let only_in = |orders: &[UnitKey], others: &[UnitKey]| {
        let others: BTreeSet<u32> = others.iter().map(|key| key.slot()).collect();
        let mut only = orders.iter().filter(|key| !others.contains(&key.slot()));
        only.next().copied().filter(|_| only.next().is_none())
    };
    Some([only_in(&old, &new)?, only_in(&new, &old)?])
}

/// The findings of one look, by which its units are judged.
#[derive(Debug, Default)]
pub(crate) struct LookFindings {
    /// The places that the version touched, with their new values.
    touched: BTreeMap<u32, u32>,
    /// The places that show one of a few values and now show another one.
    news: BTreeSet<u32>,
    /// The places that show one of a few values at random, and whether the value was known before.
    drawn: BTreeMap<u32, bool>,
}

impl LookFindings {
    /// The touched places, ascending.
    pub(crate) fn places(&self) -> Vec<u32> {
        self.touched.keys().copied().collect()
    }
}

impl ChangedUnits<'_> {
    fn keys(&self) -> impl Iterator<Item = &UnitKey> {
        self.added.iter().chain(self.removed)
    }

    /// The slot and the gap of a unit.
    fn wholes(&self, key: &UnitKey) -> impl Iterator<Item = u32> + use<> {
        [Some(key.slot()), self.gaps.of(key)].into_iter().flatten()
    }

    /// The touched places with their values before and after.
    fn touched(&self) -> BTreeMap<u32, [u32; 2]> {
        let mut touched: BTreeMap<u32, [u32; 2]> = BTreeMap::new();
        // A place may have a text and its links. Where nothing stands, the value is zero.
        for (side, keys) in [self.removed, self.added].into_iter().enumerate() {
            for key in keys {
                self.wholes(key).for_each(|place| touched.entry(place).or_default()[side] ^= (key.name() >> 8) as u32);
            }
        }
        let runs = self.differences.all().filter(|run| !run.is_spelling());
        touched.extend(runs.flat_map(|run| run.places().map(|place| (place, run.values))));
        touched
    }
}

impl Noise {
    /// Learns from a version that differs from the one before in some units, but not as a whole.
    pub(crate) fn observe(&mut self, units: &ChangedUnits<'_>) -> LookFindings {
        let touched = units.touched();
        self.places.carry(units.differences.moves());
        self.values.carry(units.differences.moves());
        if let Some([Some(went), Some(came)]) =
            units.renamed_order.map(|orders| orders.map(|key| Run::of_order(&key).forms[0]))
        {
            self.forms.carry([went, came]);
        }
        self.places.advance(&touched.keys().copied().collect::<Vec<_>>());
        let orders: Vec<Run> = units.added.iter().filter(|key| key.is_order()).map(Run::of_order).collect();
        self.forms.observe(units.differences.all().chain(&orders), units.times.since_last_look_s);
        let (mut news, mut drawn) = (BTreeSet::new(), BTreeMap::new());
        let is_close = is_back_to_back(units.times.since_last_look_s);
        let is_soon = units.times.since_last_look_s.is_some_and(|since| since <= MAX_SINCE_S);
        for (place, values) in touched.iter().filter(|(place, _)| self.places.is_touched_again(**place)) {
            let has_differed = self.places.has_differed(*place);
            let turn = Turn { counts: !is_close && (is_soon || has_differed), has_differed };
            let finding = self.values.observe(*place, *values, turn);
            if finding.is_news {
                news.insert(*place);
            }
            if finding.is_drawn && (finding.is_known || finding.expects_new) {
                drawn.insert(*place, finding.is_known);
            }
        }
        if !is_close {
            self.values.observe_quiet(|place| touched.contains_key(&place));
        }
        self.values.retain(|place| self.places.contains(place));
        let touched = touched.into_iter().map(|(place, [_, value])| (place, value)).collect();
        LookFindings { touched, news, drawn }
    }

    /// Learns from a version that is back to back with the one before. Returns whether there was noise.
    pub(crate) fn prove(&mut self, units: &ChangedUnits<'_>, found: &LookFindings, clears_others: bool) -> bool {
        let unsettled = std::mem::take(&mut self.unsettled);
        let is_same = |place: &u32, value: &u32| found.touched.get(place).is_some_and(|now| now | 1 == value | 1);
        let lasts = |place: &u32| unsettled.get(place).is_some_and(|value| is_same(place, value));
        let around = units.keys().filter_map(|key| units.gaps.around(key));
        let all: BTreeSet<u32> = found.touched.keys().copied().chain(around).chain(unsettled.keys().copied()).collect();
        let (mut lasting, differing): (Vec<u32>, Vec<u32>) = all.into_iter().partition(lasts);
        // A value that comes back may be the answer of another server, which answered twice.
        lasting.retain(|place| unsettled.get(place).is_some_and(|value| value & 1 == 0));
        let returned: Vec<u32> = unsettled.keys().copied().filter(|place| !found.touched.contains_key(place)).collect();
        let is_known = |run: &Run| run.is_spelling() || run.places().any(|place| self.places.has_differed(place));
        let mut shapeless: Vec<u32> = units
            .keys()
            .filter(|key| {
                let is_known = units.differences.of(key).is_some_and(|runs| runs.iter().all(is_known));
                !is_known || !units.differences.is_edit(key)
            })
            .flat_map(|key| units.wholes(key).chain(units.gaps.around(key)))
            .collect();
        shapeless.sort_unstable();
        self.places.prove(&Pair {
            differing: &differing,
            shapeless: &shapeless,
            returned: &returned,
            lasting: &lasting,
            clears_others,
        })
    }

    /// Learns from a look that found the page unchanged. Right after another one that proves nothing about places that differ often: a
    /// cache, or the same one of several servers, may have answered twice. It only separates a single coincidence from noise.
    pub(crate) fn observe_quiet(&mut self, since_last_look_s: Option<i64>, is_back_to_back: bool) {
        self.forms.observe_quiet(since_last_look_s);
        if is_back_to_back {
            let differing: Vec<u32> = std::mem::take(&mut self.unsettled).into_keys().collect();
            self.places.prove(&Pair { differing: &differing, returned: &differing, ..Pair::default() });
        } else {
            self.unsettled.clear();
            self.places.observe_quiet();
            self.values.observe_quiet(|_| false);
        }
    }

    /// Waits for another look, which says whether the values of this one last.
    pub(crate) fn wait_for_another(&mut self, found: &LookFindings) {
        let marked = |(place, value): (&u32, &u32)| (*place, value & !1 | u32::from(self.values.has_returned(*place)));
        self.unsettled = found.touched.iter().take(MAX_UNSETTLED).map(marked).collect();
    }

    /// Whether a changed unit differs in noise only.
    pub(crate) fn is_noise(&self, key: &UnitKey, units: &ChangedUnits<'_>, found: &LookFindings) -> bool {
        let is_old = |place: u32| !found.news.contains(&place);
        // A link with its old address is no news; its text is, if it differs. A text with its old words has another punctuation.
        let by_runs = units.differences.of(key).filter(|runs| key.is_link() || !runs.is_empty());
        let is_noise = |run: &Run| {
            let is_known = |place: u32| self.places.is_proven(place) && is_old(place);
            let is_drawn = |place: u32| {
                let is_known = found.drawn.get(&place);
                !run.is_amount && is_known.is_some_and(|is_known| *is_known || run.is_single)
            };
            run.is_spelling()
                || self.forms.explains(run)
                || run.places().any(|place| is_known(place) || is_drawn(place))
        };
        let is_drawn =
            |place: u32| found.drawn.get(&place) == Some(&true) && !units.differences.states_other_amount(key);
        key.is_order() && self.forms.explains(&Run::of_order(key))
            || by_runs.is_some_and(|runs| runs.iter().all(is_noise))
            || units.wholes(key).any(|place| self.places.is_shapeless(place) && is_old(place) || is_drawn(place))
    }
}
