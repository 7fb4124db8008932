//! Selected parts of a page: by CSS selectors in HTML, by JSON pointers in JSON, and by the names of facts in both.
//!
//! A [`Selection`] is compiled once and given to a [`Body`](crate::Body) whose blocks are then read by it. A watched
//! part begins blocks of its own, so that a price in the midst of a sentence is reported without the sentence. An
//! ignored part is not read. A part that is both is ignored.
//!
//! Selectors are matched while the page is read, in one pass. So those that look ahead (`:last-child`, `:has()`) are
//! refused.

mod compound;
mod css;
mod elements;
mod ends;
mod fact_name;
mod formatting;
mod names;
mod pointer;

pub(crate) use self::elements::{OpenElements, Selected};
pub use self::fact_name::FactPart;
pub(crate) use self::fact_name::{FactName, OwnedFact, is_price};
pub(crate) use self::pointer::PointerPlace;

use self::css::SelectorProgram;
use self::pointer::JsonPointer;
use crate::blocks::fact_owner::FactOwner;
use std::fmt;

/// Whether a selected part is watched or ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartUse {
    /// Only it, and other watched parts, count.
    Watch,
    /// It is not read.
    Ignore,
}

/// An entry of a selection as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectedPart {
    /// A CSS selector, a JSON pointer or `fact:` with a name.
    pub text: String,
    pub purpose: PartUse,
}

/// Why an entry is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectFault {
    /// The reason why the entry is refused, as text for the operator.
    pub problem: String,
    /// The correction to make, as text for the operator.
    pub remedy: String,
}

impl SelectFault {
    fn new(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { problem: problem.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for SelectFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.problem, self.remedy)
    }
}

/// Selected parts, ready to be found in any page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    parts: Vec<SelectedPart>,
    selectors: SelectorProgram,
    /// Pointers and names of facts, each with the number of its part.
    pointers: Vec<(JsonPointer, usize)>,
    facts: Vec<(FactPart, usize)>,
}

impl Selection {
    /// Compiles one more entry.
    ///
    /// # Errors
    /// Says what is wrong with the entry, and leaves the selection as it was.
    pub fn add(&mut self, purpose: PartUse, text: &str) -> Result<(), SelectFault> {
        let number = self.parts.len();
        let text = text.trim();
        if let Some(name) = text.strip_prefix("fact:") {
            let name = FactPart::parse(name)?;
            // Parts for the same facts share one selector: which of them means an element is known at the end of the page.
            let is_known =
                self.facts.iter().any(|(other, part)| self.parts[*part].purpose == purpose && other.is_kind_of(&name));
            let is_ignored_item = purpose == PartUse::Ignore && name.item().is_some();
            if let Some(selector) = name.selector().filter(|_| !is_known && !is_ignored_item) {
                self.selectors.add(&selector, number)?;
            }
            self.facts.push((name, number));
        } else if text.starts_with('/') {
            self.pointers.push((JsonPointer::parse(text)?, number));
        } else {
            self.selectors.add(text, number)?;
        }
        self.parts.push(SelectedPart { text: text.to_owned(), purpose });
        Ok(())
    }

    /// The entries, in the order in which they were added.
    pub fn parts(&self) -> &[SelectedPart] {
        &self.parts
    }

    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Whether some part is watched, so that nothing else counts.
    pub fn watches(&self) -> bool {
        self.parts.iter().any(|part| part.purpose == PartUse::Watch)
    }

    /// The uses that the parts of these numbers make of the place that they select.
    fn selected(&self, numbers: impl IntoIterator<Item = usize>) -> Selected {
        numbers.into_iter().fold(Selected::default(), |selected, number| match self.parts[number].purpose {
            PartUse::Watch => {
                let is_fact = self.facts.iter().any(|(_, part)| *part == number);
                let fact_part = if is_fact && !selected.watched { Some(number as u16) } else { None };
                let fact_part = fact_part.or(selected.fact_part.filter(|_| is_fact));
                let watch_part = selected.watch_part.or(u16::try_from(number).ok());
                Selected { watched: true, fact_part, watch_part, ..selected }
            }
            PartUse::Ignore => Selected { ignored: true, ..selected },
        })
    }

    /// Whether the page has a main thing with the facts of each part, by the number of the part.
    pub(crate) fn with_main<'f>(&self, facts: impl Iterator<Item = (&'f str, FactOwner)> + Clone) -> Vec<bool> {
        let mut has_main = vec![false; self.parts.len()];
        for (part, number) in &self.facts {
            let mut facts = facts.clone();
            has_main[*number] = facts.any(|(property, owner)| owner == FactOwner::Main && part.has_property(property));
        }
        has_main
    }

    /// Forgets how many elements the names of facts selected: which of them are meant is known only at the end of a page.
    pub(crate) fn forget_facts(&self, found: &mut [u32]) {
        self.facts.iter().for_each(|(_, number)| found[*number] = 0);
    }

    /// Whether parts are names of facts.
    pub(crate) fn has_facts(&self) -> bool {
        !self.facts.is_empty()
    }

    /// Whether a fact is ignored: that of any thing, unless brackets name one.
    pub(crate) fn ignores(&self, fact: &OwnedFact<'_>) -> bool {
        self.facts.iter().any(|(part, number)| {
            let is_meant = || part.item().is_none() || part.includes(fact, true);
            self.parts[*number].purpose == PartUse::Ignore && part.has_property(fact.property) && is_meant()
        })
    }

    /// The first part that watches a fact by its name. Counts all that do in `found`.
    pub(crate) fn watches_fact(&self, fact: &OwnedFact<'_>, has_main: &[bool], found: &mut [u32]) -> Option<u16> {
        let mut first = None;
        for (part, number) in &self.facts {
            let is_watch = self.parts[*number].purpose == PartUse::Watch;
            if is_watch && part.includes(fact, has_main[*number]) {
                found[*number] += 1;
                first = first.or(u16::try_from(*number).ok());
            }
        }
        first
    }

    /// Whether a watched part names the thing of a fact.
    pub(crate) fn chooses(&self, fact: &OwnedFact<'_>) -> bool {
        let is_watch = |number: usize| self.parts[number].purpose == PartUse::Watch;
        self.facts.iter().any(|(part, number)| part.item().is_some() && is_watch(*number) && part.includes(fact, true))
    }
}

#[cfg(test)]
mod tests;
