//! Detects the character encoding of a body and decodes it.
//!
//! Tried in this order: byte-order mark, HTTP header, declaration in the first 1024 bytes (`<meta charset>`, `<?xml
//! encoding?>`) or behind them, valid UTF-8, and only then statistics. Statistics on every page would cost more than everything else
//! together.

use crate::attributes::{byte_attributes, tag_length};
use crate::other_encoding::OtherEncoding;
use crate::raw_text::{ends_name, raw_end};
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
    } else if let Some(encoding) = late_declaration(bytes, content_type) {
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

/// The value of the parameter `charset` of a content type, quoted or not.
fn charset_parameter(content_type: &[u8]) -> Option<&[u8]> {
    charset_value(content_type, |before| !before.is_ascii_alphanumeric() && !matches!(before, b'-' | b'_'))
}

/// The value behind `charset=` where the byte before the word allows it (HTML standard, "extracting a character encoding from
/// a meta element").
fn charset_value(text: &[u8], may_follow: fn(u8) -> bool) -> Option<&[u8]> {
    const WORD: &[u8] = b"charset";
    let mut from = 0;
    loop {
        let at = from + find_ignoring_case(&text[from..], WORD)?;
        from = at + WORD.len();
        if at > 0 && !may_follow(text[at - 1]) {
            continue;
        }
        let Some(value) = text[from..].trim_ascii_start().strip_prefix(b"=") else { continue };
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

/// The encoding that an HTML page declares behind the first bytes. Browsers find it when they get there, and begin anew.
fn late_declaration(bytes: &[u8], content_type: Option<&str>) -> Option<Charset> {
    let is_other = content_type.is_some_and(|named| find_ignoring_case(named.as_bytes(), b"html").is_none());
    if is_other || bytes.len() <= PRESCAN_BYTES {
        return None;
    }
    meta_charset(&bytes[..bytes.len().min(GUESS_BYTES)], RawTexts::Skipped).map(corrected)
}

/// The encoding that a page declares. A page that claims UTF-16 in ASCII characters, or `x-user-defined`, is corrected as
/// browsers do.
fn declared_encoding(start: &[u8]) -> Option<Charset> {
    let encoding = match start.trim_ascii_start() {
        [b'<', b'?', b'x', b'm', b'l', declaration @ ..] => {
            xml_declaration(declaration).or_else(|| meta_charset(start, RawTexts::Read))
        }
        _ => meta_charset(start, RawTexts::Read),
    };
    encoding.map(corrected)
}

fn corrected(encoding: Charset) -> Charset {
    match encoding {
        Charset::Standard(encoding) if encoding == UTF_16BE || encoding == UTF_16LE => Charset::Standard(UTF_8),
        Charset::Standard(encoding) if encoding.name() == "x-user-defined" => Charset::Standard(WINDOWS_1252),
        encoding => encoding,
    }
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

/// Whether tags within scripts and styles count. In the first bytes they do, by the standard.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RawTexts {
    Read,
    Skipped,
}

/// Elements whose text has no tags.
const RAW: [&[u8]; 8] = [b"script", b"style", b"title", b"textarea", b"xmp", b"iframe", b"noembed", b"noframes"];

/// Finds `<meta charset=x>` and `<meta http-equiv=content-type content="text/html; charset=x">` outside comments (HTML
/// standard, "prescan a byte stream to determine its encoding").
fn meta_charset(start: &[u8], raw_texts: RawTexts) -> Option<Charset> {
    let mut at = 0;
    loop {
        at += memchr::memchr(b'<', &start[at..])?;
        let rest = &start[at..];
        if rest.starts_with(b"<!--") {
            at += memchr::memmem::find(&rest[2..], b"-->")? + 5;
            continue;
        }
        let name_at = if rest.starts_with(b"</") { 2 } else { 1 };
        let name_end = match rest.get(name_at) {
            Some(byte) if byte.is_ascii_alphabetic() => {
                name_at + rest[name_at..].iter().position(|&byte| ends_name(byte))?
            }
            Some(b'!' | b'?' | b'/') => {
                at += memchr::memchr(b'>', rest)? + 1;
                continue;
            }
            _ => {
                at += 1;
                continue;
            }
        };
        let (name, attributes) = (&rest[name_at..name_end], &rest[name_end..]);
        let length = tag_length(attributes)?;
        if name_at == 1
            && name.eq_ignore_ascii_case(b"meta")
            && let Some(encoding) = declared_by_meta(&attributes[..length])
        {
            return Some(encoding);
        }
        at += name_end + length;
        let is_raw = name_at == 1 && RAW.iter().any(|raw| name.eq_ignore_ascii_case(raw));
        if is_raw && raw_texts == RawTexts::Skipped {
            at = raw_end(start, at, name);
        }
    }
}

/// The encoding that the attributes of a `<meta>` declare. The first of duplicates counts.
fn declared_by_meta(attributes: &[u8]) -> Option<Charset> {
    let [mut pragma, mut content, mut charset] = [None; 3];
    for (name, value) in byte_attributes(attributes) {
        for (known, found) in
            [(&b"http-equiv"[..], &mut pragma), (b"content", &mut content), (b"charset", &mut charset)]
        {
            if found.is_none() && name.eq_ignore_ascii_case(known) {
                *found = Some(value);
            }
        }
    }
    match (charset, pragma) {
        (Some(label), _) => Charset::for_label(label),
        (None, Some(pragma)) if pragma.eq_ignore_ascii_case(b"content-type") => {
            Charset::for_label(charset_value(content?, |_| true)?)
        }
        _ => None,
    }
}

/// HTML that was made of a document.
pub(crate) fn of_html<'a>(html: String) -> DecodedText<'a> {
    DecodedText { text: Cow::Owned(html), charset: "UTF-8", how: CharsetSource::Declaration }
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
        check("<link title='a > b <meta charset=big5>'><meta charset=koi8-r>", "KOI8-R");
        check("</p charset=big5><? x><!x><meta/charset=koi8-r>", "KOI8-R");
        check("<meta content='text/html; charset=koi8-r' x='y' HTTP-EQUIV=content-type>", "KOI8-R");
        check("<meta charset=koi8-r charset=big5 http-equiv=content-type content='charset=gbk'>", "KOI8-R");
    }

    #[test]
    fn only_an_attribute_of_its_own_or_a_pragma_declares_an_encoding() {
        let check = |page: &str| {
            let decoded = decode(page.as_bytes(), Some("text/html"));
            assert_eq!((decoded.charset, decoded.how), ("UTF-8", CharsetSource::ValidUtf8), "{page}");
        };
        check("<meta name=keywords content='charset=gbk'>é");
        check("<meta data-charset=gbk content=x>é");
        check("<meta title='charset=gbk'>é");
        check("<meta http-equiv=refresh content='0; url=/?charset=gbk'>é");
        check("<metadata charset=gbk>é");
        check("<p charset=gbk>é</p><script charset=gbk></script>");
        check("<!-- <meta charset=gbk> -->é<meta charset=gbk");
        let by_header = |header| decode(b"\xc3\xa9", Some(header)).how;
        assert_eq!(by_header("text/html; xcharset=gbk"), CharsetSource::ValidUtf8);
        assert_eq!(by_header("text/html; xcharset=gbk; charset=gbk"), CharsetSource::Header);
    }

    #[test]
    fn a_declaration_behind_much_else_is_found_where_it_counts() {
        let much = "a{color:red}\n".repeat(1_000);
        let check = |head: &str, kind, expected| {
            let page = [head.as_bytes(), b"<p>\xa4\xbd"].concat();
            assert_eq!(decode(&page, Some(kind)).charset, expected, "{kind} {}", &head[head.len() - 60..]);
        };
        check(&format!("<style>{much}</style><meta charset=iso-8859-15>"), "text/html", "ISO-8859-15");
        check(&format!("<!-- {much} --><meta charset=iso-8859-15>"), "text/html", "ISO-8859-15");
        let in_script = format!("<style>{much}</style><script>'<meta charset=iso-8859-15>'</script>");
        assert_ne!(decode([in_script.as_bytes(), b"\xa4"].concat().as_slice(), None).charset, "ISO-8859-15");
        let listing = format!("{much}<meta charset=iso-8859-15>é");
        assert_eq!(decode(listing.as_bytes(), Some("text/plain")).charset, "UTF-8");
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
