//! Office documents and books as HTML: Word, Excel and PowerPoint since 2007, OpenDocument, EPUB.
//!
//! All of them are ZIP archives of XML. Only what a reader sees becomes HTML: paragraphs, headings, tables, links and the title.
//! Dates, authors and styles are left out, so a document that is written again with another date is the same. The digest counts
//! instead if a document exceeds its limits ([`MAX_PART_BYTES`]), is damaged or encrypted, or has no text.

mod book;
mod open_document;
mod out;
mod package;
mod sheet;
mod walk;
mod word;

use self::out::Html;
use self::package::Package;
use crate::charset::{DecodedText, of_html};

/// The most bytes that the parts of a document may have together once they are unpacked.
pub(crate) const MAX_PART_BYTES: u64 = 16 << 20;

/// The file that every archive of a kind has: Office Open XML, EPUB and OpenDocument. Programs write files in any order.
const KNOWN_BY: [&[u8]; 3] = [b"[Content_Types].xml", b"META-INF/container.xml", b"META-INF/manifest.xml"];

/// Whether a body is an archive with the file by which an office document or a book is known.
pub(crate) fn looks_like_office(body: &[u8]) -> bool {
    body.starts_with(b"PK\x03\x04") && KNOWN_BY.iter().any(|name| memchr::memmem::find(body, name).is_some())
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
    office_html(body).map(of_html)
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
