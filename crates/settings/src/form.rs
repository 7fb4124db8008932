//! What a value may look like: one [`Form`] per kind of setting, which reads it, describes it and writes it.

use crate::raw::Raw;
use crate::sites::{Credentials, PortRange, Proxy, Secret};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::time::Duration;

/// One kind of setting.
pub(crate) trait Form {
    type Value;

    /// What to write, with range and example, to follow the word "write".
    fn expected(&self) -> String;

    /// The value, or what is wrong with it.
    fn read(&self, raw: &Raw) -> Result<Self::Value, String>;

    /// The value as TOML; `None` when it is absent.
    fn write(&self, value: &Self::Value) -> Option<String>;

    /// The value of a setting that no layer mentions, if it may be absent.
    fn absent(&self) -> Option<Self::Value> {
        None
    }
}

fn refuse<T>(raw: &Raw) -> Result<T, String> {
    Err(format!("cannot be {}", raw.describe()))
}

fn quote(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// Any form, or nothing. An empty text means nothing.
pub(crate) struct Optional<F>(pub(crate) F);

impl<F: Form> Form for Optional<F> {
    type Value = Option<F::Value>;

    fn expected(&self) -> String {
        format!("{}, or leave it out", self.0.expected())
    }

    fn read(&self, raw: &Raw) -> Result<Self::Value, String> {
        if raw.text() == Some("") { Ok(None) } else { self.0.read(raw).map(Some) }
    }

    fn write(&self, value: &Self::Value) -> Option<String> {
        value.as_ref().and_then(|value| self.0.write(value))
    }

    fn absent(&self) -> Option<Self::Value> {
        Some(None)
    }
}

/// Any form, or the word `"off"`.
pub(crate) struct OrOff<F>(pub(crate) F);

impl<F: Form> Form for OrOff<F> {
    type Value = Option<F::Value>;

    fn expected(&self) -> String {
        format!("{}, or \"off\"", self.0.expected())
    }

    fn read(&self, raw: &Raw) -> Result<Self::Value, String> {
        if raw.text() == Some("off") { Ok(None) } else { self.0.read(raw).map(Some) }
    }

    fn write(&self, value: &Self::Value) -> Option<String> {
        value.as_ref().map_or(Some(quote("off")), |value| self.0.write(value))
    }
}

/// A duration with units, within bounds (inclusive).
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

    fn write(&self, value: &Duration) -> Option<String> {
        Some(quote(&show(*value)))
    }
}

/// `30s`, `1.5h`, `1h30m`; exact to the nanosecond.
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

/// The first number, the letters after it, and the rest.
fn split_amount(text: &str) -> Option<(&str, &str, &str)> {
    let (amount, rest) = text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '.')?);
    let rest = rest.trim_start();
    let (unit, rest) = rest.split_at(rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len()));
    (!amount.is_empty()).then_some((amount, unit, rest))
}

/// A decimal number times a unit, rounded down to a whole.
fn scale(amount: &str, unit: u128) -> Option<u128> {
    let (whole, fraction) = amount.split_once('.').unwrap_or((amount, "0"));
    let decimals = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let fraction = fraction.parse::<u128>().ok()?.checked_mul(unit)? / decimals;
    whole.parse::<u128>().ok()?.checked_mul(unit)?.checked_add(fraction)
}

/// The duration in its largest unit that needs no fraction.
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

/// A size in bytes with its unit, within bounds (inclusive).
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

    fn write(&self, value: &u64) -> Option<String> {
        Some(quote(&show_in((*value).into(), &SIZE_UNITS)))
    }
}

fn parse_size(text: &str) -> Option<u64> {
    let (amount, unit, rest) = split_amount(text.trim())?;
    let unit_bytes = SIZE_UNITS.iter().find(|(name, _)| *name == unit)?.1;
    if rest.is_empty() { u64::try_from(scale(amount, unit_bytes)?).ok() } else { None }
}

/// A whole number within bounds (inclusive).
pub(crate) struct Count<T>(i64, i64, PhantomData<T>);

impl<T> Count<T> {
    pub(crate) const fn new(min: i64, max: i64) -> Self {
        Self(min, max, PhantomData)
    }
}

impl<T: TryFrom<i64> + Display> Form for Count<T> {
    type Value = T;

    fn expected(&self) -> String {
        format!("a whole number from {} to {}", self.0, self.1)
    }

    fn read(&self, raw: &Raw) -> Result<T, String> {
        let Some(value) = raw.integer() else { return refuse(raw) };
        let in_range = (self.0..=self.1).contains(&value);
        in_range.then(|| T::try_from(value).ok()).flatten().ok_or_else(|| format!("{value} is out of range"))
    }

    fn write(&self, value: &T) -> Option<String> {
        Some(value.to_string())
    }
}

/// A number within bounds (inclusive).
pub(crate) struct Number(pub(crate) f64, pub(crate) f64);

impl Form for Number {
    type Value = f64;

    fn expected(&self) -> String {
        format!("a number from {} to {}", self.0, self.1)
    }

    fn read(&self, raw: &Raw) -> Result<f64, String> {
        match raw.number() {
            Some(value) if (self.0..=self.1).contains(&value) => Ok(value),
            Some(value) => Err(format!("{value:?} is out of range")),
            None => refuse(raw),
        }
    }

    fn write(&self, value: &f64) -> Option<String> {
        Some(format!("{value:?}"))
    }
}

/// `true` or `false`.
pub(crate) struct Flag;

impl Form for Flag {
    type Value = bool;

    fn expected(&self) -> String {
        "true or false".to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<bool, String> {
        raw.flag().map_or_else(|| refuse(raw), Ok)
    }

    fn write(&self, value: &bool) -> Option<String> {
        Some(value.to_string())
    }
}

/// Text that passes a check.
pub(crate) struct Text(pub(crate) &'static str, pub(crate) fn(&str) -> bool);

impl Form for Text {
    type Value = String;

    fn expected(&self) -> String {
        self.0.to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<String, String> {
        match raw.text() {
            Some(text) if (self.1)(text) => Ok(text.to_owned()),
            _ => refuse(raw),
        }
    }

    fn write(&self, value: &String) -> Option<String> {
        Some(quote(value))
    }
}

/// A path; relative ones are the caller's to resolve.
pub(crate) struct Path(pub(crate) &'static str);

impl Form for Path {
    type Value = PathBuf;

    fn expected(&self) -> String {
        self.0.to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<PathBuf, String> {
        match raw.text() {
            Some(text) if !text.is_empty() => Ok(PathBuf::from(text)),
            _ => refuse(raw),
        }
    }

    fn write(&self, value: &PathBuf) -> Option<String> {
        Some(quote(&value.to_string_lossy()))
    }
}

/// One of a few words.
pub(crate) struct Choice<T: 'static>(pub(crate) &'static [(&'static str, T)]);

impl<T: Copy + PartialEq> Form for Choice<T> {
    type Value = T;

    fn expected(&self) -> String {
        let words: Vec<_> = self.0.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        words.join(" or ")
    }

    fn read(&self, raw: &Raw) -> Result<T, String> {
        let chosen = self.0.iter().find(|(word, _)| raw.text() == Some(word));
        chosen.map_or_else(|| refuse(raw), |(_, value)| Ok(*value))
    }

    fn write(&self, value: &T) -> Option<String> {
        self.0.iter().find(|(_, choice)| choice == value).map(|(word, _)| quote(word))
    }
}

/// A text that stands for a value, which is written as it is shown.
pub(crate) struct Parsed<T>(pub(crate) &'static str, pub(crate) fn(&str) -> Option<T>);

impl<T: Display> Form for Parsed<T> {
    type Value = T;

    fn expected(&self) -> String {
        self.0.to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<T, String> {
        raw.text().and_then(self.1).map_or_else(|| refuse(raw), Ok)
    }

    fn write(&self, value: &T) -> Option<String> {
        Some(quote(&value.to_string()))
    }
}

/// A port, or from one to another.
pub(crate) struct Ports;

impl Form for Ports {
    type Value = PortRange;

    fn expected(&self) -> String {
        "ports, or ranges of them, such as [\"80\", \"443\", \"8000-8999\"]".to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<PortRange, String> {
        let text = raw.integer().map(|port| port.to_string()).or_else(|| raw.text().map(str::to_owned));
        text.and_then(|text| PortRange::parse(&text)).map_or_else(|| refuse(raw), Ok)
    }

    fn write(&self, value: &PortRange) -> Option<String> {
        Some(quote(&value.to_string()))
    }
}

/// A proxy. Never shown in a message, because it may hold a password.
pub(crate) struct Through;

impl Form for Through {
    type Value = Proxy;

    fn expected(&self) -> String {
        "a proxy's address, such as \"http://10.0.0.1:3128\" or \"http://user:password@proxy.example.org:3128\""
            .to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<Proxy, String> {
        raw.text().and_then(Proxy::parse).ok_or_else(|| "is not the address of an HTTP proxy with its port".to_owned())
    }

    fn write(&self, value: &Proxy) -> Option<String> {
        Some(quote(&value.reveal()))
    }
}

/// A user name and a password. Never shown in a message.
pub(crate) struct Password;

impl Form for Password {
    type Value = Credentials;

    fn expected(&self) -> String {
        "a name and a password, such as \"user:password\"".to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<Credentials, String> {
        raw.text()
            .and_then(Credentials::parse)
            .ok_or_else(|| "is not a name and a password with a colon between".to_owned())
    }

    fn write(&self, value: &Credentials) -> Option<String> {
        Some(quote(value.reveal()))
    }
}

/// A word that is a secret, between two lengths in bytes. Never shown in a message.
pub(crate) struct Hidden(pub(crate) usize, pub(crate) usize);

impl Form for Hidden {
    type Value = Secret;

    fn expected(&self) -> String {
        format!("{} to {} letters, digits and signs without spaces; best by an environment variable", self.0, self.1)
    }

    fn read(&self, raw: &Raw) -> Result<Secret, String> {
        let fault = || format!("is not a word of {} to {} letters, digits and signs", self.0, self.1);
        raw.text().and_then(|text| Secret::parse(text, self.0..=self.1)).ok_or_else(fault)
    }

    fn write(&self, value: &Secret) -> Option<String> {
        Some(quote(value.reveal()))
    }
}

/// Several of one form.
pub(crate) struct List<F>(pub(crate) F);

impl<F: Form> Form for List<F> {
    type Value = Vec<F::Value>;

    fn expected(&self) -> String {
        self.0.expected()
    }

    fn read(&self, raw: &Raw) -> Result<Self::Value, String> {
        let Some(values) = raw.list() else { return refuse(raw) };
        let read = |value: &Raw| self.0.read(value).map_err(|_| format!("cannot contain {}", value.describe()));
        values.iter().map(read).collect()
    }

    fn write(&self, value: &Self::Value) -> Option<String> {
        Some(format!("[{}]", value.iter().filter_map(|value| self.0.write(value)).collect::<Vec<_>>().join(", ")))
    }
}

/// Names with a value each. The check says which names may stand there.
pub(crate) struct Map<F> {
    pub(crate) value: F,
    pub(crate) expected: &'static str,
    pub(crate) check_name: fn(&str) -> Result<(), String>,
}

impl<F: Form> Form for Map<F> {
    type Value = BTreeMap<String, F::Value>;

    fn expected(&self) -> String {
        self.expected.to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<Self::Value, String> {
        // Not shown again, because it may hold a password.
        let Some(entries) = raw.table() else { return Err("is not a table of names and values".to_owned()) };
        let mut map = BTreeMap::new();
        for (name, raw) in entries {
            (self.check_name)(&name)?;
            map.insert(name.clone(), self.value.read(&raw).map_err(|problem| format!("{name:?} {problem}"))?);
        }
        Ok(map)
    }

    fn write(&self, value: &Self::Value) -> Option<String> {
        let pair =
            |(name, value): (&String, &F::Value)| Some(format!("{} = {}", quote(name), self.value.write(value)?));
        let pairs: Vec<_> = value.iter().filter_map(pair).collect();
        Some(if pairs.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", pairs.join(", ")) })
    }
}

/// A librdkafka property: text to it, though an operator may write a number or a flag. Never shown in a message,
/// because it may be a password.
pub(crate) struct Property;

impl Form for Property {
    type Value = String;

    fn expected(&self) -> String {
        "a text".to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<String, String> {
        match raw {
            Raw::Text(text) | Raw::Untyped(text) => Ok(text.clone()),
            Raw::Integer(value) => Ok(value.to_string()),
            Raw::Number(value) => Ok(value.to_string()),
            Raw::Flag(value) => Ok(value.to_string()),
            _ => Err("has a value that is neither text, number nor flag".to_owned()),
        }
    }

    fn write(&self, value: &String) -> Option<String> {
        Some(quote(value))
    }
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
