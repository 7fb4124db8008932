//! Bytes to text, whatever is declared of them.
//!
//! Input: a line with the content type, then the body.
#![no_main]

use document::decode;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let line_end = input.iter().position(|byte| *byte == b'\n').unwrap_or(0);
    let content_type = std::str::from_utf8(&input[..line_end]).ok();
    let body = &input[line_end..];
    let decoded = decode(body, content_type);
    // One byte is at most one U+FFFD (3 bytes); encodings that hold more in a byte than UTF-8 does are multi-byte.
    assert!(decoded.text.len() <= 3 * body.len() + 3, "{} from {}", decoded.text.len(), body.len());
    assert!(!decoded.charset.is_empty());
    assert_eq!(decode(body, content_type), decoded);
});
