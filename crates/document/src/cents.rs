//! Cents that a page sets apart from their price by markup alone: `$1,299<sup>99</sup>`, `<span>35</span><span>00</span>`.
//!
//! A reader sees that they are smaller or stand higher. Their text has to say it by a sign.

use crate::numbers::{begins_with_currency, ends_with_currency};
use crate::token::StartTag;

/// The most bytes of a page before and behind a tag that are searched.
const MAX_LOOK: usize = 160;
/// The most bytes of the text before a tag that are read.
pub(crate) const MAX_PRICE_BYTES: usize = 40;
/// The most bytes of a mark behind cents, such as `€` or `*`.
const MAX_MARK_BYTES: usize = 8;

/// The sign that parts the content of an element from the digits before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parting {
    /// A decimal sign: the content is cents. `None` if the page does not show which.
    Cents(Option<char>),
    /// A blank: the content is a footnote or an exponent.
    Blank,
    /// The third decimal of a price of fuel stands higher than the others.
    Raised,
}

/// Whether an element may hold cents. The test is made at every inline tag, and few pass it.
#[inline(always)]
pub(crate) fn may_hold_cents(html: &str, tag: StartTag<'_>) -> bool {
    let behind = html.as_bytes().get(tag.attributes_place().end + 1);
    behind.is_some_and(u8::is_ascii_digit)
        && matches!(
            tag.name.as_bytes(),
            b"sup" | b"sub" | b"small" | b"span" | b"font" | b"b" | b"i" | b"em" | b"strong" | b"bdi"
        )
}

/// How the content of an element that has just begun is parted from the text before it, which ends in `text`. `None` if
/// it belongs to the same word. `is_whole` says that the block begins with `text`, `has_gap` that white space is between.
pub(crate) fn parting(html: &str, tag: StartTag<'_>, text: &str, is_whole: bool, has_gap: bool) -> Option<Parting> {
    let start = tag.attributes_place().end + 1;
    let content = &html[start..html.floor_char_boundary(start + MAX_LOOK)];
    let count = content.bytes().take_while(u8::is_ascii_digit).count();
    let (cents, behind) = content.split_at(count);
    let mark = &behind[..behind.find("</")?];
    let price = WholePrice::at_end_of(text)?;
    let Around { is_raised, digits } = Around::of(html, tag);
    let is_apart = digits == Some(price.last_digits());
    if count == 1 && is_raised && price.is_of_fuel() && cents == "9" {
        return Some(Parting::Raised);
    }
    let has_currency = price.has_currency || begins_with_currency(&without_tags(behind));
    let is_alone = is_whole && price.is_at_start && !price.is_year();
    let is_price = if is_raised {
        has_currency || (is_alone && !has_gap)
    } else {
        is_cents_by_place(is_apart, has_gap, has_currency, is_alone)
    };
    if count == 2 && price.is_without_decimals() && is_mark(mark) && !goes_on(behind) && is_price {
        return Some(Parting::Cents(price.decimal_sign()));
    }
    (is_raised && !has_gap).then_some(Parting::Blank)
}

/// Whether two digits on the line are cents, by what is around them.
fn is_cents_by_place(is_apart: bool, has_gap: bool, has_currency: bool, is_alone: bool) -> bool {
    !has_gap && (has_currency || is_alone) && (is_apart || has_currency)
}

/// The tags around the start of an element.
struct Around {
    /// Whether the element or the one around it raises its content or makes it small.
    is_raised: bool,
    /// The number of digits at the end of the element before, if one has just ended.
    digits: Option<usize>,
}

impl Around {
    fn of(html: &str, tag: StartTag<'_>) -> Self {
        let raises = |name: &str| name.eq_ignore_ascii_case("sup") || name.eq_ignore_ascii_case("small");
        let before = &html[..tag.attributes_place().start - tag.written_name().len() - 1];
        let near = before[before.ceil_char_boundary(before.len().saturating_sub(MAX_LOOK))..].trim_end();
        let split = near.strip_suffix('>').and_then(|near| near.rsplit_once('<'));
        let (text, outer) = split.unwrap_or_default();
        let name = outer.split(|sign: char| sign.is_ascii_whitespace()).next().unwrap_or_default();
        let digits = || text.bytes().rev().take_while(u8::is_ascii_digit).count();
        Self { is_raised: raises(tag.written_name()) || raises(name), digits: outer.starts_with('/').then(digits) }
    }
}

/// Whether the text between the digits and the end of their element is a currency, a star, or nothing.
fn is_mark(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || (text.len() <= MAX_MARK_BYTES && (begins_with_currency(text) || text == "*"))
}

/// Whether another element with digits follows: then these are the digits of a clock or counter.
fn goes_on(behind: &str) -> bool {
    behind.find('<').is_some_and(|tag| without_tags(&behind[tag..]).starts_with(|sign: char| sign.is_ascii_digit()))
}

/// The text behind the tags at the start of a piece of a page.
fn without_tags(html: &str) -> String {
    let mut rest = html.trim_ascii_start();
    while rest.starts_with('<') {
        let Some(end) = rest.find('>') else { return String::new() };
        rest = rest[end + 1..].trim_ascii_start();
    }
    crate::entities::decode(&rest[..rest.find('<').unwrap_or(rest.len())]).into_owned()
}

/// The whole part of a price at the end of a text.
struct WholePrice<'t> {
    /// Its digits, with what separates them.
    written: &'t str,
    is_at_start: bool,
    has_currency: bool,
}

impl<'t> WholePrice<'t> {
    fn at_end_of(text: &'t str) -> Option<Self> {
        let is_part = |sign: char| sign.is_ascii_digit() || matches!(sign, '.' | ',' | '\'' | '’' | ' ');
        let written = &text[text.trim_end_matches(is_part).len()..];
        let written = written.trim_start_matches(|sign: char| !sign.is_ascii_digit());
        let before = &text[..text.len() - written.len()];
        let is_price = written.ends_with(|sign: char| sign.is_ascii_digit());
        is_price.then(|| Self {
            written,
            is_at_start: before.trim().is_empty() || ends_with_currency(before),
            has_currency: ends_with_currency(before),
        })
    }

    /// The digits behind the last separator, if there is one.
    fn last_group(&self) -> Option<usize> {
        let (_, last) = self.written.rsplit_once(['.', ',', '\'', '’', ' '])?;
        Some(last.len())
    }

    /// The number of digits that stand together at its end.
    fn last_digits(&self) -> usize {
        self.last_group().unwrap_or(self.written.len())
    }

    fn is_without_decimals(&self) -> bool {
        self.last_group().is_none_or(|digits| digits == 3)
    }

    /// `1.79`, of which a raised 9 is the third decimal.
    fn is_of_fuel(&self) -> bool {
        self.written.len() == 4 && self.last_group() == Some(2)
    }

    /// A year has footnotes and no cents.
    fn is_year(&self) -> bool {
        self.written.len() == 4 && (self.written.starts_with("19") || self.written.starts_with("20"))
    }

    /// The decimal sign that goes with the groups of the price.
    fn decimal_sign(&self) -> Option<char> {
        let groups = self.written.find(['.', ',']).map(|at| self.written.as_bytes()[at]);
        groups.map(|sign| if sign == b'.' { ',' } else { '.' })
    }
}
