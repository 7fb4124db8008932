//! Heads as an archive keeps them: bounded, whole lines, and without the password.
//!
//! Input: a line with a validator that the server sent earlier, then all that it sends.
#![no_main]

use fetcher::fuzzing::{KeptHeads, keep_heads};
use libfuzzer_sys::fuzz_target;

const MOST_KEPT: usize = 16 << 10;
const MAX_HEAD: usize = 64 << 10;

fuzz_target!(|input: &[u8]| {
    let end = input.iter().position(|byte| *byte == b'\n').unwrap_or(0);
    let (etag, answer) = input.split_at(end);
    let Some(kept) = keep_heads(&String::from_utf8_lossy(etag), answer, MAX_HEAD) else { return };
    let KeptHeads { request, response, is_cut, is_head } = kept;

    assert!(request.starts_with(b"GET /page HTTP/1.1\r\n") && request.ends_with(b"\r\n"));
    let lines: Vec<_> = request.split(|byte| *byte == b'\n').collect();
    assert!(!lines.iter().any(|line| line.to_ascii_lowercase().starts_with(b"authorization")));
    // Behind the last line feed there is nothing.
    assert_eq!(lines.iter().filter(|line| line.is_empty() || **line == b"\r").count(), 1);

    assert!(request.len() <= MOST_KEPT && response.len() <= MOST_KEPT);
    // Empty lines in front are not kept, and one behind.
    let first_line = answer.iter().position(|byte| !matches!(byte, b'\r' | b'\n')).unwrap_or(answer.len());
    assert!(is_cut || is_head || answer.len() - first_line <= MOST_KEPT + 2);
    assert!(!response.first().is_some_and(|byte| matches!(byte, b'\r' | b'\n')));
    assert!(response.is_empty() || answer.windows(response.len()).any(|part| part == response));
    // Half a line could say anything.
    assert!(!is_head || response.is_empty() || response.ends_with(b"\n"));
});
