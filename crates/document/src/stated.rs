//! Finds out whether a shown text contains a value that the page states in structured data, so that it is reported once.

use crate::numbers::{Amount, AmountKind, Number, NumberFormat, amounts, data, numbers};

/// Whether a text mentions a value: a number however it is written, a date by its year and day, anything else by its
/// words.
pub fn mentions(text: &str, value: &str) -> bool {
    if let Some([year, day]) = date(value) {
        let has = |number: u32| {
            let mut runs = text.split(|sign: char| !sign.is_ascii_digit()).filter_map(|run| run.parse::<u32>().ok());
            runs.any(|run| run == number)
        };
        return has(year) && has(day);
    }
    if let Some(number) = number(value) {
        let is_said = |said: Number| said.value == number || said.otherwise == Some(number);
        let is_it = |said: &Amount| said.low == number;
        // Most texts say it as one number, and looking for cents takes longer.
        return numbers(text).any(is_said)
            || amounts(text, &NumberFormat::default(), AmountKind::Price).iter().any(is_it);
    }
    let text = folded(text);
    [folded(without_vocabulary(value)), folded(&words_of_value(value))]
        .iter()
        .any(|words| !words.is_empty() && text.contains(words))
}

/// The number that a value is, as data writes it or as people do.
fn number(value: &str) -> Option<f64> {
    let written = || {
        let mut all = numbers(value);
        all.next().filter(|number| number.place == (0..value.len()) && all.next().is_none()).map(|number| number.value)
    };
    data::value(value).or_else(written)
}

/// A text in lower case, with single blanks.
pub fn folded(text: &str) -> String {
    text.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// The year and the day of a date as data has it: `2026-01-31`, and what follows.
fn date(value: &str) -> Option<[u32; 2]> {
    let mut parts = value.trim().splitn(3, '-');
    let [year, month, day] = [parts.next()?, parts.next()?, parts.next()?];
    let day: String = day.chars().take_while(char::is_ascii_digit).collect();
    let is_date = year.len() == 4 && month.len() == 2 && day.len() == 2;
    if is_date { Some([year.parse().ok()?, day.parse().ok()?]) } else { None }
}

/// A value of a vocabulary as words: `https://schema.org/InStock` is `In Stock`.
pub fn words_of_value(value: &str) -> String {
    let bare = without_vocabulary(value);
    let mut words = String::with_capacity(bare.len() + 8);
    let mut after_small = false;
    for sign in bare.chars() {
        if after_small && sign.is_uppercase() {
            words.push(' ');
        }
        after_small = sign.is_lowercase();
        words.push(sign);
    }
    words
}

/// A value without the address of the vocabulary that it is of.
pub(crate) fn without_vocabulary(value: &str) -> &str {
    let value = value.trim();
    let starts = ["https://schema.org/", "http://schema.org/", "https://www.schema.org/", "http://www.schema.org/"];
    starts.iter().find_map(|start| value.strip_prefix(start)).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_says_a_value_in_its_own_way() {
        let check =
            |text: &str, value: &str, expected| assert_eq!(mentions(text, value), expected, "{text:?} {value:?}");
        check("It costs 1.299,00 € today.", "1299.00", true);
        check("It costs 1.299,00 € today.", "1298.00", false);
        check("It costs 1,799 € a litre.", "1.799", true);
        check("Only 12€99", "12.99", true);
        check("Only 12€99", "13", false);
        check("2 January 2026", "2026-01-02", true);
        check("02.01.2026", "2026-01-02T10:00", true);
        check("3 days ago", "2026-01-03", false);
        check("In stock.", "https://schema.org/InStock", true);
        check("Sold out", "InStock", false);
        check("Version 1.2.3", "1.2.3", true);
        check("Version 1.2.4", "1.2.3", false);
        check("anything", "", false);
    }

    #[test]
    fn a_value_of_a_vocabulary_is_read_as_words() {
        assert_eq!(words_of_value("https://schema.org/InStock"), "In Stock");
        assert_eq!(words_of_value("OutOfStock"), "Out Of Stock");
        assert_eq!(words_of_value("10.00"), "10.00");
    }
}
