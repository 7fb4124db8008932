//! Texts of a document outside its pages.

/// A text string (ISO 32000-2, 7.9.2.2): UTF-16 or UTF-8 with a mark, or else PDFDocEncoding. That is read as windows-1252,
/// as which many programs write it: they agree on most characters, and not on the signs from 0x80 to 0x9f.
pub(crate) fn text_string(bytes: &[u8]) -> String {
    // A mark of the order of bytes overrules the name.
    encoding_rs::WINDOWS_1252.decode(bytes).0.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_string_is_read_by_its_mark() {
        for bytes in [b"\xfe\xff\0c\0a\0f\0\xe9".as_slice(), "\u{feff}café".as_bytes(), b"caf\xe9"] {
            assert_eq!(text_string(bytes), "café");
        }
    }
}
