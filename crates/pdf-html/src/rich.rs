//! Text with links.

/// The number of a link in the list of its document.
pub(crate) type LinkId = u32;

/// A text, and the pieces of it that are links.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rich {
    pub(crate) text: String,
    /// Ends of pieces in bytes, and the link of each. The last one ends with the text.
    pieces: Vec<(usize, Option<LinkId>)>,
}

impl Rich {
    pub(crate) fn push(&mut self, text: &str, link: Option<LinkId>) {
        if text.is_empty() {
            return;
        }
        self.text.push_str(text);
        match self.pieces.last_mut() {
            Some((end, known)) if *known == link => *end = self.text.len(),
            _ => self.pieces.push((self.text.len(), link)),
        }
    }

    /// Adds a space, inside of a link if text of the same link follows.
    pub(crate) fn space(&mut self, next: Option<LinkId>) {
        let last = self.pieces.last().and_then(|(_, link)| *link);
        self.push(" ", last.filter(|last| Some(*last) == next));
    }

    pub(crate) fn append(&mut self, other: &Self) {
        other.pieces().for_each(|(text, link)| self.push(text, link));
    }

    /// Takes the last character away.
    pub(crate) fn pop(&mut self) {
        self.text.pop();
        let len = self.text.len();
        self.pieces.iter_mut().for_each(|(end, _)| *end = (*end).min(len));
    }

    /// The link of the first character.
    pub(crate) fn first_link(&self) -> Option<LinkId> {
        self.pieces.first().and_then(|(_, link)| *link)
    }

    pub(crate) fn pieces(&self) -> impl Iterator<Item = (&str, Option<LinkId>)> {
        let mut start = 0;
        self.pieces.iter().map(move |(end, link)| {
            let piece = &self.text[start..*end];
            start = *end;
            (piece, *link)
        })
    }
}
