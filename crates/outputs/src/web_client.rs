//! Reads the answers of web servers that the operator names ([`daemon::web_client`]).

use std::time::{Duration, SystemTime};
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

/// The wait that an answer asks for by Retry-After.
pub(crate) fn retry_after<B>(response: &Response<B>) -> Option<Duration> {
    let value = response.headers().get("retry-after")?.to_str().ok()?;
    asked_wait(value, SystemTime::now())
}

/// The value of Retry-After: seconds, which some send with a fraction, or a date.
fn asked_wait(value: &str, now: SystemTime) -> Option<Duration> {
    if let Ok(seconds) = value.trim().parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = httpdate::parse_http_date(value.trim()).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_asked_for_in_seconds_or_by_a_date() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").expect("the example of the standard");
        let check = |value, expected| assert_eq!(asked_wait(value, now), expected, "{value}");
        check("120", Some(Duration::from_secs(120)));
        check(" 0.25", Some(Duration::from_millis(250)));
        check("Sun, 06 Nov 1994 08:50:07 GMT", Some(Duration::from_secs(30)));
        check("Sun, 06 Nov 1994 08:00:00 GMT", Some(Duration::ZERO));
        for nonsense in ["-1", "soon", "", "NaN", "1e300"] {
            check(nonsense, None);
        }
    }
}
