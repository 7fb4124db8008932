//! The shape of a difference between two looks: the tokens that changed, their text and their neighbours. Noise is learned for
//! tokens and not for whole texts, so that a view counter beside a price does not hide the price.

use super::forms::{clock_form, steady_form};
use super::token_edits::{edits, one_value, value};
use super::tokens::{Meaning, Token, address_tokens, tokens};
use crate::gaps::Gaps;
use crate::pairing::{UnitPair, paired};
use crate::unit_texts::{STRUCTURED_DATA, ShownUnit, UnitTexts};
use crate::version::UnitKey;
use chance::splitmix64;
use document::numbers::{begins_with_currency, ends_with_currency};
use document::passage_hash;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

/// Two versions that differ in more units than this are not compared by their tokens.
const MAX_UNITS: usize = 1_024;
/// Texts that differ in more places than this are different texts.
const MAX_RUNS: usize = 12;
/// A date is expected to move with the clock if there are at most this many seconds between two looks.
const MAX_DATE_STEP_S: i64 = 4 * 86_400;
/// A text with at least this many words is recognised wherever it stands on the page.
const MIN_TEXT_WORDS: usize = 3;

/// Signs behind a number with decimals that only measures or rounds.
const MEASURES: [&str; 8] = ["%", "k", "K", "M", "Mio", "Tsd", "million", "万"];

/// Makes the places of tokens differ from slots and gaps.
const RUN: u64 = 0x0072_756e;
/// All links of a page share their places: a session in one address is the session of all.
const ADDRESSES: u64 = 0x6872_6566;
/// Bits that places of tokens have and slots and gaps have not.
const RUN_BITS: u32 = 1 << 27;

/// When a look took place.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LookTimes {
    /// In UNIX seconds.
    pub(crate) now_s: Option<i64>,
    /// Since the look before.
    pub(crate) since_last_look_s: Option<i64>,
}

/// Tokens of a unit that others replaced.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Run {
    /// Where the tokens stand: between their neighbours in the slot, in the gap, and in the text if it has some words.
    pub(crate) places: [Option<u32>; 3],
    /// Hashes of the tokens before and after.
    pub(crate) values: [u32; 2],
    pub(crate) kind: RunKind,
    /// The forms of the text around it.
    pub(crate) forms: [Option<u32>; 2],
    /// Whether the unit stands where it stood. A new entry of a list that drops old ones does not.
    pub(crate) is_in_place: bool,
}

/// The kind of a replaced value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunKind {
    /// Words, or anything else than the following.
    Words,
    /// An id, the value of a parameter of an address, or a time.
    Id,
    /// A number that counts or measures something, and whether it grew.
    Count { has_grown: bool },
    /// A length of time, and whether it changed as much as the clock.
    Age { fits_clock: bool },
    /// A date: whether each was the day of its look, and whether it moved as much as the clock.
    Day { is_today: bool, has_moved: bool },
}

impl Run {
    pub(crate) fn places(&self) -> impl Iterator<Item = u32> + use<> {
        self.places.into_iter().flatten()
    }

    /// Whether the two values are one in another spelling: `1.299,00 €` and `€1,299.00`.
    pub(crate) fn is_spelling(&self) -> bool {
        self.values[0] == self.values[1]
    }
}

/// The runs of the units that only one of two versions has. Both units of a pair have the same ones.
#[derive(Debug, Default)]
pub(crate) struct Differences {
    /// The runs of each pair.
    pairs: Vec<Vec<Run>>,
    /// The pair of a unit, by its name.
    pair_of: BTreeMap<u64, usize>,
    /// The names of the units of which at least half of the tokens stayed.
    edited: BTreeSet<u64>,
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
        let mut found = Self::default();
        for (before, after) in partners(before.iter().collect(), after.iter().collect()) {
            let (one, other) = (before.unit, after.unit);
            let slot = (one.key.slot() == other.key.slot()).then(|| u64::from(other.key.slot()));
            let gap = gaps.around(&other.key).map(u64::from);
            let scopes = if other.key.is_link() {
                [Some(ADDRESSES), None]
            } else {
                [slot.or(gap), gap.filter(|_| slot.is_some())]
            };
            let is_in_place = other.key.is_link() || gaps.around(&one.key) == gaps.around(&other.key);
            let names = [one.key.name(), other.key.name()];
            if let Some((runs, is_edit)) = runs_between((before, after), (scopes, is_in_place), times) {
                found.edited.extend(names.iter().filter(|_| is_edit));
                found.pair_of.extend(names.map(|name| (name, found.pairs.len())));
                found.pairs.push(runs);
            }
        }
        found
    }

    /// Whether a unit is another one's edit: at least half of its tokens stayed.
    pub(crate) fn is_edit(&self, key: &UnitKey) -> bool {
        self.edited.contains(&key.name())
    }

    /// The runs of a unit that has a partner in the other version.
    pub(crate) fn of(&self, key: &UnitKey) -> Option<&[Run]> {
        self.pair_of.get(&key.name()).map(|pair| self.pairs[*pair].as_slice())
    }

    /// The runs of all pairs.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Run> {
        self.pairs.iter().flatten()
    }
}

/// A unit and its tokens.
struct ReadUnit<'t> {
    unit: ShownUnit<'t>,
    tokens: Vec<Token<'t>>,
    /// The hash that [`skeleton`] gives of the text; for a link, of the text that it is in.
    skeleton: u64,
}

impl<'t> ReadUnit<'t> {
    fn of(unit: ShownUnit<'t>) -> Self {
        if unit.key.is_link() {
            return Self { unit, tokens: address_tokens(unit.text), skeleton: skeleton(&tokens(unit.place)) };
        }
        let tokens = tokens(unit.text);
        Self { unit, skeleton: skeleton(&tokens), tokens }
    }
}

/// The units that are shown, in page order.
fn read<'t>(texts: &'t UnitTexts, keys: &[UnitKey]) -> Vec<ReadUnit<'t>> {
    let shown = keys.iter().filter(|key| !key.is_order()).filter_map(|key| texts.find(key.name()));
    let mut units: Vec<ReadUnit<'t>> = shown.map(ReadUnit::of).collect();
    units.sort_by_key(|read| read.unit.block);
    units
}

/// Two units of which one replaced the other.
type Partners<'u, 't> = (&'u ReadUnit<'t>, &'u ReadUnit<'t>);

/// Pairs the units of two versions. Units that differ only in numbers, dates and ids come first, and links are paired by their
/// texts. The rest is paired as it is reported.
fn partners<'u, 't>(mut before: Vec<&'u ReadUnit<'t>>, mut after: Vec<&'u ReadUnit<'t>>) -> Vec<Partners<'u, 't>> {
    let mut partners = Vec::new();
    let is_link = |read: &ReadUnit<'_>| read.unit.key.is_link();
    take_alike(&mut before, &mut after, &mut partners, |read| {
        is_link(read).then(|| passage_hash(read.unit.text.as_bytes()))
    });
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

/// A hash of tokens without what numbers, dates and ids say.
fn skeleton(tokens: &[Token<'_>]) -> u64 {
    tokens.iter().fold(0, |hash, token| splitmix64(hash ^ passage_hash(token.as_neighbour().as_bytes())))
}

/// The runs in which two units differ, and whether at least half of the tokens stayed; `None` if they differ in too many.
fn runs_between(
    (before, after): Partners<'_, '_>,
    (scopes, is_in_place): ([Option<u64>; 2], bool),
    times: LookTimes,
) -> Option<(Vec<Run>, bool)> {
    let (old, new) = (&before.tokens, &after.tokens);
    let is_address = after.unit.key.is_link();
    let edits = one_value(edits(old, new)?, old, new);
    if edits.len() > MAX_RUNS {
        return None;
    }
    let changed: usize = edits.iter().map(|(went, came)| went.len().max(came.len())).sum();
    let has_same_words = before.skeleton == after.skeleton;
    let is_edit = 2 * changed <= old.len().max(new.len()) && (!is_address || has_same_words);
    let words = new.iter().filter(|token| token.meaning == Meaning::Word).count();
    let is_same_text = !is_address && words >= MIN_TEXT_WORDS && has_same_words;
    let text = is_same_text.then_some(after.skeleton);
    let reader = RunReader {
        sides: [before.unit.text, after.unit.text],
        old,
        new,
        scopes: [scopes[0], scopes[1], text],
        is_address,
        is_fact: after.unit.place == STRUCTURED_DATA,
        is_in_place,
        times,
    };
    Some((edits.iter().map(|edit| reader.run(edit)).collect(), is_edit))
}

struct RunReader<'u, 't> {
    sides: [&'t str; 2],
    old: &'u [Token<'t>],
    new: &'u [Token<'t>],
    /// The slot, the gap, and the text if both have the same words.
    scopes: [Option<u64>; 3],
    is_address: bool,
    /// Whether this is a value of data, which states what it counts.
    is_fact: bool,
    is_in_place: bool,
    times: LookTimes,
}

impl RunReader<'_, '_> {
    fn run(&self, (old, new): &(Range<usize>, Range<usize>)) -> Run {
        let left = new.start.checked_sub(1).map(|at| self.new[at].as_neighbour());
        let right = self.new.get(new.end).map(Token::as_neighbour);
        let (went, came) = (&self.old[old.clone()], &self.new[new.clone()]);
        let of = |neighbour: Option<&str>| neighbour.map_or(0, |it| passage_hash(it.as_bytes()));
        let within = |scope: u64| {
            let place = splitmix64(splitmix64(scope ^ RUN) ^ of(left).rotate_left(1) ^ of(right).rotate_left(2));
            RUN_BITS | (place >> 37) as u32
        };
        let kind = self.kind(went, came);
        Run {
            places: self.scopes.map(|scope| scope.map(within)),
            values: [value(went), value(came)],
            kind,
            forms: self.forms(kind, left, right),
            is_in_place: self.is_in_place,
        }
    }

    fn kind(&self, went: &[Token<'_>], came: &[Token<'_>]) -> RunKind {
        let is_id = |token: &Token<'_>| token.meaning == Meaning::Id;
        if self.is_address {
            let is_parameter = |side: &str, tokens: &[Token<'_>]| {
                let start = side.find('?').unwrap_or(side.len());
                tokens.iter().all(|token| token.place.start > start)
            };
            let is_value = !came.is_empty() && is_parameter(self.sides[0], went) && is_parameter(self.sides[1], came);
            return if is_value { RunKind::Id } else { RunKind::Words };
        }
        let ([before], [after]) = (went, came) else {
            let is_ids = !came.is_empty() && !went.is_empty() && came.iter().chain(went).all(is_id);
            return if is_ids { RunKind::Id } else { RunKind::Words };
        };
        let since = self.times.since_last_look_s;
        match (&before.meaning, &after.meaning) {
            (Meaning::Id, Meaning::Id) | (Meaning::Time, Meaning::Time) => RunKind::Id,
            (Meaning::Number(one), Meaning::Number(other))
                if self.is_count(0, before, *one) && self.is_count(1, after, *other) =>
            {
                RunKind::Count { has_grown: one.zip(*other).is_none_or(|(one, other)| other > one) }
            }
            (Meaning::Duration { seconds: one, unit: unit_before }, Meaning::Duration { seconds: other, unit }) => {
                let slack = *unit.max(unit_before);
                let has_moved =
                    since.is_some_and(|since| (since - slack..=since + slack).contains(&(other - one).abs()));
                // The thing that has this age came anew between the looks.
                let is_new = since.is_some_and(|since| *other <= since && *one <= since);
                RunKind::Age { fits_clock: has_moved || is_new }
            }
            (Meaning::Date(one), Meaning::Date(other)) => RunKind::Day {
                is_today: self
                    .times
                    .now_s
                    .zip(since)
                    .is_some_and(|(now, since)| one.are_days_of(other, [now - since, now])),
                // An event each week is no clock, however rare the looks.
                has_moved: since
                    .filter(|since| *since <= MAX_DATE_STEP_S)
                    .is_some_and(|since| one.moved_by(other, since / 86_400)),
            },
            _ => RunKind::Words,
        }
    }

    /// Whether a number counts or measures something: an integer that is no price, a percentage, thousands of views.
    fn is_count(&self, side: usize, number: &Token<'_>, value: Option<u64>) -> bool {
        let (before, behind) = self.sides[side].split_at(number.place.end);
        let before = &before[..number.place.start];
        let is_price = ends_with_currency(before) || begins_with_currency(behind);
        let is_share = || MEASURES.iter().any(|measure| behind.trim_start().starts_with(measure));
        !is_price && !self.is_fact && (value.is_some() || is_share())
    }

    fn forms(&self, kind: RunKind, left: Option<&str>, right: Option<&str>) -> [Option<u32>; 2] {
        let scope = self.scopes.into_iter().flatten().next().unwrap_or_default().to_string();
        let beside = |right_first: bool| match (left, right) {
            (_, Some(right)) if right_first || left.is_none() => ("<", right),
            (Some(left), _) => (">", left),
            _ => ("", &*scope),
        };
        match kind {
            RunKind::Words => [None, None],
            RunKind::Id | RunKind::Count { .. } => {
                let (side, neighbour) = beside(!self.is_address);
                [Some(steady_form(side, neighbour)), None]
            }
            RunKind::Age { .. } if left.is_none() && right.is_none() => [Some(clock_form("", &scope)), None],
            RunKind::Age { .. } => [left.map(|left| clock_form(">", left)), right.map(|right| clock_form("<", right))],
            RunKind::Day { .. } => {
                let (side, neighbour) = beside(false);
                [Some(clock_form(side, neighbour)), Some(steady_form(side, neighbour))]
            }
        }
    }
}
