//! Reads the answers of web servers that the operator names ([`daemon::web_client`]).

use ureq::Body;
use ureq::http::Response;

/// How much of an answer is shown when it is a failure, in bytes.
const SHOWN_BYTES: u64 = 300;
/// How much of an answer is read only for the sake of the connection, in bytes.
const PASSED_OVER_BYTES: u64 = 64 << 10;

/// The beginning of an answer, for people.
pub(crate) fn said(response: &mut Response<Body>) -> String {
    let mut text = Vec::new();
    let reader = response.body_mut().as_reader();
    // What came before a failure is worth showing.
    let _ = std::io::Read::read_to_end(&mut std::io::Read::take(reader, SHOWN_BYTES), &mut text);
    one_line(&String::from_utf8_lossy(&text))
}

/// A text as it follows a sentence, on one line. Empty for none.
pub(crate) fn one_line(text: &str) -> String {
    let words = text.split(|character: char| character.is_whitespace() || character.is_control());
    let line = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    if line.is_empty() { line } else { format!(": {line}") }
}

/// Reads an answer to its end, so that the connection can be used again.
pub(crate) fn pass_over(response: &mut Response<Body>) {
    let _ = response.body_mut().with_config().limit(PASSED_OVER_BYTES).read_to_vec();
}
