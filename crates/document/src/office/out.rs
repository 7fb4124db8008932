//! The HTML that is made of a document.

/// The most bytes of the HTML of a document: a page of this length is read in full with the default of `fetch.max_body`.
pub(super) const MAX_HTML_BYTES: usize = 4 << 20;
/// Most paragraphs within one another.
pub(super) const MAX_NESTED: usize = 64;
/// Most columns of a table that are kept empty before a cell. A cell further to the right stands behind these.
const MAX_EMPTY_CELLS: usize = 256;

#[derive(Default)]
pub(super) struct Html {
    title: String,
    body: String,
    /// Bytes of the body that are headings made of names of sheets.
    names: usize,
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

    /// Adds the name of a sheet. A workbook of charts has nothing else to read.
    pub(super) fn sheet_name(&mut self, name: &str) {
        let before = self.body.len();
        self.push("<h2>");
        self.text(name);
        self.push("</h2>\n");
        self.names += text_bytes(&self.body[before..]);
    }

    pub(super) fn empty_cells(&mut self, count: usize) {
        (0..count.min(MAX_EMPTY_CELLS)).for_each(|_| self.push("<td></td>"));
    }

    /// Whether there is too much of it.
    pub(super) fn is_full(&self) -> bool {
        self.title.len() + self.body.len() > MAX_HTML_BYTES
    }

    /// The whole document. `None` if it is too long or has nothing to read.
    pub(super) fn finish(self) -> Option<String> {
        if self.is_full() || text_bytes(&self.body) == self.names {
            return None;
        }
        let Self { title, body, .. } = self;
        // A document has nothing beside its text, as pages have.
        Some(format!(
            "<!DOCTYPE html>\n<html><head><title>{title}</title></head><body><main>\n{body}</main></body></html>\n"
        ))
    }
}

/// Bytes of markup that are neither tags nor white space.
fn text_bytes(markup: &str) -> usize {
    markup.split('<').map(|part| part.rsplit_once('>').map_or(part, |(_, text)| text).trim().len()).sum()
}

/// Adds text to markup.
pub(super) fn escape(text: &str, markup: &mut String) {
    markup.push_str(&htmlize::escape_all_quotes(text));
}
