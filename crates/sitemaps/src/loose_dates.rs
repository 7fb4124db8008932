//! Dates nearly as the standards have them: what servers send that the strict forms leave out.
//!
//! The order of the numbers must be certain: the year first, or a month in English words. `02/06/2026` is two days in two
//! countries, and none here.

use jiff::civil::{Date, Time};

/// Parts of a date, as written.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct DateParts {
    pub(crate) date: Date,
    /// Seconds since midnight, up to 24 hours. `None`: no time.
    pub(crate) time_s: Option<i64>,
    /// Seconds that the clock is ahead of UTC. `None`: no zone.
    pub(crate) offset_s: Option<i64>,
}

/// Reads a date with the year first: `2026-2-1`, `2026/02/01 8:05`, `2026-02-01Z`, `2026-02-01T24:00:00+02`.
pub(crate) fn year_first(written: &str) -> Option<DateParts> {
    let (year, rest) = digits(written, 4, 4)?;
    let sign = rest.chars().next().filter(|sign| matches!(sign, '-' | '/' | '.'))?;
    let (month, rest) = digits(&rest[1..], 1, 2)?;
    let (day, rest) = digits(rest.strip_prefix(sign)?, 1, 2)?;
    let date = Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()?;
    let rest = rest.trim_start_matches(['T', 't', ' ', '_']);
    match time(rest) {
        Some((time_s, rest)) => Some(DateParts { date, time_s: Some(time_s), offset_s: zone_or_none(rest)? }),
        None => Some(DateParts { date, time_s: None, offset_s: zone_or_none(rest)? }),
    }
}

/// Reads a date with an English month: RFC 822 and its kin, `ctime`, JavaScript's, and `June 2nd, 2026 at 8:05 pm`.
pub(crate) fn worded(written: &str) -> Option<DateParts> {
    let mut parts = WordedParts::default();
    let without_comments = written.split('(').next().unwrap_or_default();
    for (number, word) in
        without_comments.split([' ', '\t', '\n', '\r', ',']).filter(|word| !word.is_empty()).enumerate()
    {
        let pieces: Vec<&str> = word.split('-').collect();
        match pieces[..] {
            [day, name, year] if month(name).is_some() => {
                [day, name, year].iter().try_for_each(|it| parts.take(it, 1))?
            }
            _ => parts.take(word, number)?,
        }
    }
    let date = Date::new(parts.year?, parts.month?, parts.day?).ok()?;
    let time_s = match (parts.time_s, parts.is_pm) {
        (Some(time_s), Some(is_pm)) if time_s < 13 * HOUR_S => {
            Some(time_s % (12 * HOUR_S) + if is_pm { 12 * HOUR_S } else { 0 })
        }
        (time_s, _) => time_s,
    };
    Some(DateParts { date, time_s, offset_s: parts.offset_s })
}

const HOUR_S: i64 = 3_600;
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
/// Hours that zones of this name are ahead of UTC. Other names are unknown, and UTC by RFC 5322.
const ZONES: [(&str, i64); 14] = [
    ("EST", -5),
    ("EDT", -4),
    ("CST", -6),
    ("CDT", -5),
    ("MST", -7),
    ("MDT", -6),
    ("PST", -8),
    ("PDT", -7),
    ("CET", 1),
    ("CEST", 2),
    ("BST", 1),
    ("JST", 9),
    ("MSK", 3),
    ("AEST", 10),
];

#[derive(Default)]
struct WordedParts {
    year: Option<i16>,
    month: Option<i8>,
    day: Option<i8>,
    time_s: Option<i64>,
    is_pm: Option<bool>,
    offset_s: Option<i64>,
}

impl WordedParts {
    /// Takes a word. `None` if a date has no such word in this place.
    fn take(&mut self, word: &str, number: usize) -> Option<()> {
        let bare = word.trim_end_matches('.');
        if let Some((time_s, rest)) = time(bare).filter(|_| self.time_s.is_none()) {
            self.time_s = Some(time_s);
            return if rest.is_empty() { Some(()) } else { self.take(rest, number) };
        }
        if self.month.is_none()
            && let Some(month) = month(bare)
        {
            self.month = Some(month);
            return Some(());
        }
        let lower = bare.to_ascii_lowercase();
        if self.time_s.is_some() {
            match lower.as_str() {
                "am" | "a.m" | "pm" | "p.m" => {
                    self.is_pm = Some(lower.starts_with('p'));
                    return Some(());
                }
                _ if self.offset_s.is_none() && zone(bare).is_some() => {
                    self.offset_s = zone(bare);
                    return Some(());
                }
                _ => {}
            }
        }
        if bare.starts_with(|sign: char| sign.is_ascii_digit()) {
            return self.take_number(&lower);
        }
        let is_word = bare.chars().all(char::is_alphabetic);
        // The day of the week may be false, and says nothing more.
        (is_word && number == 0 || lower == "at" || lower == "of").then_some(())
    }

    fn take_number(&mut self, word: &str) -> Option<()> {
        let (number, suffix) = digits(word, 1, 4)?;
        match (word.len() - suffix.len(), suffix) {
            (4, "") if self.year.is_none() => self.year = Some(i16::try_from(number).ok()?),
            (1 | 2, "" | "st" | "nd" | "rd" | "th") if self.day.is_none() => {
                self.day = Some(i8::try_from(number).ok()?)
            }
            // RFC 2822 §4.3.
            (2, "") if self.year.is_none() => {
                self.year = Some(i16::try_from(number).ok()? + if number < 50 { 2_000 } else { 1_900 });
            }
            _ => return None,
        }
        Some(())
    }
}

/// A month by its English name, or at least its first three characters.
fn month(word: &str) -> Option<i8> {
    let word = word.to_ascii_lowercase();
    let place = MONTHS.iter().position(|name| word.len() >= 3 && name.starts_with(&word))?;
    i8::try_from(place + 1).ok()
}

/// A number of so many digits, and what is behind it.
fn digits(text: &str, least: usize, most: usize) -> Option<(i64, &str)> {
    let length = text.bytes().take(most + 1).take_while(u8::is_ascii_digit).count();
    if length < least || length > most {
        return None;
    }
    Some((text[..length].parse().ok()?, &text[length..]))
}

/// Seconds since midnight, and what is behind them: `8:5`, `08:05:30`, `08:05:30.25`, `24:00:00`.
fn time(text: &str) -> Option<(i64, &str)> {
    let (hour, rest) = digits(text, 1, 2)?;
    let (minute, mut rest) = digits(rest.strip_prefix(':')?, 1, 2)?;
    let mut second = 0;
    if let Some((number, behind)) = rest.strip_prefix(':').and_then(|rest| digits(rest, 1, 2)) {
        (second, rest) = (number, behind);
        if let Some(fraction) = rest.strip_prefix(['.', ',']) {
            rest = fraction.trim_start_matches(|sign: char| sign.is_ascii_digit());
        }
    }
    let is_end_of_day = (hour, minute, second) == (24, 0, 0);
    // A leap second counts as the one before.
    (is_end_of_day || hour < 24 && minute < 60 && second <= 60)
        .then_some((hour * HOUR_S + minute * 60 + second.min(59), rest))
}

/// The zone in the rest of a date; `Some(None)` if there is no rest, `None` if it is no zone.
fn zone_or_none(rest: &str) -> Option<Option<i64>> {
    let rest = rest.trim();
    if rest.is_empty() { Some(None) } else { zone(rest).map(Some) }
}

/// Seconds ahead of UTC: `Z`, `GMT`, `+02:00`, `-0500`, `+2`, `GMT+0100`, `EST`.
fn zone(word: &str) -> Option<i64> {
    let name_bytes = word.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (name, rest) = word.split_at(name_bytes);
    if !rest.is_empty() {
        let sign = match rest.as_bytes()[0] {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        let is_utc = ["", "GMT", "UTC", "UT"].iter().any(|utc| name.eq_ignore_ascii_case(utc));
        let (hours, minutes) = match rest[1..].split_once(':') {
            Some((hours, minutes)) => (digits(hours, 1, 2)?, digits(minutes, 2, 2)?),
            None => match digits(&rest[1..], 1, 2) {
                Some(hours) => (hours, (0, "")),
                None => (digits(rest.get(1..3)?, 2, 2)?, digits(&rest[3..], 2, 2)?),
            },
        };
        let is_whole = is_utc && hours.1.is_empty() && minutes.1.is_empty() && hours.0 < 24 && minutes.0 < 60;
        return is_whole.then_some(sign * (hours.0 * HOUR_S + minutes.0 * 60));
    }
    let known = ZONES.iter().find(|(zone, _)| name.eq_ignore_ascii_case(zone));
    let hours = known.map(|(_, hours)| *hours);
    let is_name = (1..=5).contains(&name_bytes) && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'z');
    hours.or(is_name.then_some(0)).map(|hours| hours * HOUR_S)
}

impl DateParts {
    /// Midnight at the start of the date.
    pub(crate) fn midnight(&self) -> jiff::civil::DateTime {
        self.date.to_datetime(Time::midnight())
    }
}
