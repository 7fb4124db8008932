//! Numbers of data (JSON, JSON-LD, microdata, `<meta>`): a dot is the decimal sign, and nothing separates thousands.

/// The most digits of a number that is compared by its value; longer ones are codes.
const MAX_DIGITS: usize = 64;
/// Powers of ten up to this one are written out.
const MAX_WRITTEN_OUT: i64 = 24;

/// The value of a number as data writes it: `1299.00`, `-1.5`, `1e3`. `None` for anything else.
pub fn value(text: &str) -> Option<f64> {
    let parts = Parts::of(text.trim())?;
    let value: f64 = parts.canonical().parse().ok()?;
    value.is_finite().then_some(value)
}

/// The one form of all numbers of equal value: `2879.2` for `2879.20` and `2.8792e3`. `None` if the text is no number of
/// data.
pub fn canonical(text: &str) -> Option<String> {
    Parts::of(text.trim()).map(|parts| parts.canonical())
}

/// A number: its digits without zeros at both ends, and the power of ten of the last of them.
struct Parts {
    is_negative: bool,
    digits: String,
    power: i64,
}

impl Parts {
    fn of(text: &str) -> Option<Self> {
        let (is_negative, rest) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (mantissa, exponent) = match rest.find(['e', 'E']) {
            Some(at) => (&rest[..at], exponent(&rest[at + 1..])?),
            None => (rest, 0),
        };
        let (whole, decimals) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() && decimals.is_empty() || !is_digits(whole) || !is_digits(decimals) {
            return None;
        }
        if whole.len() + decimals.len() > MAX_DIGITS {
            return None;
        }
        let digits = format!("{whole}{decimals}");
        let trimmed = digits.trim_end_matches('0');
        let power = exponent - decimals.len() as i64 + (digits.len() - trimmed.len()) as i64;
        let digits = trimmed.trim_start_matches('0').to_owned();
        Some(Self { is_negative: is_negative && !digits.is_empty(), digits, power })
    }

    fn canonical(&self) -> String {
        let sign = if self.is_negative { "-" } else { "" };
        let Self { digits, power, .. } = self;
        if digits.is_empty() {
            return "0".to_owned();
        }
        let length = digits.len() as i64;
        if *power >= 0 && length + power <= MAX_WRITTEN_OUT {
            return format!("{sign}{digits}{}", "0".repeat(*power as usize));
        }
        let before = length + power;
        if *power < 0 && before > 0 {
            let (whole, decimals) = digits.split_at(before as usize);
            return format!("{sign}{whole}.{decimals}");
        }
        if *power < 0 && -before <= MAX_WRITTEN_OUT {
            return format!("{sign}0.{}{digits}", "0".repeat(-before as usize));
        }
        format!("{sign}{digits}e{power}")
    }
}

/// The exponent of a number. No number of a page needs one of more than four digits.
fn exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_exponent = (1..=4).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let value: i64 = digits.parse().ok().filter(|_| is_exponent)?;
    Some(if text.starts_with('-') { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_numbers_have_one_form() {
        let check = |texts: &[&str], expected: &str| {
            for text in texts {
                assert_eq!(canonical(text).as_deref(), Some(expected), "{text}");
            }
        };
        check(&["2879.2", "2879.20", "2.8792e3", "28792E-1", "+2879.200", "0002879.2", " 2879.2 "], "2879.2");
        check(&["5", "5.0", "5.", "5e0", "0.5e1", "50e-1"], "5");
        check(&["1000", "1e3", "1E+3", "1000.000"], "1000");
        check(&["0", "-0", "0.0", "0e9", "-0.00"], "0");
        check(&["0.1", "0.10", ".1", "1e-1"], "0.1");
        check(&["-1.799", "-1799e-3"], "-1.799");
        check(&["1e300", "10e299"], "1e300");
        check(&["1e-300"], "1e-300");
        check(&["12345678901234567890123"], "12345678901234567890123");
    }

    #[test]
    fn what_is_no_number_of_data_has_none() {
        for text in ["", ".", "-", "e3", "1,299", "1.2.3", "1 299", "1e", "1e99999", "12 €", "0x10", "١", "NaN", "--1"]
        {
            assert_eq!((canonical(text), value(text)), (None, None), "{text}");
        }
        assert_eq!(canonical(&"9".repeat(MAX_DIGITS + 1)), None);
        assert_eq!((value("1.799"), value("1e400"), value("1e3")), (Some(1.799), None, Some(1000.0)));
    }

    proptest! {
        #[test]
        fn a_number_is_equal_to_itself_however_it_is_written(mantissa in -999_999_i64..999_999, power in -6_i32..6, zeros in 0_usize..4) {
            let plain = format!("{mantissa}e{power}");
            let zeroed = format!("{mantissa}{}e{}", "0".repeat(zeros), power - zeros as i32);
            let decimal = format!("{mantissa}.{}e{power}", "0".repeat(zeros));
            prop_assert_eq!(canonical(&plain), canonical(&zeroed));
            prop_assert_eq!(canonical(&plain), canonical(&decimal));
            let read: f64 = plain.parse().unwrap();
            prop_assert_eq!(value(&canonical(&plain).unwrap()), Some(read + 0.0));
        }

        #[test]
        fn another_number_has_another_form(one in any::<i32>(), other in any::<i32>(), decimals in 0_usize..8) {
            let written = |number: i32| format!("{:.*}", decimals, f64::from(number) / 100.0);
            let (one, other) = (written(one), written(other));
            let same = one.parse::<f64>().unwrap() == other.parse::<f64>().unwrap();
            prop_assert_eq!(canonical(&one) == canonical(&other), same);
        }

        #[test]
        fn any_text_is_a_number_of_data_or_none(text in "[0-9.eE+-]{0,80}") {
            if let Some(canonical_text) = canonical(&text) {
                prop_assert_eq!(canonical(&canonical_text), Some(canonical_text));
            }
        }
    }
}
