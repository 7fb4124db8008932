//! Kinds of noise of made pages, and edits within them.

/// When noise differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// At every request.
    Request,
    /// The same, but a cache keeps the page for some minutes, so that the second look finds what the first has found.
    KeptRequest,
    /// With the time of day or with the visitors, so that the second look finds what the first has found.
    Visit,
}

/// An edit of something that stands within noise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InnerEdit {
    /// The text at «fact» before and after.
    pub(crate) facts: [&'static str; 2],
    /// A change that says one of these words reports the edit. Parts are separated by a bar.
    pub(crate) says: &'static str,
}

/// Noise of a made page, and an edit within it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HistoryKind {
    pub(crate) name: &'static str,
    /// Time between two visits.
    pub(crate) every_s: i64,
    pub(crate) document: Document,
    /// `None` if no reader is shown any part of it.
    pub(crate) edit: Option<InnerEdit>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Document {
    /// A part of an HTML page.
    Block(&'static str),
    /// A whole document of a type.
    Whole(&'static str, &'static str),
}

impl HistoryKind {
    /// Whether it stands in a page.
    pub(crate) fn is_block(&self) -> bool {
        matches!(self.document, Document::Block(_))
    }

    pub(crate) fn text(&self) -> &'static str {
        match self.document {
            Document::Block(text) | Document::Whole(_, text) => text,
        }
    }
}

pub(crate) const HOUR_S: i64 = 3_600;
pub(crate) const DAY_S: i64 = 86_400;

const fn kind(name: &'static str, every_s: i64, document: Document, edit: Option<InnerEdit>) -> HistoryKind {
    HistoryKind { name, every_s, document, edit }
}

/// Noise in a block, and a text within it that changes.
pub(crate) const fn hourly(name: &'static str, block: &'static str, facts: [&'static str; 2]) -> HistoryKind {
    kind(name, HOUR_S, Document::Block(block), Some(InnerEdit { facts, says: facts[1] }))
}

/// The same, looked at once a day.
pub(crate) const fn daily(name: &'static str, block: &'static str, facts: [&'static str; 2]) -> HistoryKind {
    kind(name, DAY_S, Document::Block(block), Some(InnerEdit { facts, says: facts[1] }))
}

/// Noise in a block, and something within it that changes and is reported in other words than it is written.
pub(crate) const fn worded(
    name: &'static str,
    block: &'static str,
    facts: [&'static str; 2],
    says: &'static str,
) -> HistoryKind {
    kind(name, HOUR_S, Document::Block(block), Some(InnerEdit { facts, says }))
}

/// The same, looked at once a day.
pub(crate) const fn worded_daily(
    name: &'static str,
    block: &'static str,
    facts: [&'static str; 2],
    says: &'static str,
) -> HistoryKind {
    kind(name, DAY_S, Document::Block(block), Some(InnerEdit { facts, says }))
}

/// Noise alone.
pub(crate) const fn unseen(name: &'static str, every_s: i64, block: &'static str) -> HistoryKind {
    kind(name, every_s, Document::Block(block), None)
}

/// A document of another type than HTML, or a whole page.
pub(crate) const fn whole(
    name: &'static str,
    content_type: &'static str,
    text: &'static str,
    facts: [&'static str; 2],
    says: &'static str,
) -> HistoryKind {
    kind(name, HOUR_S, Document::Whole(content_type, text), Some(InnerEdit { facts, says }))
}
