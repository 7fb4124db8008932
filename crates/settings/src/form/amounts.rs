//! Durations and sizes: numbers with a unit.

use super::{Form, Secrets, quote, refuse};
use crate::raw::Raw;
use std::time::Duration;

/// A duration with units, between two bounds (inclusive).
pub(crate) struct Span(pub(crate) Duration, pub(crate) Duration);

const DURATION_UNITS: [(&str, u128); 7] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

impl Form for Span {
    type Value = Duration;

    fn expected(&self) -> String {
        format!(
            "a duration with its unit, from \"{}\" to \"{}\", such as \"30s\", \"5m\" or \"12h\"",
            show(self.0),
            show(self.1)
        )
    }

    fn read(&self, raw: &Raw) -> Result<Duration, String> {
        match raw.text().and_then(parse_duration) {
            Some(value) if value < self.0 || value > self.1 => Err(format!("{} is out of range", raw.describe())),
            Some(value) => Ok(value),
            None => refuse(raw),
        }
    }

    fn write(&self, value: &Duration, _: Secrets) -> Option<String> {
        Some(quote(&show(*value)))
    }
}

/// Parses `30s`, `1.5h`, `1h30m`, exactly to the nanosecond.
fn parse_duration(text: &str) -> Option<Duration> {
    let (mut rest, mut nanos) = (text.trim(), 0_u128);
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let (amount, unit, after) = split_amount(rest)?;
        let unit_nanos = DURATION_UNITS.iter().find(|(name, _)| *name == unit)?.1;
        nanos = nanos.checked_add(scale(amount, unit_nanos)?)?;
        rest = after.trim_start();
    }
    Some(Duration::new(u64::try_from(nanos / 1_000_000_000).ok()?, (nanos % 1_000_000_000) as u32))
}

/// Splits off the first number and the alphabetic characters after it.
fn split_amount(text: &str) -> Option<(&str, &str, &str)> {
    let (amount, rest) = text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '.')?);
    let rest = rest.trim_start();
    let (unit, rest) = rest.split_at(rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len()));
    (!amount.is_empty()).then_some((amount, unit, rest))
}

/// A decimal number times a unit, rounded down to an integer.
fn scale(amount: &str, unit: u128) -> Option<u128> {
    let (whole, fraction) = amount.split_once('.').unwrap_or((amount, "0"));
    let decimals = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let fraction = fraction.parse::<u128>().ok()?.checked_mul(unit)? / decimals;
    whole.parse::<u128>().ok()?.checked_mul(unit)?.checked_add(fraction)
}

/// Prints a duration in the largest unit that needs no fraction.
pub(crate) fn show(duration: Duration) -> String {
    let nanos = duration.as_nanos();
    if nanos == 0 {
        return "0s".to_owned();
    }
    show_in(nanos, &DURATION_UNITS)
}

fn show_in(amount: u128, units: &[(&str, u128)]) -> String {
    let exact = units.iter().find(|(_, unit)| amount.is_multiple_of(*unit));
    let (name, unit) = exact.expect("the smallest unit is 1, which divides everything");
    format!("{}{name}", amount / unit)
}

/// A size in bytes with its unit, between two bounds (inclusive).
pub(crate) struct Size(pub(crate) u64, pub(crate) u64);

const SIZE_UNITS: [(&str, u128); 10] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("KB", 1_000),
    ("B", 1),
];

impl Form for Size {
    type Value = u64;

    fn expected(&self) -> String {
        let show = |bytes: u64| show_in(bytes.into(), &SIZE_UNITS);
        format!(
            "a size with its unit, from \"{}\" to \"{}\", such as \"64KiB\" or \"2MiB\"",
            show(self.0),
            show(self.1)
        )
    }

    fn read(&self, raw: &Raw) -> Result<u64, String> {
        match raw.text().and_then(parse_size) {
            Some(value) if value < self.0 || value > self.1 => Err(format!("{} is out of range", raw.describe())),
            Some(value) => Ok(value),
            None => refuse(raw),
        }
    }

    fn write(&self, value: &u64, _: Secrets) -> Option<String> {
        Some(quote(&show_in((*value).into(), &SIZE_UNITS)))
    }
}

fn parse_size(text: &str) -> Option<u64> {
    let (amount, unit, rest) = split_amount(text.trim())?;
    let unit_bytes = SIZE_UNITS.iter().find(|(name, _)| *name == unit)?.1;
    if rest.is_empty() { u64::try_from(scale(amount, unit_bytes)?).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_read_exactly_and_shown_in_its_largest_unit() {
        let check = |text: &str, shown: &str| {
            assert_eq!(parse_duration(text).map(show).as_deref(), Some(shown), "{text}");
        };
        check("30s", "30s");
        check("90s", "90s");
        check("120s", "2m");
        check("1.5h", "90m");
        check("1h30m", "90m");
        check("1d 12h", "36h");
        check("48h", "2d");
        check("250ms", "250ms");
        check("0s", "0s");
        for wrong in ["", "30", "s", "30x", "-1s", "1.2.3s", "3 000 s", "1e3s", "99999999999999999999999d"] {
            assert_eq!(parse_duration(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_size_is_read_in_binary_and_decimal_units() {
        let check = |text: &str, bytes: Option<u64>| assert_eq!(parse_size(text), bytes, "{text}");
        check("2MiB", Some(2 << 20));
        check("1.5KiB", Some(1_536));
        check("10 MB", Some(10_000_000));
        check("512B", Some(512));
        for wrong in ["", "512", "2mib", "2MiB/s", "-1B", "99999999999TiB"] {
            check(wrong, None);
        }
    }
}
