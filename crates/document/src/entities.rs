//! Decodes character references (`&amp;`, `&#8212;`) as the HTML standard defines (section 13.2.5.72).

use std::borrow::Cow;

/// Decodes the character references of a text.
pub fn decode(text: &str) -> Cow<'_, str> {
    htmlize::unescape(text)
}

/// Decodes the character references of an attribute's value, where `?a=1&copy=2` has none.
pub fn decode_attribute(value: &str) -> Cow<'_, str> {
    // Few values have references, and this test is faster.
    match wide_bytes::find_near(b'&', value.as_bytes()) {
        Some(_) => htmlize::unescape_attribute(value),
        None => Cow::Borrowed(value),
    }
}

/// The length of the possible reference at the start of a text: `&`, the characters names may have, and `;`.
pub fn reference_length(text: &str) -> usize {
    let mut bytes = text.bytes().enumerate().skip(1);
    let end = bytes.find(|(_, byte)| !byte.is_ascii_alphanumeric() && *byte != b'#');
    end.map_or(text.len(), |(at, byte)| at + usize::from(byte == b';'))
}

/// Decodes the most frequent references; `None` for all others.
pub fn common(reference: &str) -> Option<char> {
    Some(match reference.as_bytes() {
        b"&amp;" => '&',
        b"&lt;" => '<',
        b"&gt;" => '>',
        b"&quot;" => '"',
        b"&nbsp;" => '\u{a0}',
        [b'&', b'#', digits @ .., b';'] if (1..=5).contains(&digits.len()) => {
            let decimal =
                |number: u32, digit: &u8| digit.is_ascii_digit().then(|| 10 * number + u32::from(digit - b'0'));
            // Lower numbers do not always mean the character of that number.
            return digits
                .iter()
                .try_fold(0, decimal)
                .filter(|&number| number >= 160 || (32..127).contains(&number))
                .and_then(char::from_u32);
        }
        _ => return None,
    })
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
        check("&Auml;&yuml;&nbsp;&szlig;&NotEqualTilde;", "Äÿ\u{a0}ß≂̸");
        check("&#8212;&#x2014;&#X2014 &#65b", "——— Ab");
        check("&#146;&#0;&#xD800;&#99999999;", "’\u{fffd}\u{fffd}\u{fffd}");
        check("R&D &unknown; & &; &# &#x; a&", "R&D &unknown; & &; &# &#x; a&");
        check("&copy2 &ampx", "©2 &x");
        assert_eq!(decode_attribute("?a=1&copy=2&amp;b&lt"), "?a=1&copy=2&b<");
    }

    proptest! {
        #[test]
        fn common_references_are_what_all_references_are(text in "&(amp|lt|gt|quot|nbsp|#x?[0-9]{0,6}|[a-z]{0,5});?[a-z;&]{0,2}") {
            let reference = &text[..reference_length(&text)];
            let rest = &text[reference.len()..];
            prop_assert_eq!(decode(&text), format!("{}{}", decode(reference), decode(rest)));
            if let Some(character) = common(reference) {
                prop_assert_eq!(decode(reference), character.to_string());
            }
        }

        #[test]
        fn any_text_decodes(text in "(&|#|x|;|amp|[0-9]|é|\\PC){0,20}") {
            let _ = decode(&text);
            let _ = decode_attribute(&text);
        }
    }
}
