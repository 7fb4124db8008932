//! Strings, and values without quotes.

use super::space::skip_space;
use crate::numbers::data;
use std::borrow::Cow;

/// A value without quotes.
pub(super) enum Bare<'a> {
    Null,
    Bool(bool),
    Number(&'a str),
    /// Something that should have had quotes, such as `19,90 EUR`.
    Text(&'a str),
}

/// Reads the value without quotes at a place, and returns the place behind it. The value of a member may have a comma as
/// its decimal sign.
pub(super) fn bare(text: &str, start: usize, is_member: bool) -> (Option<Bare<'_>>, usize) {
    let rest = &text[start..];
    let mut end = bare_length(rest.as_bytes());
    if is_member && let Some(decimals) = decimals_behind_comma(&rest[..end], &rest[end..]) {
        end += 1 + decimals;
    }
    if end == 0 {
        return (None, start + rest.chars().next().map_or(0, char::len_utf8));
    }
    let value = match rest[..end].trim() {
        "null" | "undefined" | "NaN" | "None" => Some(Bare::Null),
        "true" | "True" => Some(Bare::Bool(true)),
        "false" | "False" => Some(Bare::Bool(false)),
        "" => None,
        number if data::canonical(number).is_some() => Some(Bare::Number(number)),
        other => Some(Bare::Text(other)),
    };
    (value, start + end)
}

/// The length of the text up to a sign that ends a value without quotes, or to a comment.
fn bare_length(rest: &[u8]) -> usize {
    let is_end = |at: &usize| match rest[*at] {
        b',' | b'}' | b']' | b'\n' | b'\r' | b'"' | b'{' | b'[' | b';' => true,
        b'/' => matches!(rest.get(at + 1), Some(b'/' | b'*')),
        b'<' => rest[*at..].starts_with(b"<!--"),
        _ => false,
    };
    (0..rest.len()).find(is_end).unwrap_or(rest.len())
}

/// The number of digits behind the comma of `19,90`, after which the value of the member ends.
fn decimals_behind_comma(before: &str, rest: &str) -> Option<usize> {
    let behind = rest.strip_prefix(',')?;
    let decimals = behind.bytes().take_while(u8::is_ascii_digit).count();
    let is_number = before.len() <= MAX_NUMBER_BYTES
        && before.trim().bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'));
    let ends = behind[decimals..].trim_ascii_start().starts_with([',', '}']);
    (is_number && (1..=3).contains(&decimals) && ends).then_some(decimals)
}

/// The longest number with a comma.
const MAX_NUMBER_BYTES: usize = 32;

/// Reads the string at a place, from quote to quote, and returns the place behind it. A quote ends the string only if what
/// follows may follow a string.
pub(super) fn string(text: &str, start: usize, quote: u8, is_key: bool) -> (Cow<'_, str>, usize) {
    let bytes = text.as_bytes();
    let inside = start + 1;
    let mut at = inside;
    let mut has_escapes = false;
    while let Some(found) = memchr::memchr2(quote, b'\\', &bytes[at..]) {
        at += found;
        if bytes[at] == b'\\' {
            has_escapes = true;
            at = text.ceil_char_boundary((at + 2).min(text.len()));
        } else if ends_string(text, at + 1, is_key) {
            return (unescaped(&text[inside..at], has_escapes), at + 1);
        } else {
            at += 1;
        }
    }
    (unescaped(&text[inside..], has_escapes), text.len())
}

/// Whether a string may end before this place.
fn ends_string(text: &str, place: usize, is_key: bool) -> bool {
    let next = skip_blanks(text, place);
    let has_line_end = text[place..next].contains('\n');
    match text.as_bytes().get(next) {
        None | Some(b'}' | b']' | b';' | b'<') => true,
        Some(b':') => is_key,
        Some(b',') => begins_next(text, skip_space_near(text, next + 1)),
        Some(b'/') => matches!(text.as_bytes().get(next + 1), Some(b'/' | b'*')),
        // The comma between two lines was left out.
        Some(b'"' | b'\'') => has_line_end || (!is_key && next > place && begins_member(&text[next + 1..])),
        Some(b'-') => text[next..].starts_with("-->"),
        Some(_) => false,
    }
}

/// Whether a text is the rest of a name in quotes, and a colon.
fn begins_member(text: &str) -> bool {
    let near = &text[..text.floor_char_boundary(MAX_NAME_BYTES)];
    let behind = near.find(['"', '\'']).map(|end| near[end + 1..].trim_ascii_start());
    behind.is_some_and(|behind| behind.starts_with(':'))
}

/// Whether a value or a name begins here, or a list or object ends.
fn begins_next(text: &str, place: usize) -> bool {
    let rest = &text[place..];
    let words = ["true", "false", "null"];
    match rest.as_bytes().first() {
        None | Some(b'"' | b'\'' | b'{' | b'[' | b'}' | b']' | b'-' | b'0'..=b'9' | b'/' | b',' | b'<') => true,
        Some(_) if words.iter().any(|word| rest.starts_with(word)) => true,
        Some(_) => {
            let name =
                rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'@' | b'$'));
            let length = name.take(MAX_NAME_BYTES).count();
            length > 0 && rest[length..].trim_ascii_start().starts_with(':')
        }
    }
}

/// The longest name without quotes.
const MAX_NAME_BYTES: usize = 64;
/// The most white space and comments between two values that are looked over.
const MAX_SPACE_BYTES: usize = 512;

fn skip_blanks(text: &str, place: usize) -> usize {
    let rest = &text[place..];
    place + (rest.len() - rest.trim_ascii_start().len())
}

fn skip_space_near(text: &str, place: usize) -> usize {
    let end = text.floor_char_boundary(place + MAX_SPACE_BYTES);
    skip_space(&text[..end], place)
}

/// The text that the escapes of a string stand for.
fn unescaped(text: &str, has_escapes: bool) -> Cow<'_, str> {
    if !has_escapes {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        let (sign, length) = escape(behind);
        out.extend(sign);
        rest = &behind[length..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The sign that an escape stands for, and its length behind the backslash.
fn escape(behind: &str) -> (Option<char>, usize) {
    let Some(sign) = behind.chars().next() else { return (None, 0) };
    let stands_for = match sign {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        'b' | 'f' => Some(' '),
        'u' => return unicode_escape(behind),
        // The line goes on.
        '\n' => None,
        other => Some(other),
    };
    (stands_for, sign.len_utf8())
}

/// `u20ac`, and the pair of two halves for signs beyond the first plane.
fn unicode_escape(behind: &str) -> (Option<char>, usize) {
    let unit = |text: &str| text.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let Some(first) = unit(&behind[1..]) else { return (Some('u'), 1) };
    if (0xd800..0xdc00).contains(&first)
        && let Some(second) =
            behind[5..].strip_prefix("\\u").and_then(unit).filter(|unit| (0xdc00..0xe000).contains(unit))
    {
        return (char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)), 11);
    }
    (Some(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER)), 5)
}
