//! The names by which facts are selected: each stands for the properties that say the same thing in different
//! vocabularies. A name in brackets says which thing they are about: `price[sku=A1]`.

use super::SelectFault;
use crate::blocks::fact_owner::FactOwner;
use crate::blocks::things::{ThingKey, Things};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FactName {
    name: &'static str,
    properties: &'static [&'static str],
}

/// A name of facts, and the thing that they are about if it is not the main one of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactPart {
    kind: FactName,
    item: Option<(ThingKey, String)>,
}

/// A fact as far as it decides which parts select it.
pub(crate) struct OwnedFact<'f> {
    pub(crate) property: &'f str,
    pub(crate) owner: FactOwner,
    pub(crate) thing: usize,
    pub(crate) things: &'f Things,
}

impl FactName {
    pub(crate) const ALL: &'static [Self] = &[
        Self { name: "price", properties: &["price", "lowPrice", "highPrice", "amount"] },
        Self { name: "availability", properties: &["availability"] },
        Self { name: "version", properties: &["softwareVersion", "version"] },
        Self {
            name: "date",
            properties: &["datePublished", "dateModified", "startDate", "endDate", "published_time", "modified_time"],
        },
        Self { name: "status", properties: &["eventStatus"] },
        Self { name: "title", properties: &["title"] },
    ];

    /// Whether a property says this.
    pub(crate) fn has_property(self, property: &str) -> bool {
        self.properties.contains(&property)
    }
}

/// Whether a property gives a price.
pub(crate) fn is_price(property: &str) -> bool {
    FactName::ALL[0].has_property(property)
}

impl FactPart {
    /// Reads a name of facts: `price`, or `price[sku=A1]`, `price[name="Desk lamp"]`, `price[url=/lamp]`, `price[id=#a]`.
    ///
    /// # Errors
    /// Says what is wrong with the name, and what to write.
    pub fn parse(text: &str) -> Result<Self, SelectFault> {
        let (name, item) = match text.split_once('[') {
            Some((name, item)) => (name, Some(parse_item(text, item)?)),
            None => (text, None),
        };
        let kind = FactName::ALL.iter().find(|known| known.name == name.trim()).copied().ok_or_else(|| {
            let names: Vec<String> = FactName::ALL.iter().map(|known| format!("fact:{}", known.name)).collect();
            SelectFault::new(format!("there is no fact {name:?}"), format!("write one of {}", names.join(", ")))
        })?;
        Ok(Self { kind, item })
    }

    /// The thing that is meant, by a property and its value. `None` for the main thing of the page.
    pub fn item(&self) -> Option<(ThingKey, &str)> {
        self.item.as_ref().map(|(key, name)| (*key, name.as_str()))
    }

    /// Whether a property says what is meant, whatever thing it is about.
    pub fn has_property(&self, property: &str) -> bool {
        self.kind.has_property(property)
    }

    pub(super) fn is_kind_of(&self, other: &Self) -> bool {
        self.kind == other.kind
    }

    /// Whether a fact is meant: of the thing in brackets, or else of the main thing, or of one of several equal ones if
    /// the page has no main one.
    pub(super) fn includes(&self, fact: &OwnedFact<'_>, has_main: bool) -> bool {
        let is_meant = match &self.item {
            Some((key, name)) => fact.things.around(fact.thing).any(|(_, thing)| thing.is_named(*key, name)),
            None => match fact.owner {
                FactOwner::Main => true,
                FactOwner::Unclear => !has_main,
                FactOwner::Another | FactOwner::Chosen => false,
            },
        };
        is_meant && self.has_property(fact.property)
    }

    /// The selector of elements that say the fact in microdata or RDFa.
    pub(super) fn selector(&self) -> Option<String> {
        if self.kind.name == "title" {
            return None;
        }
        let selector = |property: &&str| format!("[itemprop~={property}], [property~={property}]");
        Some(self.kind.properties.iter().map(selector).collect::<Vec<_>>().join(", "))
    }
}

/// Reads what is behind the bracket: `sku=A1]`.
fn parse_item(text: &str, item: &str) -> Result<(ThingKey, String), SelectFault> {
    let fault = || {
        SelectFault::new(
            format!("the brackets of {text:?} name no thing"),
            "write a property that says which one is meant, such as [sku=A1], [name=\"Desk lamp\"], [url=/lamp] or [id=#lamp]",
        )
    };
    let (key, name) = item.trim().strip_suffix(']').and_then(|item| item.split_once('=')).ok_or_else(fault)?;
    let name = name.trim().trim_matches(['"', '\'']).trim();
    let key = ThingKey::parse(key.trim()).filter(|_| !name.is_empty()).ok_or_else(fault)?;
    Ok((key, name.to_owned()))
}
