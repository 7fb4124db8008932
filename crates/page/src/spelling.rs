//! Percent-encoding in one spelling (RFC 3986 §6.2.2): hexadecimal digits in capitals, and no encoding of what needs none.
//!
//! Nothing that a server could read as something else is touched: an encoded slash stays encoded, a lone percent sign
//! stays alone.

use std::borrow::Cow;

/// The one spelling of a path or a query.
pub(crate) fn one_spelling(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut spelt = String::with_capacity(text.len());
    let mut rest = text;
    // Where a percent sign stands alone: what follows it must not become its digits.
    let mut lone = None;
    while let Some(at) = rest.find('%') {
        spelt.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match rest.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok().filter(|_| is_hexadecimal(digits))) {
            Some(byte) => {
                // An encoded dot may be a dot segment to some server; the parser has dealt with those it knows.
                let after_lone = lone.is_some_and(|at| spelt.len() - at <= 2);
                match char::from(byte) {
                    plain if after_lone && plain.is_ascii_hexdigit() => spelt.push_str(&format!("%{byte:02X}")),
                    plain @ ('a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '~') => spelt.push(plain),
                    _ => spelt.push_str(&format!("%{byte:02X}")),
                }
                rest = &rest[2..];
            }
            None => {
                lone = Some(spelt.len());
                spelt.push('%');
            }
        }
    }
    spelt.push_str(rest);
    Cow::Owned(spelt)
}

fn is_hexadecimal(digits: &str) -> bool {
    // from_str_radix also takes a sign.
    digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_no_encoding_has_none_and_the_rest_is_in_capitals() {
        let check = |text: &str, expected: &str| assert_eq!(one_spelling(text), expected);
        check("/%66oo.ht%6dl", "/foo.html");
        check("/a%2fb%c3%bc", "/a%2Fb%C3%BC");
        check("/100%", "/100%");
        check("/%zz%4", "/%zz%4");
        check("/%+1%-1", "/%+1%-1");
        check("/%%51", "/%Q");
        check("/%%330", "/%%330");
        check("/%4%34", "/%4%34");
        check("/a%2Eb", "/a%2Eb");
        check("?q=a+b&c=%26", "?q=a+b&c=%26");
    }
}
