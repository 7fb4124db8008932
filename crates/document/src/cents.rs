//! Cents that a page sets apart from their price by markup alone: `$1,299<sup>99</sup>`, `<span>35</span><span>00</span>`.
//!
//! A reader sees that they are smaller or stand higher. Their text has to say it by a sign.

use crate::tag_name::TagName;
use crate::token::StartTag;

/// The most bytes of a page behind a tag that are searched for cents.
const MAX_LOOK_AHEAD: usize = 160;
/// The most bytes of the text before a tag that are searched for the price.
const MAX_PRICE_BYTES: usize = 24;

/// The sign that separates the content of an element from the digits before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parting {
    /// A decimal sign: the content is cents.
    Cents(char),
    /// A blank: the content is a footnote or an exponent.
    Blank,
    /// The raised third decimal of a price of fuel.
    Raised(char),
}

/// Whether an element of this name may hold cents. The test is made at every tag, and few pass it.
#[inline(always)]
pub(crate) fn may_hold_cents(html: &str, tag: StartTag<'_>) -> bool {
    let behind = html.as_bytes().get(tag.attributes_place().end + 1);
    matches!(behind, Some(b'0'..=b'9' | b' ' | b'\n' | b'\t' | b'\r')) && is_small(tag.name)
}

fn is_small(name: TagName) -> bool {
    matches!(name.as_bytes(), b"sup" | b"sub" | b"small" | b"span" | b"font")
}

/// How the content of an element that has just begun is parted from the text before it. `None` if it belongs to the same
/// word.
pub(crate) fn parting(html: &str, tag: StartTag<'_>, text: &str) -> Option<Parting> {
    let content = &html[tag.attributes_place().end + 1..];
    let content = &content[..content.floor_char_boundary(MAX_LOOK_AHEAD)];
    let digits = content.trim_ascii_start();
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    let rest = digits[count..].trim_ascii_start();
    if count == 0 || !rest.starts_with("</") {
        return None;
    }
    let price = Price::at_end(text)?;
    let is_raised = matches!(tag.name.as_bytes(), b"sup");
    if count == 1 && is_raised && price.has_one_and_two_digits() && digits.starts_with('9') {
        return Some(Parting::Raised('⁹'));
    }
    if count == 2 && !price.has_decimals() && !price.is_nothing_but(0) && !goes_on(rest) {
        let is_price = is_raised || tag.name.as_bytes() == b"small" || price.is_apart || price.has_currency();
        if is_price && (!is_raised || price.may_have_cents(rest)) {
            return Some(Parting::Cents(price.decimal_sign()));
        }
    }
    is_raised.then_some(Parting::Blank)
}

/// Whether another element with digits follows: then these are the digits of a clock or counter.
fn goes_on(rest: &str) -> bool {
    let mut rest = rest;
    while rest.starts_with('<') {
        let Some(end) = rest.find('>') else { return false };
        rest = rest[end + 1..].trim_ascii_start();
    }
    rest.starts_with(|sign: char| sign.is_ascii_digit())
}
