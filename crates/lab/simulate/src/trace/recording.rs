//! A recording as it lies in its two tables: pages, and what became of each.

use std::ops::Range;

/// What happened to a page at a row of the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `I`: it was there when recording began.
    Initial,
    /// `A`: it appeared.
    Appeared,
    /// `M`: it changed.
    Modified,
    /// `D`: it is gone from here on.
    Gone,
}

impl Kind {
    /// The kind of a letter.
    pub fn parse(letter: &str) -> Option<Kind> {
        match letter {
            "I" => Some(Kind::Initial),
            "A" => Some(Kind::Appeared),
            "M" => Some(Kind::Modified),
            "D" => Some(Kind::Gone),
            _ => None,
        }
    }
}

/// From this second on the page is as the row says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedState {
    /// UTC seconds since 1970.
    pub unix_time: i64,
    /// What happened.
    pub kind: Kind,
}

/// A page of the recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedPage {
    /// Position of its host in [`Recording::hosts`].
    pub host: u32,
    /// Position of its source in [`Recording::sources`].
    pub source: u32,
    /// Path and query, percent-encoded.
    pub path: Box<str>,
    /// Its rows among all rows.
    pub(super) states: Range<usize>,
}

/// All pages of a corpus and all their rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// In the order of the table of pages.
    pub pages: Vec<RecordedPage>,
    /// Names of the sources, in order of appearance.
    pub sources: Vec<String>,
    /// Host names, in order of appearance.
    pub hosts: Vec<String>,
    pub(super) states: Vec<RecordedState>,
}

impl Recording {
    /// A page's rows, in order of time.
    pub fn states(&self, page: &RecordedPage) -> &[RecordedState] {
        &self.states[page.states.clone()]
    }

    /// Rows of all pages together.
    pub fn rows(&self) -> usize {
        self.states.len()
    }
}
