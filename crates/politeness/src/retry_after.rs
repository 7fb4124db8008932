//! The `Retry-After` header: seconds, or a date (RFC 9110 §10.2.3).

use page::{DAY, Timestamp};
use std::time::{Duration, UNIX_EPOCH};

/// The longest wait accepted from one response.
pub const MAX_RETRY_AFTER: Duration = DAY;

/// The wait from `now` that the server asks for, at most [`MAX_RETRY_AFTER`]. Zero for a date in the past. `None` for
/// an invalid value.
pub fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    let wait = if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // All digits, so parsing fails only on overflow.
        value.parse().map_or(MAX_RETRY_AFTER, Duration::from_secs)
    } else {
        let since_epoch = httpdate::parse_http_date(value).ok()?.duration_since(UNIX_EPOCH).ok()?;
        (Timestamp::from_micros(0) + since_epoch).saturating_since(now)
    };
    Some(wait.min(MAX_RETRY_AFTER))
}

#[cfg(test)]
mod tests {
    use super::*;
    use page::MINUTE;

    #[test]
    fn seconds_and_dates_are_understood_and_bounded() {
        // Sun, 06 Nov 1994 08:49:37 GMT
        let now = Timestamp::from_secs(784_111_777);
        let check = |value, expected| assert_eq!(retry_after(value, now), expected, "{value}");
        check("120", Some(2 * MINUTE));
        check(" 0 ", Some(Duration::ZERO));
        check("99999999999999999999999", Some(DAY));
        check("Sun, 06 Nov 1994 08:50:37 GMT", Some(MINUTE));
        check("Sunday, 06-Nov-94 08:50:37 GMT", Some(MINUTE));
        check("Sun Nov  6 08:50:37 1994", Some(MINUTE));
        check("Sun, 06 Nov 1994 08:00:00 GMT", Some(Duration::ZERO));
        check("Sat, 06 Nov 2094 08:00:00 GMT", Some(DAY));
        check("-5", None);
        check("soon", None);
        check("", None);
    }
}
