//! The format of a value. A [`Form`] per kind of setting parses it, describes it and prints it.

mod amounts;
mod collections;
mod secrets;

pub(crate) use crate::form::amounts::{Size, Span, show};
pub(crate) use crate::form::collections::{List, Map, Properties};
pub(crate) use crate::form::secrets::{Feed, Hidden, Password, Phrase, Through};

use crate::raw::Raw;
use crate::values::PortRange;
use std::fmt::Display;
use std::marker::PhantomData;
use std::path::PathBuf;

/// A kind of setting.
pub(crate) trait Form {
    type Value;

    /// Describes valid values, with range and example. Follows the word "write" in messages.
    fn expected(&self) -> String;

    /// Parses a value, or says what is wrong with it.
    fn read(&self, raw: &Raw) -> Result<Self::Value, String>;

    /// Prints the value as TOML. `None` if it is absent.
    fn write(&self, value: &Self::Value, secrets: Secrets) -> Option<String>;

    /// Whether such a value may contain a secret.
    fn is_secret(&self) -> bool {
        false
    }

    /// Whether [`Self::write`] masks a part of this value.
    fn hides(&self, _: &Self::Value) -> bool {
        false
    }

    /// The value if no layer sets it. `None` for a mandatory setting.
    fn absent(&self) -> Option<Self::Value> {
        None
    }
}

fn refuse<T>(raw: &Raw) -> Result<T, String> {
    Err(format!("cannot be {}", raw.describe()))
}

/// Whether printed settings show their secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrets {
    /// A mask replaces them.
    Masked,
    /// They are printed.
    Shown,
}

impl Secrets {
    /// The text printed for a secret. The length of the mask is fixed so as not to reveal the secret's.
    fn print(self, secret: &str) -> &str {
        match self {
            Secrets::Masked => "********",
            Secrets::Shown => secret,
        }
    }
}

pub(crate) fn quote(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// An optional value. An empty text means absent.
pub(crate) struct Optional<F>(pub(crate) F);

impl<F: Form> Form for Optional<F> {
    type Value = Option<F::Value>;

    fn expected(&self) -> String {
        format!("{}, or leave it out", self.0.expected())
    }

    fn read(&self, raw: &Raw) -> Result<Self::Value, String> {
        if raw.text() == Some("") { Ok(None) } else { self.0.read(raw).map(Some) }
    }

    fn write(&self, value: &Self::Value, secrets: Secrets) -> Option<String> {
        value.as_ref().and_then(|value| self.0.write(value, secrets))
    }

    fn is_secret(&self) -> bool {
        self.0.is_secret()
    }

    fn hides(&self, value: &Self::Value) -> bool {
        value.as_ref().is_some_and(|value| self.0.hides(value))
    }

    fn absent(&self) -> Option<Self::Value> {
        Some(None)
    }
}

/// A value, or a word such as `"off"` that means absent.
pub(crate) struct OrWord<F>(pub(crate) &'static str, pub(crate) F);

impl<F: Form> Form for OrWord<F> {
    type Value = Option<F::Value>;

    fn expected(&self) -> String {
        format!("{}, or \"{}\"", self.1.expected(), self.0)
    }

    fn read(&self, raw: &Raw) -> Result<Self::Value, String> {
        if raw.text() == Some(self.0) { Ok(None) } else { self.1.read(raw).map(Some) }
    }

    fn write(&self, value: &Self::Value, secrets: Secrets) -> Option<String> {
        value.as_ref().map_or(Some(quote(self.0)), |value| self.1.write(value, secrets))
    }
}

/// An integer between two bounds (inclusive).
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

    fn write(&self, value: &T, _: Secrets) -> Option<String> {
        Some(value.to_string())
    }
}

/// A number between two bounds (inclusive).
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

    fn write(&self, value: &f64, _: Secrets) -> Option<String> {
        Some(format!("{value:?}"))
    }
}

pub(crate) struct Flag;

impl Form for Flag {
    type Value = bool;

    fn expected(&self) -> String {
        "true or false".to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<bool, String> {
        raw.flag().map_or_else(|| refuse(raw), Ok)
    }

    fn write(&self, value: &bool, _: Secrets) -> Option<String> {
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

    fn write(&self, value: &String, _: Secrets) -> Option<String> {
        Some(quote(value))
    }
}

/// A path. The caller resolves relative ones.
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

    fn write(&self, value: &PathBuf, _: Secrets) -> Option<String> {
        Some(quote(&value.to_string_lossy()))
    }
}

pub(crate) struct Choice<T: 'static>(pub(crate) &'static [(&'static str, T)]);

impl<T: Copy + PartialEq> Form for Choice<T> {
    type Value = T;

    fn expected(&self) -> String {
        one_of(self.0)
    }

    fn read(&self, raw: &Raw) -> Result<T, String> {
        chosen(self.0, raw)
    }

    fn write(&self, value: &T, _: Secrets) -> Option<String> {
        word_for(self.0, value)
    }
}

/// A name that another crate knows ([`crate::Draft::check_name`]). Accepts any value; the check of that crate refuses unknown ones.
pub(crate) struct AnyName;

impl Form for AnyName {
    type Value = String;

    fn expected(&self) -> String {
        "a name".to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<String, String> {
        Ok(raw.text().map_or_else(|| raw.describe(), str::to_owned))
    }

    fn write(&self, value: &String, _: Secrets) -> Option<String> {
        Some(quote(value))
    }
}

/// One of these names. `why_not` says more about some of the others.
pub(crate) struct OneOf<'a>(pub(crate) &'a [&'static str], pub(crate) &'a dyn Fn(&str) -> Option<&'static str>);

impl Form for OneOf<'_> {
    type Value = ();

    fn expected(&self) -> String {
        one_of(&self.0.iter().map(|name| (*name, ())).collect::<Vec<_>>())
    }

    fn read(&self, raw: &Raw) -> Result<(), String> {
        let name = raw.text().unwrap_or_default();
        match self.0.contains(&name) {
            true => Ok(()),
            false => refuse(raw).map_err(|fault: String| match (self.1)(name) {
                Some(reason) => format!("{fault}, {reason}"),
                None => fault,
            }),
        }
    }

    fn write(&self, (): &(), _: Secrets) -> Option<String> {
        None
    }
}

fn one_of<T>(choices: &[(&str, T)]) -> String {
    choices.iter().map(|(word, _)| format!("\"{word}\"")).collect::<Vec<_>>().join(" or ")
}

fn chosen<T: Copy>(choices: &[(&str, T)], raw: &Raw) -> Result<T, String> {
    let chosen = choices.iter().find(|(word, _)| raw.text() == Some(word));
    chosen.map_or_else(|| refuse(raw), |(_, value)| Ok(*value))
}

fn word_for<T: PartialEq>(choices: &[(&str, T)], value: &T) -> Option<String> {
    choices.iter().find(|(_, choice)| choice == value).map(|(word, _)| quote(word))
}

/// A value with a text notation, printed through `Display`.
pub(crate) struct Parsed<T>(pub(crate) &'static str, pub(crate) fn(&str) -> Option<T>);

impl<T: Display> Form for Parsed<T> {
    type Value = T;

    fn expected(&self) -> String {
        self.0.to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<T, String> {
        raw.text().and_then(self.1).map_or_else(|| refuse(raw), Ok)
    }

    fn write(&self, value: &T, _: Secrets) -> Option<String> {
        Some(quote(&value.to_string()))
    }
}

/// A port or a range of ports.
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

    fn write(&self, value: &PortRange, _: Secrets) -> Option<String> {
        Some(quote(&value.to_string()))
    }
}
