//! The body of a response, readable as blocks, as text and links, or as both at once.

use crate::blocks::Blocks;
use crate::charset::DecodedText;
use crate::content_kind::ContentKind;
use crate::digest::{ContentDigest, content_digest};
use crate::formats::{Format, essence};
use crate::page_text::PageText;
use crate::select::Selection;
use crate::{html, pieces, plain, xml};

/// A body with its metadata. Reading it never fails.
#[derive(Clone, Copy, Debug)]
pub struct Body<'a> {
    bytes: &'a [u8],
    content_type: Option<&'a str>,
    address: Option<&'a str>,
    digest: Option<ContentDigest>,
    selection: Option<&'a Selection>,
}

impl<'a> Body<'a> {
    /// A body with its `Content-Type` header and the address it was fetched from.
    pub fn new(bytes: &'a [u8], content_type: Option<&'a str>, address: Option<&'a str>) -> Self {
        Self { bytes, content_type, address, digest: None, selection: None }
    }

    /// Sets the [`content_digest`] if it is known already.
    pub fn with_digest(self, digest: ContentDigest) -> Self {
        Self { digest: Some(digest), ..self }
    }

    /// Has the blocks read by this selection.
    pub fn with_selection(self, selection: &'a Selection) -> Self {
        Self { selection: Some(selection).filter(|selection| !selection.is_empty()), ..self }
    }

    pub fn blocks(&self) -> Blocks {
        let format = self.format();
        let blocks = match format.decode(self.bytes, self.content_type) {
            None => self.opaque_block(format),
            Some(decoded) => blocks_of(format.kind, &decoded.text, self.selection),
        };
        self.selected(blocks)
    }

    /// Notes whether parts are watched, and counts 0 for each part of the selection where none was looked for.
    fn selected(&self, mut blocks: Blocks) -> Blocks {
        if let Some(selection) = self.selection {
            blocks.is_watched = selection.watches();
            blocks.found.resize(selection.parts().len(), 0);
        }
        blocks
    }

    pub fn text(&self) -> PageText {
        let format = self.format();
        let decoded = format.decode(self.bytes, self.content_type);
        decoded.map_or_else(|| PageText::empty(format.kind), |decoded| text_of(format.kind, &decoded))
    }

    /// Reads both, which is cheaper than one after the other.
    pub fn blocks_and_text(&self) -> (Blocks, PageText) {
        let format = self.format();
        let kind = format.kind;
        let (blocks, page) = match format.decode(self.bytes, self.content_type) {
            None => (self.opaque_block(format), PageText::empty(kind)),
            Some(DecodedText { text, charset, .. }) if kind == ContentKind::Html && self.selection.is_none() => {
                let (blocks, page) = Blocks::and_text_of_html(&text);
                (blocks, PageText { charset: Some(charset), ..page })
            }
            Some(decoded) => (blocks_of(kind, &decoded.text, self.selection), text_of(kind, &decoded)),
        };
        (self.selected(blocks), page)
    }

    /// The address the body was fetched from.
    pub fn address(&self) -> Option<&'a str> {
        self.address
    }

    /// The kind that the body is read as.
    pub fn kind(&self) -> ContentKind {
        self.format().kind
    }

    fn format(&self) -> &'static Format {
        Format::of(self.content_type, self.bytes)
    }

    /// The [`content_digest`] of the body.
    pub fn digest(&self) -> ContentDigest {
        self.digest.unwrap_or_else(|| content_digest(self.bytes))
    }

    /// Describes a body that is not read by its media type, length and digest.
    fn opaque_block(&self, format: &Format) -> Blocks {
        let named = essence(self.content_type);
        let media_type = if named.is_empty() { format.name().unwrap_or("a file") } else { &named };
        pieces::opaque(media_type, self.bytes.len(), &self.digest())
    }
}

fn blocks_of(kind: ContentKind, text: &str, selection: Option<&Selection>) -> Blocks {
    match kind {
        ContentKind::Html => match selection {
            Some(selection) => Blocks::of_selected_html(text, selection),
            None => Blocks::of_html(text),
        },
        ContentKind::Json => pieces::json(text, selection),
        ContentKind::Xml => pieces::xml(text),
        ContentKind::Text | ContentKind::Opaque => pieces::lines(text),
    }
}

fn text_of(kind: ContentKind, decoded: &DecodedText<'_>) -> PageText {
    let page = match kind {
        ContentKind::Html => html::extract(&decoded.text),
        ContentKind::Xml => xml::extract(&decoded.text),
        ContentKind::Json | ContentKind::Text | ContentKind::Opaque => plain::lines(kind, &decoded.text),
    };
    PageText { charset: Some(decoded.charset), ..page }
}

/// Extracts text and links from a body, given its `Content-Type` header. Never fails: a body that cannot be understood
/// has little text or none.
pub fn extract(content_type: Option<&str>, body: &[u8]) -> PageText {
    Body::new(body, content_type, None).text()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_and_json_keep_their_lines_and_lose_their_indentation() {
        assert_eq!(extract(Some("text/plain"), b"  a   b\r\n\r\n c ").text, "a b\nc");
        assert_eq!(extract(Some("application/json"), b"{\n  \"a\": 1\n}").text, "{\n\"a\": 1\n}");
        let opaque = extract(Some("image/png"), b"\x89PNG");
        assert_eq!((opaque.text.as_str(), opaque.charset), ("", None));
    }

    #[test]
    fn a_file_that_is_not_text_says_what_it_is_compared_by() {
        let reported = |content_type, body: &[u8]| {
            let blocks = Body::new(body, content_type, None).blocks();
            assert_eq!(blocks.list.len(), 1);
            blocks.text(&blocks.list[0]).to_owned()
        };
        let pdf = reported(Some("Application/PDF; x=y"), b"%PDF-1.7 one");
        assert_eq!(pdf, "application/pdf of 12 bytes, compared by its digest only: 15f587c49447e7b65b042b4b");
        assert_eq!(reported(None, b"%PDF-1.7 one"), pdf);
        assert_ne!(reported(None, b"%PDF-1.7 two"), pdf);
        assert!(reported(None, b"PK\0\0").starts_with("a file of 4 bytes,"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_page(
            body in proptest::collection::vec(any::<u8>(), 0..400),
            kind in proptest::sample::select(vec!["text/html", "application/xml", "application/json", "text/plain", "x/y", ""])
        ) {
            let _ = extract(Some(kind), &body);
        }
    }
}
