//! The body of a response, readable as blocks, as text and links, or as both at once.

use crate::blocks::Blocks;
use crate::charset::{DecodedText, of_html};
use crate::confined::{NotRead, ReadConfined};
use crate::content_kind::ContentKind;
use crate::digest::{ContentDigest, content_digest};
use crate::formats::{Format, essence};
use crate::html::{self, HtmlReader};
use crate::markup::{TakeTokens, hand_tokens};
use crate::page_text::PageText;
use crate::select::Selection;
use crate::{json_values, pieces, plain, xml};
use std::cell::OnceCell;

/// A body with its metadata. Reading it never fails, and decodes it once, however often it is read.
#[derive(Clone, Debug)]
pub struct Body<'a> {
    bytes: &'a [u8],
    content_type: Option<&'a str>,
    address: Option<&'a str>,
    digest: Option<ContentDigest>,
    selection: Option<&'a Selection>,
    confined: Option<&'a dyn ReadConfined>,
    format: OnceCell<&'static Format>,
    decoded: OnceCell<Result<DecodedText<'a>, Option<NotRead>>>,
}

impl<'a> Body<'a> {
    /// A body with its `Content-Type` header and the address it was fetched from.
    pub fn new(bytes: &'a [u8], content_type: Option<&'a str>, address: Option<&'a str>) -> Self {
        Self {
            bytes,
            content_type,
            address,
            digest: None,
            selection: None,
            confined: None,
            format: OnceCell::new(),
            decoded: OnceCell::new(),
        }
    }

    /// Has a document of a confined format read by this. Without a reader its digest counts.
    pub fn with_reader<'b>(self, reader: &'b dyn ReadConfined) -> Body<'b>
    where
        'a: 'b,
    {
        Body { confined: Some(reader), decoded: OnceCell::new(), ..self }
    }

    /// Sets the [`content_digest`] if it is known already.
    pub fn with_digest(self, digest: ContentDigest) -> Self {
        Self { digest: Some(digest), ..self }
    }

    /// Has the blocks read by this selection.
    pub fn with_selection<'b>(self, selection: &'b Selection) -> Body<'b>
    where
        'a: 'b,
    {
        let Self { bytes, content_type, address, digest, selection: _, confined, format, decoded } = self;
        let selection = Some(selection).filter(|selection| !selection.is_empty());
        let decoded = decoded.into_inner().map_or_else(OnceCell::new, OnceCell::from);
        Body { bytes, content_type, address, digest, selection, confined, format, decoded }
    }

    /// Has all blocks read again.
    pub fn without_selection(self) -> Self {
        Self { selection: None, ..self }
    }

    pub fn blocks(&self) -> Blocks {
        let blocks = match self.decoded() {
            None => self.opaque_block(),
            Some(decoded) => blocks_of(self.kind(), &decoded.text, self.address, self.selection),
        };
        self.selected(blocks)
    }

    /// Reads the blocks, and hands the tokens of an HTML page to another reader as well, which is cheaper than one after the
    /// other.
    pub fn blocks_and<'b, R: TakeTokens<'b>>(&'b self, mut reader: R) -> (Blocks, R) {
        match self.html() {
            Some(html) if self.selection.is_none() => Blocks::and_other_of_html(html, self.address, reader),
            html => {
                html.into_iter().for_each(|html| hand_tokens(html, &mut reader));
                (self.blocks(), reader)
            }
        }
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
        self.decoded().map_or_else(|| PageText::empty(ContentKind::Opaque), |decoded| text_of(self.kind(), decoded))
    }

    /// Reads both, which is cheaper than one after the other.
    pub fn blocks_and_text(&self) -> (Blocks, PageText) {
        let Some(html) = self.html() else { return (self.blocks(), self.text()) };
        let (blocks, reader) = self.blocks_and(HtmlReader::new(html));
        (blocks, PageText { charset: self.charset(), ..reader.finish().0 })
    }

    /// The bytes of the body.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The text of the body, decoded. `None` if only its digest counts.
    pub fn decoded(&self) -> Option<&DecodedText<'a>> {
        self.read().as_ref().ok()
    }

    /// How the reading of a document of a confined format went. `None` for all other bodies, and until it is read.
    pub fn confined_reading(&self) -> Option<Result<(), NotRead>> {
        match self.decoded.get()? {
            Ok(_) => self.format().is_confined.then_some(Ok(())),
            Err(reason) => reason.map(Err),
        }
    }

    fn read(&self) -> &Result<DecodedText<'a>, Option<NotRead>> {
        self.decoded.get_or_init(|| match self.confined {
            Some(reader) if self.format().is_confined => reader.html(self.bytes).map(of_html).map_err(Some),
            None if self.format().is_confined => Err(Some(NotRead::NoReader)),
            Some(_) | None => self.format().decode(self.bytes, self.content_type).ok_or(None),
        })
    }

    /// The markup of an HTML page; `None` for all other bodies.
    pub fn html(&self) -> Option<&str> {
        self.decoded().filter(|_| self.kind() == ContentKind::Html).map(|decoded| &*decoded.text)
    }

    /// The WHATWG name of the character encoding; `None` for a body that is not text.
    pub fn charset(&self) -> Option<&'static str> {
        self.decoded().map(|decoded| decoded.charset)
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
        self.format.get_or_init(|| Format::of(self.content_type, self.bytes))
    }

    /// The [`content_digest`] of the body.
    pub fn digest(&self) -> ContentDigest {
        self.digest.unwrap_or_else(|| content_digest(self.bytes))
    }

    /// Describes a body that is not read by its media type, length and digest.
    fn opaque_block(&self) -> Blocks {
        let named = essence(self.content_type);
        let media_type = if named.is_empty() { self.format().name().unwrap_or("a file") } else { &named };
        pieces::opaque(media_type, self.bytes.len(), &self.digest())
    }
}

fn blocks_of(kind: ContentKind, text: &str, address: Option<&str>, selection: Option<&Selection>) -> Blocks {
    match kind {
        ContentKind::Html => match selection {
            Some(selection) => Blocks::of_selected_html_at(text, selection, address),
            None => Blocks::of_html_at(text, address),
        },
        ContentKind::Json => json_values::json(text, selection),
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

    #[test]
    fn a_picture_is_read_by_its_words_and_one_without_words_by_its_digest() {
        let reported = |body: &str| {
            let blocks = Body::new(body.as_bytes(), Some("image/svg+xml"), None).blocks();
            (blocks.list.iter().map(|block| blocks.text(block).to_owned()).collect::<Vec<_>>(), blocks.is_opaque)
        };
        let badge = "<svg xmlns='http://www.w3.org/2000/svg'><title>no</title><text x='1'>passing</text></svg>";
        assert_eq!(reported(badge), (vec!["passing".to_owned()], false));
        assert!(reported("<svg><path d='M1 1'/></svg>").1);
    }

    /// Reads every document as these words.
    #[derive(Debug)]
    struct Reads(Result<&'static str, NotRead>);

    impl ReadConfined for Reads {
        fn html(&self, _: &[u8]) -> Result<String, NotRead> {
            self.0.map(|words| format!("<title>Fees</title><main><p>{words}</p></main>"))
        }
    }

    #[test]
    fn a_confined_document_is_read_by_the_reader_given_or_compared_by_its_digest() {
        let (reads, refuses) = (Reads(Ok("12 EUR a night")), Reads(Err(NotRead::Encrypted)));
        let body = Body::new(b"%PDF-1.7", Some("application/pdf"), None);
        let read = body.clone().with_reader(&reads);
        assert_eq!((read.text().text.as_str(), read.text().title.as_str()), ("12 EUR a night", "Fees"));
        assert_eq!((read.blocks().is_opaque, read.confined_reading()), (false, Some(Ok(()))));
        let refused = body.clone().with_reader(&refuses);
        assert_eq!(refused.confined_reading(), None);
        assert_eq!((refused.blocks().is_opaque, refused.confined_reading()), (true, Some(Err(NotRead::Encrypted))));
        assert_eq!((body.blocks().is_opaque, body.confined_reading()), (true, Some(Err(NotRead::NoReader))));
        let page = Body::new(b"<p>words", Some("text/html"), None).with_reader(&refuses);
        assert_eq!((page.text().text.as_str(), page.confined_reading()), ("words", None));
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
