//! `Last-Modified` as it is kept: almost all are in one form, of which the second says everything.

use std::time::{Duration, UNIX_EPOCH};

/// Begins a date that is kept as seconds since 1970.
const SHORT: char = '@';
/// The last second of the year 9999, beyond which the form has no room for the year.
const LAST_S: u64 = 253_402_300_799;

/// The form to keep: `@` and seconds for a date in the preferred form of RFC 9110 (5.6.7), which is the same text again
/// when it is read; anything else as it is, with another `@` before one.
pub(crate) fn kept(text: &str) -> String {
    let since_1970 = httpdate::parse_http_date(text).ok().and_then(|date| date.duration_since(UNIX_EPOCH).ok());
    match since_1970.map(|since| format!("{SHORT}{}", since.as_secs())) {
        Some(short) if sent(&short) == text => short,
        _ if text.starts_with(SHORT) => format!("{SHORT}{text}"),
        _ => text.to_owned(),
    }
}

/// The text that [`kept`] was given.
pub(crate) fn sent(kept: &str) -> String {
    let Some(rest) = kept.strip_prefix(SHORT) else { return kept.to_owned() };
    match rest.parse() {
        Ok(seconds) if seconds <= LAST_S => httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(seconds)),
        _ => rest.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_date_takes_eleven_bytes() {
        assert_eq!(kept("Sun, 06 Nov 1994 08:49:37 GMT"), "@784111777");
    }

    proptest! {
        #[test]
        fn whatever_a_server_sends_is_what_it_is_sent_again(
            text in prop_oneof![
                ".{0,40}",
                "@{0,3}[0-9+-]{0,22}",
                "(Sun|Mon|Tue), [0-9]{2} (Nov|Feb) [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT",
                (0..=LAST_S).prop_map(|s| httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(s))),
            ],
        ) {
            prop_assert_eq!(sent(&kept(&text)), text);
        }
    }
}
