//! Triggers: words that come or go, and numbers that cross a threshold, fall or rise.

use crate::conditions::condition_of;
use crate::phrase::Phrase;
use crate::sight::Sight;
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
    /// By this much or more, from the highest value since the trigger fired.
    FallsBy(Stride),
    /// By this much or more, from the lowest value since the trigger fired.
    RisesBy(Stride),
}

/// How far a number moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Stride {
    /// In the unit of the number.
    By(f64),
    /// As a share of the value before: .1 is a tenth.
    Share(f64),
}

impl Stride {
    /// The distance from a value. Prices have binary fractions, so that a fall from 100 to 90 by a tenth is just that.
    fn from(self, value: f64) -> f64 {
        const ROUNDING: f64 = 1.0 - 1e-9;
        ROUNDING
            * match self {
                Self::By(distance) => distance,
                Self::Share(share) => share * value.abs(),
            }
    }
}

impl Trigger {
    /// Parses a trigger: `price below 20`, `price falls`, `in stock`, `not: sold out`, `words: see below`.
    ///
    /// # Errors
    /// Says what is wrong with it, and what to write.
    pub fn parse(text: &str) -> Result<Self, (String, String)> {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let condition = condition_of(&text)?;
        Ok(Self { text, condition })
    }

    /// The trigger as written, with single blanks.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The thing whose number it is about. `None` if it is about words.
    pub(crate) fn subject(&self) -> Option<&Subject> {
        match &self.condition {
            Condition::Number(subject, _) => Some(subject),
            Condition::Come(_) | Condition::Go(_) => None,
        }
    }

    /// The value that the next number is compared with.
    pub(crate) fn kept(&self, known: f64, now: f64, fires: bool) -> f64 {
        match &self.condition {
            Condition::Number(_, Move::FallsBy(_)) if !fires => known.max(now),
            Condition::Number(_, Move::RisesBy(_)) if !fires => known.min(now),
            Condition::Number(..) | Condition::Come(_) | Condition::Go(_) => now,
        }
    }

    /// Whether it names no subject, so that a watched part must give the number.
    pub(crate) fn needs_watch(&self) -> bool {
        matches!(&self.condition, Condition::Number(subject, _) if subject.name.is_empty())
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
        let numbers = (&self.condition, self.number(before), self.number(now));
        if let (Condition::Number(_, made), Some(before), Some(now)) = numbers
            && let Some(has_moved) = made.has_moved(before, now)
        {
            return has_moved;
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
            Self::Falls | Self::Rises | Self::FallsBy(_) | Self::RisesBy(_) => false,
        }
    }

    /// Whether a number has moved as it is to. `None` if it is to be on one side of a threshold.
    fn has_moved(self, before: f64, now: f64) -> Option<bool> {
        match self {
            Self::Falls => Some(now < before),
            Self::Rises => Some(now > before),
            Self::FallsBy(stride) => Some(now < before && before - now >= stride.from(before)),
            Self::RisesBy(stride) => Some(now > before && now - before >= stride.from(before)),
            Self::Below(_) | Self::AtMost(_) | Self::AtLeast(_) | Self::Above(_) => None,
        }
    }
}

impl Subject {
    pub(crate) fn new(name: &str) -> Self {
        let lower = name.to_lowercase();
        let words = Phrase::new(name.split('[').next().unwrap_or_default());
        Self { words, fact: FactPart::parse(&lower).ok(), name: lower }
    }
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
        check("price falls by 10 %", number("price", Move::FallsBy(Stride::Share(0.1))));
        check("price[sku=A1] rises by 5", number("price[sku=a1]", Move::RisesBy(Stride::By(5.0))));
        check("price falls below 20", number("price", Move::Below(20.0)));
        check("price is at least 20", number("price", Move::AtLeast(20.0)));
        check("price<20", number("price", Move::Below(20.0)));
        check("price >=20", number("price", Move::AtLeast(20.0)));
        check("rises", number("", Move::Rises));
        check("in stock", Condition::Come(Phrase::new("in stock")));
        check("not: Sold out", Condition::Go(Phrase::new("sold out")));
        check("words: see below", Condition::Come(Phrase::new("see below")));
    }

    #[test]
    fn a_fall_counts_from_the_highest_value_since_the_trigger_fired() {
        let check = |text: &str, prices: &[f64], expected: &[bool]| {
            let trigger = Trigger::parse(text).unwrap();
            let mut known = prices[0];
            let mut fired = Vec::new();
            for price in &prices[1..] {
                let fires = trigger.fires(Sight::Number(known), Sight::Number(*price));
                known = trigger.kept(known, *price, fires);
                fired.push(fires);
            }
            assert_eq!(fired, expected, "{text} {prices:?}");
        };
        check("price falls by 10 %", &[100.0, 95.0, 91.0, 90.0, 85.0, 81.0], &[false, false, true, false, true]);
        check("price falls by 10%", &[100.0, 120.0, 109.0, 108.0], &[false, false, true]);
        check("price falls by 10 %", &[19.9, 17.91], &[true]);
        check("price falls by 5", &[24.9, 19.91, 19.9, 24.9, 19.9], &[false, true, false, true]);
        check("price rises by 10 %", &[100.0, 105.0, 110.0, 115.0, 121.0], &[false, true, false, true]);
        check("price rises by 10 %", &[100.0, 50.0, 56.0], &[false, true]);
        check("balance falls by 50 %", &[-10.0, -14.0, -15.0], &[false, true]);
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
        fn any_text_is_a_trigger_or_refused(text in "(price|below|at|least|not:|words:|falls|by|%|20|<|[ é€.]){0,8}") {
            if let Ok(trigger) = Trigger::parse(&text) {
                prop_assert_eq!(Trigger::parse(trigger.text()).unwrap(), trigger);
            }
        }
    }
}
