//! The names by which facts are selected: each stands for the properties that say the same thing in different
//! vocabularies.

use super::SelectFault;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FactName {
    name: &'static str,
    properties: &'static [&'static str],
}

const NAMES: &[FactName] = &[
    FactName { name: "price", properties: &["price", "lowPrice", "highPrice", "amount"] },
    FactName { name: "availability", properties: &["availability"] },
    FactName { name: "version", properties: &["softwareVersion", "version"] },
    FactName {
        name: "date",
        properties: &["datePublished", "dateModified", "startDate", "endDate", "published_time", "modified_time"],
    },
    FactName { name: "status", properties: &["eventStatus"] },
    FactName { name: "title", properties: &["title"] },
];

impl FactName {
    /// Reads the name behind `fact:`.
    pub(super) fn parse(name: &str) -> Result<Self, SelectFault> {
        NAMES.iter().find(|known| known.name == name).copied().ok_or_else(|| {
            let names: Vec<String> = NAMES.iter().map(|known| format!("fact:{}", known.name)).collect();
            SelectFault::new(format!("there is no fact {name:?}"), format!("write one of {}", names.join(", ")))
        })
    }

    /// The selector of elements that say the fact in microdata.
    pub(super) fn selector(self) -> Option<String> {
        if self.name == "title" {
            return None;
        }
        let selectors = self.properties.iter().map(|property| format!("[itemprop~={property}]"));
        Some(selectors.collect::<Vec<_>>().join(", "))
    }

    /// Whether a fact of this full name is meant: `Lamp offers price`, `product:price:amount`.
    pub(crate) fn includes(self, full_name: &str) -> bool {
        let property = full_name.rsplit([' ', ':']).next().unwrap_or_default();
        self.properties.contains(&property)
    }
}
