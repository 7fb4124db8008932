//! Reads the attributes of a tag on demand.

use crate::entities;
use std::ops::Range;
use wide_bytes::find_near;

/// An attribute as written: its name, and its value with character references not decoded.
pub type Attribute<'a> = (&'a str, &'a str);

/// The attributes in the text between a tag's name and its `>`.
pub fn attributes_of(text: &str) -> impl Iterator<Item = Attribute<'_>> {
    // All positions are next to ASCII bytes or at the ends, so they lie between characters.
    places(text.as_bytes()).map(|(name, value)| (&text[name], &text[value]))
}

/// The attributes in such bytes, of any encoding.
pub(crate) fn byte_attributes(bytes: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    places(bytes).map(|(name, value)| (&bytes[name], &bytes[value]))
}

/// The ranges of the names and values of attributes.
#[inline]
fn places(bytes: &[u8]) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    let mut at = 0;
    std::iter::from_fn(move || match step(bytes, at) {
        AttributeStep::Attribute { name, value, next } => {
            at = next;
            Some((name, value))
        }
        AttributeStep::End(_) | AttributeStep::Unfinished => None,
    })
}

/// The value of an attribute, character references decoded. The first of duplicates counts.
pub fn attribute(text: &str, name: &str) -> Option<String> {
    let [value] = values_of(text, [name]);
    value.map(|value| entities::decode_attribute(value).into_owned())
}

/// The values of several attributes as written, in one pass. The first of duplicates counts.
#[inline]
pub fn values_of<'a, const COUNT: usize>(text: &'a str, names: [&str; COUNT]) -> [Option<&'a str>; COUNT] {
    let (mut values, mut missing) = ([None; COUNT], COUNT);
    for (attribute, value) in places(text.as_bytes()) {
        let attribute = &text.as_bytes()[attribute];
        for (name, found) in names.iter().zip(&mut values) {
            if attribute.len() == name.len() && found.is_none() && attribute.eq_ignore_ascii_case(name.as_bytes()) {
                *found = Some(&text[value.clone()]);
                missing -= 1;
            }
        }
        if missing == 0 {
            break;
        }
    }
    values
}

/// The length of a tag from the end of its name through its `>`. A `>` in a quoted value does not end it.
pub fn tag_length(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match step(bytes, at) {
            AttributeStep::Attribute { next, .. } => at = next,
            AttributeStep::End(end) => return Some(end + 1),
            AttributeStep::Unfinished => return None,
        }
    }
}

enum AttributeStep {
    Attribute {
        name: Range<usize>,
        value: Range<usize>,
        next: usize,
    },
    /// The position of the `>`.
    End(usize),
    /// The bytes end before the tag does.
    Unfinished,
}

/// Reads one attribute (HTML standard, sections 13.2.5.32 to 13.2.5.39).
#[inline]
fn step(bytes: &[u8], start: usize) -> AttributeStep {
    if let Some((name, quote)) = plain_name(bytes, start) {
        let inside = name.end + 2;
        return quoted(bytes, name, inside, quote);
    }
    let at = skip(bytes, start, SPACE | SLASH);
    match bytes.get(at) {
        None => return AttributeStep::Unfinished,
        Some(b'>') => return AttributeStep::End(at),
        Some(_) => {}
    }
    // A name may begin with `=`, but not contain it.
    let name_end = skip(bytes, at + 1, NAME | QUOTE);
    let name = at..name_end;
    let equals = skip(bytes, name_end, SPACE);
    if bytes.get(equals) != Some(&b'=') {
        return AttributeStep::Attribute { name, value: name_end..name_end, next: equals };
    }
    let value = skip(bytes, equals + 1, SPACE);
    if let Some(&quote @ (b'"' | b'\'')) = bytes.get(value) {
        return quoted(bytes, name, value + 1, quote);
    }
    let next = skip(bytes, value, NAME | QUOTE | SLASH | EQUALS);
    AttributeStep::Attribute { name, value: value..next, next }
}

/// The attribute of this name whose quoted value begins at `inside`.
#[inline(always)]
fn quoted(bytes: &[u8], name: Range<usize>, inside: usize, quote: u8) -> AttributeStep {
    match find_near(quote, &bytes[inside..]) {
        Some(length) => AttributeStep::Attribute { name, value: inside..inside + length, next: inside + length + 1 },
        None => AttributeStep::Unfinished,
    }
}

/// Fast path for the form of nearly all attributes: a space, up to 15 alphabetic characters, `=` and a quote. Returns the name
/// and the quote.
#[inline(always)]
fn plain_name(bytes: &[u8], start: usize) -> Option<(Range<usize>, u8)> {
    let head: &[u8; 18] = bytes.get(start..)?.first_chunk()?;
    let word = u128::from_le_bytes(*head[1..].first_chunk()?);
    let length = (!word & CHARACTER_BITS).trailing_zeros() as usize / 8;
    match (head[0], length, head.get(length + 1)?, head.get(length + 2)?) {
        (b' ', 1.., b'=', &quote @ (b'"' | b'\'')) => Some((start + 1..start + 1 + length, quote)),
        _ => None,
    }
}

/// Per byte, a bit that all alphabetic characters have, and none of the bytes that end a name.
const CHARACTER_BITS: u128 = u128::MAX / 0xff * 0x40;

/// The class of a byte in a tag, as a bit.
type ByteClass = u8;
const SPACE: ByteClass = 1;
const SLASH: ByteClass = 2;
const EQUALS: ByteClass = 4;
const GREATER: ByteClass = 8;
const QUOTE: ByteClass = 16;
const NAME: ByteClass = 32;

static CLASSES: [ByteClass; 256] = {
    let mut classes = [NAME; 256];
    let mut byte = 0;
    while byte < classes.len() {
        match byte as u8 {
            b' ' | b'\n' | b'\t' | b'\r' | b'\x0c' => classes[byte] = SPACE,
            b'/' => classes[byte] = SLASH,
            b'=' => classes[byte] = EQUALS,
            b'>' => classes[byte] = GREATER,
            b'"' | b'\'' => classes[byte] = QUOTE,
            _ => {}
        }
        byte += 1;
    }
    classes
};

/// The first position from `start` on whose byte has none of these classes.
#[inline(always)]
fn skip(bytes: &[u8], start: usize, classes: ByteClass) -> usize {
    let mut at = start;
    while at < bytes.len() && CLASSES[usize::from(bytes[at])] & classes != 0 {
        at += 1;
    }
    at.min(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_read_as_browsers_read_them() {
        let check = |text, expected: &[Attribute<'_>]| {
            assert_eq!(attributes_of(text).collect::<Vec<_>>(), expected, "{text}");
        };
        check(" a b=1 c = '2 3' D=\"4\">", &[("a", ""), ("b", "1"), ("c", "2 3"), ("D", "4")]);
        check(" href=/a/b/ x/y", &[("href", "/a/b/"), ("x", ""), ("y", "")]);
        check(" =a=b c='d'e", &[("=a", "b"), ("c", "d"), ("e", "")]);
        check(" a=b=\"c d=", &[("a", "b=\"c"), ("d", "")]);
        check(" a= >", &[("a", "")]);
        check(" é='ö' a='never", &[("é", "ö")]);
        assert_eq!(attribute(" TITLE='a &amp; b' title=c", "title").as_deref(), Some("a & b"));
        assert_eq!(values_of(" REL=x a rel=y A=b", ["a", "b", "rel"]), [Some(""), None, Some("x")]);
    }

    #[test]
    fn a_quoted_angle_does_not_end_a_tag() {
        let check = |text: &str, length| assert_eq!(tag_length(text.as_bytes()), length, "{text}");
        check(">", Some(1));
        check(" a='>' b=\">\" >x", Some(14));
        check(" a=b'> c'", Some(6));
        check(" a='", None);
        check("", None);
    }
}
