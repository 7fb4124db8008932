//! The text between values: white space, comments, and the wrappers of scripts in pages.

use memchr::memmem::find;

/// The place behind the white space, comments and wrappers at a place.
pub(super) fn skip_space(text: &str, mut at: usize) -> usize {
    loop {
        let rest = &text[at..];
        let length = match rest.as_bytes() {
            [b' ' | b'\n' | b'\r' | b'\t', ..] => 1,
            [b'/', b'/', behind @ ..] => 2 + line_comment(behind),
            [b'/', b'*', behind @ ..] => 2 + find(behind, b"*/").map_or(behind.len(), |end| end + 2),
            [b'<', ..] => markup(rest),
            [b'-', b'-', b'>', ..] | [b']', b']', b'>', ..] => 3,
            [first, ..] if !first.is_ascii() => blank(rest),
            _ => 0,
        };
        if length == 0 {
            return at;
        }
        at += length;
    }
}

/// The length of a comment behind `//`. Nothing but the wrapper is one, where a wrapper follows.
fn line_comment(behind: &[u8]) -> usize {
    let blanks = behind.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let rest = &behind[blanks..];
    if ["<![CDATA[", "]]>", "<!--", "-->"].iter().any(|wrapper| rest.starts_with(wrapper.as_bytes())) {
        return blanks;
    }
    memchr::memchr2(b'\n', b'\r', behind).unwrap_or(behind.len())
}

/// The length of a wrapper, of a comment of HTML, or of a tag such as `<br>`.
fn markup(rest: &str) -> usize {
    if let Some(behind) = rest.strip_prefix("<![CDATA[") {
        return rest.len() - behind.len();
    }
    if let Some(behind) = rest.strip_prefix("<!--") {
        let starts_data = behind.trim_ascii_start().starts_with(['{', '[', '/', '<']);
        let comment = || find(behind.as_bytes(), b"-->").map_or(behind.len(), |end| end + 3);
        return if starts_data { 4 } else { 4 + comment() };
    }
    let is_tag = rest.as_bytes().get(1).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'/');
    let end = rest.bytes().take(MAX_TAG_BYTES).position(|byte| byte == b'>');
    end.filter(|_| is_tag).map_or(0, |end| end + 1)
}

/// The longest tag that an editor has put between values.
const MAX_TAG_BYTES: usize = 64;

/// The length of a blank beyond ASCII, and of the mark at the start of a file.
fn blank(rest: &str) -> usize {
    let sign = rest.chars().next().filter(|sign| sign.is_whitespace() || matches!(sign, '\u{feff}' | '\u{200b}'));
    sign.map_or(0, char::len_utf8)
}
