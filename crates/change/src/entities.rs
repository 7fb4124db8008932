//! Character references: `&amp;`, `&#8212;`, `&#x2014;`.
//!
//! The 252 names of HTML 4 in part: all of Latin-1 and the typographic ones, which is what pages use. A name not known here
//! stays as written, the same way each time, so it is no change. Names need their semicolon; numbers do not.

use encoding_rs::WINDOWS_1252;
use std::borrow::Cow;

/// The names of U+00A0 to U+00FF, in order.
const LATIN_1: [&str; 96] = [
    "nbsp", "iexcl", "cent", "pound", "curren", "yen", "brvbar", "sect", "uml", "copy", "ordf", "laquo", "not", "shy",
    "reg", "macr", "deg", "plusmn", "sup2", "sup3", "acute", "micro", "para", "middot", "cedil", "sup1", "ordm",
    "raquo", "frac14", "frac12", "frac34", "iquest", "Agrave", "Aacute", "Acirc", "Atilde", "Auml", "Aring", "AElig",
    "Ccedil", "Egrave", "Eacute", "Ecirc", "Euml", "Igrave", "Iacute", "Icirc", "Iuml", "ETH", "Ntilde", "Ograve",
    "Oacute", "Ocirc", "Otilde", "Ouml", "times", "Oslash", "Ugrave", "Uacute", "Ucirc", "Uuml", "Yacute", "THORN",
    "szlig", "agrave", "aacute", "acirc", "atilde", "auml", "aring", "aelig", "ccedil", "egrave", "eacute", "ecirc",
    "euml", "igrave", "iacute", "icirc", "iuml", "eth", "ntilde", "ograve", "oacute", "ocirc", "otilde", "ouml",
    "divide", "oslash", "ugrave", "uacute", "ucirc", "uuml", "yacute", "thorn", "yuml",
];

const OTHERS: [(&str, char); 44] = [
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("ndash", '–'),
    ("mdash", '—'),
    ("lsquo", '‘'),
    ("rsquo", '’'),
    ("sbquo", '‚'),
    ("ldquo", '“'),
    ("rdquo", '”'),
    ("bdquo", '„'),
    ("lsaquo", '‹'),
    ("rsaquo", '›'),
    ("hellip", '…'),
    ("bull", '•'),
    ("dagger", '†'),
    ("Dagger", '‡'),
    ("permil", '‰'),
    ("prime", '′'),
    ("Prime", '″'),
    ("euro", '€'),
    ("trade", '™'),
    ("larr", '←'),
    ("uarr", '↑'),
    ("rarr", '→'),
    ("darr", '↓'),
    ("harr", '↔'),
    ("minus", '−'),
    ("ne", '≠'),
    ("le", '≤'),
    ("ge", '≥'),
    ("infin", '∞'),
    ("asymp", '≈'),
    ("ensp", '\u{2002}'),
    ("emsp", '\u{2003}'),
    ("thinsp", '\u{2009}'),
    ("zwnj", '\u{200c}'),
    ("zwj", '\u{200d}'),
    ("lrm", '\u{200e}'),
    ("rlm", '\u{200f}'),
    ("OElig", 'Œ'),
    ("oelig", 'œ'),
];

/// Longer than any name or number that means something.
const LONGEST: usize = 12;

/// Replaces the character references of a text.
pub(crate) fn decode(text: &str) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'&', text.as_bytes()) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..first]);
    let mut rest = &text[first..];
    while !rest.is_empty() {
        if let Some((letter, length)) = reference(rest) {
            out.push(letter);
            rest = &rest[length..];
        } else {
            out.push('&');
            rest = &rest[1..];
        }
        let next = memchr::memchr(b'&', rest.as_bytes()).unwrap_or(rest.len());
        out.push_str(&rest[..next]);
        rest = &rest[next..];
    }
    Cow::Owned(out)
}

/// The character that a text starting with `&` begins with, and how many bytes it takes.
fn reference(text: &str) -> Option<(char, usize)> {
    let name = &text.as_bytes()[1..text.len().min(1 + LONGEST)];
    if let [b'#', number @ ..] = name {
        let (digits, radix) = match number {
            [b'x' | b'X', digits @ ..] => (digits, 16),
            digits => (digits, 10),
        };
        let count = digits.iter().take_while(|&&digit| char::from(digit).is_digit(radix)).count();
        let value = u32::from_str_radix(str::from_utf8(&digits[..count]).ok()?, radix).ok()?;
        let before_digits = 1 + (name.len() - digits.len());
        let semicolon = usize::from(digits.get(count) == Some(&b';'));
        return Some((numbered(value), before_digits + count + semicolon));
    }
    let length = memchr::memchr(b';', name)?;
    let name = str::from_utf8(&name[..length]).ok()?;
    Some((named(name)?, length + 2))
}

/// Numbers from 128 to 159 mean windows-1252, because that is what those who wrote them meant (WHATWG HTML).
fn numbered(value: u32) -> char {
    match u8::try_from(value) {
        Ok(byte @ 128..=159) => {
            WINDOWS_1252.decode_without_bom_handling(&[byte]).0.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER)
        }
        Ok(0) => char::REPLACEMENT_CHARACTER,
        _ => char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER),
    }
}

fn named(name: &str) -> Option<char> {
    if let Some(&(_, letter)) = OTHERS.iter().find(|(other, _)| *other == name) {
        return Some(letter);
    }
    let index = LATIN_1.iter().position(|latin| *latin == name)?;
    char::from_u32(0xa0 + u32::try_from(index).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn references_become_characters_and_the_rest_stays() {
        let check = |text, expected: &str| assert_eq!(decode(text), expected);
        check("plain", "plain");
        check("a &lt;b&gt; &amp;amp; c", "a <b> &amp; c");
        check("&Auml;&yuml;&nbsp;&szlig;", "Äÿ\u{a0}ß");
        check("&#8212;&#x2014;&#X2014 &#65b", "——— Ab");
        check("&#146;&#0;&#xD800;&#99999999;", "’\u{fffd}\u{fffd}\u{fffd}");
        check("R&D &unknown; & &; &# &#x; a&", "R&D &unknown; & &; &# &#x; a&");
        check("?a=1&copy=2&é;", "?a=1&copy=2&é;");
    }

    proptest! {
        #[test]
        fn any_text_decodes(text in "(&|#|x|;|amp|[0-9]|é|\\PC){0,20}") {
            let _ = decode(&text);
        }
    }
}
