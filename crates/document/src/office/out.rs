//! The HTML that is made of a document.

/// The most bytes of the HTML of a document: a page of this length is read in full with the default of `fetch.max_body`.
const MAX_HTML_BYTES: usize = 4 << 20;
/// Most paragraphs within one another.
pub(super) const MAX_NESTED: usize = 64;
/// Most columns of a table that are kept empty before a cell. A cell further to the right stands behind these.
const MAX_EMPTY_CELLS: usize = 256;

#[derive(Default)]
pub(super) struct Html {
    title: String,
    body: String,
}

impl Html {
    pub(super) fn title(&mut self, title: &str) {
        escape(title.trim(), &mut self.title);
    }

    /// Adds markup.
    pub(super) fn push(&mut self, markup: &str) {
        self.body.push_str(markup);
    }

    pub(super) fn text(&mut self, text: &str) {
        escape(text, &mut self.body);
    }

    /// Adds an element with this text.
    pub(super) fn element(&mut self, name: &str, text: &str) {
        self.push(&format!("<{name}>"));
        self.text(text);
        self.push(&format!("</{name}>\n"));
    }

    pub(super) fn empty_cells(&mut self, count: usize) {
        (0..count.min(MAX_EMPTY_CELLS)).for_each(|_| self.push("<td></td>"));
    }

    /// Whether there is too much of it.
    pub(super) fn is_full(&self) -> bool {
        self.body.len() > MAX_HTML_BYTES
    }

    /// The whole document. `None` if it is too long or has nothing to read.
    pub(super) fn finish(self) -> Option<String> {
        if self.is_full() || self.body.is_empty() {
            return None;
        }
        let Self { title, body } = self;
        // A document has nothing beside its text, as pages have.
        Some(format!(
            "<!DOCTYPE html>\n<html><head><title>{title}</title></head><body><main>\n{body}</main></body></html>\n"
        ))
    }
}

/// Adds text to markup.
pub(super) fn escape(text: &str, markup: &mut String) {
    for character in text.chars() {
        match character {
            '&' => markup.push_str("&amp;"),
            '<' => markup.push_str("&lt;"),
            '>' => markup.push_str("&gt;"),
            '"' => markup.push_str("&quot;"),
            other => markup.push(other),
        }
    }
}
