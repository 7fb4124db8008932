//! What was typed: the layers as untyped values, each with the place it came from.

use toml::de::{DeTable, DeValue};

/// What every variable of ours begins with.
pub(crate) const PREFIX: &str = "RECRAWL_";
/// Variables of the build and the tests whose names begin like a section's.
pub(crate) const NOT_SETTINGS: [&str; 3] = ["kafka", "kafka_required", "kafka_secure"];

/// A value before anyone knows what it should be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Raw {
    /// From a variable or flag, where everything is text and the setting decides what it means.
    Untyped(String),
    Text(String),
    Integer(i64),
    Number(f64),
    Flag(bool),
    List(Vec<Raw>),
    /// Nested tables are flat: `a.b = 1` and `"a.b" = 1` are the same.
    Table(Vec<(String, Raw)>),
    /// A date, or a number beyond 64 bits.
    Other(String),
}

impl Raw {
    pub(crate) fn from_toml(value: &DeValue<'_>) -> Raw {
        match value {
            DeValue::String(text) => Raw::Text(text.to_string()),
            DeValue::Integer(integer) => match i64::from_str_radix(integer.as_str(), integer.radix()) {
                Ok(value) => Raw::Integer(value),
                Err(_) => Raw::Other(integer.to_string()),
            },
            DeValue::Float(number) => match number.as_str().parse() {
                Ok(value) => Raw::Number(value),
                Err(_) => Raw::Other(number.to_string()),
            },
            DeValue::Boolean(value) => Raw::Flag(*value),
            DeValue::Datetime(value) => Raw::Other(value.to_string()),
            DeValue::Array(values) => Raw::List(values.iter().map(|value| Raw::from_toml(value.get_ref())).collect()),
            DeValue::Table(table) => {
                let mut flat = Vec::new();
                flatten("", table, &mut flat);
                Raw::Table(flat)
            }
        }
    }

    /// A variable's text where a list or table is wanted: TOML if it looks like it.
    fn parse_inline(text: &str) -> Option<Raw> {
        if !text.starts_with(['[', '{']) {
            return None;
        }
        DeValue::parse(text).ok().map(|value| Raw::from_toml(value.get_ref()))
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Raw::Text(text) | Raw::Untyped(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn integer(&self) -> Option<i64> {
        match self {
            Raw::Integer(value) => Some(*value),
            Raw::Untyped(text) => text.replace('_', "").parse().ok(),
            _ => None,
        }
    }

    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Raw::Number(value) => Some(*value),
            Raw::Integer(value) => Some(*value as f64),
            Raw::Untyped(text) => text.replace('_', "").parse().ok(),
            _ => None,
        }
    }

    pub(crate) fn flag(&self) -> Option<bool> {
        match self {
            Raw::Flag(value) => Some(*value),
            Raw::Untyped(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// A list; in a variable also `a,b`.
    pub(crate) fn list(&self) -> Option<Vec<Raw>> {
        match self {
            Raw::List(values) => Some(values.clone()),
            Raw::Untyped(text) if text.trim().is_empty() => Some(Vec::new()),
            Raw::Untyped(text) => match Raw::parse_inline(text) {
                Some(inline) => inline.list(),
                None => Some(text.split(',').map(|part| Raw::Untyped(part.trim().to_owned())).collect()),
            },
            _ => None,
        }
    }

    /// A table; in a variable also `a=1,b=2`.
    pub(crate) fn table(&self) -> Option<Vec<(String, Raw)>> {
        let pair = |part: &str| {
            let (key, value) = part.split_once('=')?;
            Some((key.trim().to_owned(), Raw::Untyped(value.trim().to_owned())))
        };
        match self {
            Raw::Table(entries) => Some(entries.clone()),
            Raw::Untyped(text) if text.trim().is_empty() => Some(Vec::new()),
            Raw::Untyped(text) => match Raw::parse_inline(text) {
                Some(inline) => inline.table(),
                None => text.split(',').map(pair).collect(),
            },
            _ => None,
        }
    }

    /// The value as an operator would name it.
    pub(crate) fn describe(&self) -> String {
        match self {
            Raw::Untyped(text) | Raw::Text(text) => format!("{text:?}"),
            Raw::Integer(value) => format!("the number {value}"),
            Raw::Number(value) => format!("the number {value:?}"),
            Raw::Flag(value) => format!("{value}"),
            Raw::List(_) => "a list".to_owned(),
            Raw::Table(_) => "a table".to_owned(),
            Raw::Other(text) => text.clone(),
        }
    }
}

pub(crate) fn flatten(prefix: &str, table: &DeTable<'_>, flat: &mut Vec<(String, Raw)>) {
    for (key, value) in table {
        let name = format!("{prefix}{}", key.get_ref());
        match value.get_ref() {
            DeValue::Table(inner) => flatten(&format!("{name}."), inner, flat),
            value => flat.push((name, Raw::from_toml(value))),
        }
    }
}
