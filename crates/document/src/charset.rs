//! Detects the character encoding of a body and decodes it.
//!
//! Tried in this order: byte-order mark, HTTP header, declaration in the first 1024 bytes (`<meta charset>`, `<?xml
//! encoding?>`), valid UTF-8, and only then statistics. Statistics on every page would cost more than everything else
//! together.

use crate::other_encoding::OtherEncoding;
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use std::borrow::Cow;

/// How far into a page a declaration is searched for (WHATWG HTML, "prescan a byte stream").
const PRESCAN_BYTES: usize = 1024;
/// How much of a page the statistics see.
const GUESS_BYTES: usize = 64 * 1024;
/// How much of a page is searched for the zeros of UTF-16.
const ZEROS_BYTES: usize = 256;

/// The text of a page, borrowed if the bytes were UTF-8 already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedText<'a> {
    /// The text, with U+FFFD for undecodable bytes.
    pub text: Cow<'a, str>,
    /// The name of the encoding: that of the WHATWG standard, or the usual one if the standard lacks it.
    pub charset: &'static str,
    pub how: CharsetSource,
}

/// The evidence for an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CharsetSource {
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
pub fn decode<'a>(bytes: &'a [u8], content_type: Option<&str>) -> DecodedText<'a> {
    let (encoding, how, mark_length) = encoding_of(bytes, content_type);
    let bytes = &bytes[mark_length..];
    match encoding {
        Charset::Standard(encoding) => {
            let (text, _had_errors) = encoding.decode_without_bom_handling(bytes);
            DecodedText { text, charset: encoding.name(), how }
        }
        Charset::Other(encoding) => {
            DecodedText { text: Cow::Owned(encoding.decode(bytes)), charset: encoding.name(), how }
        }
    }
}

/// An encoding, within or beyond the WHATWG standard.
#[derive(Clone, Copy)]
enum Charset {
    Standard(&'static Encoding),
    Other(OtherEncoding),
}

impl Charset {
    fn for_label(label: &[u8]) -> Option<Self> {
        let other = || OtherEncoding::for_label(label).map(Self::Other);
        let standard = || {
            let label: &[u8] = match label.trim_ascii().to_ascii_lowercase().as_slice() {
                // Names that Python, Java and old mail programs give to standard encodings.
                b"maccyrillic" | b"mac-cyrillic" => b"x-mac-cyrillic",
                b"macroman" | b"mac-roman" => b"macintosh",
                b"cp932" | b"ms-kanji" => b"shift_jis",
                b"cp949" | b"uhc" => b"windows-949",
                b"cp936" | b"ms936" => b"gbk",
                _ => label,
            };
            Encoding::for_label(label).map(Self::Standard)
        };
        other().or_else(standard)
    }
}

/// The encoding of a body, the evidence for it, and the length of its byte-order mark.
fn encoding_of(bytes: &[u8], content_type: Option<&str>) -> (Charset, CharsetSource, usize) {
    let header = || content_type.and_then(|header| Charset::for_label(charset_parameter(header.as_bytes())?));
    if let Some((encoding, how)) = OtherEncoding::for_bytes(bytes) {
        (Charset::Other(encoding), how, 0)
    } else if let Some((encoding, mark_length)) = Encoding::for_bom(bytes) {
        (Charset::Standard(encoding), CharsetSource::ByteOrderMark, mark_length)
    } else if let Some(encoding) = header() {
        (encoding, CharsetSource::Header, 0)
    } else if let Some(encoding) = declared_encoding(&bytes[..bytes.len().min(PRESCAN_BYTES)]) {
        (encoding, CharsetSource::Declaration, 0)
    } else if let Some(encoding) = utf16_by_zeros(bytes) {
        (Charset::Standard(encoding), CharsetSource::Guess, 0)
    } else if is_utf8_so_far(bytes) && !announces_iso_2022_jp(bytes) {
        (Charset::Standard(UTF_8), CharsetSource::ValidUtf8, 0)
    } else {
        (Charset::Standard(guess(bytes)), CharsetSource::Guess, 0)
    }
}

/// Whether a body with zero bytes is still text: in UTF-16 or UTF-32.
pub(crate) fn is_wide(bytes: &[u8]) -> bool {
    let marked = Encoding::for_bom(bytes).is_some_and(|(encoding, _)| encoding != UTF_8);
    marked || utf16_by_zeros(bytes).is_some() || OtherEncoding::for_bytes(bytes).is_some()
}

/// Detects UTF-16 without a byte-order mark by the zeros in every second byte of markup and Latin characters.
fn utf16_by_zeros(bytes: &[u8]) -> Option<&'static Encoding> {
    let (units, _) = bytes[..bytes.len().min(ZEROS_BYTES)].as_chunks::<2>();
    let share = |place: usize| units.iter().filter(|unit| unit[place] == 0 && unit[1 - place] != 0).count() * 10;
    let most = units.len() * 9;
    match units.len() {
        0..4 => None,
        _ if share(0) >= most => Some(UTF_16BE),
        _ if share(1) >= most => Some(UTF_16LE),
        _ => None,
    }
}

/// Whether there are escape sequences of ISO-2022-JP, which are valid UTF-8.
fn announces_iso_2022_jp(bytes: &[u8]) -> bool {
    memchr::memchr_iter(0x1b, &bytes[..bytes.len().min(GUESS_BYTES)])
        .any(|at| matches!(bytes.get(at + 1..at + 3), Some([b'$', b'B' | b'@'] | [b'(', b'J'])))
}

/// Whether the bytes are UTF-8, possibly cut off in the middle of a character.
fn is_utf8_so_far(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).map_or_else(|error| error.error_len().is_none(), |_| true)
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
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

/// The encoding that a page declares. A page that claims UTF-16 in ASCII characters, or `x-user-defined`, is corrected as
/// browsers do.
fn declared_encoding(start: &[u8]) -> Option<Charset> {
    let encoding = match start.trim_ascii_start() {
        [b'<', b'?', b'x', b'm', b'l', declaration @ ..] => {
            xml_declaration(declaration).or_else(|| meta_charset(start))
        }
        _ => meta_charset(start),
    }?;
    Some(match encoding {
        Charset::Standard(encoding) if encoding == UTF_16BE || encoding == UTF_16LE => Charset::Standard(UTF_8),
        Charset::Standard(encoding) if encoding.name() == "x-user-defined" => Charset::Standard(WINDOWS_1252),
        encoding => encoding,
    })
}

fn xml_declaration(declaration: &[u8]) -> Option<Charset> {
    let declaration = &declaration[..memchr::memchr(b'>', declaration)?];
    let at = memchr::memmem::find(declaration, b"encoding")?;
    let value = declaration[at + b"encoding".len()..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let (quote, value) = value.split_first()?;
    if *quote != b'"' && *quote != b'\'' {
        return None;
    }
    Charset::for_label(&value[..memchr::memchr(*quote, value)?])
}

/// Finds `<meta charset=x>` and `<meta http-equiv=content-type content="text/html; charset=x">` outside comments.
fn meta_charset(start: &[u8]) -> Option<Charset> {
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
            if let Some(encoding) = Charset::for_label(label) {
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
