//! Text documents, spreadsheets and presentations of OpenDocument (ISO/IEC 26300).

use super::out::{Html, MAX_HTML_BYTES, MAX_NESTED, escape};
use super::package::Package;
use super::walk::{Attributes, Step, text_of_first, walk_while};
use std::collections::BTreeSet;

/// Most times that a cell which is said to be repeated stands in its row. Empty cells to the end of the sheet are said so.
const MAX_REPEATED: usize = 64;

/// The parts of a document that no reader sees, or that are others' remarks.
const LEFT_OUT: [&str; 8] = [
    "tracked-changes",
    "annotation",
    "sequence-decls",
    "forms",
    "variable-decls",
    "user-field-decls",
    "notes",
    "scripts",
];

pub(super) fn open_document(package: &mut Package<'_>, out: &mut Html) -> Option<()> {
    out.title(&text_of_first(&package.text_if_any(Some("meta.xml"))?, "title")?);
    let content = package.text("content.xml")?;
    let mut reading = Reading::default();
    walk_while(&content, &mut |step| {
        reading.step(step, out);
        !out.is_full() && reading.open.len() <= MAX_NESTED && reading.is_short()
    })
}

#[derive(Default)]
struct Reading {
    /// Markup of the paragraphs that are open, each with its element. Notes have paragraphs inside of others.
    open: Vec<(&'static str, String)>,
    /// Elements that are open within one that is left out, itself included.
    left_out: usize,
    /// Empty cells that stand before the next cell that has something.
    empty_cells: usize,
    /// Times that the open cell stands in its row, and what is in it so far.
    repeated: usize,
    cell: Option<String>,
    /// Cells that are open within the open cell.
    inner_cells: usize,
    is_spreadsheet: bool,
    /// The style that was declared last, and those of hidden tables.
    style: String,
    hidden: BTreeSet<String>,
}

impl Reading {
    fn step(&mut self, step: Step<'_>, out: &mut Html) {
        match step {
            Step::Open(..) if self.left_out > 0 => self.left_out += 1,
            Step::Close(_) if self.left_out > 0 => self.left_out -= 1,
            Step::Text(_) if self.left_out > 0 => {}
            Step::Open(name, _) if LEFT_OUT.contains(&name) => self.left_out = 1,
            Step::Open("p", _) => self.open.push(("p", String::new())),
            Step::Open("h", attributes) => self.open.push((level(&attributes), String::new())),
            Step::Close("p" | "h") => self.close(out),
            Step::Text(text) => self.add(|markup| escape(text, markup)),
            Step::Open("s", attributes) => {
                let spaces = attributes.get("c").and_then(|count| count.parse().ok()).unwrap_or(1);
                self.add(|markup| markup.push_str(&" ".repeat(spaces.min(MAX_REPEATED))));
            }
            Step::Open("tab", _) => self.add(|markup| markup.push(' ')),
            Step::Open("line-break", _) => self.add(|markup| markup.push_str("<br>")),
            Step::Open("a", attributes) => {
                let target = attributes.get("href").unwrap_or_default();
                self.add(|markup| {
                    markup.push_str("<a href=\"");
                    escape(&target, markup);
                    markup.push_str("\">");
                });
            }
            Step::Close("a") => self.add(|markup| markup.push_str("</a>")),
            Step::Open("page", _) => out.push("<section>\n"),
            Step::Close("page") => out.push("</section>\n"),
            // A table within a cell is read with its text.
            Step::Open("table-cell" | "covered-table-cell", _) if self.cell.is_some() => self.inner_cells += 1,
            Step::Close("table-cell" | "covered-table-cell") if self.inner_cells > 0 => self.inner_cells -= 1,
            Step::Open("table" | "table-row", _) | Step::Close("table" | "table-row") if self.cell.is_some() => {}
            Step::Open("spreadsheet", _) => self.is_spreadsheet = true,
            Step::Open("style", attributes) => self.style = attributes.get("name").unwrap_or_default(),
            Step::Open("table-properties", of) if of.get("display").is_some_and(|display| display == "false") => {
                self.hidden.insert(self.style.clone());
            }
            Step::Open("table", of) if of.get("style-name").is_some_and(|style| self.hidden.contains(&style)) => {
                self.left_out = 1;
            }
            Step::Open("table", attributes) => {
                // In a text the name is for programs only.
                if let Some(name) = attributes.get("name").filter(|_| self.is_spreadsheet) {
                    out.sheet_name(&name);
                }
                out.push("<table>\n");
            }
            Step::Close("table") => out.push("</table>\n"),
            Step::Open("table-row", _) => {
                self.empty_cells = 0;
                out.push("<tr>");
            }
            Step::Close("table-row") => out.push("</tr>\n"),
            Step::Open("table-cell" | "covered-table-cell", attributes) => {
                let repeated = attributes.get("number-columns-repeated").and_then(|count| count.parse().ok());
                self.repeated = repeated.unwrap_or(1);
                self.cell = Some(String::new());
            }
            Step::Close("table-cell" | "covered-table-cell") => self.close_cell(out),
            _ => {}
        }
    }

    /// Whether what is open is not longer than a document may be.
    fn is_short(&self) -> bool {
        let cell = self.cell.as_ref().map_or(0, String::len);
        cell + self.open.last().map_or(0, |(_, markup)| markup.len()) <= MAX_HTML_BYTES
    }

    fn add(&mut self, add: impl FnOnce(&mut String)) {
        if let Some((_, markup)) = self.open.last_mut() {
            add(markup);
        }
    }

    fn close(&mut self, out: &mut Html) {
        let Some((element, markup)) = self.open.pop() else { return };
        match &mut self.cell {
            // A row is read as one line.
            Some(cell) => {
                cell.push_str(if cell.is_empty() { "" } else { "<br>" });
                cell.push_str(&markup);
            }
            None => out.push(&format!("<{element}>{markup}</{element}>\n")),
        }
    }

    fn close_cell(&mut self, out: &mut Html) {
        let cell = self.cell.take().unwrap_or_default();
        if cell.is_empty() {
            self.empty_cells += self.repeated.min(MAX_REPEATED);
            return;
        }
        out.empty_cells(std::mem::take(&mut self.empty_cells));
        for _ in 0..self.repeated.min(MAX_REPEATED) {
            if !out.is_full() {
                out.push(&format!("<td>{cell}</td>"));
            }
        }
    }
}

fn level(heading: &Attributes<'_>) -> &'static str {
    match heading.get("outline-level").as_deref() {
        Some("1") => "h1",
        Some("2") => "h2",
        Some("3") => "h3",
        _ => "h4",
    }
}
