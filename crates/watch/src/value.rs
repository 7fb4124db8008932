//! The values that a rule watches.

use document::prefix;
use std::fmt;

/// The most bytes of a text that is kept as a value.
pub(crate) const MAX_VALUE_BYTES: usize = 80;

/// A number, or a text without one.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A price, a number of pieces, a rate.
    Number(f64),
    /// Such as `InStock`, `2.5.0` or "Sold out", cut after 80 bytes.
    Text(String),
}

/// A value of a rule before and after a change of its page.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchedValue {
    /// The fact, the subject of a trigger, or the watched part, as the rule writes it: `price`, `.price`.
    pub name: String,
    /// `None`: it was never seen.
    pub before: Option<Value>,
    /// `None`: it is not on the page any more.
    pub after: Option<Value>,
    /// The code or sign of the currency, or `%`. `None` if it is no number, or nothing says it.
    pub unit: Option<String>,
}

/// The value that a rule saw last on a page.
#[derive(Clone, Debug, PartialEq)]
pub struct LastValue {
    /// The watched part or the trigger, as written.
    pub subject: String,
    pub value: Value,
    /// The code or sign of the currency, or `%`. `None` if it is no number, or nothing says it.
    pub unit: Option<String>,
}

impl fmt::Display for LastValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.value, &self.unit) {
            (Value::Number(number), Some(unit)) => write!(f, "{number} {unit}"),
            (Value::Number(number), None) => write!(f, "{number}"),
            (Value::Text(text), _) => f.write_str(text),
        }
    }
}

/// A value, with the unit of its number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UnitValue {
    pub(crate) value: Value,
    pub(crate) unit: Option<String>,
}

/// The memory of a watched part, or of a trigger that is about a number, that was on the page at least once.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SubjectMemory {
    /// The hash of its text in the rule.
    pub(crate) key: u64,
    /// The value that it had last.
    pub(crate) value: Option<UnitValue>,
    /// Looks in a row that did not see it.
    pub(crate) misses: u8,
    /// Whether its absence was reported.
    pub(crate) is_reported: bool,
}

impl UnitValue {
    pub(crate) fn number(value: f64, unit: Option<String>) -> Self {
        Self { value: Value::Number(value), unit }
    }

    /// A text, cut after 80 bytes. `None` if it is empty.
    pub(crate) fn text(text: &str) -> Option<Self> {
        let text = text.trim();
        let value = Value::Text(prefix(text, MAX_VALUE_BYTES).to_owned());
        (!text.is_empty()).then_some(Self { value, unit: None })
    }
}
