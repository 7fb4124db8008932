//! Numbers as people write them: `1,299.00`, `1.299,00`, `1 299`, `1'299`, `1,29,900`, `１万2800`, `,89`, `−5`.
//!
//! Numbers of data have a grammar of their own ([`data`]). Prices have more around them than the number ([`amounts`]).

mod amounts;
mod currency;
pub mod data;
mod format;
mod signs;
#[cfg(test)]
mod tests;
mod written;

pub use self::amounts::{Amount, AmountKind, amounts};
pub use self::format::NumberFormat;

pub use self::currency::{begins_with_currency, ends_with_currency, unit_name};

use self::signs::{Separator, digit, separator};
use self::written::{Reading, Written};
use std::ops::Range;

/// A number in a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    pub value: f64,
    /// The value that it would have if its only separator meant the other thing: `1.299` is more than a thousand, or
    /// little more than one.
    pub otherwise: Option<f64>,
    /// Its place in the text, without the sign.
    pub place: Range<usize>,
    /// Whether it is two digits and no more, as cents are written.
    is_two_digits: bool,
    /// Whether it has decimals or groups.
    is_plain: bool,
}

/// The numbers of a text, in order, read without evidence of how its page writes numbers.
pub fn numbers(text: &str) -> impl Iterator<Item = Number> {
    static UNKNOWN: std::sync::LazyLock<NumberFormat> = std::sync::LazyLock::new(NumberFormat::default);
    numbers_in(text, &UNKNOWN)
}

/// The numbers of a text, in order. Dates and versions with several dots (`24.11.2026`, `1.2.3`) are no numbers.
///
/// If both kinds of separators occur, the last one is the decimal sign. One separator alone is a decimal sign unless exactly
/// three digits follow and the number does not begin with 0. Then the evidence of the page decides, and without any the
/// number is more than a thousand.
pub fn numbers_in<'t>(text: &'t str, format: &'t NumberFormat) -> impl Iterator<Item = Number> + 't {
    each_written(text).filter_map(move |Found { written, reading, place }| {
        // The dash of `-,89` stands for the whole part.
        let begins_with_digit = text[place.clone()].starts_with(|sign| digit(sign).is_some());
        let is_negative = begins_with_digit && is_minus(&text[..place.start]);
        let sign = |value: f64| if is_negative { -value } else { value };
        let (value, otherwise) = format.decide(reading?, text, &place);
        Some(Number {
            value: sign(value),
            otherwise: otherwise.map(sign),
            is_two_digits: written.is_two_digits() && place.len() == written.length,
            is_plain: written.is_plain() && place.len() == written.length,
            place,
        })
    })
}

/// A number, or a date or code that is none.
struct Found {
    written: Written,
    reading: Option<Reading>,
    place: Range<usize>,
}

/// The written numbers of a text.
fn each_written(text: &str) -> impl Iterator<Item = Found> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text.get(at..)?.find(|sign| digit(sign).is_some())?;
        let written = Written::read(&text[start..]);
        if let Some((from, value)) = without_whole_part(&text[at..start], &written) {
            let place = at + from..start + written.length;
            at = place.end;
            return Some(Found { written, reading: Some(Reading::Sure(value)), place });
        }
        let (reading, length) = match written.reading() {
            Some(reading) => written.with_what_follows(&text[start..], reading),
            None => (None, written.length),
        };
        at = start + length;
        Some(Found { written, reading, place: start..at })
    })
}

/// `,89` and `.75`: the place of the decimal sign at the end of the text before the digits, and the value.
fn without_whole_part(before: &str, written: &Written) -> Option<(usize, f64)> {
    let sign = before.chars().next_back()?;
    let from = before.len() - sign.len_utf8();
    let follows = before[..from].chars().next_back();
    let begins = follows.is_none_or(|sign| sign.is_whitespace() || BEFORE_DECIMALS.contains(sign));
    let is_decimal = match separator(sign)? {
        Separator::Dot | Separator::Decimal => written.has_few_digits(),
        Separator::Comma => written.is_two_digits(),
        Separator::Group => false,
    };
    if begins && is_decimal { Some((from, written.as_decimals()?)) } else { None }
}

/// The signs that may stand before a decimal sign that begins a number.
const BEFORE_DECIMALS: &str = "(-−–—+~:€$£¥₹￥＄";

/// Whether a text ends in a minus that is no hyphen and no dash between numbers.
fn is_minus(before: &str) -> bool {
    let mut signs = before.chars().rev();
    matches!(signs.next(), Some('-' | '−')) && signs.next().is_none_or(|sign| sign.is_whitespace() || sign == '(')
}
