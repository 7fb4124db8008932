//! How a page writes its numbers, by the evidence of its language, its other numbers and its data.

use super::currency::{self, Currency};
use super::signs::{DecimalSign, Separator};
use super::written::{Reading, Written};
use super::{Found, each_written};
use std::ops::Range;

/// Languages that write decimals with a comma; all others write a dot, or are not known.
const COMMA_LANGUAGES: &[&str] = &[
    "af", "az", "be", "bg", "bs", "ca", "cs", "da", "de", "el", "es", "et", "eu", "fi", "fo", "fr", "gl", "hr", "hu",
    "hy", "id", "is", "it", "ka", "kk", "lb", "lt", "lv", "mk", "nb", "nl", "nn", "no", "pl", "pt", "ro", "ru", "sk",
    "sl", "sq", "sr", "sv", "tr", "uk", "uz", "vi",
];
/// Languages that write decimals with a dot.
const DOT_LANGUAGES: &[&str] = &[
    "bn", "cy", "en", "ga", "gu", "he", "hi", "ja", "km", "kn", "ko", "ml", "mr", "ms", "mt", "pa", "sw", "ta", "te",
    "th", "tl", "ur", "zh",
];
/// Countries that write otherwise than most of their language.
const OTHER_REGIONS: &[(&str, Option<DecimalSign>)] = &[
    ("de-ch", Some(DecimalSign::Dot)),
    ("de-li", Some(DecimalSign::Dot)),
    ("it-ch", Some(DecimalSign::Dot)),
    ("fr-ch", None),
    ("en-za", None),
    ("es-mx", Some(DecimalSign::Dot)),
    ("es-us", Some(DecimalSign::Dot)),
    ("es-pr", Some(DecimalSign::Dot)),
    ("es-do", Some(DecimalSign::Dot)),
    ("es-gt", Some(DecimalSign::Dot)),
    ("es-hn", Some(DecimalSign::Dot)),
    ("es-ni", Some(DecimalSign::Dot)),
    ("es-pa", Some(DecimalSign::Dot)),
    ("es-pe", Some(DecimalSign::Dot)),
    ("es-sv", Some(DecimalSign::Dot)),
];
/// Behind a number: fuel and power are priced to a thousandth, and so are shares of a hundred.
const FINE_UNITS: &[&str] = &[
    "/l",
    "/ l",
    "/liter",
    "/litre",
    "/gal",
    "/kwh",
    "/ kwh",
    "per l",
    "per gal",
    "per kwh",
    "pro l",
    "je l",
    "pro kwh",
    "je kwh",
    "le litre",
    "par litre",
    "al litro",
    "por litro",
    "%",
    "ct/kwh",
];
/// Before a number: it is a rate of exchange.
const RATES: &[&str] = &["=", "≈", "rate", "rate:", "kurs", "kurs:", "cours", "cours:"];

/// How much each kind of evidence weighs. Decimals are read where the sum is at least [`ENOUGH`].
const WEIGHT_OF_LANGUAGE: i32 = 1;
const WEIGHT_OF_CURRENCY: i32 = 1;
const WEIGHT_OF_RATE: i32 = 2;
const WEIGHT_OF_NO_DECIMALS: i32 = 2;
const WEIGHT_OF_OTHERS: i32 = 3;
const WEIGHT_OF_THREE_DECIMALS: i32 = 3;
const WEIGHT_OF_UNIT: i32 = 4;
const WEIGHT_OF_DATA: i32 = 6;
const ENOUGH: i32 = 2;
/// So many times as many numbers must speak for one sign as for the other.
const MAJORITY: u32 = 4;
/// The most values of data that are compared.
const MAX_VALUES: usize = 32;
/// The most bytes beside a number that are searched for a unit.
const MAX_UNIT_BYTES: usize = 24;

/// Evidence of how a page writes numbers. Without any, one separator before exactly three digits separates thousands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NumberFormat {
    language: Option<DecimalSign>,
    /// The numbers so far that leave no doubt, by their decimal sign.
    dots: u32,
    commas: u32,
    /// The numbers that the page states as data.
    values: Vec<f64>,
}

impl NumberFormat {
    /// The format of a page in this language (BCP 47, such as `de-CH`), if it names one.
    pub fn of_language(language: Option<&str>) -> Self {
        Self { language: language.and_then(sign_of_language), ..Self::default() }
    }

    /// The decimal sign of the page's language; a dot if it is not known.
    pub(crate) fn decimal_sign(&self) -> char {
        match self.language {
            Some(DecimalSign::Comma) => ',',
            Some(DecimalSign::Dot) | None => '.',
        }
    }

    /// Takes in a text of the page as evidence. Numbers that leave no doubt count.
    pub fn take_text(&mut self, text: &str) {
        for Found { written, .. } in each_written(text) {
            match shown_sign(&written) {
                Some(DecimalSign::Dot) => self.dots += 1,
                Some(DecimalSign::Comma) => self.commas += 1,
                None => {}
            }
        }
    }

    /// Takes in a number that the page states as data, such as a price in JSON-LD.
    pub fn take_value(&mut self, value: f64) {
        if self.values.len() < MAX_VALUES {
            self.values.push(value);
        }
    }

    /// The decimal sign that most of the page's numbers have, if they agree.
    fn shown(&self) -> Option<DecimalSign> {
        match (self.dots, self.commas) {
            (dots, commas) if dots > MAJORITY * commas => Some(DecimalSign::Dot),
            (dots, commas) if commas > MAJORITY * dots => Some(DecimalSign::Comma),
            _ => None,
        }
    }

    /// The value of a number at a place of a text, and the value that it would have otherwise.
    pub(super) fn decide(&self, reading: Reading, text: &str, place: &Range<usize>) -> (f64, Option<f64>) {
        let (grouped, decimal, sign) = match reading {
            Reading::Sure(value) => return (value, None),
            Reading::Either { grouped, decimal, sign } => (grouped, decimal, sign),
        };
        let (before, behind) = (&text[..place.start], &text[place.end..]);
        let money = currency::before(before).or_else(|| currency::behind(behind)).map(|(currency, _)| currency);
        let mut weight = vote(self.language, sign, WEIGHT_OF_LANGUAGE) + vote(self.shown(), sign, WEIGHT_OF_OTHERS);
        weight += money.map_or(0, |money| weight_of_currency(money, sign));
        weight += if has_fine_unit(behind) { WEIGHT_OF_UNIT } else { 0 };
        weight += if follows_rate(before) { WEIGHT_OF_RATE } else { 0 };
        weight += match (self.values.contains(&decimal), self.values.contains(&grouped)) {
            (true, false) => WEIGHT_OF_DATA,
            (false, true) => -WEIGHT_OF_DATA,
            (true, true) | (false, false) => 0,
        };
        if weight >= ENOUGH { (decimal, Some(grouped)) } else { (grouped, Some(decimal)) }
    }
}

/// The weight of evidence for one decimal sign, on the question of whether this sign separates decimals.
fn vote(evidence: Option<DecimalSign>, sign: DecimalSign, weight: i32) -> i32 {
    evidence.map_or(0, |known| if known == sign { weight } else { -weight })
}

fn weight_of_currency(money: Currency, sign: DecimalSign) -> i32 {
    match money.decimals {
        0 => -WEIGHT_OF_NO_DECIMALS,
        3 => vote(money.decimal, sign, WEIGHT_OF_THREE_DECIMALS),
        _ => vote(money.decimal, sign, WEIGHT_OF_CURRENCY),
    }
}

fn has_fine_unit(behind: &str) -> bool {
    let from = currency::behind(behind).map_or(0, |(_, place)| place);
    let near = behind[from..].trim_start_matches(currency::is_blank);
    let near = near[..near.floor_char_boundary(MAX_UNIT_BYTES)].to_lowercase();
    FINE_UNITS.iter().any(|unit| near.strip_prefix(unit).is_some_and(|rest| ends_unit(unit, rest)))
}

/// Whether the unit ends here. `per l` begins `per litre`, but not `per lamp`.
fn ends_unit(unit: &str, rest: &str) -> bool {
    let continues = rest.starts_with(char::is_alphanumeric);
    let is_litre = unit.ends_with('l') && ["itre", "iter", "itro", "lon"].iter().any(|end| rest.starts_with(end));
    !continues || is_litre || unit.ends_with("gal")
}

fn follows_rate(before: &str) -> bool {
    let near = before.trim_end_matches(currency::is_blank);
    let near = near[near.ceil_char_boundary(near.len().saturating_sub(MAX_UNIT_BYTES))..].to_lowercase();
    RATES.iter().any(|rate| {
        let rest = near.strip_suffix(rate);
        rest.is_some_and(|rest| !rate.starts_with(char::is_alphabetic) || !rest.ends_with(char::is_alphanumeric))
    })
}

/// The decimal sign that a number shows without doubt: by two decimals, or by its groups.
fn shown_sign(written: &Written) -> Option<DecimalSign> {
    let sign = |separator| match separator {
        Separator::Dot => Some(DecimalSign::Dot),
        Separator::Comma => Some(DecimalSign::Comma),
        Separator::Decimal | Separator::Group => None,
    };
    let other = |sign| if sign == DecimalSign::Dot { DecimalSign::Comma } else { DecimalSign::Dot };
    if written.reading()?.is_either() {
        return None;
    }
    let (last, is_alone, decimals) = written.last_separator()?;
    match (is_alone, decimals) {
        // `1.234.567`
        (true, 3) if written.group_count() > 2 => sign(last).map(other),
        (_, 2) => sign(last),
        (false, _) => sign(last),
        (true, _) => None,
    }
}

fn sign_of_language(tag: &str) -> Option<DecimalSign> {
    let tag = tag.trim().to_ascii_lowercase().replace('_', "-");
    if let Some((_, sign)) = OTHER_REGIONS.iter().find(|(region, _)| *region == tag) {
        return *sign;
    }
    let language = tag.split('-').next().unwrap_or_default();
    let is_in = |languages: &[&str]| languages.contains(&language);
    match () {
        () if is_in(COMMA_LANGUAGES) => Some(DecimalSign::Comma),
        () if is_in(DOT_LANGUAGES) => Some(DecimalSign::Dot),
        () => None,
    }
}
