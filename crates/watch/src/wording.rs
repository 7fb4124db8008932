//! Recognises texts of triggers that look like a mistyped condition: read as words, they would wait for ever.

use crate::conditions::Refusal;
use crate::fold::folded;
use crate::sight::PRICE_WORDS;
use crate::stock::is_in_stock;
use document::numbers::numbers;
use settings::edit_distance;

/// Other words for comparisons, and the comparisons.
const OTHER_COMPARISONS: [(&str, &str); 27] = [
    ("under", "below"),
    ("beneath", "below"),
    ("less than", "below"),
    ("less then", "below"),
    ("lower than", "below"),
    ("smaller than", "below"),
    ("cheaper than", "below"),
    ("underneath", "below"),
    ("over", "above"),
    ("more than", "above"),
    ("more then", "above"),
    ("higher than", "above"),
    ("greater than", "above"),
    ("larger than", "above"),
    ("exceeds", "above"),
    ("no more than", "at most"),
    ("not more than", "at most"),
    ("up to", "at most"),
    ("max", "at most"),
    ("maximum", "at most"),
    ("=", "at most"),
    ("==", "at most"),
    ("≤", "at most"),
    ("no less than", "at least"),
    ("min", "at least"),
    ("minimum", "at least"),
    ("≥", "at least"),
];
const COMPARISONS: [&str; 4] = ["below", "above", "at most", "at least"];
/// Verbs that say of a number alone that it moves.
const FALLS: [&str; 8] = ["drops", "decreases", "sinks", "declines", "lowers", "dips", "goes down", "falls down"];
const RISES: [&str; 8] = ["increases", "climbs", "grows", "jumps", "soars", "goes up", "rises up", "raises"];
/// Words that say it of a price, and much else of other things. Longer ones come before those that they end in.
const FALLS_OF_PRICE: [&str; 14] = [
    "drop",
    "dropped",
    "fall",
    "fell",
    "fallen",
    "falling",
    "decrease",
    "decreased",
    "is reduced",
    "reduced",
    "lower",
    "down",
    "gets cheaper",
    "cheaper",
];
const RISES_OF_PRICE: [&str; 11] = [
    "rise",
    "rose",
    "rising",
    "risen",
    "increase",
    "increased",
    "higher",
    "up",
    "dearer",
    "gets more expensive",
    "more expensive",
];
const CHANGES: [&str; 6] = ["changes", "change", "is changed", "changed", "updates", "updated"];
/// Words that triggers wait for most often.
const STOCK_PHRASES: [&str; 6] = ["in stock", "out of stock", "sold out", "available", "unavailable", "back in stock"];
const PREFIXES: [&str; 2] = ["not", "words"];
const CURRENCY_SIGNS: [char; 5] = ['€', '$', '£', '¥', '₹'];
/// The most words of the subject of a verb that is taken for one of a condition.
const MAX_SUBJECT_WORDS: usize = 2;

/// A number as settings write it.
pub(crate) fn read_number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// The refusal of a text that looks like a mistyped condition. `None` for words that may come.
pub(crate) fn mistyped(text: &str) -> Option<Refusal> {
    let lower = text.to_lowercase();
    let meant = prefixed(&lower)
        .or_else(|| changing(&lower))
        .or_else(|| moving(&lower))
        .or_else(|| compared(&lower))
        .or_else(|| stock_phrase(&lower))?;
    let problem = format!("{text:?} is no condition, and few pages say these words");
    Some((problem, format!("did you mean {meant}? Write \"words: {text}\" if these words are to come")))
}

/// `Not: sold out`, `word: open`.
fn prefixed(text: &str) -> Option<String> {
    let (prefix, words) = text.split_once(':')?;
    let prefix = prefix.trim();
    let is_near = |known: &&&str| prefix == **known || (known.len() > 3 && edit_distance(prefix, known) == 1);
    let meant = PREFIXES.iter().find(is_near)?;
    Some(format!("\"{meant}: {}\"", words.trim()))
}

fn is_price(name: &str) -> bool {
    let name = name.split('[').next().unwrap_or_default().trim();
    PRICE_WORDS.contains(&name) || PRICE_WORDS.iter().any(|word| name == format!("the {word}"))
}

/// `price changes`: every change of a watched part is reported.
fn changing(text: &str) -> Option<String> {
    let subject = CHANGES.iter().find_map(|verb| before_word(text, verb))?;
    is_price(subject).then(|| {
        format!("\"{subject} falls\" or \"{subject} rises\", or watch = [\"fact:price\"] without a trigger, which reports each change")
    })
}

/// `price drops`, `cheaper`, `price decreases by 5`.
fn moving(text: &str) -> Option<String> {
    let (moving, distance) = match text.split_once(" by ") {
        Some((moving, distance)) => (moving, format!(" by {distance}")),
        None => (text, String::new()),
    };
    for (verb, alone, of_price) in [("falls", &FALLS, &FALLS_OF_PRICE[..]), ("rises", &RISES, &RISES_OF_PRICE[..])] {
        let meant =
            |subject: &str| format!("\"{} {verb}{distance}\"", if subject.is_empty() { "price" } else { subject });
        let is_short = |subject: &&str| subject.split_whitespace().count() <= MAX_SUBJECT_WORDS;
        if let Some(subject) = alone.iter().find_map(|verb| before_word(moving, verb)).filter(is_short) {
            return Some(meant(subject));
        }
        let subject = of_price.iter().find_map(|verb| before_word(moving, verb));
        let is_comparative = |subject: &&str| {
            subject.is_empty() && ["cheaper", "dearer", "expensive"].iter().any(|end| moving.ends_with(end))
        };
        if let Some(subject) = subject.filter(|subject| is_price(subject) || is_comparative(subject)) {
            return Some(meant(subject));
        }
        let (subject, last) = moving.rsplit_once(' ').unwrap_or(("", moving));
        if edit_distance(last, verb) == 1 && is_price(subject) {
            return Some(meant(subject));
        }
    }
    None
}

/// `price bellow 20`, `price under 20 €`, `price 20`.
fn compared(text: &str) -> Option<String> {
    let (before, number) = trailing_number(text)?;
    if let Some((said, meant)) = OTHER_COMPARISONS
        .iter()
        .filter(|(said, _)| before_word(before, said).is_some())
        .max_by_key(|(said, _)| said.len())
    {
        let subject = before_word(before, said).unwrap_or_default();
        return Some(condition(subject, meant, &number));
    }
    let words: Vec<&str> = before.split(' ').collect();
    for taken in 1..=words.len().min(2) {
        let (subject, said) = words.split_at(words.len() - taken);
        let said = said.join(" ");
        let is_near = |known: &&&str| edit_distance(&said, known) == 1;
        if let Some(meant) = COMPARISONS.iter().find(is_near) {
            return Some(condition(&subject.join(" "), meant, &number));
        }
    }
    is_price(before).then(|| condition(before, "at most", &number))
}

fn condition(subject: &str, comparison: &str, number: &str) -> String {
    let subject = if subject.is_empty() { "price" } else { subject };
    format!("\"{subject} {comparison} {number}\"")
}

/// `in stok`, but not `en stock`, which is the phrase of another language.
fn stock_phrase(text: &str) -> Option<String> {
    let is_near = |known: &&&str| edit_distance(text, known) == 1;
    if STOCK_PHRASES.contains(&text) || is_in_stock(&folded(text)) {
        return None;
    }
    STOCK_PHRASES.iter().find(is_near).map(|phrase| format!("\"{phrase}\""))
}

/// The text before a word or words at its end.
fn before_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let before = text.strip_suffix(word)?;
    if before.is_empty() || before.ends_with(' ') { Some(before.trim_end()) } else { None }
}

/// The text before a number at the end, with or without a currency, and the number as settings write it.
fn trailing_number(text: &str) -> Option<(&str, String)> {
    let number = numbers(text).last()?;
    let behind = text[number.place.end..].trim();
    let is_unit = behind.chars().count() <= 3 && !behind.contains(|sign: char| sign.is_ascii_digit());
    let before =
        text[..number.place.start].trim_end_matches(|sign: char| CURRENCY_SIGNS.contains(&sign) || sign == ' ');
    (is_unit && !before.is_empty()).then(|| (before, number.value.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_condition_is_recognised() {
        let check = |text: &str, meant: &str| {
            let (_, remedy) = mistyped(text).unwrap_or_else(|| panic!("{text} is taken for words"));
            assert!(remedy.starts_with(&format!("did you mean {meant}")), "{text}: {remedy}");
        };
        check("price drops", "\"price falls\"");
        check("cheaper", "\"price falls\"");
        check("price fals", "\"price falls\"");
        check("price is reduced", "\"price falls\"");
        check("price goes up", "\"price rises\"");
        check("rent increases by 5 %", "\"rent rises by 5 %\"");
        check("price changes", "\"price falls\" or \"price rises\"");
        check("price bellow 20", "\"price below 20\"");
        check("price abvoe 1.299,00 €", "\"price above 1299\"");
        check("price atmost 20", "\"price at most 20\"");
        check("price under $20", "\"price below 20\"");
        check("seats no more than 3", "\"seats at most 3\"");
        check("price = 20", "\"price at most 20\"");
        check("price 20", "\"price at most 20\"");
        check("in stok", "\"in stock\"");
        check("out fo stock", "\"out of stock\"");
        check("sold uot", "\"sold out\"");
        check("avaliable", "\"available\"");
        check("Not: sold out", "\"not: sold out\"");
        check("word: open", "\"words: open\"");
    }

    #[test]
    fn words_that_may_come_are_words() {
        let words = [
            "in stock",
            "sold out",
            "unavailable",
            "in store",
            "auf Lager",
            "instock",
            "en stock",
            "in stoc",
            "registration open",
            "version 2.0",
            "iPhone 15",
            "Note: closed",
            "Python 3.14 is out",
            "about 20 seats",
            "rain and snow",
            "the price of freedom",
            "lower",
            "up",
            "new flights from 20 June",
            "row 7",
            "operational",
            "disponible",
            "max",
            "price on request",
            "Friday",
        ];
        words.iter().for_each(|text| assert_eq!(mistyped(text), None, "{text}"));
    }
}
