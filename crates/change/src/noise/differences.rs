//! The shape of a difference between two looks: which tokens of which text changed, between which others. Noise is what differs,
//! not where: a view counter beside a price does not hide the price.

use super::forms::{clock_form, steady_form};
use super::tokens::{Meaning, Token, address_tokens, tokens};
use crate::gaps::Gaps;
use crate::pairing::paired;
use crate::unit_texts::{STRUCTURED_DATA, ShownUnit, UnitTexts};
use crate::version::UnitKey;
use chance::splitmix64;
use document::numbers::{begins_with_currency, ends_with_currency};
use document::passage_hash;
use similar::{Algorithm, DiffTag, capture_diff_slices};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

/// Above this number of units in which two versions differ, they are not compared by their tokens.
const MAX_UNITS: usize = 1_024;
/// The most tokens of two texts, between their common start and end, that are compared.
const MAX_TOKENS: usize = 1_000;
/// The most places in which two texts differ. Texts that differ in more are different texts.
const MAX_RUNS: usize = 12;
/// The longest time between looks of which a date is expected to move as much, in seconds.
const MAX_DATE_STEP_S: i64 = 4 * 86_400;
/// The fewest words of a text that is known wherever it stands on the page.
const MIN_TEXT_WORDS: usize = 3;
/// The most tokens of a value whose order does not count.
const MAX_VALUE_TOKENS: usize = 4;

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
    /// Where: in which slot, in which gap, and, of a text with some words, in which text; and between which tokens.
    pub(crate) places: [Option<u32>; 3],
    /// Hashes of the tokens before and after.
    pub(crate) values: [u32; 2],
    pub(crate) kind: RunKind,
    /// The forms of the text around it.
    pub(crate) forms: [Option<u32>; 2],
    /// Whether the unit stands where it stood: new entries of a list that drops old ones do not.
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
        let shown = |texts: &'_ UnitTexts, keys: &[UnitKey]| -> Vec<UnitKey> {
            keys.iter().filter(|key| !key.is_order() && texts.find(key.name()).is_some()).copied().collect()
        };
        let (removed, added) = (shown(old, removed), shown(new, added));
        let mut before: Vec<ShownUnit<'_>> = removed.iter().filter_map(|key| old.find(key.name())).collect();
        let mut after: Vec<ShownUnit<'_>> = added.iter().filter_map(|key| new.find(key.name())).collect();
        before.sort_by_key(|unit| unit.block);
        after.sort_by_key(|unit| unit.block);
        let mut found = Self::default();
        for (one, other) in partners(before, after) {
            let slot = (one.key.slot() == other.key.slot()).then(|| u64::from(other.key.slot()));
            let gap = gaps.around(&other.key).map(u64::from);
            let scopes = if other.key.is_link() {
                [Some(ADDRESSES), None]
            } else {
                [slot.or(gap), gap.filter(|_| slot.is_some())]
            };
            let is_in_place = other.key.is_link() || gaps.around(&one.key) == gaps.around(&other.key);
            let names = [one.key.name(), other.key.name()];
            if let Some((runs, is_edit)) = runs_between((&one, &other), (scopes, is_in_place), times) {
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

/// Pairs the units of two versions: those that differ in nothing but numbers, dates and ids first, links by their texts. The others as
/// they are reported.
fn partners<'t>(mut before: Vec<ShownUnit<'t>>, mut after: Vec<ShownUnit<'t>>) -> Vec<(ShownUnit<'t>, ShownUnit<'t>)> {
    let mut partners = Vec::new();
    let of_address = |unit: &ShownUnit<'_>| unit.key.is_link().then(|| passage_hash(unit.text.as_bytes()));
    let of_anchor = |unit: &ShownUnit<'_>| unit.key.is_link().then(|| skeleton(unit.place));
    let of_text = |unit: &ShownUnit<'_>| (!unit.key.is_link()).then(|| skeleton(unit.text));
    take_alike(&mut before, &mut after, &mut partners, of_address);
    take_alike(&mut before, &mut after, &mut partners, of_anchor);
    take_alike(&mut before, &mut after, &mut partners, of_text);
    partners.extend(paired(&before, &after).into_iter().filter_map(|(one, other)| one.zip(other)));
    partners
}

/// Takes the units that are alike in both lists, in their order.
fn take_alike<'t>(
    before: &mut Vec<ShownUnit<'t>>,
    after: &mut Vec<ShownUnit<'t>>,
    partners: &mut Vec<(ShownUnit<'t>, ShownUnit<'t>)>,
    likeness: impl Fn(&ShownUnit<'t>) -> Option<u64>,
) {
    let mut waiting: BTreeMap<u64, VecDeque<ShownUnit<'t>>> = BTreeMap::new();
    before.iter().filter_map(|unit| Some((likeness(unit)?, *unit))).for_each(|(alike, unit)| {
        waiting.entry(alike).or_default().push_back(unit);
    });
    let mut taken = BTreeSet::new();
    after.retain(|unit| {
        let partner = likeness(unit).and_then(|alike| waiting.get_mut(&alike)?.pop_front());
        if let Some(partner) = partner {
            taken.insert(partner.key.name());
            partners.push((partner, *unit));
        }
        partner.is_none()
    });
    before.retain(|unit| !taken.contains(&unit.key.name()));
}

/// A hash of a text without what its numbers, dates and ids say.
fn skeleton(text: &str) -> u64 {
    skeleton_of(&tokens(text))
}

fn skeleton_of(tokens: &[Token<'_>]) -> u64 {
    tokens.iter().fold(0, |hash, token| splitmix64(hash ^ passage_hash(token.as_neighbour().as_bytes())))
}

/// The runs in which two units differ, and whether at least half of the tokens stayed; `None` if they differ in too many.
fn runs_between(
    (one, other): (&ShownUnit<'_>, &ShownUnit<'_>),
    (scopes, is_in_place): ([Option<u64>; 2], bool),
    times: LookTimes,
) -> Option<(Vec<Run>, bool)> {
    let is_address = other.key.is_link();
    let read = |text| if is_address { address_tokens(text) } else { tokens(text) };
    let sides = [one.text, other.text];
    let (old, new) = (read(one.text), read(other.text));
    let edits = one_value(edits(&old, &new)?, &old, &new);
    let changed: usize = edits.iter().map(|(went, came)| went.len().max(came.len())).sum();
    let is_same_anchor = || one.place == other.place || skeleton(one.place) == skeleton(other.place);
    let is_edit = 2 * changed <= old.len().max(new.len()) && (!is_address || is_same_anchor());
    let words = new.iter().filter(|token| token.meaning == Meaning::Word).count();
    let is_same_text = !is_address && words >= MIN_TEXT_WORDS && skeleton_of(&old) == skeleton_of(&new);
    let text = is_same_text.then(|| skeleton_of(&new));
    let is_fact = other.place == STRUCTURED_DATA;
    let reader = RunReader {
        sides,
        old: &old,
        new: &new,
        scopes: [scopes[0], scopes[1], text],
        is_address,
        is_fact,
        is_in_place,
        times,
    };
    (edits.len() <= MAX_RUNS).then(|| (edits.iter().map(|edit| reader.run(edit)).collect(), is_edit))
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

/// A hash of tokens. Of a number and its currency, neither the order counts nor the signs in the number.
fn value(tokens: &[Token<'_>]) -> u32 {
    let numbers = tokens.iter().filter(|token| matches!(token.meaning, Meaning::Number(_))).count();
    let is_amount = numbers == 1
        && tokens.len() <= MAX_VALUE_TOKENS
        && tokens.iter().all(|token| matches!(token.meaning, Meaning::Number(_)) || begins_with_currency(token.text));
    let mut hashes: Vec<u64> = tokens
        .iter()
        .map(|token| match token.meaning {
            Meaning::Number(_) if is_amount => passage_hash(plain_number(token.text).as_bytes()),
            _ => passage_hash(token.text.as_bytes()),
        })
        .collect();
    if is_amount {
        hashes.sort_unstable();
    }
    (hashes.into_iter().fold(0, |hash, token| splitmix64(hash ^ token)) >> 32) as u32
}

/// A number with a dot before its last group, and no other sign.
fn plain_number(number: &str) -> String {
    let is_digit = |sign: char| sign.is_ascii_digit();
    match number.rfind(|sign| !is_digit(sign)) {
        None => number.to_owned(),
        Some(last) => {
            let (whole, rest) = number.split_at(last);
            let digits = |part: &str| part.chars().filter(|sign| is_digit(*sign)).collect::<String>();
            format!("{}.{}", digits(whole), digits(rest))
        }
    }
}

/// Edits, or a single one if they only spell a value in another way: `1.299,00 €` and `€1,299.00`.
fn one_value(
    edits: Vec<(Range<usize>, Range<usize>)>,
    old: &[Token<'_>],
    new: &[Token<'_>],
) -> Vec<(Range<usize>, Range<usize>)> {
    let (Some(first), Some(last)) = (edits.first(), edits.last()) else { return edits };
    let whole = (first.0.start..last.0.end, first.1.start..last.1.end);
    let is_short = whole.0.len().max(whole.1.len()) <= MAX_VALUE_TOKENS;
    if is_short && value(&old[whole.0.clone()]) == value(&new[whole.1.clone()]) { vec![whole] } else { edits }
}

/// The ranges of tokens that were replaced; `None` if the texts have too many tokens, or none in common.
fn edits(old: &[Token<'_>], new: &[Token<'_>]) -> Option<Vec<(Range<usize>, Range<usize>)>> {
    let start = old.iter().zip(new).take_while(|(one, other)| one.text == other.text).count();
    let rests = old[start..].iter().rev().zip(new[start..].iter().rev());
    let end = rests.take_while(|(one, other)| one.text == other.text).count();
    let texts = |tokens: &[Token<'_>]| tokens[start..tokens.len() - end].iter().map(|it| it.text.to_owned()).collect();
    let (old, new): (Vec<String>, Vec<String>) = (texts(old), texts(new));
    if old.len() + new.len() > MAX_TOKENS {
        return None;
    }
    let within = |range: Range<usize>| range.start + start..range.end + start;
    let steps = capture_diff_slices(Algorithm::Patience, &old, &new).into_iter();
    let edits = steps.filter(|step| step.tag() != DiffTag::Equal);
    Some(edits.map(|step| (within(step.old_range()), within(step.new_range()))).collect())
}
