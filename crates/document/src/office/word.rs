//! Paragraphs and tables of Word and PowerPoint, which call them alike (ECMA-376: WordprocessingML and DrawingML).

use super::out::{Html, MAX_HTML_BYTES, MAX_NESTED, escape};
use super::package::{Package, Relation, Relations};
use super::walk::{Step, walk, walk_while};
use std::collections::BTreeMap;

/// A Word document, with its notes behind it. Headers and footers repeat on every sheet of paper and are left out, and so is what
/// tracked changes have deleted.
pub(super) fn document(package: &mut Package<'_>, main: &str, text: &str, out: &mut Html) -> Option<()> {
    let relations = package.relations(main)?;
    let headings = headings(package, &relations)?;
    Reading::new(&relations, &headings).read(text, out)?;
    for notes in relations.of_kind("/footnotes").chain(relations.of_kind("/endnotes")) {
        let text = package.text_if_any(Some(notes.target()))?;
        let of_notes = package.relations(notes.target())?;
        Reading::new(&of_notes, &headings).read(&text, out)?;
    }
    Some(())
}

/// A presentation, slide by slide in its order. Slides have no numbers here: with one more, all others would be different.
pub(super) fn slides(package: &mut Package<'_>, main: &str, text: &str, out: &mut Html) -> Option<()> {
    let relations = package.relations(main)?;
    let mut order = Vec::new();
    walk(text, &mut |step| {
        if let Step::Open("sldId", attributes) = step {
            // Two attributes are called id, one of them that of the relation.
            order.extend(attributes.all("id").find(|id| relations.find(id).is_some()));
        }
    })?;
    for slide in order.iter().filter_map(|id| relations.find(id)) {
        let text = package.text(slide.target())?;
        let of_slide = package.relations(slide.target())?;
        out.push("<section>\n");
        Reading::new(&of_slide, &BTreeMap::new()).read(&text, out)?;
        out.push("</section>\n");
    }
    Some(())
}

/// A paragraph that is open.
struct Paragraph {
    element: &'static str,
    markup: String,
}

struct Reading<'a> {
    relations: &'a Relations,
    headings: &'a BTreeMap<String, &'static str>,
    /// Text boxes have paragraphs inside of those that hold them.
    open: Vec<Paragraph>,
    /// For each cell that is open, the paragraphs in it so far.
    cells: Vec<usize>,
    /// Elements that are open within one that is left out, itself included.
    left_out: usize,
    runs: usize,
    is_text: bool,
    /// Whether the shape is the title of its slide.
    is_title: bool,
}

impl<'a> Reading<'a> {
    fn new(relations: &'a Relations, headings: &'a BTreeMap<String, &'static str>) -> Self {
        Self {
            relations,
            headings,
            open: Vec::new(),
            cells: Vec::new(),
            left_out: 0,
            runs: 0,
            is_text: false,
            is_title: false,
        }
    }

    fn read(mut self, xml: &str, out: &mut Html) -> Option<()> {
        walk_while(xml, &mut |step| {
            self.step(step, out);
            !out.is_full() && self.open.len() <= MAX_NESTED && self.is_short()
        })
    }

    fn step(&mut self, step: Step<'_>, out: &mut Html) {
        match step {
            Step::Open(..) if self.left_out > 0 => self.left_out += 1,
            Step::Close(_) if self.left_out > 0 => self.left_out -= 1,
            Step::Text(_) if self.left_out > 0 => {}
            // A drawing stands once more for older programs (mc:Fallback).
            Step::Open("del" | "moveFrom" | "Fallback", _) => self.left_out = 1,
            Step::Open("p", _) => {
                let element = if self.is_title { "h2" } else { "p" };
                self.open.push(Paragraph { element, markup: String::new() });
            }
            Step::Close("p") => {
                if let Some(Paragraph { element, markup }) = self.open.pop() {
                    match self.cells.last_mut() {
                        // A row is read as one line.
                        Some(paragraphs) => {
                            out.push(if *paragraphs == 0 { "" } else { "<br>" });
                            out.push(&markup);
                            *paragraphs += 1;
                        }
                        None => out.push(&format!("<{element}>{markup}</{element}>\n")),
                    }
                }
            }
            Step::Open("pStyle", attributes) => {
                let style = attributes.get("val").unwrap_or_default();
                if let (Some(paragraph), Some(heading)) = (self.open.last_mut(), self.headings.get(&style)) {
                    paragraph.element = heading;
                }
            }
            Step::Open("ph", attributes) => {
                self.is_title = attributes.get("type").is_some_and(|kind| kind == "title" || kind == "ctrTitle");
            }
            Step::Close("sp") => self.is_title = false,
            Step::Open("r", _) => self.runs += 1,
            Step::Close("r") => self.runs = self.runs.saturating_sub(1),
            Step::Open("t", _) => self.is_text = self.runs > 0,
            Step::Close("t") => self.is_text = false,
            Step::Text(text) if self.is_text => self.add(|markup| escape(text, markup)),
            Step::Open("tab", _) if self.runs > 0 => self.add(|markup| markup.push(' ')),
            Step::Open("br" | "cr", _) => self.add(|markup| markup.push_str("<br>")),
            Step::Open("noBreakHyphen", _) => self.add(|markup| markup.push('\u{2011}')),
            Step::Open("hyperlink", attributes) => {
                let id = attributes.get("id").unwrap_or_default();
                let target = self.relations.find(&id).filter(|relation| relation.is_external);
                let target = target.map_or("", Relation::target);
                self.add(|markup| {
                    markup.push_str("<a href=\"");
                    escape(target, markup);
                    markup.push_str("\">");
                });
            }
            Step::Close("hyperlink") => self.add(|markup| markup.push_str("</a>")),
            Step::Open("tbl", _) => out.push("<table>\n"),
            Step::Close("tbl") => out.push("</table>\n"),
            Step::Open("tr", _) => out.push("<tr>"),
            Step::Close("tr") => out.push("</tr>\n"),
            Step::Open("tc", _) => {
                self.cells.push(0);
                out.push("<td>");
            }
            Step::Close("tc") => {
                self.cells.pop();
                out.push("</td>");
            }
            _ => {}
        }
    }

    /// Whether the open paragraph is not longer than a document may be.
    fn is_short(&self) -> bool {
        self.open.last().is_none_or(|open| open.markup.len() <= MAX_HTML_BYTES)
    }

    fn add(&mut self, add: impl FnOnce(&mut String)) {
        if let Some(paragraph) = self.open.last_mut() {
            add(&mut paragraph.markup);
        }
    }
}

/// The elements of the styles that are headings, by the styles' ids. Ids are in the language of the program; names are not.
fn headings(package: &mut Package<'_>, relations: &Relations) -> Option<BTreeMap<String, &'static str>> {
    let mut headings = BTreeMap::new();
    let text = package.text_if_any(relations.part("/styles"))?;
    let mut id = String::new();
    walk(&text, &mut |step| match step {
        Step::Open("style", attributes) => id = attributes.get("styleId").unwrap_or_default(),
        Step::Open("name", attributes) => {
            let element = match attributes.get("val").unwrap_or_default().to_ascii_lowercase().as_str() {
                "title" | "heading 1" => "h1",
                "heading 2" => "h2",
                "heading 3" => "h3",
                name if name.starts_with("heading ") => "h4",
                _ => return,
            };
            headings.insert(id.clone(), element);
        }
        _ => {}
    })?;
    Some(headings)
}
