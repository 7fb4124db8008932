//! The list of formatting elements: those that begin anew in the next block if a block ended them (HTML standard,
//! section 13.2.4.3), as `<b>` in `<p><b>a<p>b`.

use crate::tag_name::TagName;
use crate::token::StartTag;

/// The most elements that begin anew. A page with more is broken in a way that no selector depends on.
const MAX_LISTED: usize = 16;

#[derive(Clone, Copy)]
pub(super) struct ListedElement<'a> {
    pub(super) tag: StartTag<'a>,
    /// The number of the element among all of the page.
    pub(super) serial: u32,
}

/// Formatting elements that were begun and not ended by their own end tag. `None` is a marker.
#[derive(Default)]
pub(super) struct FormattingList<'a>(Vec<Option<ListedElement<'a>>>);

impl<'a> FormattingList<'a> {
    pub(super) fn push(&mut self, element: Option<ListedElement<'a>>) {
        if self.0.len() == MAX_LISTED {
            self.0.remove(0);
        }
        self.0.push(element);
    }

    /// The elements behind the last marker, oldest first.
    pub(super) fn open(&self) -> Vec<ListedElement<'a>> {
        let start = self.0.iter().rposition(Option::is_none).map_or(0, |marker| marker + 1);
        self.0[start..].iter().flatten().copied().collect()
    }

    /// Takes the last element of this name behind the last marker from the list.
    pub(super) fn take(&mut self, name: TagName) -> Option<ListedElement<'a>> {
        let start = self.0.iter().rposition(Option::is_none).map_or(0, |marker| marker + 1);
        let index = self.0[start..].iter().rposition(|listed| listed.is_some_and(|listed| listed.tag.name == name))?;
        self.0.remove(start + index)
    }

    /// Another element stands for a listed one that began anew.
    pub(super) fn renew(&mut self, serial: u32, renewed: u32) {
        for listed in self.0.iter_mut().flatten().filter(|listed| listed.serial == serial) {
            listed.serial = renewed;
        }
    }

    /// Forgets all behind the last marker, and the marker.
    pub(super) fn clear_to_marker(&mut self) {
        let marker = self.0.iter().rposition(Option::is_none).unwrap_or(0);
        self.0.truncate(marker);
    }
}
