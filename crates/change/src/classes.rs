//! Replaces ids, clock times and ages in a text by their class, so that a place on a page is recognised whatever
//! its counter or clock shows.
//!
//! A class never decides that a change is no news: opening hours, account numbers and checksums are what some people
//! watch. What moves at every fetch is learnt per page ([`crate::noise`]), not guessed.

use crate::typeset::plain;
use std::borrow::Cow;

const ID: &str = "\u{1}id";
const TIME: &str = "\u{1}time";
const AGE: &str = "\u{1}age";
/// A run of alphabetic characters and digits, with at least one of each, is an id from this length on.
const MIN_ID_CHARACTERS: usize = 16;
/// The longest line taken for an age line: one that only says when something was done, relative to now or to the
/// minute.
const MAX_AGE_LINE_BYTES: usize = 80;

/// Which classes are replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Classes {
    All,
    /// Only what grows older by itself.
    Ages,
}

/// A text with plain quotes, and with everything that may differ from look to look replaced by its class. Borrowed if
/// nothing is replaced.
pub(crate) struct Classed<'t> {
    /// Without all classes.
    pub(crate) all: Cow<'t, str>,
    /// Without ages only: what a reader would call the same text a day later.
    pub(crate) ages: Cow<'t, str>,
}

impl<'t> Classed<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        let plain = plain(text);
        let plain_text = plain.as_deref().unwrap_or(text);
        let all = replaced(plain_text, Classes::All);
        // A text in which no class is replaced has no age.
        let ages = all.as_ref().and_then(|_| replaced(plain_text, Classes::Ages));
        let or_plain = |replaced: Option<Cow<'static, str>>| match (replaced, &plain) {
            (Some(replaced), _) => replaced,
            (None, Some(plain)) => Cow::Owned(plain.clone()),
            (None, None) => Cow::Borrowed(text),
        };
        Self { all: or_plain(all), ages: or_plain(ages) }
    }
}

/// The text with classes replaced; `None` if it has none.
fn replaced(text: &str, classes: Classes) -> Option<Cow<'static, str>> {
    if text.len() < MAX_AGE_LINE_BYTES && is_age_line(text) && (classes == Classes::All || is_only_age(text)) {
        return Some(Cow::Borrowed(AGE));
    }
    let mut out: Option<String> = None;
    let mut taken = 0;
    let mut rest = 0;
    while let Some(start) = next_with_digit(text.as_bytes(), rest) {
        let (end, class) = piece(text, start);
        if let Some(class) = class.filter(|class| classes == Classes::All || *class == AGE) {
            let out = out.get_or_insert_with(|| String::with_capacity(text.len()));
            out.push_str(&text[taken..start]);
            out.push_str(class);
            taken = end;
        }
        rest = end;
    }
    out.map(|out| Cow::Owned(out + &text[taken..]))
}

/// The start of the next piece that can have a class. Nothing without a digit has one, so this is the first alphanumeric
/// character of the word that contains the next digit.
fn next_with_digit(bytes: &[u8], from: usize) -> Option<usize> {
    let digit = from + first_digit(&bytes[from..])?;
    let word = bytes[from..digit].iter().rposition(|&byte| byte == b' ').map_or(from, |space| from + space + 1);
    bytes[word..=digit].iter().position(u8::is_ascii_alphanumeric).map(|at| word + at)
}

/// Most texts have no digit, so chunks of 32 bytes are tested without a branch at every byte.
fn first_digit(bytes: &[u8]) -> Option<usize> {
    let has_digit = |chunk: &&[u8]| chunk.iter().fold(false, |has, byte| has | byte.is_ascii_digit());
    let before = bytes.chunks(32).take_while(|chunk| !has_digit(chunk)).count() * 32;
    let rest = bytes.get(before..)?;
    rest.iter().position(u8::is_ascii_digit).map(|at| before + at)
}

/// The end of the piece that begins here, and its class if it has one.
fn piece(text: &str, start: usize) -> (usize, Option<&'static str>) {
    let rest = &text[start..];
    let word = run(rest, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let end = start + word;
    // Only ids begin with an alphabetic character. A short word is no id unless it begins a dashed one.
    if rest.as_bytes()[0].is_ascii_alphabetic() && word < MIN_ID_CHARACTERS && rest.as_bytes().get(word) != Some(&b'-')
    {
        return (end, None);
    }
    if is_id(&text[start..end]) {
        return (end, Some(ID));
    }
    let dashed = run(rest, |byte| byte.is_ascii_hexdigit() || byte == b'-');
    if dashed >= 32 && rest[..dashed].bytes().any(|byte| byte.is_ascii_digit()) {
        return (start + dashed, Some(ID));
    }
    if let Some(length) = clock_time_length(rest) {
        return (start + length, Some(TIME));
    }
    if let Some(length) = age_length(rest) {
        return (start + length, Some(AGE));
    }
    // Skip the rest of a row of numbers: `10:20:30:40` is not a time.
    let row = start + run(rest, |byte| byte.is_ascii_digit() || byte == b':');
    (end.max(row), None)
}

fn run(text: &str, what: impl Fn(u8) -> bool) -> usize {
    text.bytes().position(|byte| !what(byte)).unwrap_or(text.len())
}

fn is_id(word: &str) -> bool {
    word.len() >= MIN_ID_CHARACTERS
        && word.bytes().any(|byte| byte.is_ascii_digit())
        && word.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Matches `9:05`, `17:03:44`, `9:05 am`.
fn clock_time_length(text: &str) -> Option<usize> {
    let hours = run(text, |byte| byte.is_ascii_digit());
    if !(1..=2).contains(&hours) {
        return None;
    }
    let two_digits = |at: usize| {
        let part = text.get(at..at + 3)?;
        (part.starts_with(':') && part[1..].bytes().all(|byte| byte.is_ascii_digit())).then_some(at + 3)
    };
    let minutes = two_digits(hours)?;
    let mut end = two_digits(minutes).unwrap_or(minutes);
    if text[end..].bytes().next().is_some_and(|byte| byte.is_ascii_digit() || byte == b':') {
        return None;
    }
    let half = text[end..].strip_prefix(' ').unwrap_or(&text[end..]);
    let marker = half.get(..2).is_some_and(|half| half.eq_ignore_ascii_case("am") || half.eq_ignore_ascii_case("pm"));
    if marker && !half[2..].starts_with(char::is_alphanumeric) {
        end = text.len() - half.len() + 2;
    }
    Some(end)
}

/// Matches `3 minutes ago`.
fn age_length(text: &str) -> Option<usize> {
    let digits = run(text, |byte| byte.is_ascii_digit());
    let mut words = text.get(digits..)?.strip_prefix(' ')?.splitn(3, ' ');
    let (unit, ago) = (words.next()?, words.next()?);
    let singular = unit.strip_suffix('s').unwrap_or(unit);
    let units = ["second", "sec", "minute", "min", "hour", "day", "week", "month", "year"];
    let is_age = digits > 0
        && units.iter().any(|other| singular.eq_ignore_ascii_case(other))
        && ago.get(..3).is_some_and(|word| word.eq_ignore_ascii_case("ago"))
        && !ago[3..].starts_with(char::is_alphanumeric);
    is_age.then_some(digits + 1 + unit.len() + 1 + 3)
}

/// Matches `Updated 3 days ago`, `Posted yesterday`, `Edited in the last hour`, and also a stamp to the minute such as
/// `Last updated 2026-04-01 10:15:30 UTC`. Machines write such stamps; people who date a text give the day.
fn is_age_line(text: &str) -> bool {
    if !mentions_edit(text.as_bytes()) {
        return false;
    }
    let lower = text.to_ascii_lowercase();
    let mut words = lower.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    if !words.any(|word| matches!(word, "updated" | "edited" | "posted" | "published" | "modified")) {
        return false;
    }
    let rest: Vec<&str> = words.take(6).collect();
    let mut places = text.char_indices().filter(|(_, character)| character.is_ascii_digit()).map(|(at, _)| at);
    if places.any(|at| {
        !text[..at].ends_with(|character: char| character.is_ascii_digit()) && clock_time_length(&text[at..]).is_some()
    }) {
        return true;
    }
    let pair = |firsts: &[&str], second: fn(&str) -> bool| {
        rest.windows(2).any(|pair| firsts.contains(&pair[0]) && second(pair[1]))
    };
    rest.iter().any(|word| matches!(*word, "ago" | "today" | "yesterday"))
        || pair(&["just"], |word| word == "now")
        || pair(&["this"], |word| matches!(word, "week" | "month"))
        || pair(&["last", "past"], |word| {
            matches!(word, "minute" | "hour" | "day" | "week" | "month")
                || word.bytes().all(|byte| byte.is_ascii_digit())
        })
}

/// Words of a line that says when something was edited, and nothing else. Plurals count too.
const AGE_WORDS: &str = "updated edited posted published modified last past over about a an in on at the this just now ago \
    today yesterday second minute hour day week month year";
/// Words of a stamp: months and days of the week, of which three characters are enough, and time zones.
const STAMP_NAMES: &str = "january february march april may june july august september october november december monday \
    tuesday wednesday thursday friday saturday sunday";
const STAMP_MARKS: &str =
    "am pm st nd rd th t z utc gmt est edt cst cdt mst mdt pst pdt bst cet cest eet eest msk ist jst";

/// Whether a line that says when something was edited says nothing else. A stamp has a day and a time: a clock time
/// alone may belong to something else.
fn is_only_age(text: &str) -> bool {
    let has = |words: &str, word: &str| words.split(' ').any(|known| known == word);
    let is_word = |word: &str| {
        let lower = word.to_ascii_lowercase();
        // `1st`, and `22T10` and `00Z` of a stamp.
        let rest = lower.trim_start_matches(|character: char| character.is_ascii_digit());
        let rest = rest.trim_end_matches(|character: char| character.is_ascii_digit());
        rest.is_empty()
            || has(AGE_WORDS, rest.strip_suffix('s').unwrap_or(rest))
            || has(AGE_WORDS, rest)
            || has(STAMP_MARKS, rest)
            || (rest.len() >= 3 && STAMP_NAMES.split(' ').any(|name| name.starts_with(rest)))
    };
    let words = || text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    let numbers = words().filter(|word| word.bytes().any(|byte| byte.is_ascii_digit())).count();
    (!text.contains(':') || numbers >= 4) && words().all(is_word)
}

/// Whether the text may contain one of the words that go with an age. All of them end in `ed`.
fn mentions_edit(bytes: &[u8]) -> bool {
    memchr::memchr2_iter(b'd', b'D', bytes).any(|at| at > 0 && bytes[at - 1].eq_ignore_ascii_case(&b'e'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ids_times_and_ages_are_classes_and_all_else_stays() {
        let check = |text, expected: &str| assert_eq!(Classed::of(text).all.replace('\u{1}', "$"), expected, "{text}");
        check("Ref 8f14e45fceea167a5a36!", "Ref $id!");
        check("id 123e4567-e89b-12d3-a456-426614174000.", "id $id.");
        check("Opens at 9:05 am, closes 17:30:00.", "Opens at $time, closes $time.");
        check("3 minutes ago by Ann; 1 day ago", "$age by Ann; $age");
        check("Last updated 2 days ago", "$age");
        check("Edited in the last hour", "$age");
        check("Updated in the last 15 minutes", "$age");
        check("Last updated 2010-09-03 21:30:41 UTC", "$age");
        check("Posted by Ann yesterday", "$age");
        check("Last updated: April 1st 2026", "Last updated: April 1st 2026");
        check("Effective 2026-04-01, 1,200 words, Section 3.2", "Effective 2026-04-01, 1,200 words, Section 3.2");
        check("a ratio of 1:2 and 10:20:30:40", "a ratio of 1:2 and 10:20:30:40");
        check("internationalisation", "internationalisation");
        check("5 days agony", "5 days agony");
    }

    #[test]
    fn only_an_age_is_no_part_of_what_a_text_says() {
        let check = |text, expected: &str| assert_eq!(Classed::of(text).ages.replace('\u{1}', "$"), expected, "{text}");
        check("Opens at 9:05, 3 minutes ago", "Opens at 9:05, $age");
        check("Updated over a week ago", "$age");
        check("Updated in the last 15 minutes", "$age");
        check("Posted by Ann yesterday", "Posted by Ann yesterday");
        check("Last updated 2010-09-03 21:30:41 UTC", "$age");
        check("Last updated 22-Jun-2006 19:49:25 UTC", "$age");
        check("Last modified: Mon, 2 March 2026, at 07:04 am", "$age");
        check("Updated 2026-03-02T07:04:11Z", "$age");
        for said in [
            "Updated: the meeting starts at 9:30",
            "Updated: 9:30",
            "Last updated: April 1st 2026",
            "Posted 2026-03-02 07:04: sold out",
            "Published 2026-03-02 07:04 by Ann",
        ] {
            check(said, said);
        }
    }

    proptest! {
        #[test]
        fn any_text_has_classes(text in "(\\PC|[0-9:a]|ago| |day){0,40}") {
            let once = Classed::of(&text).all.into_owned();
            prop_assert!(once.len() <= text.len() + 5 * text.len());
            let plain = plain(&text).unwrap_or(text.clone());
            let ages = replaced(&plain, Classes::Ages).map_or(plain.clone(), Cow::into_owned);
            prop_assert_eq!(Classed::of(&text).ages, ages, "a text without classes has no ages");
        }

        #[test]
        fn another_time_or_id_of_the_same_form_is_no_change(hour in 0..24u8, minute in 10..60u8, id in "[0-9][a-f][0-9a-f]{20}") {
            let text = format!("Today at {hour}:{minute} ({id}): all fine");
            prop_assert_eq!(Classed::of(&text).all.into_owned(), "Today at \u{1}time (\u{1}id): all fine");
        }
    }
}
