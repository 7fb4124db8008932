//! Converts bytes to text with a check faster than the standard library's.

/// Converts bytes to text. Panics unless they are UTF-8.
pub fn text_of(bytes: Vec<u8>) -> String {
    assert_eq!(encoding_rs::Encoding::utf8_valid_up_to(&bytes), bytes.len(), "text is UTF-8");
    // SAFETY: the bytes were just checked to be UTF-8.
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
