//! When digests are due. A day has one, also where clocks are changed.

use jiff::civil::{Date, Time, Weekday};
use jiff::tz::TimeZone;
use page::Timestamp;
use std::fmt;
use std::str::FromStr;

/// Days that are looked at for a due time: a week, and one on either side for the zone.
const DAYS: usize = 9;

/// The times at which digests are due, such as `1h`, `1d@08:00 Europe/Berlin` or `1w@Mon 08:00 Europe/Berlin`.
#[derive(Clone, Debug)]
pub struct Schedule {
    text: String,
    times: Times,
}

#[derive(Clone, Debug)]
enum Times {
    /// At whole multiples of these seconds since 1970, which divide a day.
    Every(i64),
    /// Once a day, or a week on a day, at a time of a zone.
    At { day: Option<Weekday>, time: Time, zone: TimeZone },
}

/// When the next digest is due: at the last due time up to `now`, if that is after the one of the last digest, so that digests
/// that were missed are one; or else at the first due time after `now`.
pub fn next_due(schedule: &Schedule, last: Timestamp, now: Timestamp) -> Timestamp {
    let missed = schedule.last_until(now).filter(|due| *due > last);
    missed.unwrap_or_else(|| schedule.first_after(last.max(now)))
}

impl Schedule {
    /// The last due time up to a moment.
    fn last_until(&self, moment: Timestamp) -> Option<Timestamp> {
        match &self.times {
            Times::Every(seconds) => {
                Some(Timestamp::from_secs(moment.as_micros().div_euclid(seconds * 1_000_000) * seconds))
            }
            Times::At { day, time, zone } => {
                let mut date = date_of(moment, zone).tomorrow().ok()?;
                for _ in 0..DAYS {
                    if let Some(due) = due_on(date, *day, *time, zone).filter(|due| *due <= moment) {
                        return Some(due);
                    }
                    date = date.yesterday().ok()?;
                }
                None
            }
        }
    }

    /// The first due time after a moment. At the end of the calendar there is none, and it is the moment itself.
    fn first_after(&self, moment: Timestamp) -> Timestamp {
        match &self.times {
            Times::Every(seconds) => {
                Timestamp::from_secs((moment.as_micros().div_euclid(seconds * 1_000_000) + 1) * seconds)
            }
            Times::At { day, time, zone } => {
                let first = || {
                    let mut date = date_of(moment, zone).yesterday().ok()?;
                    for _ in 0..DAYS {
                        if let Some(due) = due_on(date, *day, *time, zone).filter(|due| *due > moment) {
                            return Some(due);
                        }
                        date = date.tomorrow().ok()?;
                    }
                    None
                };
                first().unwrap_or(moment)
            }
        }
    }
}

fn date_of(moment: Timestamp, zone: &TimeZone) -> Date {
    let moment = jiff::Timestamp::from_microsecond(moment.as_micros()).unwrap_or_default();
    zone.to_datetime(moment).date()
}

/// The due time of a day, if it has one. A time that the clocks leave out is as much later as they are set, and of one that they
/// show twice the first counts (RFC 5545, section 3.3.5).
fn due_on(date: Date, day: Option<Weekday>, time: Time, zone: &TimeZone) -> Option<Timestamp> {
    if day.is_some_and(|day| date.weekday() != day) {
        return None;
    }
    let due = zone.to_ambiguous_timestamp(date.to_datetime(time)).compatible().ok()?;
    Some(Timestamp::from_micros(due.as_microsecond()))
}

impl FromStr for Schedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{text:?} is no time of digests; write 15m, 1h, 1d@08:00 Europe/Berlin or 1w@Mon 08:00 Europe/Berlin, with a \
                 number of minutes that divides an hour or of hours that divides a day"
            )
        };
        let (every, at) = match text.trim().split_once('@') {
            Some((every, at)) => (every.trim(), Some(at.trim())),
            None => (text.trim(), None),
        };
        let number = |unit| every.strip_suffix(unit).and_then(|number| number.parse::<i64>().ok());
        let divides = |number: &i64, whole: i64| *number > 0 && whole % number == 0;
        let times = if let Some(minutes) = number('m').filter(|minutes| divides(minutes, 60) && at.is_none()) {
            Times::Every(60 * minutes)
        } else if let Some(hours) = number('h').filter(|hours| divides(hours, 24) && at.is_none()) {
            Times::Every(3_600 * hours)
        } else {
            let is_weekly = match every {
                "1d" => false,
                "1w" => true,
                _ => return Err(wrong()),
            };
            let mut words = at.unwrap_or_default().split_whitespace().peekable();
            let day = match words.peek().and_then(|word| weekday(word)).filter(|_| is_weekly) {
                Some(day) => {
                    words.next();
                    Some(day)
                }
                None => is_weekly.then_some(Weekday::Monday),
            };
            let time = words.next().map_or(Some(Time::midnight()), time_of).ok_or_else(wrong)?;
            let zone = words.next().unwrap_or("UTC");
            let zone = TimeZone::get(zone)
                .map_err(|_| format!("{zone:?} is no time zone; write one such as Europe/Berlin, or UTC"))?;
            if words.next().is_some() {
                return Err(wrong());
            }
            Times::At { day, time, zone }
        };
        Ok(Self { text: text.trim().to_owned(), times })
    }
}

fn weekday(word: &str) -> Option<Weekday> {
    let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    let number = names.iter().position(|name| word.eq_ignore_ascii_case(name))?;
    Weekday::from_monday_zero_offset(i8::try_from(number).ok()?).ok()
}

/// The time of `08:00`.
fn time_of(text: &str) -> Option<Time> {
    let (hour, minute) = text.split_once(':')?;
    let is_number = |part: &str| part.len() == 2 && part.bytes().all(|sign| sign.is_ascii_digit());
    (is_number(hour) && is_number(minute)).then_some(())?;
    Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()
}

impl fmt::Display for Schedule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        let moment: jiff::Timestamp = text.parse().expect(text);
        Timestamp::from_micros(moment.as_microsecond())
    }

    fn shown(moment: Timestamp) -> String {
        jiff::Timestamp::from_microsecond(moment.as_micros()).expect("it is in the calendar").to_string()
    }

    /// The due times from a moment on, one after the other, each seen at the moment that it is due.
    fn dues(schedule: &str, from: &str, count: usize) -> Vec<String> {
        let schedule: Schedule = schedule.parse().expect(schedule);
        let mut last = at(from);
        let next = |_| {
            last = next_due(&schedule, last, last);
            shown(last)
        };
        (0..count).map(next).collect()
    }

    #[test]
    fn a_day_has_one_digest_at_its_local_time_through_both_changes_of_the_clock() {
        // Clocks in Berlin went to summer time on 2026-03-29 and back on 2026-10-25.
        assert_eq!(
            dues("1d@08:00 Europe/Berlin", "2026-03-27T12:00:00Z", 3),
            ["2026-03-28T07:00:00Z", "2026-03-29T06:00:00Z", "2026-03-30T06:00:00Z"]
        );
        assert_eq!(
            dues("1d@08:00 Europe/Berlin", "2026-10-23T12:00:00Z", 3),
            ["2026-10-24T06:00:00Z", "2026-10-25T07:00:00Z", "2026-10-26T07:00:00Z"]
        );
    }

    #[test]
    fn a_time_that_is_left_out_comes_an_hour_later_and_one_that_comes_twice_counts_once() {
        assert_eq!(
            dues("1d@02:30 Europe/Berlin", "2026-03-27T12:00:00Z", 3),
            ["2026-03-28T01:30:00Z", "2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z"]
        );
        assert_eq!(
            dues("1d@02:30 Europe/Berlin", "2026-10-23T12:00:00Z", 3),
            ["2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]
        );
        // In Chile a day begins at 01:00 when summer time begins, on 2026-09-06.
        assert_eq!(
            dues("1d@00:00 America/Santiago", "2026-09-05T12:00:00Z", 2),
            ["2026-09-06T04:00:00Z", "2026-09-07T03:00:00Z"]
        );
    }

    #[test]
    fn weeks_and_hours_are_due_at_their_times() {
        assert_eq!(
            dues("1w@Mon 08:00 Europe/Berlin", "2026-10-19T06:00:00Z", 2),
            ["2026-10-26T07:00:00Z", "2026-11-02T07:00:00Z"]
        );
        assert_eq!(dues("1w@sun", "2026-11-30T00:00:00Z", 1), ["2026-12-06T00:00:00Z"]);
        assert_eq!(dues("1h", "2026-03-29T00:59:59Z", 2), ["2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z"]);
        assert_eq!(dues("15m", "2026-11-30T10:15:00Z", 1), ["2026-11-30T10:30:00Z"]);
        assert_eq!(dues("1d", "2026-11-30T10:15:00Z", 1), ["2026-12-01T00:00:00Z"]);
    }

    #[test]
    fn digests_that_were_missed_are_one_which_is_due_at_once() {
        let schedule: Schedule = "1d@08:00 Europe/Berlin".parse().expect("it is one");
        let (last, now) = (at("2026-11-20T07:00:00Z"), at("2026-11-30T09:00:00Z"));
        let due = next_due(&schedule, last, now);
        assert_eq!(shown(due), "2026-11-30T07:00:00Z");
        assert_eq!(shown(next_due(&schedule, due, now)), "2026-12-01T07:00:00Z");
        // The clock was set back after the last one.
        assert_eq!(shown(next_due(&schedule, now, last)), "2026-12-01T07:00:00Z");
        assert_eq!(
            shown(next_due(&schedule, at("2026-11-30T06:59:59Z"), at("2026-11-30T07:00:00Z"))),
            "2026-11-30T07:00:00Z"
        );
    }

    #[test]
    fn other_texts_are_refused_with_what_to_write() {
        for wrong in
            ["", "1x", "7h", "0h", "25m", "2d", "1d@8:00", "1d@25:00", "1d@Mon 08:00", "1h@08:00", "1d@08:00 UTC x"]
        {
            let problem = wrong.parse::<Schedule>().expect_err(wrong);
            assert!(problem.contains("write 15m, 1h, 1d@08:00 Europe/Berlin"), "{wrong}: {problem}");
        }
        let zone = "1d@08:00 Europe/Berlyn".parse::<Schedule>().expect_err("there is no such zone");
        assert!(zone.contains("\"Europe/Berlyn\" is no time zone"), "{zone}");
    }
}
