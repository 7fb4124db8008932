//! Words by which walls and errors name themselves, as stems. They name what a version looks like that is suspect by other
//! signs ([`crate::stand_in`]).

use crate::stand_in_kind::StandIn;
use aho_corasick::AhoCorasick;
use std::collections::HashMap;
use std::sync::LazyLock;

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

static ERROR_WORDING: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let wording = AhoCorasick::builder().ascii_case_insensitive(true).build(ERRORS);
    wording.expect("few short words make an automaton")
});

/// The stems of each kind. The first one counts that a text has: a test for robots asks for cookies and scripts, and a form of
/// login mentions errors.
const STEMS: &str = include_str!("stand_in_words.txt");

struct Table {
    stems: Vec<(&'static str, StandIn)>,
    /// Finds all stems in one pass over a text.
    automaton: AhoCorasick,
    /// The stems that may be a segment of an address, joined.
    names: HashMap<String, StandIn>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let lines = STEMS.lines().filter_map(|line| line.split_once(": "));
    let lines = lines.filter_map(|(kind, stems)| Some((kind_of(kind)?, stems)));
    let stems = lines.flat_map(|(kind, stems)| stems.split(", ").map(move |stem| (stem, kind)));
    let stems: Vec<(&str, StandIn)> = stems.collect();
    let automaton = AhoCorasick::new(stems.iter().map(|(stem, _)| stem)).expect("few short stems make an automaton");
    // An address with `javascript` is about it.
    let names = stems.iter().filter(|(_, kind)| *kind != StandIn::Empty);
    let names = names.map(|(stem, kind)| (joined(stem), *kind)).collect();
    Table { stems, automaton, names }
});

/// The kind of page that a title, a heading or a short text names. `None` if it names none.
pub(crate) fn kind_in(text: &str) -> Option<StandIn> {
    if text.len() > MAX_NAME_BYTES {
        return None;
    }
    let text = text.to_lowercase();
    let Table { stems, automaton, .. } = &*TABLE;
    let found = automaton.find_overlapping_iter(&text);
    let found = found.filter(|found| begins_a_word(&text, stems[found.pattern().as_usize()].0, found.start()));
    found.map(|found| found.pattern().as_usize()).min().map(|first| stems[first].1)
}

/// The kind of page that a segment of an address names. The segment consists of the name alone, as in `/page-not-found.html`:
/// `/cookies-recipe` and `/item-404` lead to pages. A number is a name only at the start of the path, because pages are numbered
/// below it.
pub(crate) fn kind_of_address(address: &str) -> Option<StandIn> {
    let path = address.split_once("://").map_or(address, |(_, rest)| rest).split(['?', '#']).next()?;
    path.split('/').skip(1).enumerate().find_map(|(place, segment)| {
        let name = joined(&segment.split(['.', ';']).next()?.to_lowercase());
        let alone = name.strip_prefix("page").or_else(|| name.strip_suffix("page")).unwrap_or(&name);
        let singular = alone.strip_suffix('s').unwrap_or(alone);
        let is_number = alone.bytes().all(|byte| byte.is_ascii_digit());
        let names = Some(&TABLE.names).filter(|_| place == 0 || !is_number)?;
        names.get(alone).or_else(|| names.get(singular)).copied()
    })
}

/// A name without what separates its words.
fn joined(name: &str) -> String {
    name.replace("%20", "").replace([' ', '-', '_', '+'], "")
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
    ERROR_WORDING.is_match(text)
}

/// Whether a stem that was found in a text begins a word of it; a number or a word of up to four ASCII characters is a whole
/// word. Scripts that write no spaces have no beginnings of words.
fn begins_a_word(text: &str, stem: &str, at: usize) -> bool {
    let is_short = stem.is_ascii() && stem.len() <= 4;
    let is_spaced = stem.starts_with(is_of_spaced_script);
    let is_start = !is_spaced || !text[..at].ends_with(char::is_alphanumeric);
    is_start && !(is_short && text[at + stem.len()..].starts_with(char::is_alphanumeric))
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
        for text in ["Log in", "Anmelden", "Iniciar sesión", "Zaloguj się", "ログイン"] {
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
    fn an_address_names_a_kind_by_a_whole_segment_only() {
        let check = |path: &str, expected| {
            let address = format!("https://shop.test/{path}");
            assert_eq!(kind_of_address(&address), expected, "{address}");
        };
        for path in ["404", "404.html", "500?from=/lamp", "en/not-found", "PageNotFound.aspx", "errors/7", "error.php"]
        {
            check(path, Some(StandIn::Error));
        }
        for path in ["account/login?next=/lamp", "login;jsessionid=7", "users/sign_in", "log-in/", "loginpage.jsp"] {
            check(path, Some(StandIn::Login));
        }
        check("consent?continue=/lamp", Some(StandIn::Consent));
        check("Cookies", Some(StandIn::Consent));
        check("maintenance.html", Some(StandIn::Maintenance));
        for path in [
            "",
            "puzzle-500",
            "item-404",
            "issues/404",
            "404-ways-to-cook",
            "cookies-recipe",
            "recipes/cookie-dough.html",
            "error-bars-in-plots",
            "login-chains",
            "fout%C3%A9",
            "lamp?error=404",
            "lamp#login",
            "javascript/latest",
        ] {
            check(path, None);
        }
        assert_eq!(kind_of_address("https://error.test"), None);
    }

    #[test]
    fn each_line_of_the_table_is_of_a_kind() {
        let lines: Vec<&str> = STEMS.lines().skip(1).collect();
        let kind = |line: &&str| line.split_once(": ").and_then(|(kind, _)| kind_of(kind));
        assert!(lines.len() > 10 && lines.iter().all(|line| kind(line).is_some()));
    }
}
