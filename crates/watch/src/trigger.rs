//! Triggers: words that come or go, and numbers that cross a threshold, fall or rise.

use crate::phrase::Phrase;
use crate::sight::Sight;
use document::numbers::numbers;
use document::select::FactPart;

/// A condition, and the text that says it.
#[derive(Clone, Debug, PartialEq)]
pub struct Trigger {
    text: String,
    pub(crate) condition: Condition,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Condition {
    /// The words come.
    Come(Phrase),
    /// The words go.
    Go(Phrase),
    /// The number of this subject comes to be on this side of a threshold, or moves.
    Number(Subject, Move),
}

/// The thing whose number is watched.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Subject {
    /// As written; empty for the watched part.
    pub(crate) name: String,
    pub(crate) words: Phrase,
    /// The facts that have this name.
    pub(crate) fact: Option<FactPart>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Move {
    Below(f64),
    AtMost(f64),
    AtLeast(f64),
    Above(f64),
    Falls,
    Rises,
}

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

/// Other words for comparisons, which are certainly not meant as words that come if a number follows.
const OTHER_WORDS: [(&str, &str); 6] = [
    ("under", "below"),
    ("over", "above"),
    ("less than", "below"),
    ("more than", "above"),
    ("cheaper than", "below"),
    ("=", "at most"),
];
const CURRENCY_SIGNS: [char; 4] = ['€', '$', '£', '¥'];

impl Trigger {
    /// Parses a trigger: `price below 20`, `price falls`, `in stock`, `not: sold out`, `words: see below`.
    ///
    /// # Errors
    /// Says what is wrong with it, and what to write.
    pub fn parse(text: &str) -> Result<Self, (String, String)> {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let condition = Self::condition(&text)?;
        Ok(Self { text, condition })
    }

    /// The trigger as written, with single blanks.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it names no subject, so that a watched part must give the number.
    pub(crate) fn needs_watch(&self) -> bool {
        matches!(&self.condition, Condition::Number(subject, _) if subject.name.is_empty())
    }

    fn condition(text: &str) -> Result<Condition, (String, String)> {
        let words = |words: &str| match words.chars().any(char::is_alphanumeric) {
            true => Ok(Phrase::new(words)),
            false => Err((
                format!("the trigger {text:?} has no words"),
                "write words that come, such as \"in stock\", words that go, such as \"not: sold out\", or a number, \
                 such as \"price below 20\""
                    .to_owned(),
            )),
        };
        if let Some(gone) = text.strip_prefix("not:") {
            return Ok(Condition::Go(words(gone)?));
        }
        if let Some(quoted) = text.strip_prefix("words:") {
            return Ok(Condition::Come(words(quoted)?));
        }
        if let Some((subject, made)) = moved(text) {
            return Ok(Condition::Number(subject, made));
        }
        for (sign, make) in COMPARISONS {
            let Some((subject, number)) = split_at_words(text, sign) else { continue };
            return match number.parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(Condition::Number(Subject::new(subject), make(number))),
                _ => Err(no_number(text, sign, number)),
            };
        }
        for (said, sign) in OTHER_WORDS {
            let number = split_at_words(text, said).map_or("", |(_, behind)| behind);
            if number.starts_with(|sign: char| sign.is_ascii_digit() || CURRENCY_SIGNS.contains(&sign)) {
                let (problem, remedy) = no_number(text, sign, number);
                return Err((format!("{said:?} is no comparison, and {problem}"), remedy));
            }
        }
        Ok(Condition::Come(words(text)?))
    }

    /// Whether the condition holds for this sight. `None` if the sight does not decide it. A number that falls or rises
    /// is an event and never holds.
    pub fn holds(&self, sight: Sight) -> Option<bool> {
        match (&self.condition, sight) {
            (_, Sight::Nothing | Sight::Several | Sight::Unclear) | (Condition::Number(..), Sight::Words(_)) => None,
            (Condition::Come(_), Sight::Words(there)) => Some(there),
            (Condition::Go(_), Sight::Words(there)) => Some(!there),
            (Condition::Number(_, made), Sight::Number(_) | Sight::Range { .. }) => {
                self.number(sight).map(|value| made.holds(value))
            }
            (Condition::Come(_) | Condition::Go(_), Sight::Number(_) | Sight::Range { .. }) => None,
        }
    }

    /// The number of a sight that the condition compares: of a range the higher one if the number is to be above a
    /// threshold, and otherwise the lower one.
    pub fn number(&self, sight: Sight) -> Option<f64> {
        match (&self.condition, sight) {
            (_, Sight::Number(value)) => Some(value),
            (Condition::Number(_, Move::AtLeast(_) | Move::Above(_)), Sight::Range { high, .. }) => Some(high),
            (_, Sight::Range { low, .. }) => Some(low),
            (_, Sight::Nothing | Sight::Words(_) | Sight::Several | Sight::Unclear) => None,
        }
    }

    /// Whether the trigger fires when its sight changes from `before` to `now`.
    pub fn fires(&self, before: Sight, now: Sight) -> bool {
        if let (Condition::Number(_, made @ (Move::Falls | Move::Rises)), Some(before), Some(now)) =
            (&self.condition, self.number(before), self.number(now))
        {
            return if *made == Move::Falls { now < before } else { now > before };
        }
        self.holds(before) == Some(false) && self.holds(now) == Some(true)
    }
}

impl Move {
    fn holds(self, value: f64) -> bool {
        match self {
            Self::Below(threshold) => value < threshold,
            Self::AtMost(threshold) => value <= threshold,
            Self::AtLeast(threshold) => value >= threshold,
            Self::Above(threshold) => value > threshold,
            Self::Falls | Self::Rises => false,
        }
    }
}

impl Subject {
    fn new(name: &str) -> Self {
        let lower = name.to_lowercase();
        let words = Phrase::new(name.split('[').next().unwrap_or_default());
        Self { words, fact: FactPart::parse(&lower).ok(), name: lower }
    }
}

/// `price falls`, `price rises`.
fn moved(text: &str) -> Option<(Subject, Move)> {
    let (subject, verb) = text.rsplit_once(' ').unwrap_or(("", text));
    match verb {
        "falls" => Some((Subject::new(subject), Move::Falls)),
        "rises" => Some((Subject::new(subject), Move::Rises)),
        _ => None,
    }
}

/// The texts before and behind words, which stand between blanks.
fn split_at_words<'t>(text: &'t str, words: &str) -> Option<(&'t str, &'t str)> {
    let places = text.match_indices(words).map(|(place, _)| (&text[..place], &text[place + words.len()..]));
    let whole = places.filter(|(before, behind)| {
        (before.is_empty() || before.ends_with(' ')) && (behind.is_empty() || behind.starts_with(' '))
    });
    whole.last().map(|(before, behind)| (before.trim(), behind.trim()))
}

fn no_number(text: &str, sign: &str, number: &str) -> (String, String) {
    let problem = match number {
        "" => format!("a number is missing at the end of {text:?}"),
        number => format!("{number:?} in {text:?} is no number"),
    };
    let meant = numbers(number).next().map_or_else(|| "20".to_owned(), |number| number.value.to_string());
    (problem, format!("write \"{sign} {meant}\", or \"words: {text}\" if these words are to come"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_trigger_says_what_is_to_happen() {
        let check = |text: &str, expected: Condition| assert_eq!(Trigger::parse(text).unwrap().condition, expected);
        let number = |subject: &str, made| Condition::Number(Subject::new(subject), made);
        check("price below 20", number("price", Move::Below(20.0)));
        check("Price  of  the lamp above 99.5", number("price of the lamp", Move::Above(99.5)));
        check("seats at least 3", number("seats", Move::AtLeast(3.0)));
        check("at most -5", number("", Move::AtMost(-5.0)));
        check("price <= 20", number("price", Move::AtMost(20.0)));
        check("price falls", number("price", Move::Falls));
        check("rises", number("", Move::Rises));
        check("in stock", Condition::Come(Phrase::new("in stock")));
        check("not: Sold out", Condition::Go(Phrase::new("sold out")));
        check("words: see below", Condition::Come(Phrase::new("see below")));
    }

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
            "\"under\" is no comparison, and \"$20\" in \"price under $20\" is no number; write \"below 20\", or \
             \"words: price under $20\" if these words are to come",
        );
        check(
            "see below",
            "a number is missing at the end of \"see below\"; write \"below 20\", or \"words: see below\" if these words \
             are to come",
        );
    }

    proptest! {
        #[test]
        fn a_threshold_fires_when_it_is_crossed_and_only_then(prices in proptest::collection::vec(0_i32..40, 2..30)) {
            let trigger = Trigger::parse("price below 20").unwrap();
            let sight = |price: &i32| Sight::Number(f64::from(*price));
            for pair in prices.windows(2) {
                let crosses = pair[0] >= 20 && pair[1] < 20;
                prop_assert_eq!(trigger.fires(sight(&pair[0]), sight(&pair[1])), crosses);
            }
            prop_assert!(!trigger.fires(Sight::Nothing, sight(&prices[0])), "the first look is no change");
        }

        #[test]
        fn any_text_is_a_trigger_or_refused(text in "(price|below|at|least|not:|words:|falls|20|<|[ é€.]){0,8}") {
            if let Ok(trigger) = Trigger::parse(&text) {
                prop_assert_eq!(Trigger::parse(trigger.text()).unwrap(), trigger);
            }
        }
    }
}
