//! Reads the facts that elements of a page state in microdata and RDFa: `<meta itemprop=price content=10>`, `<time
//! property=datePublished datetime=2026-01-31>`. The text that such an element shows belongs to the page's text, and is
//! reported as text.

use crate::attributes::values_of;
use crate::blocks::facts::{FACT_NAMES, Fact, MAX_FACTS, MODIFIED, ValueKind};
use crate::blocks::things::{Bond, FactSource, ThingKey, Things, local_name};
use crate::entities::decode_attribute;
use crate::page_text::MAX_TITLE_BYTES;
use crate::select::Selected;
use crate::stated::{mentions, without_vocabulary};
use crate::tag_name::TagName;
use crate::text::{TextBuilder, prefix};
use std::ops::Range;

/// No date is longer.
const MAX_DATE_BYTES: usize = 64;
/// The most text of an element that is searched for a value.
const MAX_SHOWN_BYTES: usize = 4_096;

/// Whether a property says which thing is meant, or what its price is, and is no fact of its own.
pub(super) fn is_description(property: &str) -> bool {
    ThingKey::of(property).is_some() || matches!(property, "itemCondition" | "priceType")
}

/// Whether elements are read for a property.
pub(super) fn is_read_property(property: &str) -> bool {
    FACT_NAMES.contains(&property) || is_description(property)
}

/// The facts of a page, and the things they are about.
#[derive(Default)]
pub(super) struct PageFacts {
    pub(super) list: Vec<Fact>,
    /// Facts that the page shows as text, each with the place of the text.
    pub(super) shown: Vec<(Fact, Range<usize>)>,
    /// When the page was last modified, as written.
    pub(super) modified: Option<String>,
    /// The address that `og:url` gives.
    pub(super) address: Option<String>,
    pub(super) things: Things,
    reading: Option<ReadProperty>,
}

/// The attributes by which an element states something, as written.
#[derive(Default)]
pub(super) struct ItemAttributes<'t> {
    scope: Option<&'t str>,
    item: Option<&'t str>,
    item_type: Option<&'t str>,
    id: Option<&'t str>,
    types: Option<&'t str>,
    property: Option<&'t str>,
    resource: Option<&'t str>,
    href: Option<&'t str>,
    content: Option<&'t str>,
}

impl<'t> ItemAttributes<'t> {
    pub(super) fn of(attributes: &'t str) -> Self {
        let [scope, item, types, property] = values_of(attributes, ["itemscope", "itemprop", "typeof", "property"]);
        let mut own = Self { scope, item, types, property, ..Self::default() };
        if scope.is_some() {
            [own.item_type, own.id] = values_of(attributes, ["itemtype", "itemid"]);
        }
        if item.or(property).or(types).is_some() {
            let [content, datetime, value, href, resource] =
                values_of(attributes, ["content", "datetime", "value", "href", "resource"]);
            (own.content, own.href, own.resource) = (content.or(datetime).or(value), href, resource);
        }
        own
    }

    /// Whether the element is about a thing of its own.
    pub(super) fn begins_thing(&self) -> bool {
        self.scope.or(self.types).is_some()
    }

    /// The value that an element states by its attributes: in RDFa, and for links, also by an address.
    fn value(&self, element: TagName) -> Option<&'t str> {
        let is_link = matches!(element.as_bytes(), b"a" | b"link" | b"area");
        let address = if is_link || self.item.is_none() { self.href.or(self.resource) } else { None };
        self.content.or(address)
    }
}

/// A property whose element is open.
struct ReadProperty {
    element: TagName,
    property: String,
    value: Option<String>,
    thing: usize,
    selected: Selected,
    /// Where its text begins.
    start: usize,
}

impl PageFacts {
    /// Begins the thing of an element. Returns its number; `None` if the element is about none, or there are too many.
    /// `outer` is the thing around it, `is_beside` says that it is in the frame or in a box of other things.
    pub(super) fn begin_thing(&mut self, item: &ItemAttributes<'_>, outer: usize, is_beside: bool) -> Option<usize> {
        let (property, types, id, source) = match item.scope {
            Some(_) => (item.item, item.item_type.unwrap_or_default(), item.id, FactSource::Microdata),
            None => (item.property, item.types?, item.resource, FactSource::Rdfa),
        };
        // A thing without a property stands by itself, wherever it is.
        let (outer, bond) = match property.and_then(|property| property.split_ascii_whitespace().next()) {
            Some(property) if outer > 0 => (outer, Bond::of(property)),
            Some(_) | None => (0, Bond::None),
        };
        let number = self.things.begin(outer, bond, source)?;
        if let Some(thing) = self.things.get_mut(number) {
            thing.typed(&decode_attribute(types));
            thing.describe("@id", &decode_attribute(id.unwrap_or_default()));
            thing.is_in_frame = is_beside;
        }
        Some(number)
    }

    /// Takes in a time of the page's last modification. The first counts.
    pub(super) fn modified_at(&mut self, written: &str) {
        if self.modified.is_none() && written.len() <= MAX_DATE_BYTES {
            self.modified = Some(written.trim().to_owned());
        }
    }

    /// Adds a statement about the page.
    pub(super) fn add(&mut self, fact: Fact) {
        if self.list.len() < MAX_FACTS {
            self.list.push(fact);
        }
    }

    /// Adds a statement about a thing.
    pub(super) fn add_about(&mut self, fact: Fact, thing: usize) {
        self.add(Fact { thing, ..fact });
    }

    /// Adds a property of a thing: a fact, or what says which thing it is.
    pub(super) fn add_property(&mut self, property: &str, value: &str, thing: usize, selected: Selected) {
        if !is_description(property) {
            let fact = Fact::named(property, without_vocabulary(value), ValueKind::Text, selected);
            self.add_about(fact, thing);
        } else if let Some(thing) = self.things.get_mut(thing) {
            thing.describe(property, value);
        }
    }

    /// Begins to read a property of a thing, if the attributes of an element name one that is read. The text begins at
    /// `start`.
    pub(super) fn begin(
        &mut self,
        element: TagName,
        item: &ItemAttributes<'_>,
        thing: usize,
        selected: Selected,
        start: usize,
    ) {
        let Some(properties) = item.item.or(item.property) else { return };
        let mut names = properties.split_ascii_whitespace().map(local_name);
        if let Some(written) = item.value(element).filter(|_| names.clone().any(|name| name == MODIFIED)) {
            self.modified_at(&decode_attribute(written));
        }
        if let Some(property) = names.find(|name| is_read_property(name)) {
            let value = item.value(element).map(|value| decode_attribute(value).into_owned());
            self.reading = Some(ReadProperty { element, property: property.to_owned(), value, thing, selected, start });
            if element.is_void() {
                self.end(&TextBuilder::default());
            }
        }
    }

    /// Whether the end of an element of this name ends a property.
    pub(super) fn is_reading(&self, element: TagName) -> bool {
        self.reading.as_ref().is_some_and(|reading| reading.element == element)
    }

    /// Ends the property that is read, given the text of the page so far.
    pub(super) fn end(&mut self, text: &TextBuilder) {
        let Some(ReadProperty { property, value, thing, selected, start, .. }) = self.reading.take() else { return };
        let shown = text.behind(start);
        let shown = prefix(shown.trim(), MAX_SHOWN_BYTES);
        if is_description(&property) {
            let said = prefix(value.as_deref().unwrap_or(shown), MAX_TITLE_BYTES);
            return self.add_property(&property, said, thing, selected);
        }
        match value.filter(|value| !mentions(shown, without_vocabulary(value))) {
            Some(value) => self.add_property(&property, &value, thing, selected),
            None if self.shown.len() < MAX_FACTS && !shown.is_empty() => {
                let fact = Fact { thing, ..Fact::named(&property, shown, ValueKind::Text, selected) };
                self.shown.push((fact, start..text.len()));
            }
            None => {}
        }
    }

    /// Ends the page: things that are mentioned are put together. Where there are several with names, each fact of an element
    /// has the name of its own.
    pub(super) fn finish(&mut self) {
        self.things.link();
        if self.things.named_elements() < 2 {
            return;
        }
        for fact in &mut self.list {
            let mut around = self.things.around(fact.thing).filter(|(_, thing)| thing.source.is_element());
            let name = around.find_map(|(_, thing)| thing.short_name().map(str::to_owned));
            if let Some(name) = name {
                fact.put_before(&name);
            }
        }
    }
}
