//! Bytes to text, checked sooner than by the standard library.

/// The text that bytes are, which must be UTF-8.
pub fn text_of(bytes: Vec<u8>) -> String {
    assert_eq!(encoding_rs::Encoding::utf8_valid_up_to(&bytes), bytes.len(), "text is UTF-8");
    // SAFETY: it has just been found to be UTF-8.
    unsafe { String::from_utf8_unchecked(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_comes_back() {
        assert_eq!(text_of("plain, é, 网页".into()), "plain, é, 网页");
    }

    #[test]
    #[should_panic(expected = "text is UTF-8")]
    fn what_is_no_text_is_refused() {
        text_of(vec![b'a', 0xe7, 0xbd]);
    }
}
