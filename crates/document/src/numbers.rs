//! Numbers as people write them: `1,299.00`, `1.299,00`, `1 299`, `1'299`, `−5`.

use std::ops::Range;

/// The most digits of a number; longer ones are codes.
const MAX_DIGITS: usize = 18;

#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    pub value: f64,
    /// Its place in the text, without the sign.
    pub place: Range<usize>,
}

/// The numbers of a text, in order. Dates and versions with several dots (`24.11.2026`, `1.2.3`) are no numbers.
///
/// If both kinds of separators occur, the last one is the decimal sign. One separator alone is a decimal sign unless exactly
/// three digits follow and the number does not begin with 0: `1.299` is more than a thousand.
pub fn numbers(text: &str) -> impl Iterator<Item = Number> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + text.get(at..)?.find(|sign| digit(sign).is_some())?;
            let written = Written::read(&text[start..]);
            at = start + written.length;
            let is_negative = is_minus(&text[..start]);
            if let Some(value) = written.value() {
                return Some(Number { value: if is_negative { -value } else { value }, place: start..at });
            }
        }
    })
}

/// Whether a text ends in a minus that is no hyphen and no dash between numbers.
fn is_minus(before: &str) -> bool {
    let mut signs = before.chars().rev();
    matches!(signs.next(), Some('-' | '−')) && signs.next().is_none_or(|sign| sign.is_whitespace() || sign == '(')
}

fn digit(sign: char) -> Option<u8> {
    // ASCII, Arabic, Persian, Devanagari and full-width digits.
    let zero = [0x30, 0x660, 0x6f0, 0x966, 0xff10].into_iter().find(|zero| (*zero..zero + 10).contains(&(sign as u32)));
    zero.map(|zero| (sign as u32 - zero) as u8)
}

/// How the groups of a number are separated.
#[derive(Clone, Copy, PartialEq)]
enum Separator {
    Dot,
    Comma,
    /// A blank or an apostrophe, which is never a decimal sign.
    Group,
}

fn separator(sign: char) -> Option<Separator> {
    Some(match sign {
        '.' => Separator::Dot,
        ',' | '٫' => Separator::Comma,
        '\'' | '’' | '٬' | ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}' => Separator::Group,
        _ => return None,
    })
}

/// A number as it is written: groups of digits, and what is between them.
#[derive(Default)]
struct Written {
    groups: Vec<String>,
    separators: Vec<Separator>,
    /// In bytes.
    length: usize,
}

impl Written {
    fn read(text: &str) -> Self {
        let mut written = Self::default();
        let mut rest = text;
        loop {
            let group: String = rest.chars().map_while(digit).map(|digit| char::from(b'0' + digit)).collect();
            let length: usize = rest.chars().take_while(|sign| digit(*sign).is_some()).map(char::len_utf8).sum();
            rest = &rest[length..];
            written.groups.push(group);
            written.length = text.len() - rest.len();
            let Some(sign) = rest.chars().next() else { return written };
            let Some(separator) = separator(sign) else { return written };
            let behind = &rest[sign.len_utf8()..];
            let digits = behind.chars().take_while(|sign| digit(*sign).is_some()).count();
            // A blank separates thousands, or one number from the next.
            let is_group = digits == 3 && written.groups.last().is_some_and(|group| group.len() <= 3);
            let is_behind_decimals = separator == Separator::Group && written.groups.len() > 1 && {
                written.separators.iter().any(|before| *before != Separator::Group)
            };
            if digits == 0 || (separator == Separator::Group && (!is_group || is_behind_decimals)) {
                return written;
            }
            written.separators.push(separator);
            rest = behind;
        }
    }

    fn value(&self) -> Option<f64> {
        let digits: usize = self.groups.iter().map(String::len).sum();
        if digits > MAX_DIGITS {
            return None;
        }
        let is_thousands = |groups: &[String]| {
            groups[0].len() <= 3 && groups[0] != "0" && groups[1..].iter().all(|group| group.len() == 3)
        };
        let whole = |groups: &[String]| groups.len() == 1 || is_thousands(groups);
        let last = self.separators.last().copied();
        let same = self.separators.iter().filter(|separator| Some(**separator) == last).count();
        let is_alone = same == self.separators.len();
        let is_decimal = match last {
            None | Some(Separator::Group) => false,
            Some(_) if same > 1 => false,
            Some(_) if is_alone => !is_thousands(&self.groups),
            Some(_) => true,
        };
        let (before, decimals) = match is_decimal {
            true => self.groups.split_at(self.groups.len() - 1),
            false => (&self.groups[..], &[][..]),
        };
        if !whole(before) {
            return None;
        }
        format!("{}.{}", before.concat(), decimals.concat()).trim_end_matches('.').parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values(text: &str) -> Vec<f64> {
        numbers(text).map(|number| number.value).collect()
    }

    #[test]
    fn numbers_are_read_as_they_are_written_in_several_countries() {
        let check = |text: &str, expected: &[f64]| assert_eq!(values(text), expected, "{text}");
        check("1,299.00", &[1_299.0]);
        check("1.299,00 €", &[1_299.0]);
        check("CHF 1'299.–", &[1_299.0]);
        check("1\u{a0}299,50 kr", &[1_299.5]);
        check("1\u{202f}234\u{202f}567", &[1_234_567.0]);
        check("12,90 €", &[12.9]);
        check("$19.99, was $29", &[19.99, 29.0]);
        check("1.299", &[1_299.0]);
        check("0.125 and 0,125", &[0.125, 0.125]);
        check("1.2999", &[1.2999]);
        check("-5 °C or −7 °C, 10-20", &[-5.0, -7.0, 10.0, 20.0]);
        check("19,- and 20.", &[19.0, 20.0]);
        check("24.11.2026 and v1.2.3", &[]);
        check("room 12 345", &[12_345.0]);
        check("12 3456", &[12.0, 3_456.0]);
        check("1,299.00 500", &[1_299.0, 500.0]);
        check("٢٠٫٥ and １２", &[20.5, 12.0]);
        check("1234567890123456789 then 3", &[3.0]);
        check("no number", &[]);
    }

    proptest! {
        #[test]
        fn a_price_is_read_whatever_its_separators(units in 0_u32..10_000_000, cents in 0_u32..100, style in 0_usize..5) {
            let [group, decimal] = [[",", "."], [".", ","], ["'", "."], ["\u{a0}", ","], ["", "."]][style];
            let digits = units.to_string();
            let mut written = String::new();
            for (index, sign) in digits.chars().enumerate() {
                if index > 0 && (digits.len() - index) % 3 == 0 {
                    written.push_str(group);
                }
                written.push(sign);
            }
            let text = format!("price: {written}{decimal}{cents:02} today");
            prop_assert_eq!(values(&text), vec![f64::from(units) + f64::from(cents) / 100.0], "{}", text);
        }

        #[test]
        fn any_text_is_read_to_its_end(text in "[0-9.,' x€-]{0,40}") {
            for number in numbers(&text) {
                prop_assert!(number.value.is_finite() && !number.place.is_empty());
            }
        }
    }
}
