//! The numbers in a text, as counts of things.

use document::numbers::{begins_with_currency, ends_with_currency};

/// A number in a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Count {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: CountKind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum CountKind {
    /// None of the things.
    Zero,
    Some,
    /// A year of this century, which counts things only beside their name.
    Year,
    /// A day.
    Date,
    /// A price, a percentage, a time, a part of a name.
    Other,
}

/// The numbers of a folded text.
pub(super) fn counts(text: &str) -> Vec<Count> {
    let mut counts = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find(|sign: char| sign.is_ascii_digit()).map(|place| from + place) {
        let end = end_of_number(text, start);
        counts.push(Count { start, end, kind: kind(text, start, end) });
        from = end;
    }
    counts
}

/// Digits, and single signs between two of them.
fn end_of_number(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let is_digit = |place: usize| bytes.get(place).is_some_and(u8::is_ascii_digit);
    let mut end = start;
    while is_digit(end) || (bytes.get(end).is_some_and(|sign| b".,'/:-".contains(sign)) && is_digit(end + 1)) {
        end += 1;
    }
    end
}

fn kind(text: &str, start: usize, end: usize) -> CountKind {
    let number = &text[start..end];
    let (before, behind) = (text[..start].trim_end(), text[end..].trim_start());
    let is_price = ends_with_currency(before) || begins_with_currency(behind);
    let is_named =
        text[..start].chars().next_back().is_some_and(|sign| sign.is_alphabetic() && sign != 'x' && sign < '\u{e00}');
    let of = |sign: char| number.matches(sign).count();
    if is_named || behind.starts_with('%') || is_price || of(':') > 0 {
        CountKind::Other
    } else if of('/') > 0
        || of('-') > 1
        || of('.') > 1
        || (of('.') == 1 && text[end..].starts_with('.') && number.len() <= 5)
    {
        CountKind::Date
    } else if of('-') > 0 {
        CountKind::Other
    } else if !number.contains(|sign: char| sign.is_ascii_digit() && sign != '0') {
        CountKind::Zero
    } else if number.len() == 4 && number.starts_with("20") {
        CountKind::Year
    } else {
        CountKind::Some
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_things_days_or_something_else() {
        let check = |text: &str, expected: &[CountKind]| {
            let kinds: Vec<CountKind> = counts(text).iter().map(|count| count.kind).collect();
            assert_eq!(kinds, expected, "{text}");
        };
        use CountKind::{Date, Other, Some, Year, Zero};
        check("0 in stock, 12 there, 1,299 here", &[Zero, Some, Some]);
        check("20 €, $5, 0% and 10:30", &[Other, Other, Other, Other]);
        check("12.03.2026, 12/3, 2026-03-12, 12.03. and 2027", &[Date, Date, Date, Date, Year]);
        check("h7 3d 残り2点 2-3", &[Other, Some, Some, Other]);
    }
}
