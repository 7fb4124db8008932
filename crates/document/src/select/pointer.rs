//! JSON pointers (RFC 6901), in which a step of `*` stands for every member of an object or element of a list.

use super::{SelectFault, Selected, Selection};

/// The most steps of a pointer. JSON is not read deeper.
const MAX_STEPS: usize = 128;

/// The steps of a pointer, references decoded. `None` is any step.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct JsonPointer(Vec<Option<String>>);

impl JsonPointer {
    /// Parses a pointer that begins with a slash.
    pub(super) fn parse(text: &str) -> Result<Self, SelectFault> {
        let step = |step: &str| match step {
            "*" => Ok(None),
            step if step.replace("~0", "").replace("~1", "").contains('~') => Err(SelectFault::new(
                format!("the step {step:?} of the pointer has a ~ that stands for nothing"),
                "write ~0 for a tilde and ~1 for a slash within a name",
            )),
            step => Ok(Some(step.replace("~1", "/").replace("~0", "~"))),
        };
        let steps: Vec<_> = text.split('/').skip(1).map(step).collect::<Result<_, _>>()?;
        if steps.len() > MAX_STEPS {
            return Err(SelectFault::new(
                format!("the pointer has more than {MAX_STEPS} steps"),
                "write a shorter one: what it points at counts with all that is in it",
            ));
        }
        Ok(Self(steps))
    }
}

/// A place in a JSON document: how much of each pointer matches it, and whether it is watched or ignored.
#[derive(Clone)]
pub(crate) struct PointerPlace<'s> {
    selection: Option<&'s Selection>,
    /// The pointers that lead to this place or further, each with the steps that are left.
    open: Vec<(&'s [Option<String>], usize)>,
    pub(crate) selected: Selected,
}

impl<'s> PointerPlace<'s> {
    /// The whole document.
    pub(crate) fn root(selection: Option<&'s Selection>) -> Self {
        let pointers = selection.iter().flat_map(|selection| &selection.pointers);
        let open = pointers.map(|(pointer, number)| (pointer.0.as_slice(), *number)).collect();
        Self { selection, open, selected: Selected::default() }
    }

    /// The place of an element of a list.
    pub(crate) fn element(&self, index: usize, found: &mut [u32]) -> Self {
        let name = if self.open.is_empty() { String::new() } else { index.to_string() };
        self.step(&name, found)
    }

    /// The place of a member. Counts the pointers that end there.
    pub(crate) fn step(&self, name: &str, found: &mut [u32]) -> Self {
        let Some(selection) = self.selection.filter(|_| !self.open.is_empty()) else {
            return Self { selection: None, open: Vec::new(), selected: self.selected };
        };
        let leads_on = |step: &Option<String>| step.as_deref().is_none_or(|wanted| wanted == name);
        let led = self.open.iter().filter_map(|(steps, number)| {
            let (first, rest) = steps.split_first()?;
            leads_on(first).then_some((rest, *number))
        });
        let (ended, open): (Vec<_>, Vec<_>) = led.partition(|(steps, _)| steps.is_empty());
        ended.iter().for_each(|(_, number)| found[*number] += 1);
        let selected = selection.selected(ended.iter().map(|(_, number)| *number)).within(self.selected);
        Self { selection: Some(selection), open, selected }
    }
}
