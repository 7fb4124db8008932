//! Answers of any bytes over HTTP/1.1: the same however they are cut into pieces, for work in proportion to their length.
//!
//! Input: a byte whose lowest bits say whether the connection ends after the answer and whether heads may be long, a byte
//! for the size of the pieces, then all that the server sends.
#![no_main]

use fetcher::fuzzing::{AnswerEnd, Pieces, Reading, parsed_bytes, read_http1};
use libfuzzer_sys::fuzz_target;

/// Most heads of an answer, interim ones included.
const MAX_HEADS: usize = 12;

fuzz_target!(|input: &[u8]| {
    let [form, size, answer @ ..] = input else { return };
    let is_closed = form & 1 == 1;
    let max_head = if form & 2 == 2 { 64 << 10 } else { 1 << 10 };
    let read = |size: usize| read_http1(Pieces::new(answer.chunks(size), is_closed), max_head);

    parsed_bytes();
    let whole = read(answer.len().max(1));
    is_sound(&whole, answer, is_closed);
    parsed_bytes();
    assert_eq!(read(usize::from(*size) + 2), whole);
    // A head is parsed again when as much has come again, and what follows it is looked at with it.
    assert!(parsed_bytes() <= 3 * MAX_HEADS * answer.len());
    assert_eq!(read(1), whole);
    assert!(parsed_bytes() <= 3 * answer.len());
});

fn is_sound(reading: &Reading, answer: &[u8], is_closed: bool) {
    assert!(reading.body.len() <= answer.len());
    match reading.end {
        AnswerEnd::Whole => assert!(reading.status.is_some() && !(is_closed && reading.is_reusable)),
        AnswerEnd::Closed => assert!(is_closed && !reading.is_reusable),
        AnswerEnd::Silent => assert!(!is_closed && !reading.is_reusable),
        AnswerEnd::Malformed => assert!(!reading.is_reusable),
    }
}
