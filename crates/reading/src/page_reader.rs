//! Reads the main text of a page together with its text and its links, in one pass over its tokens.

use crate::tree::{Tree, TreeBuilder};
use crate::{headline, main_text};
use document::attributes::attribute;
use document::markup::{StartTag, TakeTokens, TextKind, Wide, hand_tokens};
use document::tag_name::TagName;
use document::{Blocks, Body, ContentKind, LinkedPage, LinkedPageReader, PageText};
use document::{entities, plain, xml};
use std::ops::Range;

/// The main text of a page, with all of its text and its links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MainText {
    /// The text and links of the page, as [`Body::text`] reads them.
    pub linked: LinkedPage,
    /// The title on one line: `<title>`, `og:title`, the first heading, or the most prominent line before the text, in this
    /// order. Empty if the page has no title.
    pub title: String,
    /// The main text: one line per block, without navigation, advertisements, comments and captions. Never empty if the
    /// page has text.
    pub text: String,
}

impl MainText {
    /// Reads a body.
    pub fn of_body(body: &Body<'_>) -> Self {
        let Some(html) = body.html() else { return Self::of_other(body) };
        let mut reader = PageReader::new(html);
        hand_tokens(html, &mut reader);
        reader.finish(body.charset()).0
    }

    /// Reads a body and its blocks, which is cheaper than one after the other.
    pub fn and_blocks(body: &Body<'_>) -> (Self, Blocks) {
        let Some(html) = body.html() else { return (Self::of_other(body), body.blocks()) };
        let (blocks, reader) = body.blocks_and(PageReader::new(html));
        (reader.finish(body.charset()).0, blocks)
    }

    fn of_other(body: &Body<'_>) -> Self {
        let (read, text) = other_text(body);
        let title = read.title.clone();
        // The links of JSON are guesses, and no links of the page.
        let page = if read.kind == ContentKind::Json { body.text() } else { read };
        Self::new(LinkedPage::without_words(page), title, text)
    }

    pub(crate) fn new(linked: LinkedPage, title: String, main_text: String) -> Self {
        // Some pages hide all they have, or are numbers alone. Their text is better than none.
        let text = if main_text.is_empty() { linked.page.text.clone() } else { main_text };
        Self { linked, title, text }
    }
}

/// The text and main text of a body that is not HTML.
pub(crate) fn other_text(body: &Body<'_>) -> (PageText, String) {
    let kind = body.kind();
    let Some(decoded) = body.decoded() else { return (body.text(), String::new()) };
    let (page, main_text) = match kind {
        ContentKind::Xml => xml::read(&decoded.text),
        ContentKind::Json => plain::json(&decoded.text),
        ContentKind::Html | ContentKind::Text | ContentKind::Opaque => {
            (plain::lines(kind, &decoded.text), String::new())
        }
    };
    (PageText { charset: Some(decoded.charset), ..page }, main_text)
}

/// Reads a page and its main text from its tokens.
pub(crate) struct PageReader<'a> {
    linked: LinkedPageReader<'a>,
    tree: TreeBuilder<'a>,
    og_title: Option<String>,
}

impl<'a> TakeTokens<'a> for PageReader<'a> {
    #[inline(always)]
    fn text(&mut self, wide: impl Wide, place: Range<usize>, kind: TextKind) {
        self.linked.text(wide, place.clone(), kind);
        self.tree.text(wide, place, kind);
    }

    #[inline(always)]
    fn start(&mut self, wide: impl Wide, tag: StartTag<'a>) {
        if self.og_title.is_none() && tag.name.as_bytes() == b"meta" {
            let meta = meta(tag).filter(|(name, _)| name == "og:title");
            self.og_title = meta.map(|(_, content)| entities::decode(&content).trim().to_owned());
        }
        self.linked.start(wide, tag);
        self.tree.start(wide, tag);
    }

    #[inline(always)]
    fn end(&mut self, name: TagName) {
        self.linked.end(name);
        self.tree.end(name);
    }
}

impl<'a> PageReader<'a> {
    pub(crate) fn new(html: &'a str) -> Self {
        Self { linked: LinkedPageReader::new(html), tree: TreeBuilder::new(html), og_title: None }
    }

    /// Ends the page. Returns its tree, too.
    pub(crate) fn finish(self, charset: Option<&'static str>) -> (MainText, Tree<'a>) {
        let LinkedPage { page, anchors, titles } = self.linked.finish();
        let tree = self.tree.finish();
        let declared =
            [Some(&page.title), self.og_title.as_ref()].into_iter().flatten().find(|title| !title.is_empty());
        let title = declared.cloned().or_else(|| headline::headline(&tree)).unwrap_or_default();
        let text = main_text::main_text(&tree, &title);
        let linked = LinkedPage { page: PageText { charset, ..page }, anchors, titles };
        (MainText::new(linked, title, text), tree)
    }
}

/// The name of a `<meta>` in lower case, and its content.
pub(crate) fn meta(tag: StartTag<'_>) -> Option<(String, String)> {
    let named = ["name", "property", "http-equiv"].iter().find_map(|name| attribute(tag.attributes(), name));
    Some((named?.trim().to_ascii_lowercase(), attribute(tag.attributes(), "content")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use document::extract;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_read_at_once_is_what_each_is_by_itself(
            body in "(<(/?(p|a href=/x|a href='?y' title=z|li|div hidden|title|script|template|svg|base href=/b/|main|nav|h1))>|\
                     <meta (name|property)=(og:title|robots) content=[a-c]{0,3}>|[a-c ]{1,9}|&amp;|é|<!--|-->|\\{|\"http://a\"|\n){0,40}",
            content_type in proptest::sample::select(vec!["text/html", "text/plain", "application/json", "text/xml", "x/y"]),
        ) {
            let body = Body::new(body.as_bytes(), Some(content_type), Some("https://a.test/d/"));
            let (read, blocks) = MainText::and_blocks(&body);
            prop_assert_eq!(&read.linked.page, &extract(Some(content_type), body.bytes()));
            prop_assert_eq!(format!("{blocks:?}"), format!("{:?}", body.blocks()));
            prop_assert_eq!(&read, &MainText::of_body(&body));
            let reading = crate::read(body.bytes(), Some(content_type), body.address());
            prop_assert_eq!((read.title, read.text), (reading.title, reading.text));
        }
    }
}
