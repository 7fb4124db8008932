//! Runs: the tokens of a unit that others replaced, where they stand, and their kind.

use super::forms::{clock_form, steady_form};
use super::moves::{TokenEdit, moved_places, place_of};
use super::token_edits::{edits, one_value, value};
use super::tokens::{Meaning, Token, address_tokens, tokens};
use crate::unit_texts::{STRUCTURED_DATA, ShownUnit};
use crate::version::UnitKey;
use chance::splitmix64;
use document::numbers::{begins_with_currency, ends_with_currency};
use document::passage_hash;
use std::ops::Range;

/// Texts that differ in more places than this are different texts.
const MAX_RUNS: usize = 12;
/// A date is expected to move with the clock if there are at most this many seconds between two looks.
const MAX_DATE_STEP_S: i64 = 4 * 86_400;
/// A text with at least this many words is recognised wherever it stands on the page.
const MIN_TEXT_WORDS: usize = 3;
/// All links of a page share their places: a session in one address is the session of all.
const ADDRESSES: u64 = 0x6872_6566;
/// Signs behind a number with decimals that only measures or rounds.
const MEASURES: [&str; 8] = ["%", "k", "K", "M", "Mio", "Tsd", "million", "万"];

/// The name of the description among the structured data.
const DESCRIPTION: &str = "description";

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
    /// Whether one of the values is a price or structured data.
    pub(crate) is_amount: bool,
    /// Whether one token replaced one other.
    pub(crate) is_single: bool,
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
    /// A number that may name a thing, in a title or the path of an address, and whether it grew.
    NamingNumber { has_grown: bool },
    /// A length of time, and whether it changed as much as the clock.
    Age { fits_clock: bool },
    /// A date: whether each was the day of its look, and whether it moved as much as the clock.
    Day { is_today: bool, has_moved: bool },
}

impl Run {
    /// A list in another order.
    pub(crate) fn of_order(key: &UnitKey) -> Self {
        Self {
            places: [None; 3],
            values: [0, 1],
            kind: RunKind::Id,
            forms: [Some(steady_form("order", &key.slot().to_string())), None],
            is_in_place: true,
            is_amount: false,
            is_single: true,
        }
    }

    pub(crate) fn places(&self) -> impl Iterator<Item = u32> + use<> {
        self.places.into_iter().flatten()
    }

    /// Whether the two values are one in another spelling: `1.299,00 €` and `€1,299.00`.
    pub(crate) fn is_spelling(&self) -> bool {
        self.values[0] == self.values[1]
    }
}

/// A unit and its tokens.
pub(super) struct ReadUnit<'t> {
    pub(super) unit: ShownUnit<'t>,
    pub(super) tokens: Vec<Token<'t>>,
    /// The hash that [`skeleton`] gives of the text; for a link, of the text that it is in.
    pub(super) skeleton: u64,
}

impl<'t> ReadUnit<'t> {
    pub(super) fn of(unit: ShownUnit<'t>) -> Self {
        if unit.key.is_link() {
            return Self { unit, tokens: address_tokens(unit.text), skeleton: skeleton(&tokens(unit.place)) };
        }
        let tokens = tokens(unit.text);
        Self { unit, skeleton: skeleton(&tokens), tokens }
    }

    /// A hash of an address without the keys of sessions; `None` if it has none.
    pub(super) fn without_keys(&self) -> Option<u64> {
        let hash = |token: &Token<'_>| if token.is_key() { 0 } else { passage_hash(token.text.as_bytes()) };
        let has_key = self.tokens.iter().any(Token::is_key);
        has_key.then(|| self.tokens.iter().fold(0, |all, token| splitmix64(all ^ hash(token))))
    }

    /// The prices that a text states.
    pub(super) fn prices(&self) -> impl Iterator<Item = &str> {
        let is_text = !self.unit.key.is_link();
        let tokens = self.tokens.iter().filter(move |token| is_text && is_price(self.unit.text, token));
        tokens.map(|token| token.text)
    }
}

/// Two units of which one replaced the other.
pub(super) type Partners<'u, 't> = (&'u ReadUnit<'t>, &'u ReadUnit<'t>);

/// A hash of tokens without what numbers, dates and ids say.
fn skeleton(tokens: &[Token<'_>]) -> u64 {
    tokens.iter().fold(0, |hash, token| splitmix64(hash ^ passage_hash(token.as_neighbour().as_bytes())))
}

/// How one unit differs from the one that it replaced.
pub(super) struct UnitDifference {
    pub(super) runs: Vec<Run>,
    /// Whether at least half of the tokens stayed.
    pub(super) is_edit: bool,
    /// The places of tokens that have another name now: the old one and the new one.
    pub(super) moves: Vec<[u32; 2]>,
}

/// Compares two units; `None` if they differ in too many runs. `slots` and `gaps` are those of both units.
pub(super) fn difference_between(
    (before, after): Partners<'_, '_>,
    [slots, gaps]: [[Option<u64>; 2]; 2],
    times: LookTimes,
) -> Option<UnitDifference> {
    let (old, new) = (&before.tokens, &after.tokens);
    let (is_same_slot, is_same_gap) = (slots[0] == slots[1], gaps[0] == gaps[1]);
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
    let slot = slots[1].filter(|_| is_same_slot);
    let scopes = match is_address {
        true => [Some(ADDRESSES), None, text],
        false => [slot.or(gaps[1]), gaps[1].filter(|_| slot.is_some()), text],
    };
    let reader = RunReader {
        sides: [before.unit.text, after.unit.text],
        old,
        new,
        scopes,
        is_address,
        is_fact: is_data(after.unit),
        is_title: is_title(after.unit),
        is_in_place: is_address || is_same_gap,
        times,
    };
    let moves = match is_edit && !is_address && !has_same_words {
        true => moved_places((before, after), &edits, [slots, gaps]),
        false => Vec::new(),
    };
    Some(UnitDifference { runs: edits.iter().map(|edit| reader.run(edit)).collect(), is_edit, moves })
}

/// Whether a unit is a named value for machines, and not the title or the description.
pub(super) fn is_data(unit: ShownUnit<'_>) -> bool {
    unit.place == STRUCTURED_DATA && unit.text.split_once(": ").is_some_and(|(name, _)| name != DESCRIPTION)
}

/// Whether a unit is the title, which has no name, or looks like it.
fn is_title(unit: ShownUnit<'_>) -> bool {
    unit.place == STRUCTURED_DATA && unit.text.split_once(": ").is_none_or(|(name, _)| name != DESCRIPTION)
}

/// Whether a token is a number with a currency before or behind it.
fn is_price(text: &str, token: &Token<'_>) -> bool {
    let Range { start, end } = token.place;
    matches!(token.meaning, Meaning::Number(_))
        && (ends_with_currency(&text[..start]) || begins_with_currency(&text[end..]))
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
    is_title: bool,
    is_in_place: bool,
    times: LookTimes,
}

impl RunReader<'_, '_> {
    fn run(&self, (old, new): &TokenEdit) -> Run {
        let left = new.start.checked_sub(1).map(|at| self.new[at].as_neighbour());
        let right = self.new.get(new.end).map(Token::as_neighbour);
        let (went, came) = (&self.old[old.clone()], &self.new[new.clone()]);
        let kind = self.kind(went, came);
        Run {
            places: self.scopes.map(|scope| scope.map(|scope| place_of(self.new, new, scope))),
            values: [value(went), value(came)],
            kind,
            forms: self.forms(kind, left, right),
            is_in_place: self.is_in_place,
            is_amount: self.is_fact || self.has_price(0, went) || self.has_price(1, came),
            is_single: went.len() == 1 && came.len() == 1,
        }
    }

    fn has_price(&self, side: usize, tokens: &[Token<'_>]) -> bool {
        !self.is_address && tokens.iter().any(|token| is_price(self.sides[side], token))
    }

    fn kind(&self, went: &[Token<'_>], came: &[Token<'_>]) -> RunKind {
        let is_id = |token: &Token<'_>| token.meaning == Meaning::Id;
        if self.is_address {
            let is_parameter = |side: &str, tokens: &[Token<'_>]| {
                let start = side.find('?').unwrap_or(side.len());
                tokens.iter().all(|token| token.place.start > start)
            };
            if let ([before], [after]) = (went, came)
                && !is_parameter(self.sides[1], came)
            {
                let numbers = before.text.parse::<u64>().ok().zip(after.text.parse::<u64>().ok());
                return match numbers {
                    Some((one, other)) => RunKind::NamingNumber { has_grown: other > one },
                    None if before.is_key() && after.is_key() => RunKind::Id,
                    None => RunKind::Words,
                };
            }
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
                let has_grown = one.zip(*other).is_none_or(|(one, other)| other > one);
                if self.is_title { RunKind::NamingNumber { has_grown } } else { RunKind::Count { has_grown } }
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
        // A number within a title or a description is one of prose.
        let is_fact =
            self.is_fact && behind.trim_start().is_empty() && before[..number.place.start].trim_end().ends_with(':');
        let is_share = || MEASURES.iter().any(|measure| behind.trim_start().starts_with(measure));
        !is_price(self.sides[side], number) && !is_fact && (value.is_some() || is_share())
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
            RunKind::Id | RunKind::Count { .. } | RunKind::NamingNumber { .. } => {
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
