//! Office documents and books as HTML: Word, Excel and PowerPoint since 2007, OpenDocument, EPUB.
//!
//! All of them are ZIP archives of XML. Only what a reader sees becomes HTML: paragraphs, headings, tables, links and the title.
//! Dates, authors and styles are left out, so a document that is written again with another date is the same. What takes more
//! than [`MAX_PART_BYTES`] is not read: then its digest counts, as with every file that cannot be read.

mod book;
mod open_document;
mod out;
mod package;
mod sheet;
mod walk;
mod word;

use self::out::Html;
use self::package::Package;
use crate::charset::{CharsetSource, DecodedText};
use std::borrow::Cow;

/// The most bytes that the parts of a document may have together once they are unpacked.
pub(crate) const MAX_PART_BYTES: u64 = 16 << 20;

/// The first bytes of the files in such archives, by which they are known without a header.
const FIRST_FILES: [&[u8]; 7] =
    [b"[Content_Types].xml", b"_rels/", b"docProps/", b"word/", b"xl/", b"ppt/", b"mimetype"];

/// Whether a body begins like an office document or a book.
pub(crate) fn looks_like_office(start: &[u8]) -> bool {
    let name = || start.get(30..).unwrap_or_default();
    start.starts_with(b"PK\x03\x04") && FIRST_FILES.iter().any(|first| name().starts_with(first))
}

/// A document as HTML. `None` if it cannot be read within its limits.
pub(crate) fn office_html(body: &[u8]) -> Option<String> {
    let mut package = Package::open(body)?;
    let mut out = Html::default();
    if package.has("META-INF/container.xml") {
        book::book(&mut package, &mut out)?;
    } else if package.has("content.xml") {
        open_document::open_document(&mut package, &mut out)?;
    } else {
        office_open_xml(&mut package, &mut out)?;
    }
    out.finish()
}

/// As [`office_html`], in the form of other bodies.
pub(crate) fn decode_office<'a>(body: &'a [u8], _content_type: Option<&str>) -> Option<DecodedText<'a>> {
    let html = office_html(body)?;
    Some(DecodedText { text: Cow::Owned(html), charset: "UTF-8", how: CharsetSource::Declaration })
}

/// Office Open XML (ECMA-376): the part that the package names decides what it is, whatever its file is called.
fn office_open_xml(package: &mut Package<'_>, out: &mut Html) -> Option<()> {
    let root = package.relations("")?;
    let main = root.part("/officeDocument")?;
    let properties = package.text_if_any(root.part("/core-properties"))?;
    out.title(&walk::text_of_first(&properties, "title")?);
    let text = package.text(main)?;
    match walk::root_name(&text)?.as_str() {
        "document" => word::document(package, main, &text, out),
        "workbook" => sheet::workbook(package, main, &text, out),
        "presentation" => word::slides(package, main, &text, out),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
