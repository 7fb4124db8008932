//! Prices and ranges: numbers with what stands around them.

use super::currency::{self, is_blank};
use super::{Number, NumberFormat, numbers_in};
use std::ops::Range;

/// The thing that the numbers of a text are read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AmountKind {
    /// A price may have cents behind its currency, or be given in cents.
    Price,
    Any,
}

/// A number or a range of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Amount {
    pub low: f64,
    /// Equal to `low` unless the text gives a range.
    pub high: f64,
    /// Whether a currency stands beside it.
    pub has_currency: bool,
    /// The sign or code of that currency, in lower case, as [`unit_name`](super::unit_name) takes it. `%` for a share.
    pub unit: Option<&'static str>,
    /// Its place in the text.
    pub place: Range<usize>,
    /// The value of a single number if its only separator meant the other thing.
    pub otherwise: Option<f64>,
}

impl Amount {
    /// A number of data.
    pub fn of_value(value: f64) -> Self {
        Self { low: value, high: value, has_currency: false, unit: None, place: 0..0, otherwise: None }
    }

    /// Whether the text gives a range.
    pub fn is_range(&self) -> bool {
        self.low < self.high
    }
}

/// A number with its currency, before both are joined with a second one to a range.
struct Priced {
    amount: Amount,
    /// Whether a currency or another mark of a price stands right beside it.
    is_marked: bool,
    /// Without decimals and groups.
    is_plain: bool,
}

/// Words between the two ends of a range, one of which has a currency.
const RANGE_WORDS: &[&str] =
    &["to", "bis", "à", "a", "al", "until", "till", "til", "hasta", "tot", "do", "up to", "and", "und", "et", "から"];
/// Words of the list above that are between two ends only if one of [`BETWEEN`] stands before.
const PAIR_WORDS: &[&str] = &["and", "und", "et", "a"];
const BETWEEN: &[&str] = &["between", "zwischen", "entre"];
/// Words before the first end of a range.
const FROM_WORDS: &[&str] = &[
    "from", "between", "zwischen", "entre", "ab", "von", "de", "da", "desde", "från", "fra", "van", "od", "от", "price",
];
const DASHES: &str = "-–—‐‑‒−~〜～";
/// No range is wider; a dash before such a number separates a name from a price.
const MAX_RATIO: f64 = 20.0;

/// The numbers and ranges of a text, in order.
pub fn amounts(text: &str, format: &NumberFormat, kind: AmountKind) -> Vec<Amount> {
    let all: Vec<Number> = numbers_in(text, format).collect();
    let mut priced = Vec::with_capacity(all.len());
    let mut index = 0;
    while index < all.len() {
        let (one, taken) = priced_at(text, &all, index, kind);
        priced.push(one);
        index += taken;
    }
    join_ranges(text, priced)
}

/// The number at an index with its currency, and how many numbers it takes.
fn priced_at(text: &str, all: &[Number], index: usize, kind: AmountKind) -> (Priced, usize) {
    let number = &all[index];
    let before = currency::before(&text[..number.place.start]);
    let behind = currency::behind(&text[number.place.end..]);
    let end = behind.map_or(number.place.end, |(_, place)| number.place.end + place);
    let start = before.map_or(number.place.start, |(_, start)| start);
    let amount = |value: f64, end: usize| Amount {
        low: value,
        high: value,
        has_currency: before.is_some() || behind.is_some(),
        unit: before.or(behind).map(|(currency, _)| currency.sign()).or_else(|| percent(&text[number.place.end..])),
        place: start..end,
        otherwise: number.otherwise,
    };
    let priced = |amount, is_marked_behind| Priced {
        amount,
        is_marked: before.is_some() || is_marked_behind,
        is_plain: number.is_plain,
    };
    let single = (priced(amount(number.value, end), behind.is_some()), 1);
    if kind == AmountKind::Any {
        return single;
    }
    let mark = match currency::follows_cent_sign(&text[..number.place.start]) {
        true => Some(0),
        false => currency::hundredths(&text[number.place.end..], number.value),
    };
    if let Some(mark) = mark.filter(|_| before.is_none()) {
        let hundredths = amount((1e4 * number.value).round() / 1e6, number.place.end + mark);
        let unit = currency::of_hundredths(&text[number.place.end..]);
        return (priced(Amount { has_currency: true, unit, otherwise: None, ..hundredths }, true), 1);
    }
    let sign = currency::any_behind(&text[number.place.end..]);
    let sign_end = sign.map(|(_, place)| number.place.end + place);
    let Some(cents) = all.get(index + 1).filter(|cents| are_cents(text, number, cents, sign_end)) else {
        return single;
    };
    let value = (100.0 * number.value + cents.value.copysign(number.value)) / 100.0;
    let end = currency::behind(&text[cents.place.end..]).map_or(cents.place.end, |(_, place)| cents.place.end + place);
    let whole = amount(value, end);
    let unit = whole.unit.or(sign.map(|(currency, _)| currency.sign()));
    (priced(Amount { otherwise: None, has_currency: true, unit, ..whole }, true), 2)
}

/// The unit of a number before a text that begins with a percent sign.
fn percent(behind: &str) -> Option<&'static str> {
    behind.trim_start_matches(is_blank).starts_with(['%', '％', '٪']).then_some("%")
}

/// Whether two digits are the cents of the number before: `12€99`, or `35 00` as a whole text. `end` is the end of the
/// currency between both.
fn are_cents(text: &str, number: &Number, cents: &Number, end: Option<usize>) -> bool {
    if !cents.is_two_digits || number.value.fract() != 0.0 {
        return false;
    }
    let behind = &text[cents.place.end..];
    if let Some(end) = end {
        let between = text.get(number.place.end..cents.place.start).unwrap_or_default();
        let is_sign = end == cents.place.start || text.get(end..cents.place.start) == Some(" ");
        let is_whole = text[..number.place.start].trim().is_empty() && behind.trim().is_empty();
        let is_joined = !between.contains(is_blank) || is_whole;
        let is_last = currency::behind(behind).is_none() && !behind.starts_with(char::is_alphanumeric);
        return is_sign && is_joined && is_last;
    }
    let is_apart = text[number.place.end..cents.place.start].chars().eq([' ']);
    let start = currency::before(&text[..number.place.start]).map_or(number.place.start, |(_, start)| start);
    let rest = currency::behind(behind).map_or(behind, |(_, place)| &behind[place..]);
    is_apart && text[..start].trim().is_empty() && rest.trim().is_empty()
}

/// Joins each two numbers that are the ends of a range.
fn join_ranges(text: &str, priced: Vec<Priced>) -> Vec<Amount> {
    let mut joined: Vec<Amount> = Vec::with_capacity(priced.len());
    let mut index = 0;
    while index < priced.len() {
        let one = &priced[index];
        let is_chain = index > 0 && is_dash(gap(text, &priced[index - 1], one));
        match priced.get(index + 1).filter(|other| !is_chain && are_ends(text, one, other, priced.get(index + 2))) {
            Some(other) => {
                joined.push(Amount {
                    low: one.amount.low,
                    high: other.amount.low.abs(),
                    has_currency: one.amount.has_currency || other.amount.has_currency,
                    unit: one.amount.unit.or(other.amount.unit),
                    place: one.amount.place.start..other.amount.place.end,
                    otherwise: one.amount.otherwise.or(other.amount.otherwise),
                });
                index += 2;
            }
            None => {
                joined.push(one.amount.clone());
                index += 1;
            }
        }
    }
    joined
}

fn gap<'t>(text: &'t str, one: &Priced, other: &Priced) -> &'t str {
    text.get(one.amount.place.end..other.amount.place.start).unwrap_or_default()
}

fn are_ends(text: &str, low: &Priced, high: &Priced, next: Option<&Priced>) -> bool {
    let (from, to) = (low.amount.low, high.amount.low.abs());
    let is_wider = from > 0.0 && from < to && (low.is_marked && high.is_marked || to <= MAX_RATIO * from);
    // Three numbers with dashes are a date or a telephone number.
    if !is_wider || next.is_some_and(|next| is_dash(gap(text, high, next))) {
        return false;
    }
    let between = gap(text, low, high);
    let has_currency = low.amount.has_currency || high.amount.has_currency;
    let before = lower_end(text[..low.amount.place.start].trim_end_matches(is_blank));
    if is_dash(between) {
        return low.is_marked || begins_range(&before) && low.is_plain == high.is_plain;
    }
    let word = between.trim_matches(is_blank).to_lowercase();
    let is_pair = BETWEEN.iter().any(|word| before.ends_with(word));
    has_currency && RANGE_WORDS.contains(&&*word) && (is_pair || !PAIR_WORDS.contains(&&*word))
}

/// Whether the text between two numbers is one dash.
fn is_dash(between: &str) -> bool {
    let between = between.trim_matches(is_blank);
    let mut signs = between.chars();
    matches!((signs.next(), signs.next()), (Some(sign), None) if DASHES.contains(sign))
}

/// Whether a range may begin behind this text: a name may end in a number, and the dash behind it separates it from the
/// price.
fn begins_range(before: &str) -> bool {
    let is_name = before.ends_with(|sign: char| sign.is_alphabetic() && u32::from(sign) < 0xe00);
    !is_name || FROM_WORDS.iter().any(|word| before.ends_with(word))
}

/// The end of a text in lower case: as much as the longest of the words above.
fn lower_end(text: &str) -> String {
    text[text.ceil_char_boundary(text.len().saturating_sub(16))..].to_lowercase()
}
