//! Parses the dates of sitemaps (W3C datetime, ISO 8601) and feeds (RFC 3339, RFC 2822), and what is near to them.

use crate::loose_dates::{self, DateParts};
use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::rfc2822;
use jiff::fmt::temporal::Pieces;
use jiff::tz::Offset;

const DAY_S: i64 = 86_400;
/// Longest text that is read as a date.
const MAX_DATE_BYTES: usize = 100;

/// A date as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenDate {
    /// Its first second, in RFC 3339 and UTC.
    pub(crate) utc: String,
    /// Length of what it leaves open, in seconds: 0 with a time, else a day, month or year.
    pub(crate) open_s: i64,
}

/// Reads a date. A missing month, day or time is the first one. `None` for an invalid date.
pub(crate) fn read(written: &str) -> Option<WrittenDate> {
    let written = written.trim();
    if written.len() > MAX_DATE_BYTES {
        return None;
    }
    let by_standards = iso(written).or_else(|| month(written)).or_else(|| {
        let zoned = rfc2822::DateTimeParser::new().relaxed_weekday(true).parse_zoned(written).ok()?;
        Some(WrittenDate { utc: zoned.timestamp().to_string(), open_s: 0 })
    });
    let loose = || loose_dates::year_first(written).or_else(|| loose_dates::worded(written));
    by_standards.or_else(|| of_parts(&loose()?))
}

/// A time without a zone is UTC. A day in a zone begins when it begins there.
fn of_parts(parts: &DateParts) -> Option<WrittenDate> {
    let midnight = Offset::UTC.to_timestamp(parts.midnight()).ok()?.as_second();
    let first_s = midnight + parts.time_s.unwrap_or(0) - parts.offset_s.unwrap_or(0);
    let utc = jiff::Timestamp::from_second(first_s).ok()?.to_string();
    Some(WrittenDate { utc, open_s: if parts.time_s.is_none() { DAY_S } else { 0 } })
}

fn iso(written: &str) -> Option<WrittenDate> {
    let pieces = Pieces::parse(written).ok()?;
    let time = pieces.date().to_datetime(pieces.time().unwrap_or_default());
    let utc = in_utc(time, pieces.to_numeric_offset().unwrap_or(Offset::UTC))?;
    Some(WrittenDate { utc, open_s: if pieces.time().is_none() { DAY_S } else { 0 } })
}

/// `2026` and `2026-11`.
fn month(written: &str) -> Option<WrittenDate> {
    let (year, month, days) = match written.split_once('-') {
        Some((year, month)) => (year, month, 31),
        None => (written, "01", 366),
    };
    if year.len() != 4 || month.len() != 2 {
        return None;
    }
    let date = Date::new(year.parse().ok()?, month.parse().ok()?, 1).ok()?;
    Some(WrittenDate { utc: in_utc(date.to_datetime(Time::midnight()), Offset::UTC)?, open_s: days * DAY_S })
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
            assert_eq!(read(written).map(|date| date.utc).as_deref(), expected, "{written}");
        }
    }

    #[test]
    fn dates_are_read_as_the_world_writes_them() {
        for (written, expected) in [
            ("2026-11-21Z", Some("2026-11-21T00:00:00Z")),
            ("2026-11-21-05:00", Some("2026-11-21T05:00:00Z")),
            ("2026-11-21T24:00:00Z", Some("2026-11-22T00:00:00Z")),
            ("2026-1-2 3:4:5", Some("2026-01-02T03:04:05Z")),
            ("2026/11/21", Some("2026-11-21T00:00:00Z")),
            ("2026.11.21 08:30 +0200", Some("2026-11-21T06:30:00Z")),
            ("2026-11-21 08:30:15 UTC", Some("2026-11-21T08:30:15Z")),
            ("2026-11-21T08:30:15+0200", Some("2026-11-21T06:30:15Z")),
            ("Sat, 21 Nov 2026 8:30:15 -0500", Some("2026-11-21T13:30:15Z")),
            ("Sat, 21 Nov 2026 8:3:5 Z", Some("2026-11-21T08:03:05Z")),
            ("Saturday, 21 November 2026 08:30:15 +01:00", Some("2026-11-21T07:30:15Z")),
            ("Sat, 21 Nov 2026 08:30:15", Some("2026-11-21T08:30:15Z")),
            ("21 Sept. 2026", Some("2026-09-21T00:00:00Z")),
            ("Sat Nov 21 08:30:15 2026", Some("2026-11-21T08:30:15Z")),
            ("Sat Nov 21 2026 08:30:15 GMT+0100 (Central European Standard Time)", Some("2026-11-21T07:30:15Z")),
            ("November 21st, 2026 at 8:30 pm", Some("2026-11-21T20:30:00Z")),
            ("Nov 21, 2026 12:05 AM EST", Some("2026-11-21T05:05:00Z")),
            ("21-Nov-26 08:30:15 CEST", Some("2026-11-21T06:30:15Z")),
            ("Lör, 21 Nov 2026 08:30:15 GMT", Some("2026-11-21T08:30:15Z")),
            ("02/06/2026", None),
            ("Sa, 21 Dez 2026", None),
            ("31 Feb 2026", None),
            ("Nov 2026", None),
            ("21 Nov 2026 25:00", None),
            ("21 Nov 2026 08:30 08:31", None),
            ("2026-11-21 soon", None),
            ("2026-11-21T8", None),
            ("the 21 Nov 2026 edition", None),
        ] {
            assert_eq!(read(written).map(|date| date.utc).as_deref(), expected, "{written}");
        }
    }

    #[test]
    fn a_date_without_a_time_leaves_the_day_open() {
        let open_days = |written| read(written).map(|date| date.open_s / DAY_S);
        assert_eq!(open_days("2026-11-21"), Some(1));
        assert_eq!((open_days("2026-11-21+02:00"), open_days("Nov 21, 2026")), (Some(1), Some(1)));
        assert_eq!(open_days("2026-11-21T00:00:00Z"), Some(0));
        assert_eq!(open_days("Sat, 21 Nov 2026 08:30:15 -0500"), Some(0));
        assert_eq!((open_days("2026-11"), open_days("2026")), (Some(31), Some(366)));
    }
}
