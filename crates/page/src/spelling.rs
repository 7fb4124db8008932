//! Normalises percent-encoding (RFC 3986 §6.2.2): upper-case digits, and unreserved characters decoded.
//!
//! Nothing changes that a server could interpret differently: an encoded slash stays encoded, and a stray percent sign
//! stays as it is.

use std::borrow::Cow;

/// Normalises a path or query.
pub(crate) fn one_spelling(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut spelt = String::with_capacity(text.len());
    let mut rest = text;
    // Position of a stray percent sign, whose following characters must not become its digits.
    let mut lone = None;
    while let Some(at) = rest.find('%') {
        spelt.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match rest.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok().filter(|_| is_hexadecimal(digits))) {
            Some(byte) => {
                // Some servers treat an encoded dot as a dot segment. The parser has handled those of the standard.
                let after_lone = lone.is_some_and(|at| spelt.len() - at <= 2 && is_hexadecimal(&spelt[at + 1..]));
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
    // `from_str_radix` also accepts a sign.
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
        check("?%&%34", "?%&4");
        check("/a%2Eb", "/a%2Eb");
        check("?q=a+b&c=%26", "?q=a+b&c=%26");
    }
}
