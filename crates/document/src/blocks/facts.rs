//! Facts that a page states in structured data: prices, availability, versions, dates. This file reads those of JSON-LD.

use crate::blocks::microdata::{PageFacts, is_description};
use crate::blocks::things::{Bond, FactSource, local_name};
use crate::entities;
use crate::loose_json::{self, LooseValue};
use crate::numbers::data;
use crate::select::{Selected, is_price};
use crate::stated::without_vocabulary;
use crate::text::prefix;
use std::borrow::Cow;

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
/// The longest name of a fact. Deeper things of a hostile page have longer ones.
const MAX_KEYS_BYTES: usize = 1_024;

/// The type that a value has in its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValueKind {
    Number,
    #[default]
    Text,
    Boolean,
    Null,
}

impl ValueKind {
    /// Whether such a value may give a number. `true` gives none.
    pub fn may_be_number(self) -> bool {
        match self {
            Self::Number | Self::Text => true,
            Self::Boolean | Self::Null => false,
        }
    }
}

/// A statement about the page or a thing on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Fact {
    /// The subject of the fact, ending in the property: `Lamp offers price`.
    pub(super) name: String,
    /// The name with the value.
    pub(super) text: String,
    /// Where the value begins in the text.
    pub(super) value_start: usize,
    pub(super) kind: ValueKind,
    pub(super) selected: Selected,
    /// The number of the thing that it is about; 0 for the page.
    pub(super) thing: usize,
}

/// The last word of the name of a fact.
pub(super) fn property_of(name: &str) -> &str {
    let end = name.bytes().rposition(|byte| matches!(byte, b' ' | b':'));
    end.map_or(name, |end| &name[end + 1..])
}

impl Fact {
    /// A statement of the form `name: value`.
    pub(super) fn named(name: &str, value: &str, kind: ValueKind, selected: Selected) -> Self {
        let text = format!("{name}: {value}");
        Self { name: name.to_owned(), value_start: name.len() + 2, text, kind, selected, ..Self::default() }
    }

    /// A statement whose text is its value.
    pub(super) fn unnamed(name: &str, text: String, selected: Selected) -> Self {
        Self { name: name.to_owned(), text, selected, ..Self::default() }
    }

    /// The last word of the name.
    pub(super) fn property(&self) -> &str {
        property_of(&self.name)
    }

    pub(super) fn value(&self) -> &str {
        &self.text[self.value_start..]
    }

    /// Puts the name of a thing before the fact.
    pub(super) fn put_before(&mut self, thing: &str) {
        self.name = format!("{thing} {}", self.name);
        self.text = format!("{thing} {}", self.text);
        self.value_start += thing.len() + 1;
    }

    /// The value in the form of all equal ones, if it is written in another.
    pub(super) fn canonical(&self) -> Option<String> {
        let is_number = match self.kind {
            ValueKind::Number => true,
            ValueKind::Text => is_price(self.property()),
            ValueKind::Boolean | ValueKind::Null => false,
        };
        let value = self.value();
        if is_number { data::canonical(value).filter(|canonical| canonical != value) } else { None }
    }
}

/// Appends the facts of a `<script type=application/ld+json>`: each with the keys that lead to it, and as text. Faults
/// that other readers repair are repaired; the rest of the data says nothing.
pub(super) fn json_ld(text: &str, selected: Selected, facts: &mut PageFacts) {
    if text.len() > MAX_JSON_BYTES {
        return;
    }
    let text = unescaped(text);
    let mut reading = LinkedData { page: facts, keys: String::new(), selected };
    for value in loose_json::read(&text) {
        reading.read(&value, 0, Bond::None);
    }
}

/// The text without references, if a template wrote even its quotes as references.
fn unescaped(text: &str) -> Cow<'_, str> {
    let inside = text.trim_start_matches(|sign: char| sign.is_whitespace() || "{[".contains(sign));
    let starts = ["&quot;", "&#34;", "&#x22;", "&#39;", "&#039;", "&apos;"];
    match starts.iter().any(|start| inside.starts_with(start)) {
        true => entities::decode(text),
        false => Cow::Borrowed(text),
    }
}

/// Reads values of one script. [`loose_json`] bounds their depth.
struct LinkedData<'p> {
    page: &'p mut PageFacts,
    /// The names and properties on the way to the value, each with a blank behind it.
    keys: String,
    selected: Selected,
}

impl LinkedData<'_> {
    fn read(&mut self, value: &LooseValue<'_>, outer: usize, bond: Bond) {
        match value {
            LooseValue::List(values) => values.iter().for_each(|value| self.read(value, outer, bond)),
            LooseValue::Object(members) => {
                let length = self.keys.len();
                if let Some(name) = THING_NAMES.iter().find_map(|name| value.get(name)?.as_text()) {
                    self.push_key(&entities::decode(name));
                }
                let thing = self.thing(members, outer, bond);
                for (name, value) in members {
                    self.member(name, value, thing);
                }
                self.keys.truncate(length);
            }
            LooseValue::Null | LooseValue::Bool(_) | LooseValue::Number(_) | LooseValue::Text(_) => {}
        }
    }

    /// Begins the thing that an object is about. An object that only holds others is about none.
    fn thing(&mut self, members: &[(Cow<'_, str>, LooseValue<'_>)], outer: usize, bond: Bond) -> usize {
        let is_frame = |name: &str| matches!(name, "@context" | "@graph" | "@list" | "@set");
        if members.iter().all(|(name, _)| is_frame(name)) {
            return outer;
        }
        if let [(name, id)] = members
            && name == "@id"
            && let Some(id) = id.as_text()
        {
            self.page.things.mention(outer, bond, id);
            return outer;
        }
        let Some(number) = self.page.things.begin(outer, bond, FactSource::JsonLd) else { return outer };
        let Some(thing) = self.page.things.get_mut(number) else { return number };
        for (name, value) in members {
            match if name.starts_with('@') { name } else { local_name(name) } {
                "@type" => for_each_text(value, &mut |text| thing.typed(text)),
                "referenceQuantity" => thing.describe("referenceQuantity", ""),
                name if name == "mainEntityOfPage" || is_description(name) => {
                    for_each_text(value, &mut |text| thing.describe(name, &entities::decode(text)));
                }
                _ => {}
            }
        }
        number
    }

    fn member(&mut self, name: &str, value: &LooseValue<'_>, thing: usize) {
        let property = if name.starts_with('@') { name } else { local_name(name) };
        if property == MODIFIED
            && let Some(modified) = value.as_text()
        {
            self.page.modified_at(modified);
        }
        let length = self.keys.len();
        if FACT_NAMES.contains(&property) {
            self.keys.push_str(property);
            self.fact(value, thing);
        } else if matches!(value, LooseValue::List(_) | LooseValue::Object(_)) && self.keys.len() < MAX_KEYS_BYTES {
            self.push_key(name);
            self.read(value, thing, Bond::of(property));
        }
        self.keys.truncate(length);
    }

    /// Adds the fact of a property, whose value may be wrapped or one of several.
    fn fact(&mut self, value: &LooseValue<'_>, thing: usize) {
        if self.page.list.len() >= MAX_FACTS {
            return;
        }
        let (written, kind) = match value {
            LooseValue::Number(written) => (Cow::Borrowed(*written), ValueKind::Number),
            LooseValue::Text(text) => (entities::decode(text), ValueKind::Text),
            LooseValue::Bool(value) => (Cow::Owned(value.to_string()), ValueKind::Boolean),
            LooseValue::Null => (Cow::Borrowed("null"), ValueKind::Null),
            LooseValue::List(values) => return values.iter().for_each(|value| self.fact(value, thing)),
            LooseValue::Object(_) => {
                let inner = ["@value", "@id", "value", "name"].iter().find_map(|name| value.get(name));
                // A value within a value within a value is none.
                return inner
                    .filter(|inner| !matches!(inner, LooseValue::Object(_)))
                    .into_iter()
                    .for_each(|inner| self.fact(inner, thing));
            }
        };
        let fact = Fact::named(&self.keys, without_vocabulary(&written), kind, self.selected);
        self.page.add_about(fact, thing);
    }

    fn push_key(&mut self, key: &str) {
        self.keys.push_str(prefix(key, MAX_KEYS_BYTES));
        self.keys.push(' ');
    }
}

/// Hands out a text, the texts of a list, and the id of an object.
fn for_each_text(value: &LooseValue<'_>, take: &mut dyn FnMut(&str)) {
    match value {
        LooseValue::Text(text) => take(text),
        LooseValue::Number(written) => take(written),
        LooseValue::Bool(true) => take(""),
        LooseValue::List(values) => {
            for value in values.iter().filter(|value| !matches!(value, LooseValue::List(_))) {
                for_each_text(value, take);
            }
        }
        LooseValue::Object(_) => {
            let said = ["@id", "@value", "url"].iter().find_map(|name| value.get(name));
            if let Some(id) = said.and_then(LooseValue::as_text) {
                take(id);
            }
        }
        LooseValue::Bool(false) | LooseValue::Null => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(scripts: &[&str]) -> Vec<String> {
        let mut page = PageFacts::default();
        scripts.iter().for_each(|script| json_ld(script, Selected::default(), &mut page));
        page.list.iter().map(|fact| fact.text.clone()).collect()
    }

    #[test]
    fn facts_are_read_with_the_thing_they_are_about() {
        let lamp =
            r#"{"@type":"Product","name":"Lamp","image":"a.png","offers":[{"price":10,"availability":"InStock"}]}"#;
        assert_eq!(texts(&[lamp, "{broken"]), ["Lamp offers price: 10", "Lamp offers availability: InStock"]);
        let prefixed = r#"{"@type":"schema:Offer","http://schema.org/price":{"@value":"5"},"schema:availability":{"@id":"https://schema.org/InStock"}}"#;
        assert_eq!(texts(&[prefixed]), ["price: 5", "availability: InStock"]);
        assert_eq!(
            texts(&[r#"{"price":[1,"2"],"version":true,"datePublished":null}"#]),
            ["price: 1", "price: 2", "version: true", "datePublished: null"]
        );
        assert_eq!(
            texts(&["{&quot;name&quot;:&quot;A &amp;amp; B&quot;,&quot;price&quot;:&quot;5&quot;}"]),
            ["A & B price: 5"]
        );
        assert_eq!(texts(&[r#"{"name":"A &amp; B","price":"&euro;5"}"#]), ["A & B price: €5"]);
    }

    #[test]
    fn what_shops_write_is_repaired() {
        let check = |script: &str| assert_eq!(texts(&[script]), ["Lamp price: 19.00"], "{script}");
        check("{\"name\":\"Lamp\n\",\"price\":\"19.00\"}".replace("\n", "").as_str());
        check("//<![CDATA[\n{\"name\":\"Lamp\",\"price\":\"19.00\"}\n//]]>");
        check("<!--\n{\"name\":\"Lamp\",\"price\":\"19.00\"}\n-->");
        check("{\"name\":\"Lamp\",\"price\":\"19.00\",};");
        check("{\"x\":1}{\"name\":\"Lamp\", // the price\n\"price\":\"19.00\"}");
        assert_eq!(texts(&["{\"name\":\"Lamp\nof tin\",\"price\":\"19.00\"}"]), ["Lamp\nof tin price: 19.00"]);
    }

    #[test]
    fn numbers_of_equal_value_have_one_form() {
        let value = |name, value, kind| Fact::named(name, value, kind, Selected::default()).canonical();
        assert_eq!(value("price", "2879.20", ValueKind::Text).as_deref(), Some("2879.2"));
        assert_eq!(value("Lamp offers price", "2.8792e3", ValueKind::Number).as_deref(), Some("2879.2"));
        assert_eq!(value("price", "2879.2", ValueKind::Number), None);
        assert_eq!(value("version", "1.10", ValueKind::Text), None);
        assert_eq!(value("price", "1.299,00", ValueKind::Text), None);
        assert_eq!(value("a: b price", "true", ValueKind::Boolean), None);
    }
}
