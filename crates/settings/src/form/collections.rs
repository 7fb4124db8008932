//! Lists, and tables of names and values.

use super::{Form, Secrets, quote, refuse};
use crate::kafka::{KafkaProperties, check_property, is_secret_property};
use crate::raw::Raw;
use std::collections::BTreeMap;

/// A list of values of one form.
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

    fn write(&self, value: &Self::Value, secrets: Secrets) -> Option<String> {
        let values: Vec<_> = value.iter().filter_map(|value| self.0.write(value, secrets)).collect();
        Some(format!("[{}]", values.join(", ")))
    }
}

/// A table from names to values of one form. `check_name` validates the names.
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
        // The message does not quote the value, which may hold a password.
        let Some(entries) = raw.table() else { return Err("is not a table of names and values".to_owned()) };
        let mut map = BTreeMap::new();
        for (name, raw) in entries {
            (self.check_name)(&name)?;
            map.insert(name.clone(), self.value.read(&raw).map_err(|problem| format!("{name:?} {problem}"))?);
        }
        Ok(map)
    }

    fn write(&self, value: &Self::Value, secrets: Secrets) -> Option<String> {
        let pair = |(name, value): (&String, &F::Value)| {
            Some(format!("{} = {}", quote(name), self.value.write(value, secrets)?))
        };
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

/// librdkafka properties. Messages never quote the values, which may be passwords.
pub(crate) struct Properties;

impl Properties {
    /// librdkafka takes every value as text, but an operator may write a number or a boolean.
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
        "librdkafka properties that recrawl does not set itself, such as { \"socket.keepalive.enable\" = \"true\" }"
            .to_owned()
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

    fn write(&self, properties: &KafkaProperties, secrets: Secrets) -> Option<String> {
        let pair = |(name, value): (&String, &String)| {
            let value = if is_secret_property(name) { secrets.print(value) } else { value };
            format!("{} = {}", quote(name), quote(value))
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
