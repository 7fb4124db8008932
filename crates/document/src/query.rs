//! Queries of links in the encoding of their page.

use encoding_rs::{Encoding, UTF_8};
use std::borrow::Cow;
use std::fmt::Write;

/// The link target as browsers ask for it: characters of its query beyond ASCII are percent-encoded in the page's encoding,
/// and those that the encoding lacks as numeric character references (URL standard, "percent-encode after encoding"). The rest of
/// an address is UTF-8 whatever the page is.
pub fn with_encoded_query<'a>(target: &'a str, charset: Option<&str>) -> Cow<'a, str> {
    let encoding = charset.and_then(|name| Encoding::for_label(name.as_bytes())).unwrap_or(UTF_8).output_encoding();
    if encoding == UTF_8 || target.is_ascii() {
        return Cow::Borrowed(target);
    }
    let end = target.find('#').unwrap_or(target.len());
    let Some(start) = target[..end].find('?').filter(|start| !target[*start..end].is_ascii()) else {
        return Cow::Borrowed(target);
    };
    let mut encoded = String::with_capacity(target.len() * 3);
    encoded.push_str(&target[..start]);
    let mut rest = &target[start..end];
    while !rest.is_empty() {
        let plain = rest.find(|sign: char| !sign.is_ascii()).unwrap_or(rest.len());
        encoded.push_str(&rest[..plain]);
        rest = &rest[plain..];
        let foreign = rest.find(|sign: char| sign.is_ascii()).unwrap_or(rest.len());
        push_encoded(&mut encoded, &rest[..foreign], encoding);
        rest = &rest[foreign..];
    }
    encoded.push_str(&target[end..]);
    Cow::Owned(encoded)
}

fn push_encoded(encoded: &mut String, text: &str, encoding: &'static Encoding) {
    let mut push = |bytes: &[u8]| {
        for &byte in bytes {
            match byte {
                b'!' | b'$'..=b'&' | b'('..=b';' | b'=' | b'?'..=b'~' => encoded.push(byte as char),
                // Writing to memory does not fail.
                _ => drop(write!(encoded, "%{byte:02X}")),
            }
        }
    };
    for sign in text.chars() {
        let mut room = [0; 4];
        let (bytes, _, is_lacking) = encoding.encode(sign.encode_utf8(&mut room));
        match is_lacking {
            true => push(format!("%26%23{}%3B", u32::from(sign)).as_bytes()),
            false => push(&bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_in_the_encoding_of_the_page_and_the_rest_is_not() {
        let check = |target, charset, expected: &str| assert_eq!(with_encoded_query(target, charset), expected);
        check("/слово?q=слово&b=c#слово", Some("windows-1251"), "/слово?q=%F1%EB%EE%E2%EE&b=c#слово");
        check("/?q=語", Some("Shift_JIS"), "/?q=%8C%EA");
        check("/?q=表", Some("Shift_JIS"), "/?q=%95\\");
        check("/?q=é語", Some("windows-1252"), "/?q=%E9%26%2335486%3B");
        check("/?q=é", Some("UTF-8"), "/?q=é");
        check("/?q=é", Some("UTF-16LE"), "/?q=é");
        check("/?q=é", None, "/?q=é");
        check("/?q=é", Some("no such encoding"), "/?q=é");
        check("/é#?é", Some("windows-1252"), "/é#?é");
        check("/?a=%C3%A9", Some("windows-1252"), "/?a=%C3%A9");
    }
}
