//! Electronic books (EPUB 3.3 and older), which are XHTML pages in an order.

use super::out::{Html, escape};
use super::package::{MAX_FILES, Package, resolved};
use super::walk::{Step, text_of_first, walk};
use percent_encoding::percent_decode_str;
use quick_xml::Reader;
use quick_xml::events::Event;
use std::collections::BTreeMap;

/// The chapters in their order, each the body of its page.
pub(super) fn book(package: &mut Package<'_>, out: &mut Html) -> Option<()> {
    let container = package.text("META-INF/container.xml")?;
    let mut root = None;
    walk(&container, &mut |step| {
        if let (None, Step::Open("rootfile", attributes)) = (&root, step) {
            root = attributes.get("full-path");
        }
    })?;
    let root = root?;
    let directory = root.rsplit_once('/').map_or("", |(directory, _)| directory);
    let listed = package.text(&root)?;
    out.title(&text_of_first(&listed, "title")?);
    let (mut files, mut order) = (BTreeMap::new(), Vec::new());
    walk(&listed, &mut |step| match step {
        Step::Open("item", of) => {
            files.insert(of.get("id").unwrap_or_default(), of.get("href").unwrap_or_default());
        }
        Step::Open("itemref", of) if of.get("linear").is_none_or(|linear| linear != "no") => {
            order.extend(of.get("idref"))
        }
        _ => {}
    })?;
    if order.len() > MAX_FILES {
        return None;
    }
    for href in order.iter().filter_map(|id| files.get(id)) {
        let chapter = package.text(&resolved(directory, &percent_decode_str(href).decode_utf8_lossy()))?;
        out.push("<section>\n");
        out.push(&as_html(inner(&chapter).unwrap_or(&chapter))?);
        out.push("\n</section>\n");
        if out.is_full() {
            return None;
        }
    }
    Some(())
}

/// The inside of the body of a page. Markup in XHTML has lower case.
fn inner(page: &str) -> Option<&str> {
    let (_, body) = page.split_once("<body")?;
    let (_, body) = body.split_once('>')?;
    Some(body.rsplit_once("</body").map_or(body, |(body, _)| body))
}

/// Elements of HTML that have no end.
const VOID: [&str; 13] =
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"];

/// XHTML as HTML, which opens an element where XHTML has an empty one. `None` if it is not well-formed.
fn as_html(body: &str) -> Option<String> {
    let mut reader = Reader::from_str(body);
    reader.config_mut().allow_unmatched_ends = true;
    let mut html = String::with_capacity(body.len());
    loop {
        let start = reader.buffer_position() as usize;
        let event = reader.read_event().ok()?;
        let raw = body.get(start..reader.buffer_position() as usize)?;
        match event {
            Event::Eof => return Some(html),
            Event::Empty(element) => {
                let name = std::str::from_utf8(element.name().into_inner()).ok()?.to_owned();
                html.push_str(raw.trim_end_matches('>').trim_end_matches('/'));
                html.push('>');
                if !VOID.contains(&name.as_str()) {
                    html.push_str(&format!("</{name}>"));
                }
            }
            Event::CData(text) => escape(&text.decode().ok()?, &mut html),
            _ => html.push_str(raw),
        }
    }
}
