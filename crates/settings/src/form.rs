//! What a value may look like: one [`Form`] per kind of setting, which reads it, describes it and writes it.

mod amounts;

pub(crate) use crate::form::amounts::{Size, Span, show};

use crate::kafka::{KafkaProperties, check_property, is_secret_property};
use crate::raw::Raw;
use crate::sites::{Credentials, PortRange, Proxy, Secret};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::marker::PhantomData;
use std::path::PathBuf;

/// One kind of setting.
pub(crate) trait Form {
    type Value;

    /// What to write, with range and example, to follow the word "write".
    fn expected(&self) -> String;

    /// The value, or what is wrong with it.
    fn read(&self, raw: &Raw) -> Result<Self::Value, String>;

    /// The value as TOML, with a mask for every secret; `None` when it is absent.
    fn write(&self, value: &Self::Value) -> Option<String>;

    /// Whether such a value may be or contain a secret.
    fn is_secret(&self) -> bool {
        false
    }

    /// Whether [`Self::write`] has masked something of this value.
    fn hides(&self, _: &Self::Value) -> bool {
        false
    }

    /// The value of a setting that no layer mentions, if it may be absent.
    fn absent(&self) -> Option<Self::Value> {
        None
    }
}

fn refuse<T>(raw: &Raw) -> Result<T, String> {
    Err(format!("cannot be {}", raw.describe()))
}

/// Stands for a secret. Of one length, because that of a secret is nobody's business either.
const MASK: &str = "********";

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

/// Any form, or a word that means nothing, such as `"off"`.
pub(crate) struct OrWord<F>(pub(crate) &'static str, pub(crate) F);

impl<F: Form> Form for OrWord<F> {
    type Value = Option<F::Value>;

    fn expected(&self) -> String {
        format!("{}, or \"{}\"", self.1.expected(), self.0)
    }

    fn read(&self, raw: &Raw) -> Result<Self::Value, String> {
        if raw.text() == Some(self.0) { Ok(None) } else { self.1.read(raw).map(Some) }
    }

    fn write(&self, value: &Self::Value) -> Option<String> {
        value.as_ref().map_or(Some(quote(self.0)), |value| self.1.write(value))
    }
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
        one_of(self.0)
    }

    fn read(&self, raw: &Raw) -> Result<T, String> {
        chosen(self.0, raw)
    }

    fn write(&self, value: &T) -> Option<String> {
        word_for(self.0, value)
    }
}

/// One of the names in a registry.
pub(crate) struct Named<T>(pub(crate) fn() -> Vec<(&'static str, T)>);

impl<T: Copy + PartialEq> Form for Named<T> {
    type Value = T;

    fn expected(&self) -> String {
        one_of(&(self.0)())
    }

    fn read(&self, raw: &Raw) -> Result<T, String> {
        chosen(&(self.0)(), raw)
    }

    fn write(&self, value: &T) -> Option<String> {
        word_for(&(self.0)(), value)
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
        Some(quote(&value.masked(MASK)))
    }

    fn is_secret(&self) -> bool {
        true
    }

    fn hides(&self, value: &Proxy) -> bool {
        value.credentials.is_some()
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
        Some(quote(&value.masked(MASK)))
    }

    fn is_secret(&self) -> bool {
        true
    }

    fn hides(&self, _: &Credentials) -> bool {
        true
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

    fn write(&self, _: &Secret) -> Option<String> {
        Some(quote(MASK))
    }

    fn is_secret(&self) -> bool {
        true
    }

    fn hides(&self, _: &Secret) -> bool {
        true
    }
}

/// A password as others have given it out: any text on one line. Never shown in a message.
pub(crate) struct Phrase;

impl Form for Phrase {
    type Value = Secret;

    fn expected(&self) -> String {
        "a password; best by an environment variable or a file".to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<Secret, String> {
        raw.text().and_then(Secret::parse_phrase).ok_or_else(|| "is not a text on one line".to_owned())
    }

    fn write(&self, _: &Secret) -> Option<String> {
        Some(quote(MASK))
    }

    fn is_secret(&self) -> bool {
        true
    }

    fn hides(&self, _: &Secret) -> bool {
        true
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
        Some(table(value.iter().filter_map(pair)))
    }

    fn is_secret(&self) -> bool {
        self.value.is_secret()
    }

    fn hides(&self, value: &Self::Value) -> bool {
        value.values().any(|value| self.value.hides(value))
    }
}

fn table(pairs: impl Iterator<Item = String>) -> String {
    let pairs: Vec<_> = pairs.collect();
    if pairs.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", pairs.join(", ")) }
}

/// librdkafka properties. Values are never shown in a message, because they may be passwords.
pub(crate) struct Properties;

impl Properties {
    /// All values are text to librdkafka, though an operator may write a number or a flag.
    fn value(raw: &Raw) -> Option<String> {
        match raw {
            Raw::Text(text) | Raw::Untyped(text) => Some(text.clone()),
            Raw::Integer(value) => Some(value.to_string()),
            Raw::Number(value) => Some(value.to_string()),
            Raw::Flag(value) => Some(value.to_string()),
            _ => None,
        }
    }
}

impl Form for Properties {
    type Value = KafkaProperties;

    fn expected(&self) -> String {
        "librdkafka properties that recrawl does not set, such as { \"socket.keepalive.enable\" = \"true\" }".to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<KafkaProperties, String> {
        let Some(entries) = raw.table() else { return Err("is not a table of names and values".to_owned()) };
        let mut properties = BTreeMap::new();
        for (name, raw) in entries {
            check_property(&name)?;
            let value = Self::value(&raw);
            let value = value.ok_or_else(|| format!("{name:?} has a value that is neither text, number nor flag"))?;
            properties.insert(name, value);
        }
        Ok(KafkaProperties(properties))
    }

    fn write(&self, properties: &KafkaProperties) -> Option<String> {
        let pair = |(name, value): (&String, &String)| {
            format!("{} = {}", quote(name), quote(if is_secret_property(name) { MASK } else { value }))
        };
        Some(table(properties.0.iter().map(pair)))
    }

    fn is_secret(&self) -> bool {
        true
    }

    fn hides(&self, properties: &KafkaProperties) -> bool {
        properties.0.keys().any(|name| is_secret_property(name))
    }
}
