//! Encodings that occur in pages but are absent from the WHATWG Encoding Standard, and so from encoding_rs.

use crate::charset::CharsetSource;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OtherEncoding {
    Utf32Be,
    Utf32Le,
    Ibm855,
    Iso2022Kr,
}

impl OtherEncoding {
    /// Finds an encoding by its label, ignoring case.
    pub(crate) fn for_label(label: &[u8]) -> Option<Self> {
        match label.trim_ascii().to_ascii_lowercase().as_slice() {
            b"utf-32be" => Some(Self::Utf32Be),
            b"utf-32le" | b"utf-32" => Some(Self::Utf32Le),
            b"ibm855" | b"cp855" | b"855" => Some(Self::Ibm855),
            b"iso-2022-kr" | b"csiso2022kr" => Some(Self::Iso2022Kr),
            _ => None,
        }
    }

    /// Detects an encoding by marks that no text in another encoding has. For UTF-32: the byte-order mark, or the zeros
    /// around Latin characters and markup. For ISO-2022-KR: its announcing escape sequence.
    pub(crate) fn for_bytes(bytes: &[u8]) -> Option<(Self, CharsetSource)> {
        match *bytes {
            [0xff, 0xfe, 0, 0, ..] => return Some((Self::Utf32Le, CharsetSource::ByteOrderMark)),
            [0, 0, 0xfe, 0xff, ..] => return Some((Self::Utf32Be, CharsetSource::ByteOrderMark)),
            [0x1b, b'$', b')', b'C', ..] => return Some((Self::Iso2022Kr, CharsetSource::Declaration)),
            _ => {}
        }
        let start = &bytes[..bytes.len().min(64)];
        let all = |is: fn(&[u8; 4]) -> bool| start.len() >= 8 && start.as_chunks().0.iter().all(is);
        if all(|unit| unit[..3] == [0; 3] && unit[3] != 0) {
            Some((Self::Utf32Be, CharsetSource::Guess))
        } else if all(|unit| unit[1..] == [0; 3] && unit[0] != 0) {
            Some((Self::Utf32Le, CharsetSource::Guess))
        } else {
            None
        }
    }

    /// The usual name of the encoding.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Utf32Be => "UTF-32BE",
            Self::Utf32Le => "UTF-32LE",
            Self::Ibm855 => "IBM855",
            Self::Iso2022Kr => "ISO-2022-KR",
        }
    }

    pub(crate) fn decode(self, bytes: &[u8]) -> String {
        match self {
            Self::Utf32Be => utf32(bytes, u32::from_be_bytes),
            Self::Utf32Le => utf32(bytes, u32::from_le_bytes),
            Self::Ibm855 => bytes.iter().filter_map(|&byte| ibm855(byte)).collect(),
            Self::Iso2022Kr => iso_2022_kr(bytes),
        }
    }
}

fn utf32(bytes: &[u8], unit: fn([u8; 4]) -> u32) -> String {
    let (units, rest) = bytes.as_chunks();
    let character = |bytes: &[u8; 4]| char::from_u32(unit(*bytes)).unwrap_or(char::REPLACEMENT_CHARACTER);
    let cut_off = (!rest.is_empty()).then_some(char::REPLACEMENT_CHARACTER);
    units.iter().map(character).chain(cut_off).skip_while(|&character| character == '\u{feff}').collect()
}

/// The upper half of IBM code page 855 (Cyrillic), in order.
const IBM855: &str = "\
    ђЂѓЃёЁєЄѕЅіІїЇјЈљЉњЊћЋќЌўЎџЏюЮъЪ\
    аАбБцЦдДеЕфФгГ«»░▒▓│┤хХиИ╣║╗╝йЙ┐\
    └┴┬├─┼кК╚╔╩╦╠═╬¤лЛмМнНоОп┘┌█▄Пя▀\
    ЯрРсСтТуУжЖвВьЬ№\u{ad}ыЫзЗшШэЭщЩчЧ§■\u{a0}";

fn ibm855(byte: u8) -> Option<char> {
    if byte.is_ascii() { Some(char::from(byte)) } else { IBM855.chars().nth(usize::from(byte) - 128) }
}

/// RFC 1557: between shift-out and shift-in are the characters of KS X 1001, which is EUC-KR without its high bits.
fn iso_2022_kr(bytes: &[u8]) -> String {
    let body = bytes.strip_prefix(b"\x1b$)C").unwrap_or(bytes);
    let mut shifted = false;
    let mut euc_kr = Vec::with_capacity(body.len());
    for &byte in body {
        match byte {
            0x0e => shifted = true,
            0x0f | b'\n' => shifted = false,
            _ => {}
        }
        match byte {
            0x0e | 0x0f => {}
            b'!'..=b'~' if shifted => euc_kr.push(byte | 0x80),
            _ => euc_kr.push(byte),
        }
    }
    encoding_rs::EUC_KR.decode_without_bom_handling(&euc_kr).0.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn code_page_855_has_each_character_once() {
        let characters: std::collections::BTreeSet<char> = IBM855.chars().collect();
        assert_eq!((IBM855.chars().count(), characters.len()), (128, 128));
        // RFC 1345: а б ц at 0xA0, 0xA2, 0xA4; № at 0xEF.
        assert_eq!(OtherEncoding::Ibm855.decode(b"\xa0\xa2\xa4 A \xef"), "абц A №");
    }

    #[test]
    fn utf_32_and_iso_2022_kr_are_known_by_their_bytes() {
        let check = |bytes: &[u8], encoding, text: &str| {
            assert_eq!(OtherEncoding::for_bytes(bytes).map(|(encoding, _)| encoding), Some(encoding));
            assert_eq!(encoding.decode(bytes), text);
        };
        check(b"\0\0\0a\0\0\0b", OtherEncoding::Utf32Be, "ab");
        check(b"a\0\0\0b\0\0\0\0", OtherEncoding::Utf32Le, "ab\u{fffd}");
        check(b"\xff\xfe\0\0\xe9\0\0\0", OtherEncoding::Utf32Le, "é");
        check(b"\x1b$)C\x0e0!\x0f a\x0e0\"\n0", OtherEncoding::Iso2022Kr, "가 a각\n0");
        assert_eq!(OtherEncoding::for_bytes(b"a\0b\0c\0d\0"), None);
        assert_eq!(OtherEncoding::for_bytes(b"plain text"), None);
    }

    proptest! {
        #[test]
        fn any_bytes_decode(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = OtherEncoding::for_bytes(&bytes);
            for encoding in [OtherEncoding::Utf32Be, OtherEncoding::Utf32Le, OtherEncoding::Ibm855, OtherEncoding::Iso2022Kr] {
                let _ = encoding.decode(&bytes);
            }
        }
    }
}
