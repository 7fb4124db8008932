//! Cuts JSON into blocks, one for each value.

use crate::blocks::{Blocks, PlacedValue, ValueKind};
use crate::hash::text_hash;
use crate::numbers::data;
use crate::select::{PointerPlace, Selection, is_price};
use crate::text::prefix;
use chance::splitmix64;
use serde_json::Value;
use std::ops::Range;

/// The most bytes of a key in the text of a value. The hash of the place takes in the whole key.
const MAX_KEY_BYTES: usize = 256;

/// JSON: every value that is not a list or object, with the keys that lead to it. Positions in lists do not count; an
/// element of a list goes by its id or name, if it has one.
/// Invalid JSON is read as lines.
pub(crate) fn json(text: &str, selection: Option<&Selection>) -> Blocks {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return Blocks::of_lines(text) };
    let mut reading = JsonReading {
        pieces: Vec::new(),
        elements: Vec::new(),
        found: vec![0; selection.map_or(0, |selection| selection.parts().len())],
        keys: String::new(),
        bytes_left: 4 * text.len() + 64 * 1024,
    };
    reading.read(&value, 0, &PointerPlace::root(selection));
    let mut blocks = Blocks::of_values(reading.pieces, &reading.elements);
    blocks.found = reading.found;
    blocks
}

struct JsonReading {
    pieces: Vec<PlacedValue>,
    /// The pieces of each short element without a name. None is within another.
    elements: Vec<Range<usize>>,
    /// How many values each part of the selection selected.
    found: Vec<u32>,
    /// The keys on the way to the value, each with a colon behind it.
    keys: String,
    /// The keys that may yet be written before values. They are repeated at each value, so that a page of long keys would
    /// take many times its length; values behind this limit are listed without their keys.
    bytes_left: usize,
}

impl JsonReading {
    /// Reads a value. `path` is the hash of the keys that lead to it.
    fn read(&mut self, value: &Value, path: u64, place: &PointerPlace<'_>) {
        if place.selected.ignored {
            return;
        }
        match value {
            Value::Object(members) => {
                for (key, value) in members {
                    let place = place.step(key, &mut self.found);
                    self.read_within(key, value, path, &place);
                }
            }
            Value::Array(values) => {
                for (index, value) in values.iter().enumerate() {
                    let start = self.pieces.len();
                    let place = place.element(index, &mut self.found);
                    if let Some(name) = element_name(value) {
                        self.read_within(&name, value, path, &place);
                    } else {
                        self.read(value, path, &place);
                        if value.is_object() {
                            self.note_element(start);
                        }
                    }
                }
            }
            Value::String(text) => self.add(path, text, ValueKind::Text, place),
            // Numbers of equal value are written in one form.
            Value::Number(number) => {
                let written = number.to_string();
                let canonical = data::canonical(&written).unwrap_or(written);
                self.add(path, &canonical, ValueKind::Number, place);
            }
            Value::Bool(value) => self.add(path, &value.to_string(), ValueKind::Boolean, place),
            Value::Null => self.add(path, "null", ValueKind::Null, place),
        }
    }

    /// Reads a value behind one more key.
    fn read_within(&mut self, key: &str, value: &Value, path: u64, place: &PointerPlace<'_>) {
        let length = self.keys.len();
        self.keys.push_str(prefix(key, MAX_KEY_BYTES));
        self.keys.push_str(": ");
        self.read(value, splitmix64(path ^ text_hash(key.as_bytes())), place);
        self.keys.truncate(length);
    }

    /// Notes that the pieces from this one on are an element without a name, if it is short and selected as a whole.
    fn note_element(&mut self, start: usize) {
        let pieces = &self.pieces[start..];
        let bytes: usize = pieces.iter().map(|piece| piece.text.len()).sum();
        let is_short = (2..=MAX_ELEMENT_VALUES).contains(&pieces.len()) && bytes <= MAX_ELEMENT_BYTES;
        if is_short && pieces.windows(2).all(|two| two[0].selected == two[1].selected) {
            let within = self.elements.iter().rev().take_while(|element| element.start >= start).count();
            self.elements.truncate(self.elements.len() - within);
            self.elements.push(start..self.pieces.len());
        }
    }

    fn add(&mut self, path: u64, value: &str, kind: ValueKind, place: &PointerPlace<'_>) {
        let is_price_text = kind == ValueKind::Text && is_price(last_key(&self.keys));
        let canonical = if is_price_text { data::canonical(value) } else { None };
        let canonical = canonical.filter(|canonical| canonical != value);
        let keys = if self.keys.len() <= self.bytes_left { self.keys.as_str() } else { "" };
        self.bytes_left -= keys.len();
        let (text, value_start) = (format!("{keys}{value}"), keys.len());
        self.pieces.push(PlacedValue { path, text, value_start, kind, canonical, selected: place.selected });
    }
}

/// The most values and bytes of an element that is reported as one thing.
const MAX_ELEMENT_VALUES: usize = 16;
const MAX_ELEMENT_BYTES: usize = 1_024;

/// The last of the keys that lead to a value.
fn last_key(keys: &str) -> &str {
    let keys = keys.strip_suffix(": ").unwrap_or(keys);
    keys.rsplit(": ").next().unwrap_or_default()
}

/// The keys that distinguish one element of a list from the others.
const ELEMENT_NAMES: &[&str] = &["id", "name", "key", "code", "sku", "slug", "title", "url"];
/// Longer names are texts, or ids made for one answer.
const MAX_ELEMENT_NAME_BYTES: usize = 64;

fn element_name(value: &Value) -> Option<String> {
    let members = value.as_object()?;
    let is_random =
        |name: &str| name.len() >= 16 && name.bytes().any(|byte| byte.is_ascii_digit()) && !name.contains(' ');
    ELEMENT_NAMES.iter().find_map(|name| match members.get(*name)? {
        Value::String(name) if name.len() <= MAX_ELEMENT_NAME_BYTES && !is_random(name) => Some(name.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::StatedForm;

    fn senses(text: &str) -> Vec<(String, Option<u64>)> {
        let blocks = json(text, None);
        blocks.list.iter().map(|block| (blocks.text(block).to_owned(), block.sense)).collect()
    }

    #[test]
    fn numbers_of_equal_value_are_equal_and_texts_are_not() {
        let texts = |text| senses(text).into_iter().map(|(text, _)| text).collect::<Vec<_>>();
        assert_eq!(texts(r#"{"a":5,"b":1000,"c":0.10}"#), texts(r#"{"a":5.0,"b":1e3,"c":1e-1}"#));
        assert_eq!(texts(r#"{"a":5}"#), ["a: 5"]);
        assert_ne!(texts(r#"{"version":"1.10"}"#), texts(r#"{"version":"1.1"}"#));
        let sense = |price: &str| text_of(&senses(&format!(r#"{{"offer":{{"price":{price}}}}}"#))[0]);
        assert_eq!(sense("\"24.00\""), sense("24"));
        assert_eq!(sense("24.0"), sense("\"24\""));
        assert_ne!(sense("\"24.00\""), sense("\"24.01\""));
    }

    /// The hash by which a block is compared.
    fn text_of((text, sense): &(String, Option<u64>)) -> u64 {
        sense.unwrap_or_else(|| crate::passage_hash(text.as_bytes()))
    }

    #[test]
    fn short_elements_without_a_name_are_noted() {
        let elements = |text: &str| json(text, None).elements;
        assert_eq!(
            elements(r#"{"a":1,"l":[{"b":1,"c":2},{"id":7,"b":1},{"b":1},{"b":3,"c":[{"x":1,"y":2}]}]}"#),
            [1..3, 6..9]
        );
        let long = format!(r#"[{{"a":"{}","b":1}}]"#, "x".repeat(MAX_ELEMENT_BYTES));
        assert_eq!(elements(&long), Vec::<Range<usize>>::new());
    }

    #[test]
    fn long_keys_are_written_as_far_as_they_fit() {
        let long = "k".repeat(1_000);
        let texts = |text: &str| senses(text).into_iter().map(|(text, _)| text).collect::<Vec<_>>();
        assert_eq!(texts(&format!(r#"{{"{long}":1}}"#)), [format!("{}: 1", &long[..MAX_KEY_BYTES])]);
        let deep = format!("{}[{}2]{}", r#"{"a long key":"#.repeat(100), "1,".repeat(2_000), "}".repeat(100));
        let texts = texts(&deep);
        assert!(texts[0].starts_with("a long key: a long key: "), "{}", texts[0]);
        assert_eq!((texts.len(), texts[2_000].as_str()), (2_001, "2"));
        let paths = |text: &str| json(text, None).list.iter().map(|block| block.path).collect::<Vec<_>>();
        let paths = paths(&format!(r#"{{"{long}a":1,"{long}b":1}}"#));
        assert_ne!(paths[0], paths[1]);
    }

    #[test]
    fn each_value_keeps_its_type_and_its_place() {
        let blocks = json(r#"{"a: b":"c: d","n":1.50,"t":true,"x":null,"e":""}"#, None);
        let stated: Vec<_> =
            blocks.stated.iter().map(|stated| (&blocks.all_text()[stated.place.clone()], stated.form)).collect();
        let data = StatedForm::Data;
        assert_eq!(
            stated,
            [
                ("c: d", data(ValueKind::Text)),
                ("", data(ValueKind::Text)),
                ("1.5", data(ValueKind::Number)),
                ("true", data(ValueKind::Boolean)),
                ("null", data(ValueKind::Null)),
            ]
        );
    }
}
