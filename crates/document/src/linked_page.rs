//! An HTML page with all that it says about where its links lead: the places of their anchors, and their titles.

use crate::attributes::values_of;
use crate::entities;
use crate::html::HtmlReader;
use crate::markup::{StartTag, TakeTokens, TextKind, hand_tokens};
use crate::page_text::{MAX_LINKS, PageText};
use crate::tag_name::TagName;
use std::collections::HashMap;
use std::ops::Range;
use wide_bytes::Wide;

/// A page and the words of its links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedPage {
    /// The text, links and metadata of the page.
    pub page: PageText,
    /// For each link, the range of its anchor in the text of the page. None for the links of other formats than HTML.
    pub anchors: Vec<Range<usize>>,
    /// By target as written, the `title` attribute of the first link that has one. At most [`MAX_LINKS`].
    pub titles: HashMap<String, String>,
}

impl LinkedPage {
    /// Reads an HTML page.
    pub fn of_html(html: &str) -> Self {
        let mut reader = LinkedPageReader::new(html);
        hand_tokens(html, &mut reader);
        reader.finish()
    }

    /// A page of a format whose links have no words.
    pub fn without_words(page: PageText) -> Self {
        Self { page, anchors: Vec::new(), titles: HashMap::new() }
    }
}

/// Reads a page and the words of its links from its tokens.
pub struct LinkedPageReader<'a> {
    reader: HtmlReader<'a>,
    titles: HashMap<String, String>,
}

impl<'a> TakeTokens<'a> for LinkedPageReader<'a> {
    #[inline(always)]
    fn text(&mut self, wide: impl Wide, place: Range<usize>, kind: TextKind) {
        self.reader.text(wide, place, kind);
    }

    #[inline(always)]
    fn start(&mut self, wide: impl Wide, tag: StartTag<'a>) {
        if self.titles.len() < MAX_LINKS && matches!(tag.name.as_bytes(), b"a" | b"area") {
            self.title(tag);
        }
        self.reader.start(wide, tag);
    }

    #[inline(always)]
    fn end(&mut self, name: TagName) {
        self.reader.end(name);
    }
}

impl<'a> LinkedPageReader<'a> {
    /// A reader for the tokens of this page.
    pub fn new(html: &'a str) -> Self {
        Self { reader: HtmlReader::new(html), titles: HashMap::new() }
    }

    /// Reads the title of a link.
    fn title(&mut self, tag: StartTag<'_>) {
        if let [Some(href), Some(title)] = values_of(tag.attributes(), ["href", "title"]) {
            let href = entities::decode_attribute(href).trim().to_owned();
            self.titles.entry(href).or_insert_with(|| entities::decode_attribute(title).into_owned());
        }
    }

    /// Ends the page.
    pub fn finish(self) -> LinkedPage {
        let (page, anchors) = self.reader.finish();
        LinkedPage { page, anchors, titles: self.titles }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_knows_the_places_and_the_titles_of_its_links() {
        let read = LinkedPage::of_html(
            "<p>Read <a href=' /1?a&amp;b ' title='A &amp; B'>this</a><a href='/1?a&b' title=no>again</a><area href=/2 title=C>",
        );
        assert_eq!(
            read.anchors.iter().map(|place| &read.page.text[place.clone()]).collect::<Vec<_>>(),
            [" this", "again", ""]
        );
        let title = |number: usize| read.titles.get(read.page.links.get(number)?.href).map(String::as_str);
        assert_eq!([0, 1, 2, 3].map(title), [Some("A & B"), Some("A & B"), Some("C"), None]);
    }

    #[test]
    fn no_more_titles_than_links_are_kept() {
        let html: String = (0..2 * MAX_LINKS).map(|number| format!("<a href=/{number} title=t>")).collect();
        let read = LinkedPage::of_html(&html);
        assert_eq!((read.titles.len(), read.page.links.len()), (MAX_LINKS, MAX_LINKS));
    }
}
