//! The attributes of a tag, read when asked for.

use crate::entities;
use std::ops::Range;

/// An attribute as it stands: its name, and its value with character references not decoded.
pub(crate) type Attribute<'a> = (&'a str, &'a str);

/// The attributes in what stands between a tag's name and its `>`.
pub(crate) fn attributes_of(text: &str) -> impl Iterator<Item = Attribute<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || match step(text.as_bytes(), at) {
        // All places are next to ASCII bytes or at the ends, so they lie between characters.
        Step::Attribute { name, value, next } => {
            at = next;
            Some((&text[name], &text[value]))
        }
        Step::End(_) | Step::Unfinished => None,
    })
}

/// The value of an attribute, character references decoded. The first of two counts.
pub(crate) fn attribute(text: &str, name: &str) -> Option<String> {
    attributes_of(text)
        .find(|(attribute, _)| attribute.eq_ignore_ascii_case(name))
        .map(|(_, value)| entities::decode_attribute(value).into_owned())
}

/// Whether an attribute has a word among others.
pub(crate) fn attribute_has_word(text: &str, name: &str, word: &str) -> bool {
    attribute(text, name).is_some_and(|value| value.split_whitespace().any(|other| other.eq_ignore_ascii_case(word)))
}

/// How long a tag is behind its name, past its `>`. A `>` in a quoted value is not the end.
pub(crate) fn tag_length(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match step(bytes, at) {
            Step::Attribute { next, .. } => at = next,
            Step::End(end) => return Some(end + 1),
            Step::Unfinished => return None,
        }
    }
}

enum Step {
    Attribute {
        name: Range<usize>,
        value: Range<usize>,
        next: usize,
    },
    /// The place of the `>`.
    End(usize),
    /// The bytes end within the tag or, if it has no `>`, with it.
    Unfinished,
}

/// Reads one attribute (HTML standard, sections 13.2.5.32 to 13.2.5.39).
#[inline]
fn step(bytes: &[u8], start: usize) -> Step {
    let mut at = start;
    loop {
        match bytes.get(at) {
            None => return Step::Unfinished,
            Some(b'>') => return Step::End(at),
            Some(b'/') => at += 1,
            Some(&byte) if is_space(byte) => at += 1,
            Some(_) => break,
        }
    }
    // A name may begin with `=`, but not contain it.
    let name_end = skip(bytes, at + 1, |byte| !is_space(byte) && !matches!(byte, b'=' | b'/' | b'>'));
    let name = at..name_end;
    let equals = skip(bytes, name_end, is_space);
    if bytes.get(equals) != Some(&b'=') {
        return Step::Attribute { name, value: name_end..name_end, next: equals };
    }
    let value = skip(bytes, equals + 1, is_space);
    if let Some(&quote @ (b'"' | b'\'')) = bytes.get(value) {
        let inside = value + 1;
        let Some(length) = memchr::memchr(quote, &bytes[inside..]) else { return Step::Unfinished };
        return Step::Attribute { name, value: inside..inside + length, next: inside + length + 1 };
    }
    let next = skip(bytes, value, |byte| !is_space(byte) && byte != b'>');
    Step::Attribute { name, value: value..next, next }
}

#[inline]
fn skip(bytes: &[u8], start: usize, what: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    rest.iter().position(|&byte| !what(byte)).map_or(bytes.len(), |length| start + length)
}

#[inline]
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | b'\r' | b'\x0c')
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
        assert!(attribute_has_word(" rel='x NoFollow'", "rel", "nofollow"));
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
