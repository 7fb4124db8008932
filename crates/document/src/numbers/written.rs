//! A number as it is written: groups of digits, and what is between them.

use super::signs::{DecimalSign, Separator, digit, multiple, myriad, raised_digit, separator};

/// The most digits of a number; longer ones are codes.
const MAX_DIGITS: usize = 18;
/// The most parts of a number with signs such as 億 and 万.
const MAX_MYRIADS: usize = 4;

impl Reading {
    /// Whether the sign may separate thousands or decimals.
    pub(super) fn is_either(self) -> bool {
        matches!(self, Self::Either { .. })
    }

    /// The value if the sign separates thousands.
    pub(super) fn grouped(self) -> f64 {
        match self {
            Self::Sure(value) | Self::Either { grouped: value, .. } => value,
        }
    }
}

/// A number at the start of a text.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// The digits of all groups, in ASCII. No more are kept than a number may have, and one.
    digits: String,
    /// The number of digits in each group.
    groups: Vec<usize>,
    separators: Vec<Separator>,
    /// In bytes.
    pub(super) length: usize,
}

/// The value of a written number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reading {
    Sure(f64),
    /// `1.299`: the sign may separate thousands or decimals.
    Either {
        grouped: f64,
        decimal: f64,
        sign: DecimalSign,
    },
}

impl Written {
    /// Reads the number at the start of a text, which begins with a digit.
    pub(super) fn read(text: &str) -> Self {
        let mut written = Self::default();
        let mut rest = text;
        loop {
            rest = written.take_group(rest);
            written.length = text.len() - rest.len();
            let Some(sign) = rest.chars().next() else { return written };
            let Some(separator) = separator(sign) else { return written };
            let behind = &rest[sign.len_utf8()..];
            let digits = behind.chars().take_while(|sign| digit(*sign).is_some()).take(MAX_DIGITS + 1).count();
            if digits == 0 || (separator == Separator::Group && !written.may_be_grouped(digits)) {
                return written;
            }
            written.separators.push(separator);
            rest = behind;
        }
    }

    /// Takes the digits at the start of a text, and returns the rest.
    fn take_group<'t>(&mut self, text: &'t str) -> &'t str {
        let (mut count, mut length) = (0, 0);
        for sign in text.chars() {
            let Some(digit) = digit(sign) else { break };
            if self.digits.len() <= MAX_DIGITS {
                self.digits.push(char::from(b'0' + digit));
            }
            count += 1;
            length += sign.len_utf8();
        }
        self.groups.push(count);
        &text[length..]
    }

    /// Whether a blank or apostrophe before this many digits separates thousands. It may as well stand between two
    /// numbers.
    fn may_be_grouped(&self, digits: usize) -> bool {
        let is_behind_decimals = self.separators.last().is_some_and(|before| *before != Separator::Group);
        digits == 3 && self.groups.last().is_some_and(|group| *group <= 3) && !is_behind_decimals
    }

    /// The value. `None` for a date, a version or a code.
    pub(super) fn reading(&self) -> Option<Reading> {
        if self.digits.len() > MAX_DIGITS {
            return None;
        }
        let all = self.groups.len();
        let Some(last) = self.separators.last().copied() else { return self.sure(all) };
        let same = self.separators.iter().filter(|separator| **separator == last).count();
        let is_alone = same == self.separators.len();
        match last {
            Separator::Decimal if same > 1 => None,
            Separator::Decimal => self.sure(all - 1),
            Separator::Dot | Separator::Comma if same == 1 && is_alone && self.is_thousands(all) => {
                let sign = if last == Separator::Dot { DecimalSign::Dot } else { DecimalSign::Comma };
                Some(Reading::Either { grouped: self.value(all)?, decimal: self.value(all - 1)?, sign })
            }
            Separator::Dot | Separator::Comma if same == 1 => self.sure(all - 1),
            Separator::Dot | Separator::Comma if self.is_one_sign_for_all() => self.sure(all - 1),
            Separator::Dot | Separator::Comma | Separator::Group => self.sure(all),
        }
    }

    /// `1.299.00`: thousands and cents by the same sign. Dates have shorter groups.
    fn is_one_sign_for_all(&self) -> bool {
        matches!(self.groups[..], [first, 3, 2] if first <= 3) && !self.begins_with_nothing()
    }

    /// The value, if the groups before the decimals are those of a whole number.
    fn sure(&self, whole: usize) -> Option<Reading> {
        let is_whole = whole == 1 || self.is_thousands(whole) || self.is_lakhs(whole);
        if is_whole { self.value(whole).map(Reading::Sure) } else { None }
    }

    fn is_thousands(&self, groups: usize) -> bool {
        self.groups[0] <= 3 && !self.begins_with_nothing() && self.groups[1..groups].iter().all(|group| *group == 3)
    }

    /// `1,29,900`: hundreds of thousands, as in India.
    fn is_lakhs(&self, groups: usize) -> bool {
        let [first, middle @ .., last] = &self.groups[..groups] else { return false };
        let is_comma = self.separators[..groups - 1].iter().all(|separator| *separator == Separator::Comma);
        is_comma && *first <= 2 && *last == 3 && middle.iter().all(|group| *group == 2) && !self.begins_with_nothing()
    }

    fn begins_with_nothing(&self) -> bool {
        self.digits.starts_with('0')
    }

    /// The value, with this many groups before the decimals.
    fn value(&self, whole: usize) -> Option<f64> {
        let digits: usize = self.groups[..whole].iter().sum();
        let (whole, decimals) = self.digits.split_at(digits);
        if decimals.is_empty() { whole.parse().ok() } else { format!("{whole}.{decimals}").parse().ok() }
    }

    /// The value with what stands behind the digits and belongs to the number, and the length of all: raised decimals, signs
    /// and words for powers of ten.
    pub(super) fn with_what_follows(&self, text: &str, reading: Reading) -> (Option<Reading>, usize) {
        let behind = &text[self.length..];
        if let Some((thousandths, length)) = self.raised(behind) {
            let value = ((1e3 * reading.grouped()).round() + thousandths) / 1e3;
            return (Some(Reading::Sure(value)), self.length + length);
        }
        if let Some((times, length)) = multiple(behind) {
            let value = match reading {
                Reading::Sure(value) | Reading::Either { decimal: value, .. } => value,
            };
            return (Some(Reading::Sure((value * times).round())), self.length + length);
        }
        let (value, length) = myriads(text, reading.grouped(), self.length);
        (Some(value.map_or(reading, Reading::Sure)), length)
    }

    /// `19⁹⁹`, and the third decimal of `1.79⁹`: the decimals in thousandths, and their length. One sign alone is a footnote.
    fn raised(&self, behind: &str) -> Option<(f64, usize)> {
        let raised: Vec<u8> = behind.chars().map_while(raised_digit).take(3).collect();
        let has_decimals = self.last_separator().is_some_and(|(_, _, digits)| digits != 3);
        let decimals = match raised[..] {
            [tens, ones] if !has_decimals => 10.0 * f64::from(10 * tens + ones),
            [thousandths] if self.has_two_decimals() => f64::from(thousandths),
            _ => return None,
        };
        Some((decimals, behind.chars().take(raised.len()).map(char::len_utf8).sum()))
    }

    /// Whether the digits are one group.
    pub(super) fn is_plain(&self) -> bool {
        self.separators.is_empty()
    }

    /// The decimals of a number with a small whole part: two digits of `1.79`.
    fn has_two_decimals(&self) -> bool {
        self.groups == [1, 2] && self.separators != [Separator::Group]
    }

    /// Whether two digits stand alone, as cents do.
    pub(super) fn is_two_digits(&self) -> bool {
        self.is_plain() && self.groups == [2]
    }

    /// Whether the digits are one group that is short enough for decimals.
    pub(super) fn has_few_digits(&self) -> bool {
        self.is_plain() && self.groups[0] <= 3
    }

    /// The value of the digits behind a decimal sign.
    pub(super) fn as_decimals(&self) -> Option<f64> {
        format!("0.{}", self.digits).parse().ok()
    }

    /// The last separator, whether all others are equal to it, and the number of digits behind it.
    pub(super) fn last_separator(&self) -> Option<(Separator, bool, usize)> {
        let last = *self.separators.last()?;
        let is_alone = self.separators.iter().all(|separator| *separator == last);
        Some((last, is_alone, self.groups.last().copied().unwrap_or_default()))
    }

    pub(super) fn group_count(&self) -> usize {
        self.groups.len()
    }
}

/// `1万2800`, `1億2800万`: each part is less than the power of ten before it. The value, if there is such a sign at this
/// length, and the length of all.
fn myriads(text: &str, first: f64, length: usize) -> (Option<f64>, usize) {
    let (mut sum, mut part, mut least, mut end) = (0.0, first, f64::INFINITY, length);
    for _ in 0..MAX_MYRIADS {
        let Some((times, sign)) = myriad(&text[end..]).filter(|(times, _)| *times < least) else { break };
        sum += (part * times).round();
        (least, part, end) = (times, 0.0, end + sign);
        let behind = text[end..].strip_prefix(' ').unwrap_or(&text[end..]);
        if !behind.starts_with(|sign| digit(sign).is_some()) {
            break;
        }
        let next = Written::read(behind);
        let Some(value) = next.reading().map(Reading::grouped).filter(|value| *value < times) else { break };
        part = value;
        end = text.len() - behind.len() + next.length;
    }
    (least.is_finite().then_some(sum + part), end)
}
