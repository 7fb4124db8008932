//! Bytes to text: which character encoding is this?
//!
//! In this order: byte-order mark, HTTP header, declaration in the first 1024 bytes (`<meta charset>`, `<?xml encoding?>`),
//! whether the bytes are UTF-8, and only then statistics. A guesser on every page would cost more than all the rest.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use std::borrow::Cow;

/// How far into a page a declaration is looked for (WHATWG HTML, "prescan a byte stream").
const PRESCAN_BYTES: usize = 1024;
/// How much of a page the guesser sees.
const GUESS_BYTES: usize = 64 * 1024;

/// A page's text, borrowed when the bytes were UTF-8 already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// The text; what could not be decoded is U+FFFD.
    pub text: Cow<'a, str>,
    /// The WHATWG name of the encoding.
    pub charset: &'static str,
    /// What the encoding was known by.
    pub how: CharsetSource,
}

/// What an encoding was known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CharsetSource {
    /// A byte-order mark.
    ByteOrderMark,
    /// The `Content-Type` header.
    Header,
    /// A declaration at the start of the page.
    Declaration,
    /// The bytes are valid UTF-8.
    ValidUtf8,
    /// Statistics: a guess.
    Guess,
}

/// Decodes a body, given its `Content-Type` header.
pub fn decode<'a>(bytes: &'a [u8], content_type: Option<&str>) -> Decoded<'a> {
    let (encoding, how, text) = if let Some((encoding, mark_length)) = Encoding::for_bom(bytes) {
        (encoding, CharsetSource::ByteOrderMark, &bytes[mark_length..])
    } else if let Some(encoding) = content_type.and_then(header_encoding) {
        (encoding, CharsetSource::Header, bytes)
    } else if let Some(encoding) = declared_encoding(&bytes[..bytes.len().min(PRESCAN_BYTES)]) {
        (encoding, CharsetSource::Declaration, bytes)
    } else if is_utf8_so_far(bytes) {
        (UTF_8, CharsetSource::ValidUtf8, bytes)
    } else {
        (guess(bytes), CharsetSource::Guess, bytes)
    };
    let (text, _had_errors) = encoding.decode_without_bom_handling(text);
    Decoded { text, charset: encoding.name(), how }
}

fn header_encoding(content_type: &str) -> Option<&'static Encoding> {
    Encoding::for_label(charset_parameter(content_type.as_bytes())?)
}

/// Bytes cut off in the middle of a character are still UTF-8.
fn is_utf8_so_far(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).map_or_else(|error| error.error_len().is_none(), |_| true)
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(&bytes[..bytes.len().min(GUESS_BYTES)], true);
    detector.guess(None, Utf8Detection::Deny)
}

/// The value of `charset=` in a content type, quoted or not.
fn charset_parameter(content_type: &[u8]) -> Option<&[u8]> {
    let mut rest = content_type;
    loop {
        let at = find_ignoring_case(rest, b"charset")?;
        rest = rest[at + b"charset".len()..].trim_ascii_start();
        let Some(value) = rest.strip_prefix(b"=") else { continue };
        let value = value.trim_ascii_start();
        let (value, end): (_, fn(&u8) -> bool) = match value {
            [b'"', value @ ..] => (value, |&byte| byte == b'"'),
            [b'\'', value @ ..] => (value, |&byte| byte == b'\''),
            value => (value, |&byte| byte == b';' || byte.is_ascii_whitespace()),
        };
        return Some(&value[..value.iter().position(end).unwrap_or(value.len())]);
    }
}

fn find_ignoring_case(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window.eq_ignore_ascii_case(needle))
}

/// What a page says of itself. A page that claims UTF-16 in ASCII letters, or no known encoding, is corrected as browsers do.
fn declared_encoding(start: &[u8]) -> Option<&'static Encoding> {
    let encoding = match start.trim_ascii_start() {
        [b'<', b'?', b'x', b'm', b'l', declaration @ ..] => {
            xml_declaration(declaration).or_else(|| meta_charset(start))
        }
        _ => meta_charset(start),
    }?;
    if encoding == UTF_16BE || encoding == UTF_16LE {
        Some(UTF_8)
    } else if encoding.name() == "x-user-defined" {
        Some(WINDOWS_1252)
    } else {
        Some(encoding)
    }
}

fn xml_declaration(declaration: &[u8]) -> Option<&'static Encoding> {
    let declaration = &declaration[..memchr::memchr(b'>', declaration)?];
    let at = memchr::memmem::find(declaration, b"encoding")?;
    let value = declaration[at + b"encoding".len()..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let (quote, value) = value.split_first()?;
    if *quote != b'"' && *quote != b'\'' {
        return None;
    }
    Encoding::for_label(&value[..memchr::memchr(*quote, value)?])
}

/// `<meta charset=x>` and `<meta http-equiv=content-type content="text/html; charset=x">`, outside comments.
fn meta_charset(start: &[u8]) -> Option<&'static Encoding> {
    let mut rest = start;
    loop {
        rest = &rest[memchr::memchr(b'<', rest)?..];
        if rest.starts_with(b"<!--") {
            rest = &rest[memchr::memmem::find(&rest[2..], b"-->")? + 5..];
            continue;
        }
        let end = memchr::memchr(b'>', rest)?;
        let tag = &rest[1..end];
        rest = &rest[end..];
        let is_meta = tag.len() > 4 && tag[..4].eq_ignore_ascii_case(b"meta") && !tag[4].is_ascii_alphanumeric();
        if is_meta && let Some(label) = charset_parameter(tag) {
            // `content='text/html; charset=x'` leaves the outer quote and the closing slash on the label.
            let label = label.split(|byte| matches!(byte, b'"' | b'\'' | b'/')).next().unwrap_or_default();
            if let Some(encoding) = Encoding::for_label(label) {
                return Some(encoding);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn mark_then_header_then_declaration_then_validity_then_guess() {
        let check = |bytes: &[u8], header, charset, how, text: &str| {
            let decoded = decode(bytes, header);
            assert_eq!((decoded.charset, decoded.how, &*decoded.text), (charset, how, text));
        };
        let latin = Some("text/html; charset=ISO-8859-1");
        check(b"\xef\xbb\xbf\xc3\xa9", latin, "UTF-8", CharsetSource::ByteOrderMark, "é");
        check(b"\xff\xfee\x00", None, "UTF-16LE", CharsetSource::ByteOrderMark, "e");
        check(b"\xe9", latin, "windows-1252", CharsetSource::Header, "é");
        check(b"\xe9", Some("text/html;Charset = \"latin1\""), "windows-1252", CharsetSource::Header, "é");
        check(b"\xc3\xa9", Some("text/html; charset=nonsense"), "UTF-8", CharsetSource::ValidUtf8, "é");
        check(b"caf\xc3\xa9 \xe7\xbd", None, "UTF-8", CharsetSource::ValidUtf8, "café \u{fffd}");
        assert_eq!(decode(b"caf\xe9 cr\xe8me", None).how, CharsetSource::Guess);
    }

    #[test]
    fn a_page_may_declare_its_own_encoding() {
        let check = |page: &str, charset| {
            let decoded = decode(page.as_bytes(), Some("text/html"));
            assert_eq!((decoded.charset, decoded.how), (charset, CharsetSource::Declaration), "{page}");
        };
        check("<META CharSet = koi8-r>", "KOI8-R");
        check("<meta http-equiv=Content-Type content='text/html; charset=gb2312'>", "GBK");
        check("<meta http-equiv=\"Content-Type\" content=\"text/html; charset=shift_jis\" />", "Shift_JIS");
        check("<!-- <meta charset=koi8-r> --><meta charset='big5'/>", "Big5");
        check("<?xml version=\"1.0\" encoding='ISO-8859-2'?><rss/>", "ISO-8859-2");
        check("<meta charset=utf-16>", "UTF-8");
        check("<meta charset=bogus><meta charset=euc-kr>", "EUC-KR");
    }

    proptest! {
        #[test]
        fn any_bytes_decode(bytes in proptest::collection::vec(any::<u8>(), 0..200), header in proptest::option::of(".{0,30}")) {
            let _ = decode(&bytes, header.as_deref());
        }

        #[test]
        fn any_declaration_decodes(soup in "(<|>|meta|charset|=|\"|'|<!--|-->|<\\?xml|encoding| ){0,20}") {
            let _ = decode(soup.as_bytes(), Some(&soup));
        }
    }
}
