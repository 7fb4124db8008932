//! Parses the dates of sitemaps (W3C datetime, ISO 8601) and feeds (RFC 3339, RFC 2822).

use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::rfc2822;
use jiff::fmt::temporal::Pieces;
use jiff::tz::Offset;

/// Converts a date to RFC 3339 in UTC. A missing month, day or time is the first one. `None` for an invalid date.
pub(crate) fn utc(written: &str) -> Option<String> {
    let written = written.trim();
    iso(written).or_else(|| month(written)).or_else(|| {
        let zoned = rfc2822::DateTimeParser::new().relaxed_weekday(true).parse_zoned(written).ok()?;
        Some(zoned.timestamp().to_string())
    })
}

fn iso(written: &str) -> Option<String> {
    let pieces = Pieces::parse(written).ok()?;
    let time = pieces.date().to_datetime(pieces.time().unwrap_or_default());
    in_utc(time, pieces.to_numeric_offset().unwrap_or(Offset::UTC))
}

/// `2026` and `2026-11`.
fn month(written: &str) -> Option<String> {
    let (year, month) = written.split_once('-').unwrap_or((written, "01"));
    if year.len() != 4 || month.len() != 2 {
        return None;
    }
    let date = Date::new(year.parse().ok()?, month.parse().ok()?, 1).ok()?;
    in_utc(date.to_datetime(Time::midnight()), Offset::UTC)
}

fn in_utc(time: DateTime, offset: Offset) -> Option<String> {
    Some(offset.to_timestamp(time).ok()?.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_all_forms_of_the_protocols() {
        for (written, expected) in [
            ("2026", Some("2026-01-01T00:00:00Z")),
            ("2026-11", Some("2026-11-01T00:00:00Z")),
            (" 2026-11-21\n", Some("2026-11-21T00:00:00Z")),
            ("2026-11-21T08:30+02:00", Some("2026-11-21T06:30:00Z")),
            ("2026-11-21T08:30:15.25Z", Some("2026-11-21T08:30:15.25Z")),
            ("2026-11-21 08:30:15", Some("2026-11-21T08:30:15Z")),
            ("Sat, 21 Nov 2026 08:30:15 -0500", Some("2026-11-21T13:30:15Z")),
            ("Mon, 21 Nov 2026 08:30:15 GMT", Some("2026-11-21T08:30:15Z")),
            ("21 Nov 2026 08:30 EST", Some("2026-11-21T13:30:00Z")),
            ("2026-13", None),
            ("20-26", None),
            ("recently", None),
            ("", None),
        ] {
            assert_eq!(utc(written).as_deref(), expected, "{written}");
        }
    }
}
