//! Dates as pages write them, in many languages. A date that is the day of each look is no news.

use super::tokens::{Meaning, Token};
use jiff::civil::Date;
use pure_rust_locales as locales;
use std::collections::HashMap;
use std::sync::LazyLock;

const DAY_S: i64 = 86_400;
/// The year of dates without one, when they are compared with each other.
const SOME_YEAR: i16 = 2026;

/// A date as written. What is not written fits any day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WrittenDate {
    year: Option<i16>,
    readings: Readings,
    /// Days from Sunday.
    weekday: Option<i8>,
}

/// Month and day, read with the day before the month and the other way round; `None` if that gives no day. Both are the same
/// where the date says which number is the month. A weekday alone has neither.
type Readings = [Option<(i8, i8)>; 2];

impl WrittenDate {
    /// Whether this date is the day of a moment and another date that of another moment, in some time zone. Both are read in
    /// one order of day and month.
    pub(super) fn are_days_of(&self, other: &Self, [then_s, now_s]: [i64; 2]) -> bool {
        (0..self.readings.len()).any(|order| self.is_day_of(then_s, order) && other.is_day_of(now_s, order))
    }

    /// Whether the days from this date to a later or an earlier one may be this many, give or take one. Both are read in one
    /// order of day and month.
    pub(super) fn moved_by(&self, other: &Self, days: i64) -> bool {
        let year = |date: &Self| date.year.unwrap_or(SOME_YEAR);
        let any_year = self.year.is_none() || other.year.is_none();
        let is_near = |moved: i64, turn: i64| {
            let off = (moved - days).rem_euclid(turn);
            off <= 1 || off >= turn - 1
        };
        if self.is_weekday() || other.is_weekday() {
            let weekdays = self.weekday.zip(other.weekday);
            return weekdays.is_some_and(|(one, other)| is_near(i64::from(other - one), 7));
        }
        self.readings.iter().zip(&other.readings).filter_map(|(one, theirs)| one.zip(*theirs)).any(|(one, theirs)| {
            let days = number_of_day(year(self), one).zip(number_of_day(year(other), theirs));
            days.is_some_and(|(one, theirs)| is_near(theirs - one, if any_year { 365 } else { i64::MAX / 4 }))
        })
    }

    /// Whether a weekday is all that is written.
    fn is_weekday(&self) -> bool {
        self.readings == [None; 2]
    }

    fn is_day_of(&self, unix_s: i64, order: usize) -> bool {
        (-1..=1).filter_map(|days| day_of(unix_s + days * DAY_S)).any(|day| self.fits(day, order))
    }

    fn fits(&self, day: Date, order: usize) -> bool {
        let is_day = match self.is_weekday() {
            true => self.weekday == Some(day.weekday().to_sunday_zero_offset()),
            false => self.readings[order] == Some((day.month(), day.day())),
        };
        is_day && self.year.is_none_or(|year| year == day.year())
    }
}

/// The number of a day from an arbitrary one.
fn number_of_day(year: i16, (month, day): (i8, i8)) -> Option<i64> {
    let date = Date::new(year, month, day).ok()?;
    let first = Date::new(1970, 1, 1).ok()?;
    date.since(first).ok().map(|span| i64::from(span.get_days()))
}

fn day_of(unix_s: i64) -> Option<Date> {
    let days = unix_s.div_euclid(DAY_S);
    let days = i32::try_from(days).ok()?;
    jiff::civil::date(1970, 1, 1).checked_add(jiff::Span::new().try_days(days).ok()?).ok()
}

/// The meaning of a word of a date. Some words name a month in one language and a weekday in another.
#[derive(Clone, Copy, Debug, Default)]
struct DateWord {
    month: Option<i8>,
    weekday: Option<i8>,
}

static DATE_WORDS: LazyLock<HashMap<String, DateWord>> = LazyLock::new(|| {
    let mut words: HashMap<String, DateWord> = HashMap::new();
    macro_rules! take {
        ($($locale:ident)+) => {
            $(
                for months in [locales::$locale::LC_TIME::MON, locales::$locale::LC_TIME::ABMON] {
                    take_months(&mut words, months);
                }
                for months in [locales::$locale::LC_TIME::ALT_MON, locales::$locale::LC_TIME::AB_ALT_MON] {
                    take_months(&mut words, months.unwrap_or_default());
                }
                for days in [locales::$locale::LC_TIME::DAY, locales::$locale::LC_TIME::ABDAY] {
                    for (day, name) in (0..).zip(days) {
                        words.entry(folded(name)).or_default().weekday.get_or_insert(day);
                    }
                }
            )+
        };
    }
    take!(en_US de_DE fr_FR es_ES pt_PT pt_BR it_IT nl_NL sv_SE da_DK nb_NO nn_NO fi_FI is_IS pl_PL cs_CZ sk_SK hu_HU ro_RO
        bg_BG ru_RU uk_UA sr_RS hr_HR sl_SI lt_LT lv_LV et_EE el_GR tr_TR he_IL ar_EG ar_SY fa_IR hi_IN id_ID vi_VN th_TH ca_ES);
    words.remove("");
    words
});

fn take_months(words: &mut HashMap<String, DateWord>, months: &[&str]) {
    for (month, name) in (1..).zip(months) {
        words.entry(folded(name)).or_default().month.get_or_insert(month);
    }
}

/// In lower case, without the dot of a short form.
fn folded(word: &str) -> String {
    word.trim().trim_end_matches('.').to_lowercase()
}

/// Joins the tokens of each date: `Friday, 27 November 2026`, `Nov 27`, `27.11.2026`, `2026年11月27日`.
pub(super) fn join<'t>(text: &'t str, tokens: &mut Vec<Token<'t>>) {
    let mut joined = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        let Some((date, taken)) = date_at(&tokens[at..]) else {
            joined.push(tokens[at].clone());
            at += 1;
            continue;
        };
        // Machines write the time behind the day; people who date a text give the day.
        let stamp = (at + taken..tokens.len().min(at + taken + 2)).find(|next| tokens[*next].meaning == Meaning::Time);
        let last = stamp.unwrap_or(at + taken - 1);
        let place = tokens[at].place.start..tokens[last].place.end;
        let meaning = if stamp.is_some() { Meaning::Time } else { Meaning::Date(date) };
        joined.push(Token { text: &text[place.clone()], place, meaning });
        at = last + 1;
    }
    *tokens = joined;
}

/// The date that tokens begin with, and the number of its tokens.
fn date_at(tokens: &[Token<'_>]) -> Option<(WrittenDate, usize)> {
    let word =
        |at: usize| tokens.get(at).filter(|token| token.meaning == Meaning::Word).map(|token| folded(token.text));
    let named = |at: usize| word(at).and_then(|word| DATE_WORDS.get(&word).copied()).unwrap_or_default();
    let begins_with_digit = tokens.first()?.text.starts_with(|sign: char| sign.is_ascii_digit());
    let first = if begins_with_digit { DateWord::default() } else { named(0) };
    // Most tokens begin no date.
    if !begins_with_digit && first.month.is_none() && first.weekday.is_none() {
        return None;
    }
    let weekday = first.weekday.filter(|_| first.month.is_none() || named(1).month.is_some());
    let from = usize::from(weekday.is_some());
    let date = |year, readings, taken| Some((WrittenDate { year, readings, weekday }, taken));
    if let Some((year, readings)) = tokens.get(from).and_then(|token| in_digits(token.text)) {
        return date(Some(year), readings, from + 1);
    }
    if let Some((year, reading, taken)) = in_characters(&tokens[from..]) {
        return date(year, [Some(reading); 2], from + taken);
    }
    let number = |at: usize| match tokens.get(at)?.meaning {
        Meaning::Number(Some(number)) => i16::try_from(number).ok(),
        _ => None,
    };
    let day = |at: usize| number(at).filter(|day| (1..=31).contains(day)).and_then(|day| i8::try_from(day).ok());
    let year = |at: usize| number(at).filter(|year| (1900..=2200).contains(year));
    // `1st`, `27th`; `27 de noviembre de 2026`.
    let skipped = |at: usize| {
        let is_between =
            |word: &String| matches!(word.as_str(), "st" | "nd" | "rd" | "th" | "de" | "del" | "of" | "a" | "er" | "º");
        at + usize::from(word(at).as_ref().is_some_and(is_between))
    };
    let at = skipped(from);
    if let Some(day) = day(at) {
        let month_at = skipped(skipped(at + 1));
        if let Some(month) = named(month_at).month {
            let year_at = skipped(month_at + 1);
            let year = year(year_at);
            return date(year, [Some((month, day)); 2], if year.is_some() { year_at + 1 } else { month_at + 1 });
        }
    }
    if let Some(month) = named(from).month
        && let Some(day) = day(from + 1)
    {
        let year_at = skipped(from + 2);
        let year = year(year_at);
        return date(year, [Some((month, day)); 2], if year.is_some() { year_at + 1 } else { from + 2 });
    }
    let is_full_name = tokens.first().is_some_and(|token| token.text.chars().count() > 3);
    if is_full_name { weekday.and_then(|_| date(None, [None; 2], from)) } else { None }
}

/// `2026-11-27`, `2026-11-27T10:00`, `27.11.2026`, `11/27/2026`.
fn in_digits(word: &str) -> Option<(i16, Readings)> {
    let day = word.split(['T', 't']).next()?;
    let mut parts = day.split(['-', '.', '/']);
    let (first, second, third) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let number = |part: &str| part.parse::<i16>().ok();
    let small = |part: &str| part.parse::<i8>().ok();
    let (year, readings) = match (first.len(), third.len()) {
        (4, 1..=2) => (number(first)?, [(small(second)?, small(third)?); 2]),
        (1..=2, 4) => (number(third)?, [(small(second)?, small(first)?), (small(first)?, small(second)?)]),
        (1..=2, 2) => (2000 + number(third)?, [(small(second)?, small(first)?), (small(first)?, small(second)?)]),
        _ => return None,
    };
    let readings = readings.map(|(month, day)| Date::new(year, month, day).is_ok().then_some((month, day)));
    readings.iter().any(Option::is_some).then_some((year, readings))
}

/// `2026年11月27日`, `11月27日`, `2026년 11월 27일`.
fn in_characters(tokens: &[Token<'_>]) -> Option<(Option<i16>, (i8, i8), usize)> {
    let part = |at: usize, marks: [&str; 2]| {
        let (number, mark) = (tokens.get(at)?, tokens.get(at + 1)?);
        let value = match number.meaning {
            Meaning::Number(Some(value)) => i16::try_from(value).ok()?,
            _ => return None,
        };
        marks.contains(&mark.text).then_some(value)
    };
    let year = part(0, ["年", "년"]);
    let from = if year.is_some() { 2 } else { 0 };
    let month = part(from, ["月", "월"])?;
    let day = part(from + 2, ["日", "일"])?;
    Some((year, (i8::try_from(month).ok()?, i8::try_from(day).ok()?), from + 4))
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    /// 2026-11-27, a Friday.
    const NOW: i64 = 1_795_773_600;

    fn date(text: &str) -> Option<WrittenDate> {
        tokens(text).into_iter().find_map(|token| match token.meaning {
            Meaning::Date(date) => Some(date),
            _ => None,
        })
    }

    #[test]
    fn dates_move_with_the_clock_over_the_end_of_a_month_and_a_year() {
        let moved = |one: &str, other: &str, days: i64| date(one).unwrap().moved_by(&date(other).unwrap(), days);
        assert!(moved("30 November 2026", "1 December 2026", 1));
        assert!(moved("31 December", "1 January", 1) && moved("Sunday", "Monday", 1));
        assert!(moved("10 November 2026", "11 November 2026", 0), "it is midnight between two looks of a day");
        assert!(!moved("10 November 2026", "17 November 2026", 1) && !moved("10 November 2026", "10 November 2027", 1));
    }

    #[test]
    fn dates_in_numbers_move_in_an_order_of_day_and_month_that_both_may_have() {
        let moved = |one: &str, other: &str, days: i64| {
            let [one, other] = [one, other].map(|text| date(text).unwrap());
            let found = one.moved_by(&other, days);
            assert_eq!(found, other.moved_by(&one, -days));
            found
        };
        for (one, other, days) in [
            // One of them has the month first, and so has the other.
            ("11/12/2026", "11/13/2026", 1),
            ("12/31/2026", "01/01/2027", 1),
            ("11/12/26", "11/13/26", 1),
            // The day is first.
            ("12/11/2026", "13/11/2026", 1),
            ("31.12.2026", "01.01.2027", 1),
            // Both may have either.
            ("11/11/2026", "11/12/2026", 1),
            ("11/11/2026", "12/11/2026", 1),
            // One says which number is the month.
            ("11/12/2026", "13 November 2026", 1),
            ("11/12/2026", "13 December 2026", 2),
            ("2026-11-12", "11/13/2026", 1),
        ] {
            assert!(moved(one, other, days), "{one} {other}");
        }
        for (one, other) in [
            // No order suits both.
            ("13/11/2026", "11/14/2026"),
            // 11 December and 13 November.
            ("12/11/2026", "11/13/2026"),
            // 12 November and 13 December.
            ("11/12/2026", "12/13/2026"),
        ] {
            assert!(!moved(one, other, 1), "{one} {other}");
        }
        assert!(date("29/02/2027").is_none() && date("29/02/2028").is_some());
    }

    #[test]
    fn two_dates_are_the_days_of_their_looks_in_one_order_of_day_and_month() {
        let looks =
            |one: &str, other: &str, then_s: i64| date(one).unwrap().are_days_of(&date(other).unwrap(), [then_s, NOW]);
        assert!(looks("11/12/2026", "11/27/2026", NOW - 15 * DAY_S));
        assert!(looks("12/11/2026", "27/11/2026", NOW - 15 * DAY_S));
        assert!(!looks("12/11/2026", "11/27/2026", NOW - 15 * DAY_S), "11 December was no day of a look");
        assert!(!looks("11/12/2026", "27/11/2026", NOW - 15 * DAY_S), "11 December again");
    }

    #[test]
    fn the_day_of_a_look_is_known_however_it_is_written() {
        let is_day = |text: &str| date(text).is_some_and(|date| date.are_days_of(&date, [NOW; 2]));
        for text in [
            "Today is Friday, 27 November 2026",
            "Friday, November 27, 2026",
            "Nov 27",
            "27th of November",
            "Freitag, 27. November 2026",
            "vendredi 27 novembre 2026",
            "27 de noviembre de 2026",
            "27 novembre",
            "27 ноября 2026",
            "27 listopada 2026",
            "27. listopadu",
            "27 kasım 2026",
            "27.11.2026",
            "27/11/2026",
            "11/27/2026",
            "2026-11-27",
            "2026-11-27T10:00",
            "2026年11月27日",
            "11月27日",
            "2026년 11월 27일",
            "27.11.26",
            "Friday",
        ] {
            assert!(is_day(text), "{text} {:?}", date(text));
        }
        for text in ["24 November 2026", "27 November 2025", "2026-12-27", "Monday"] {
            assert!(date(text).is_some() && !is_day(text), "{text}");
        }
        for text in ["27 lamps", "1.2.3.4", "Version 1.2.3", "may be", "27"] {
            assert_eq!(date(text), None, "{text}");
        }
    }
}
