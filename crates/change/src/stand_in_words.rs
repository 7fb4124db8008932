//! Words by which walls and errors name themselves, as stems. They name what a version looks like that is suspect by other
//! signs ([`crate::stand_in`]).

use crate::stand_in_kind::StandIn;

/// Longer texts are prose about a matter, and no name of a page.
const MAX_NAME_BYTES: usize = 400;

/// English wording of errors, anywhere in a short text.
const ERRORS: &[&str] = &[
    "access denied",
    "just a moment",
    "verify you are",
    "captcha",
    "not found",
    "error 4",
    "error 5",
    "service unavailable",
    "temporarily unavailable",
    "something went wrong",
    "an error occurred",
    "redirected",
    "unusual traffic",
    "sign in to continue",
    "enable javascript",
    "forbidden",
    "too many requests",
];

/// The stems of each kind. In their order: a test for robots asks for cookies and scripts, and a form of login mentions
/// errors.
const STEMS: &str = include_str!("stand_in_words.txt");

/// The kind of page that a title, a heading, a short text or an address names. `None` if it names none.
pub(crate) fn kind_in(text: &str) -> Option<StandIn> {
    if text.len() > MAX_NAME_BYTES {
        return None;
    }
    let text = text.to_lowercase();
    let lines = STEMS.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": "));
    let mut named = lines.filter(|(_, stems)| stems.split(", ").any(|stem| begins_a_word(&text, stem)));
    named.next().and_then(|(kind, _)| kind_of(kind))
}

/// A kind by its name in the table.
fn kind_of(name: &str) -> Option<StandIn> {
    match name {
        "empty" => Some(StandIn::Empty),
        "maintenance" => Some(StandIn::Maintenance),
        "consent" => Some(StandIn::Consent),
        "login" => Some(StandIn::Login),
        "error" => Some(StandIn::Error),
        _ => None,
    }
}

/// Whether a text is worded like an error, in English.
pub(crate) fn reads_like_an_error(text: &str) -> bool {
    let text = text.to_lowercase();
    ERRORS.iter().any(|error| text.contains(error))
}

/// Whether a stem begins a word of the text; a number or a word of up to four ASCII characters is a whole word. Scripts
/// that write no spaces have no beginnings of words.
fn begins_a_word(text: &str, stem: &str) -> bool {
    let is_short = stem.is_ascii() && stem.len() <= 4;
    let is_spaced = stem.starts_with(is_of_spaced_script);
    text.match_indices(stem).any(|(at, _)| {
        let is_start = !is_spaced || !text[..at].ends_with(char::is_alphanumeric);
        is_start && !(is_short && text[at + stem.len()..].starts_with(char::is_alphanumeric))
    })
}

/// Latin, Greek, Cyrillic, Hebrew, Arabic.
pub(crate) fn is_of_spaced_script(sign: char) -> bool {
    sign < '\u{700}' || ('\u{1e00}'..'\u{2000}').contains(&sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_name_what_they_are_in_many_languages() {
        let check = |text, expected| assert_eq!(kind_in(text), expected, "{text}");
        for text in [
            "Wartungsarbeiten",
            "Site en maintenance",
            "Estamos en mantenimiento",
            "ただいまメンテナンス中です",
            "Сайт на техническом обслуживании",
        ] {
            check(text, Some(StandIn::Maintenance));
        }
        for text in [
            "Before you continue",
            "Ihre Privatsphäre ist uns wichtig",
            "Nous respectons votre vie privée",
            "Używamy plików cookie",
            "我们重视您的隐私",
        ] {
            check(text, Some(StandIn::Consent));
        }
        for text in [
            "Log in",
            "Anmelden",
            "Iniciar sesión",
            "Zaloguj się",
            "ログイン",
            "https://shop.test/account/login?next=/lamp",
        ] {
            check(text, Some(StandIn::Login));
        }
        for text in [
            "404",
            "Seite nicht gefunden",
            "Page introuvable",
            "Страница не найдена",
            "페이지를 찾을 수 없습니다",
            "Just a moment...",
        ] {
            check(text, Some(StandIn::Error));
        }
        for text in ["Harbour lamps", "Blogin", "Room 4041", "Terror in the fog", "Whatever", "Felt and wool", ""] {
            check(text, None);
        }
        check(&"No login is needed. ".repeat(30), None);
    }

    #[test]
    fn each_line_of_the_table_is_of_a_kind() {
        let lines: Vec<&str> = STEMS.lines().skip(1).collect();
        let kind = |line: &&str| line.split_once(": ").and_then(|(kind, _)| kind_of(kind));
        assert!(lines.len() > 10 && lines.iter().all(|line| kind(line).is_some()));
    }
}
