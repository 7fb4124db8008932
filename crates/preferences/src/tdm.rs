//! `/.well-known/tdmrep.json`: the reservation of text and data mining for the paths of a host (TDMRep, section 5.2).

use crate::merged::Preferences;
use crate::source::Source;
use politeness::PathPattern;
use serde_json::Value;

/// Bytes of a file that are read. A longer one is broken, as one that was cut: half a list is no JSON.
pub const MAX_TDM_FILE_BYTES: usize = 500 << 10;
/// The most rules of a file.
const MAX_RULES: usize = 10_000;

/// The rules of a file. Parsing never fails: a file that is not understood has no rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TdmFile {
    rules: Vec<TdmRule>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct TdmRule {
    location: PathPattern,
    reservation: String,
    policy: Option<String>,
}

impl TdmFile {
    pub fn parse(file: &[u8]) -> Self {
        let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
        if file.len() > MAX_TDM_FILE_BYTES {
            return Self::default();
        }
        let Ok(Value::Array(rules)) = serde_json::from_slice(file) else { return Self::default() };
        Self { rules: rules.iter().take(MAX_RULES).filter_map(TdmRule::of).collect() }
    }

    /// The preferences for a path and query. The first rule that matches is the most specific one.
    pub fn preferences(&self, path_and_query: &str) -> Preferences {
        let mut preferences = Preferences::default();
        if let Some(rule) = self.rules.iter().find(|rule| rule.location.matches(path_and_query)) {
            preferences.reservation(&rule.reservation, Source::TdmFile);
            rule.policy.iter().for_each(|policy| preferences.policy(policy, Source::TdmFile));
        }
        preferences
    }
}

impl TdmRule {
    /// A rule with a location and a reservation; others are passed over. A number may be written as text.
    fn of(rule: &Value) -> Option<Self> {
        let reservation = match rule.get("tdm-reservation")? {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        let policy = rule.get("tdm-policy").and_then(Value::as_str).map(str::to_owned);
        Some(Self { location: PathPattern::new(rule.get("location")?.as_str()?), reservation, policy })
    }
}
