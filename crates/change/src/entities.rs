//! Character references (`&amp;`, `&#8212;`) to characters, as the HTML standard has them (section 13.2.5.72).

use std::borrow::Cow;

/// Replaces the character references of a text.
pub(crate) fn decode(text: &str) -> Cow<'_, str> {
    htmlize::unescape(text)
}

/// Replaces the character references of an attribute's value, where `?a=1&copy=2` has none.
pub(crate) fn decode_attribute(value: &str) -> Cow<'_, str> {
    htmlize::unescape_attribute(value)
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
        fn any_text_decodes(text in "(&|#|x|;|amp|[0-9]|é|\\PC){0,20}") {
            let _ = decode(&text);
            let _ = decode_attribute(&text);
        }
    }
}
