//! The HTML that is made of a document.

use crate::paragraphs::Part;
use crate::rich::Rich;
use document::NotRead;
use htmlize::escape_all_quotes;
use std::fmt::Write;

/// The most bytes of the HTML of a document: a page of this length is read in full with the default of `fetch.max_body`.
const MAX_HTML_BYTES: usize = 4 << 20;

/// A document of these parts, whose links lead to these addresses.
pub(crate) fn document(title: &str, language: &str, parts: &[Part], links: &[String]) -> Result<String, NotRead> {
    let is_text = |rich: &Rich| rich.text.chars().any(|char| !char.is_whitespace());
    let has_text = parts.iter().any(|part| match part {
        Part::Paragraph(rich) | Part::Heading(_, rich) => is_text(rich),
        Part::Row(cells) => cells.iter().any(is_text),
    });
    if !has_text {
        return Err(NotRead::NoText);
    }
    let mut html = match language {
        "" => "<!DOCTYPE html>\n<html>".to_owned(),
        language => format!("<!DOCTYPE html>\n<html lang=\"{language}\">"),
    };
    // A document has nothing beside its text, as pages have.
    let _ = writeln!(html, "<head><title>{}</title></head><body><main>", escape_all_quotes(title.trim()));
    let mut is_in_table = false;
    for part in parts {
        let is_row = matches!(part, Part::Row(_));
        if is_row != is_in_table {
            html.push_str(if is_row { "<table>\n" } else { "</table>\n" });
            is_in_table = is_row;
        }
        match part {
            Part::Paragraph(rich) => element("p", rich, links, &mut html),
            Part::Heading(rank, rich) => element(["h1", "h2", "h3"][usize::from(rank - 1)], rich, links, &mut html),
            Part::Row(cells) => {
                html.push_str("<tr>");
                cells.iter().for_each(|cell| element("td", cell, links, &mut html));
                html.push_str("</tr>");
            }
        }
        html.push('\n');
        if html.len() > MAX_HTML_BYTES {
            return Err(NotRead::TooMuch);
        }
    }
    if is_in_table {
        html.push_str("</table>\n");
    }
    html.push_str("</main></body></html>\n");
    Ok(html)
}

fn element(name: &str, rich: &Rich, links: &[String], html: &mut String) {
    let _ = write!(html, "<{name}>");
    for (text, link) in rich.pieces() {
        let text = escape_all_quotes(text);
        match link.and_then(|link| links.get(link as usize)) {
            Some(address) => {
                let _ = write!(html, "<a href=\"{}\">{text}</a>", escape_all_quotes(address.as_str()));
            }
            None => html.push_str(&text),
        }
    }
    let _ = write!(html, "</{name}>");
}
