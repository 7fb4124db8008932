//! Values for whose sake people watch pages, in the forms in which pages write them.

use crate::draw::Draw;

/// The kind of value that an edit changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Word,
    Number,
    Price,
    Date,
    Time,
}

/// Words that a page may say instead of each other.
const WORDS: &[(&str, &str)] = &[
    ("open", "closed"),
    ("available", "withdrawn"),
    ("monthly", "weekly"),
    ("optional", "required"),
    ("stable", "deprecated"),
    ("included", "excluded"),
];
/// Words that take the place of a page's own.
const STRANGERS: &[&str] = &["harbour", "lantern", "granite", "orchard", "velvet", "compass", "meadow", "saffron"];
const MONTHS: &[&str] = &["January", "March", "April", "June", "September", "November"];

/// A word in the place of another.
pub(crate) fn stranger(draw: &mut Draw) -> &'static str {
    draw.pick(STRANGERS).copied().unwrap_or("harbour")
}

/// A number with as many digits that is not the same.
pub(crate) fn other_number(number: &str, draw: &mut Draw) -> String {
    let changed = draw.below(number.len());
    let digit = |(place, digit): (usize, u8)| match place == changed {
        true => char::from(b'1' + (digit.wrapping_sub(b'0') + draw.below(8) as u8) % 9),
        false => char::from(digit),
    };
    let other: String = number.bytes().enumerate().map(digit).collect();
    if other == number { format!("{number}7") } else { other }
}

/// A value before and after an edit.
pub(crate) fn pair(what: What, draw: &mut Draw) -> (String, String) {
    let form = draw.below(4);
    match what {
        What::Word => {
            let (before, after) = draw.pick(WORDS).copied().unwrap_or(WORDS[0]);
            (before.to_owned(), after.to_owned())
        }
        What::Number => {
            let (before, after) = draw.two_below(90);
            ((before + 10).to_string(), (after + 10).to_string())
        }
        What::Price => {
            let (before, after) = draw.two_below(400);
            (price(form, before + 12), price(form, after + 12))
        }
        What::Date => {
            let (before, after) = draw.two_below(27);
            let month = draw.below(MONTHS.len());
            (date(form, before + 1, month), date(form, after + 1, month))
        }
        What::Time => {
            let (before, after) = draw.two_below(10);
            (time(form, before), time(form, after))
        }
    }
}

fn price(form: usize, amount: usize) -> String {
    match form {
        0 => format!("${amount}.00"),
        1 => format!("€{amount}"),
        2 => format!("{amount},90 €"),
        _ => format!("£1,{amount:03}.50"),
    }
}

fn date(form: usize, day: usize, month: usize) -> String {
    match form {
        0 => format!("{day} {} 2026", MONTHS[month]),
        1 => format!("2026-{:02}-{day:02}", month + 1),
        2 => format!("{day:02}.{:02}.2026", month + 1),
        _ => format!("{} {day}, 2026", MONTHS[month]),
    }
}

fn time(form: usize, hour: usize) -> String {
    match form {
        0 => format!("{}:30", hour + 8),
        1 => format!("{:02}:00 – {:02}:00", hour + 7, hour + 13),
        2 => format!("{} am", hour + 1),
        _ => format!("{:02}.15", hour + 9),
    }
}

/// A sentence with a hole for a value.
pub(crate) fn sentence(what: What, value: &str, form: usize) -> String {
    let forms: [&str; 3] = match what {
        What::Word => ["The lower hall is {} this season.", "Support for it is {} now.", "Entry is {} for members."],
        What::Number => ["There are {} places left.", "The limit is {} kilograms.", "Please come to room {}."],
        What::Price => ["The fee is {} a year.", "Tickets cost {} at the door.", "Price: {}."],
        What::Date => ["Applications close on {}.", "The next meeting is on {}.", "Valid until {}."],
        What::Time => ["The office is open {}.", "The train leaves at {}.", "Updated: the meeting starts at {}."],
    };
    forms[form % forms.len()].replace("{}", value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_changes_the_value() {
        for what in [What::Word, What::Number, What::Price, What::Date, What::Time] {
            for nth in 0..200 {
                let (before, after) = pair(what, &mut Draw::of(1, "values").nth(nth));
                assert!(before != after && sentence(what, &before, nth).contains(&before), "{what:?} {before}");
            }
        }
        for number in ["0", "7", "42", "1999"] {
            let other = other_number(number, &mut Draw::of(2, number));
            assert!(other != number && other.bytes().all(|byte| byte.is_ascii_digit()), "{other}");
        }
    }
}
