//! Reads the condition that a trigger's text states.

use crate::phrase::Phrase;
use crate::trigger::{Condition, Move, Stride, Subject};
use crate::wording::{mistyped, read_number};
use document::numbers::numbers;

/// A problem with a text, and what to write instead.
pub(crate) type Refusal = (String, String);

/// The words or signs between a subject and its threshold, and what they say of the number.
type Comparison = (&'static str, fn(f64) -> Move);
const COMPARISONS: [Comparison; 8] = [
    ("below", Move::Below),
    ("above", Move::Above),
    ("at most", Move::AtMost),
    ("at least", Move::AtLeast),
    ("<", Move::Below),
    (">", Move::Above),
    ("<=", Move::AtMost),
    (">=", Move::AtLeast),
];
/// A verb, what it says of the number alone, and what with a distance behind it.
type Verb = (&'static str, Move, fn(Stride) -> Move);
const VERBS: [Verb; 2] = [("falls", Move::Falls, Move::FallsBy), ("rises", Move::Rises, Move::RisesBy)];
/// Verbs between a subject and a comparison, which say no more than the comparison.
const FILLERS: [&str; 9] = [" is", " falls", " rises", " drops", " goes", " gets", " climbs", " sinks", " becomes"];

/// The condition of a text with single blanks.
pub(crate) fn condition_of(text: &str) -> Result<Condition, Refusal> {
    if let Some(gone) = text.strip_prefix("not:") {
        return Ok(Condition::Go(words(text, gone)?));
    }
    if let Some(quoted) = text.strip_prefix("words:") {
        return Ok(Condition::Come(words(text, quoted)?));
    }
    if let Some(condition) = moved(text) {
        return condition;
    }
    let spaced = spaced(text);
    for (sign, make) in COMPARISONS {
        let Some((subject, number)) = split_at_words(&spaced, sign) else { continue };
        let subject = FILLERS.iter().find_map(|filler| subject.strip_suffix(filler)).unwrap_or(subject);
        return match read_number(number) {
            Some(number) => Ok(Condition::Number(Subject::new(subject), make(number))),
            None => Err(no_number(text, sign, number)),
        };
    }
    match mistyped(text) {
        Some(refusal) => Err(refusal),
        None => Ok(Condition::Come(words(text, text)?)),
    }
}

fn words(text: &str, words: &str) -> Result<Phrase, Refusal> {
    match words.chars().any(char::is_alphanumeric) {
        true => Ok(Phrase::new(words)),
        false => Err((
            format!("the trigger {text:?} has no words"),
            "write words that come, such as \"in stock\", words that go, such as \"not: sold out\", or a number, such as \
             \"price below 20\""
                .to_owned(),
        )),
    }
}

/// `price falls`, `price rises by 5`, `price falls by 10 %`.
fn moved(text: &str) -> Option<Result<Condition, Refusal>> {
    for (verb, anyhow, by) in VERBS {
        if let Some(subject) = text.strip_suffix(verb).filter(|subject| subject.is_empty() || subject.ends_with(' ')) {
            return Some(Ok(Condition::Number(Subject::new(subject.trim_end()), anyhow)));
        }
        let Some((subject, distance)) = split_at_words(text, &format!("{verb} by")) else { continue };
        let share = ["%", "percent", "per cent"].iter().find_map(|sign| distance.strip_suffix(sign));
        let stride = match share {
            Some(share) => read_number(share.trim_end()).map(|share| Stride::Share(share / 100.0)),
            None => read_number(distance).map(Stride::By),
        };
        let is_positive = |stride: &Stride| matches!(stride, Stride::By(by) | Stride::Share(by) if *by > 0.0);
        return Some(match stride.filter(is_positive) {
            Some(stride) => Ok(Condition::Number(Subject::new(subject), by(stride))),
            None => Err(no_number(text, &format!("{verb} by"), distance)),
        });
    }
    None
}

/// A text with blanks around signs of comparison that a number follows: `price<20`.
fn spaced(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len() + 2);
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        if !matches!(sign, '<' | '>') {
            spaced.push(sign);
            continue;
        }
        spaced.push(' ');
        spaced.push(sign);
        spaced.extend(signs.next_if_eq(&'='));
        spaced.push(' ');
    }
    let is_comparison =
        spaced.split(['<', '>']).next_back().is_some_and(|behind| behind.contains(|sign: char| sign.is_ascii_digit()));
    if is_comparison { spaced.split_whitespace().collect::<Vec<_>>().join(" ") } else { text.to_owned() }
}

/// The texts before and behind words, which stand between blanks.
fn split_at_words<'t>(text: &'t str, words: &str) -> Option<(&'t str, &'t str)> {
    let places = text.match_indices(words).map(|(place, _)| (&text[..place], &text[place + words.len()..]));
    let whole = places.filter(|(before, behind)| {
        (before.is_empty() || before.ends_with(' ')) && (behind.is_empty() || behind.starts_with(' '))
    });
    whole.last().map(|(before, behind)| (before.trim(), behind.trim()))
}

/// The refusal of a comparison without a number behind it.
fn no_number(text: &str, sign: &str, number: &str) -> Refusal {
    let problem = match number {
        "" => format!("a number is missing at the end of {text:?}"),
        number => format!("{number:?} in {text:?} is no number"),
    };
    let meant = numbers(number).next().map_or_else(|| "20".to_owned(), |number| number.value.to_string());
    (problem, format!("write \"{sign} {meant}\", or \"words: {text}\" if these words are to come"))
}

#[cfg(test)]
mod tests {
    use crate::Trigger;

    #[test]
    fn what_is_no_trigger_is_refused_with_what_to_write() {
        let check = |text: &str, expected: &str| {
            let (problem, remedy) = Trigger::parse(text).unwrap_err();
            assert_eq!(format!("{problem}; {remedy}"), expected);
        };
        let words = "write words that come, such as \"in stock\", words that go, such as \"not: sold out\", or a number, \
                     such as \"price below 20\"";
        check("", &format!("the trigger \"\" has no words; {words}"));
        check("not:", &format!("the trigger \"not:\" has no words; {words}"));
        check(
            "price below 1.299,00 €",
            "\"1.299,00 €\" in \"price below 1.299,00 €\" is no number; write \"below 1299\", or \"words: price below \
             1.299,00 €\" if these words are to come",
        );
        check(
            "price under $20",
            "\"price under $20\" is no condition, and few pages say these words; did you mean \"price below 20\"? Write \
             \"words: price under $20\" if these words are to come",
        );
        check(
            "price falls by 1,5 %",
            "\"1,5 %\" in \"price falls by 1,5 %\" is no number; write \"falls by 1.5\", or \"words: price falls by 1,5 %\" if \
             these words are to come",
        );
        check(
            "see below",
            "a number is missing at the end of \"see below\"; write \"below 20\", or \"words: see below\" if these words \
             are to come",
        );
    }
}
