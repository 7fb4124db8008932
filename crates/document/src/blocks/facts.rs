//! Facts that a page states about itself as a whole in structured data: prices, availability, versions, dates.

use crate::blocks::microdata::PageFacts;
use crate::select::Selected;
use crate::stated::without_vocabulary;
use serde_json::Value;

/// The properties that are read (schema.org).
pub(super) const FACT_NAMES: &[&str] = &[
    "price",
    "lowPrice",
    "highPrice",
    "priceCurrency",
    "availability",
    "softwareVersion",
    "version",
    "datePublished",
    "startDate",
    "endDate",
    "eventStatus",
];
/// The property that says when a page was last modified. It is no fact: the change that it dates is reported anyway.
pub(super) const MODIFIED: &str = "dateModified";
/// The properties that distinguish one thing on a page from another.
const THING_NAMES: &[&str] = &["sku", "name", "@id", "url"];
/// Longer data is not read.
const MAX_JSON_BYTES: usize = 256 * 1024;
/// The most facts per page.
pub(super) const MAX_FACTS: usize = 256;

/// A statement about the page or a thing on it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fact {
    /// The subject of the fact, ending in the property: `Lamp offers price`.
    pub(super) name: String,
    /// The name with the value.
    pub(super) text: String,
    pub(super) selected: Selected,
}

/// Appends the facts of a `<script type=application/ld+json>`: each with the keys that lead to it, and as text. Data
/// that is not JSON says nothing.
pub(super) fn json_ld(text: &str, selected: Selected, facts: &mut PageFacts) {
    if text.len() > MAX_JSON_BYTES {
        return;
    }
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        read(&value, &mut String::new(), selected, facts);
    }
}

fn read(value: &Value, keys: &mut String, selected: Selected, page: &mut PageFacts) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| read(value, keys, selected, page)),
        Value::Object(members) => {
            let length = keys.len();
            if let Some(thing) = THING_NAMES.iter().find_map(|name| members.get(*name)?.as_str()) {
                keys.push_str(thing);
                keys.push(' ');
            }
            if let Some(modified) = members.get(MODIFIED).and_then(Value::as_str) {
                page.modified_at(modified);
            }
            for (name, value) in members {
                let facts = &mut page.list;
                let before = keys.len();
                keys.push_str(name);
                match value {
                    Value::Array(_) | Value::Object(_) => {
                        keys.push(' ');
                        read(value, keys, selected, page);
                    }
                    _ if facts.len() >= MAX_FACTS || !FACT_NAMES.contains(&name.as_str()) => {}
                    Value::String(text) => {
                        let text = format!("{keys}: {}", without_vocabulary(text));
                        facts.push(Fact { name: keys.clone(), text, selected });
                    }
                    other => facts.push(Fact { name: keys.clone(), text: format!("{keys}: {other}"), selected }),
                }
                keys.truncate(before);
            }
            keys.truncate(length);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_read_with_the_thing_they_are_about() {
        let mut page = PageFacts::default();
        json_ld(
            r#"{"@type":"Product","name":"Lamp","image":"a.png","offers":[{"price":10,"availability":"InStock"}]}"#,
            Selected::default(),
            &mut page,
        );
        let texts: Vec<&str> = page.list.iter().map(|fact| fact.text.as_str()).collect();
        assert_eq!(texts, ["Lamp offers availability: InStock", "Lamp offers price: 10"]);
        json_ld("{broken", Selected::default(), &mut page);
        assert_eq!(page.list.len(), 2);
    }
}
