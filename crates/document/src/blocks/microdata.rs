//! Reads the facts that elements of a page state in microdata: `<meta itemprop=price content=10>`, `<time itemprop=datePublished
//! datetime=2026-01-31>`. The text that such an element shows belongs to the page's text, and is reported as text.

use crate::attributes::values_of;
use crate::blocks::facts::{FACT_NAMES, Fact, MAX_FACTS, MODIFIED};
use crate::entities::decode_attribute;
use crate::page_text::MAX_TITLE_BYTES;
use crate::select::Selected;
use crate::stated::{mentions, without_vocabulary};
use crate::tag_name::TagName;
use crate::text::{TextBuilder, prefix};
use std::borrow::Cow;

/// The most things of a page that are distinguished.
const MAX_ITEMS: usize = 4_096;
/// No date is longer.
const MAX_DATE_BYTES: usize = 64;
/// The most text of an element that is searched for a value.
const MAX_SHOWN_BYTES: usize = 4_096;

/// The facts of a page, and the things they are about.
#[derive(Default)]
pub(super) struct PageFacts {
    pub(super) list: Vec<Fact>,
    /// When the page was last modified, as written.
    pub(super) modified: Option<String>,
    /// The things on the page, each with that around it. The first is the page.
    items: Vec<PageItem>,
    /// The thing of each fact of microdata, by the fact's index.
    about: Vec<(usize, usize)>,
    reading: Option<ReadProperty>,
}

#[derive(Default)]
struct PageItem {
    outer: usize,
    name: Option<String>,
}

/// A property whose element is open.
struct ReadProperty {
    element: TagName,
    property: String,
    value: Option<String>,
    item: usize,
    selected: Selected,
    /// Where its text begins.
    start: usize,
}

impl PageFacts {
    /// Begins a thing inside another. Returns its number.
    pub(super) fn begin_item(&mut self, outer: usize) -> usize {
        if self.items.is_empty() {
            self.items.push(PageItem::default());
        }
        if self.items.len() >= MAX_ITEMS {
            return outer;
        }
        self.items.push(PageItem { outer, name: None });
        self.items.len() - 1
    }

    /// Takes in a time of the page's last modification. The first counts.
    pub(super) fn modified_at(&mut self, written: &str) {
        if self.modified.is_none() && written.len() <= MAX_DATE_BYTES {
            self.modified = Some(written.trim().to_owned());
        }
    }

    /// Adds a statement about the page.
    pub(super) fn add(&mut self, name: &str, text: String, selected: Selected) {
        if self.list.len() < MAX_FACTS {
            self.list.push(Fact { name: name.to_owned(), text, selected });
        }
    }

    /// Adds a property of a thing.
    pub(super) fn add_property(&mut self, property: &str, value: &str, item: usize, selected: Selected) {
        if self.list.len() < MAX_FACTS {
            self.about.push((self.list.len(), item));
            let text = format!("{property}: {}", without_vocabulary(value));
            self.list.push(Fact { name: property.to_owned(), text, selected });
        }
    }

    /// Begins to read a property of a thing, if the attributes of an element name one that is read. The text begins at
    /// `start`.
    pub(super) fn begin(&mut self, element: TagName, attributes: &str, item: usize, selected: Selected, start: usize) {
        let [property, content, datetime, value] = values_of(attributes, ["itemprop", "content", "datetime", "value"]);
        let Some(property) = property else { return };
        let value = content.or(datetime).or(value).map(decode_attribute).map(Cow::into_owned);
        if let Some(written) = value.as_deref().filter(|_| property.split_ascii_whitespace().any(|one| one == MODIFIED))
        {
            self.modified_at(written);
        }
        let is_read = |property: &&str| match value {
            Some(_) => FACT_NAMES.contains(property) || *property == "name",
            // Visible text is no fact of its own; it may name the thing.
            None => *property == "name",
        };
        if let Some(property) = property.split_ascii_whitespace().find(is_read) {
            self.reading = Some(ReadProperty { element, property: property.to_owned(), value, item, selected, start });
        }
    }

    /// Whether the end of an element of this name ends a property.
    pub(super) fn is_reading(&self, element: TagName) -> bool {
        self.reading.as_ref().is_some_and(|reading| reading.element == element)
    }

    /// Ends the property that is read, given the text of the page so far.
    pub(super) fn end(&mut self, text: &TextBuilder) {
        let Some(ReadProperty { property, value, item, selected, start, .. }) = self.reading.take() else { return };
        let shown = text.behind(start);
        let shown = prefix(shown.trim(), MAX_SHOWN_BYTES);
        if property == "name" {
            let name = prefix(value.as_deref().unwrap_or(shown), MAX_TITLE_BYTES).to_owned();
            if let Some(item) = self.items.get_mut(item).filter(|item| item.name.is_none() && !name.is_empty()) {
                item.name = Some(name);
            }
        } else if let Some(value) = value.filter(|value| !mentions(shown, without_vocabulary(value))) {
            self.add_property(&property, &value, item, selected);
        }
    }

    /// Ends the page: where it has several things with names, each fact has the name of its own.
    pub(super) fn finish(&mut self) {
        if self.items.iter().filter(|item| item.name.is_some()).count() < 2 {
            return;
        }
        for (fact, item) in std::mem::take(&mut self.about) {
            let mut item = item;
            while item != 0 && self.items[item].name.is_none() {
                item = self.items[item].outer;
            }
            if let (Some(name), Some(fact)) = (&self.items[item].name, self.list.get_mut(fact)) {
                fact.name = format!("{name} {}", fact.name);
                fact.text = format!("{name} {}", fact.text);
            }
        }
    }
}
