//! The tokens of a text, by which two looks at one place are compared: words, numbers, ids, lengths of time and dates.

use super::dates::{self, WrittenDate};
use super::durations;
use std::ops::Range;

/// A run of characters and digits from this length on that has both, mixed, is an id; so is a longer run of digits.
const MIN_ID_BYTES: usize = 6;
const MIN_ID_DIGITS: usize = 9;
/// A segment of an address from this length on that has both, mixed, may be a key.
const MIN_KEY_BYTES: usize = 12;
/// The most characters behind a number that are a unit of their own: `3h`, `12Std`.
const MAX_JOINED_UNIT: usize = 5;

/// A token and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token<'t> {
    pub(super) text: &'t str,
    pub(super) place: Range<usize>,
    pub(super) meaning: Meaning,
}

/// The meaning of a token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Meaning {
    Word,
    /// A number; its value if that is an integer.
    Number(Option<u64>),
    Id,
    /// The time of a clock.
    Time,
    /// A length of time in seconds, and the seconds of its smallest unit.
    Duration {
        seconds: i64,
        unit: i64,
    },
    Date(WrittenDate),
}

impl Token<'_> {
    /// The token as a neighbour: all numbers and ids are one, because they may differ at the next look.
    pub(super) fn as_neighbour(&self) -> &str {
        match self.meaning {
            Meaning::Word => self.text,
            Meaning::Number(_) | Meaning::Id | Meaning::Time => "#",
            Meaning::Duration { .. } => "#age",
            Meaning::Date(_) => "#date",
        }
    }

    /// Whether it looks like the key of a session: long, of digits and characters in no order.
    pub(super) fn is_key(&self) -> bool {
        self.text.len() >= MIN_KEY_BYTES && is_mixed(self.text)
    }
}

/// The tokens of a text that a page shows.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = plain_tokens(text);
    dates::join(text, &mut tokens);
    durations::join(text, &mut tokens);
    tokens
}

/// The tokens of an address: its segments, the names of its parameters and their values.
pub(super) fn address_tokens(address: &str) -> Vec<Token<'_>> {
    let is_inside = |sign: char| sign.is_alphanumeric() || matches!(sign, '-' | '_' | '.' | '%' | '~' | '+');
    let mut tokens = Vec::new();
    let mut rest = address;
    while let Some(start) = rest.find(is_inside) {
        let from = address.len() - rest.len() + start;
        let length = rest[start..].find(|sign| !is_inside(sign)).unwrap_or(rest.len() - start);
        let text = &address[from..from + length];
        let meaning = if text.bytes().any(|byte| byte.is_ascii_digit()) { Meaning::Id } else { Meaning::Word };
        tokens.push(Token { text, place: from..from + length, meaning });
        rest = &address[from + length..];
    }
    tokens
}

fn plain_tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(sign) = text[at..].chars().next() {
        let start = at;
        at += sign.len_utf8();
        if is_unspaced(sign) || is_symbol(sign) {
            tokens.push(Token { text: &text[start..at], place: start..at, meaning: Meaning::Word });
        } else if sign.is_alphanumeric() {
            at = end_of_word(text, start);
            push_word(&mut tokens, text, start..at);
        }
    }
    tokens
}

/// The end of a run of characters and digits. A sign between two of them belongs to it if a digit is beside it: `1,299`, `10:30`,
/// `2026-11-27`.
fn end_of_word(text: &str, start: usize) -> usize {
    let mut signs = text[start..].char_indices().peekable();
    let mut before = ' ';
    while let Some((offset, sign)) = signs.next() {
        let next = signs.peek().map_or(' ', |(_, next)| *next);
        let is_joiner = matches!(sign, '.' | ',' | ':' | '\'' | '’' | '/' | '-' | '_' | '\u{a0}' | '\u{202f}')
            && (before.is_ascii_digit() && next.is_ascii_digit()
                || sign == '_'
                || sign == '-' && next.is_alphanumeric() && (before.is_ascii_digit() || next.is_ascii_digit()));
        let is_inside = sign.is_alphanumeric() && !is_unspaced(sign) || is_joiner && !is_unspaced(next);
        if !is_inside {
            return start + offset;
        }
        before = sign;
    }
    text.len()
}

fn push_word<'t>(tokens: &mut Vec<Token<'t>>, text: &'t str, place: Range<usize>) {
    let word = &text[place.clone()];
    let digits = word.find(|sign: char| !sign.is_ascii_digit() && !is_separator(sign)).unwrap_or(word.len());
    let unit = &word[digits..];
    let is_joined_unit = digits > 0
        && !unit.is_empty()
        && unit.chars().all(char::is_alphabetic)
        && unit.chars().count() <= MAX_JOINED_UNIT;
    let mut push = |place: Range<usize>| {
        let text = &text[place.clone()];
        tokens.push(Token { text, place, meaning: meaning(text) });
    };
    if is_joined_unit {
        let number = word[..digits].trim_end_matches(is_separator).len();
        push(place.start..place.start + number);
        push(place.start + digits..place.end);
    } else {
        push(place);
    }
}

fn meaning(word: &str) -> Meaning {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let is_number = word.starts_with(|sign: char| sign.is_ascii_digit())
        && word.chars().all(|sign| sign.is_ascii_digit() || is_separator(sign));
    match () {
        () if digits == 0 => Meaning::Word,
        () if is_number && digits < MIN_ID_DIGITS => Meaning::Number(integer(word)),
        () if is_number || is_mixed(word) => Meaning::Id,
        () if is_time(word) => Meaning::Time,
        () => Meaning::Word,
    }
}

/// Whether characters and digits alternate, as in `a8f3e1`: not `COVID19`, and not `2026-017`, which people write.
fn is_mixed(word: &str) -> bool {
    let turns = word.as_bytes().windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit()).count();
    word.len() >= MIN_ID_BYTES && turns >= 2 && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// `10:32`, `9:05:59`.
fn is_time(word: &str) -> bool {
    let parts: Vec<&str> = word.split(':').collect();
    let is_part = |part: &&str| (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    (2..=3).contains(&parts.len()) && parts.iter().all(is_part)
}

/// The value of digits with or without separators of thousands.
fn integer(word: &str) -> Option<u64> {
    let mut groups = word.split(is_separator);
    let first = groups.next()?;
    let groups: Vec<&str> = groups.collect();
    let is_grouped = groups.iter().all(|group| group.len() == 3) && (groups.is_empty() || first.len() <= 3);
    is_grouped.then(|| (first.to_owned() + &groups.concat()).parse().ok()).flatten()
}

fn is_separator(sign: char) -> bool {
    matches!(sign, '.' | ',' | '\'' | '’' | '\u{a0}' | '\u{202f}')
}

/// Chinese, Japanese and Thai words follow each other without spaces.
fn is_unspaced(sign: char) -> bool {
    matches!(sign, '\u{e01}'..='\u{eff}' | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

/// Signs that say something by themselves, such as those of currencies and ratings.
fn is_symbol(sign: char) -> bool {
    matches!(sign, '$' | '%' | '£' | '¥' | '°' | '+' | '\u{20a0}'..='\u{20cf}' | '\u{2190}'..='\u{27bf}'
        | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_units_ids_and_words_are_reported_apart() {
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(tokens(text).iter().map(|token| token.text).collect::<Vec<_>>(), expected, "{text}");
        };
        check("24 EUR, viewed 1,201 times.", &["24", "EUR", "viewed", "1,201", "times"]);
        check("Open 10:30-17:00 (closed on Sunday)", &["Open", "10:30-17:00", "closed", "on", "Sunday"]);
        check("12Uhr x2 session_a8f3e1", &["12", "Uhr", "x2", "session_a8f3e1"]);
        check("浏览1201次", &["浏", "览", "1201", "次"]);
        check("€19.99 ▲ 3%", &["€", "19.99", "▲", "3", "%"]);
        check("don't", &["don", "t"]);
        let meanings = |text: &str| tokens(text).into_iter().map(|token| token.meaning).collect::<Vec<_>>();
        assert_eq!(meanings("1,201"), [Meaning::Number(Some(1201))]);
        assert_eq!(meanings("1 a8f3e1 12.5"), [Meaning::Number(Some(1)), Meaning::Id, Meaning::Number(None)]);
    }

    #[test]
    fn an_address_is_split_at_its_signs() {
        let texts: Vec<&str> = address_tokens("/(S(a8f3))/doc.aspx?id=7&t=99#top").iter().map(|it| it.text).collect();
        assert_eq!(texts, ["S", "a8f3", "doc.aspx", "id", "7", "t", "99", "top"]);
    }
}
