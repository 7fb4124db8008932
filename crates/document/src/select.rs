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
pub(crate) use self::fact_name::FactName;
pub(crate) use self::pointer::PointerPlace;

use self::css::SelectorProgram;
use self::pointer::JsonPointer;
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
    facts: Vec<(FactName, usize)>,
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
            let name = FactName::parse(name)?;
            if let Some(selector) = name.selector() {
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
            PartUse::Watch => Selected { watched: true, ..selected },
            PartUse::Ignore => Selected { ignored: true, ..selected },
        })
    }

    /// The uses of the fact of this name. Counts the parts that select it in `found`.
    pub(crate) fn of_fact(&self, name: &str, found: &mut [u32]) -> Selected {
        let selecting = self.facts.iter().filter(|(fact, _)| fact.includes(name));
        let numbers: Vec<usize> = selecting.map(|(_, number)| *number).collect();
        numbers.iter().for_each(|number| found[*number] += 1);
        self.selected(numbers)
    }
}

/// Whether a short name of facts, such as `price`, includes the fact of this full name (`Lamp offers price`).
pub fn is_fact(name: &str, full_name: &str) -> bool {
    FactName::parse(name).is_ok_and(|fact| fact.includes(full_name))
}

#[cfg(test)]
mod tests;
