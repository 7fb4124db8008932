//! A recording as its two tables have it: pages, and the history of each.

use std::ops::Range;

/// The event in a row of the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordingEvent {
    /// `I`: the page existed when recording began.
    Initial,
    /// `A`: the page appeared.
    Appeared,
    /// `M`: the page changed.
    Modified,
    /// `D`: the page is gone from now on.
    Gone,
}

impl RecordingEvent {
    /// The event with this one-character code.
    pub fn parse(character: &str) -> Option<RecordingEvent> {
        match character {
            "I" => Some(RecordingEvent::Initial),
            "A" => Some(RecordingEvent::Appeared),
            "M" => Some(RecordingEvent::Modified),
            "D" => Some(RecordingEvent::Gone),
            _ => None,
        }
    }
}

/// The state of a page from this second on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecordedState {
    /// UTC seconds since 1970.
    pub unix_time: i64,
    /// The event that led to this state.
    pub kind: RecordingEvent,
    /// The share of the content that differs from the state before, in 0..=1. `None` if it is not recorded.
    pub extent: Option<f32>,
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
    /// The range of its rows.
    pub(super) states: Range<usize>,
}

/// All pages of a corpus and all their rows.
#[derive(Clone, Debug, Default, PartialEq)]
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

    pub fn rows(&self) -> usize {
        self.states.len()
    }
}
