//! Extracts text and links from XML: feeds, sitemaps, documents.
//!
//! All text between tags counts, CDATA included, one line per element. So do the values of attributes, except in feeds.
//! Links are those of feeds and sitemaps: the text of `<loc>` and `<link>`, and the `href` of `<link>`. The parser does
//! not validate: a broken feed is read as far as possible.

use crate::attributes::attributes_of;
use crate::content_kind::ContentKind;
use crate::entities;
use crate::html::{self, attribute, tag_length};
use crate::page_text::{MAX_LINKS, MAX_REL_BYTES, MAX_TEXT_BYTES, MAX_TITLE_BYTES, PageText, link_target};
use crate::text::{Gap, TextBuilder, prefix};
use memchr::memmem;

/// Extracts the text and links of a document.
pub fn extract(xml: &str) -> PageText {
    read(xml).0
}

/// Extracts a document and its main text, which leaves out addresses, dates and keys.
pub fn read(xml: &str) -> (PageText, String) {
    let mut reader = XmlReader {
        text: TextBuilder::new(MAX_TEXT_BYTES),
        main_text: TextBuilder::new(MAX_TEXT_BYTES),
        page: PageText::empty(ContentKind::Xml),
        element: "",
        is_feed: false,
    };
    reader.read(xml);
    let (text, truncated) = reader.text.finish();
    (PageText { text, truncated: truncated || reader.page.truncated, ..reader.page }, reader.main_text.finish().0)
}

struct XmlReader<'a> {
    text: TextBuilder,
    main_text: TextBuilder,
    page: PageText,
    /// The local name of the element opened last; empty after an end tag.
    element: &'a str,
    /// Whether the document is a feed. Its attributes are types and formats.
    is_feed: bool,
}

/// Whether an element of this local name is the root of a feed: RSS, Atom, RSS 1.0.
pub(crate) fn is_feed_root(name: &str) -> bool {
    matches!(name, "rss" | "feed" | "RDF")
}

impl<'a> XmlReader<'a> {
    fn read(&mut self, xml: &'a str) {
        let mut rest = xml;
        while !rest.is_empty() {
            let end = memchr::memchr(b'<', rest.as_bytes()).unwrap_or(rest.len());
            self.text(&entities::decode(&rest[..end]));
            rest = &rest[end..];
            let length = if let Some(data) = rest.strip_prefix("<![CDATA[") {
                let length = memmem::find(data.as_bytes(), b"]]>").unwrap_or(data.len());
                self.text(&data[..length]);
                (9 + length + 3).min(rest.len())
            } else if rest.starts_with("<!--") {
                memmem::find(rest.as_bytes(), b"-->").map_or(rest.len(), |at| at + 3)
            } else if rest.starts_with("<?") {
                memmem::find(rest.as_bytes(), b"?>").map_or(rest.len(), |at| at + 2)
            } else {
                tag_length(rest.as_bytes()).unwrap_or(rest.len())
            };
            if !rest.starts_with("<!") && !rest.starts_with("<?") {
                self.tag(&rest[..length]);
            }
            rest = &rest[length..];
        }
    }

    fn tag(&mut self, tag: &'a str) {
        self.text.separate(Gap::LINE);
        self.main_text.separate(Gap::LINE);
        self.element = "";
        let Some(inside) = tag.strip_prefix('<').and_then(|tag| tag.strip_suffix('>')) else { return };
        if inside.starts_with('/') {
            return;
        }
        let name_end =
            inside.find(|character: char| character.is_ascii_whitespace() || character == '/').unwrap_or(inside.len());
        let (name, attributes) = inside.split_at(name_end);
        self.element = name.rsplit(':').next().unwrap_or(name);
        if self.element == "link"
            && let Some(href) = attribute(attributes, "href")
        {
            self.link(&href, &attribute(attributes, "rel").unwrap_or_default());
        }
        self.is_feed |= is_feed_root(self.element);
        if !self.is_feed {
            self.values(attributes);
        }
    }

    /// Appends the attributes to the text, each value behind its name.
    fn values(&mut self, attributes: &str) {
        for (name, value) in attributes_of(attributes).filter(|(name, _)| !name.starts_with("xmlns")) {
            self.text.push(&format!("{name}=\"{}\" ", entities::decode_attribute(value)));
        }
    }

    fn text(&mut self, text: &str) {
        if matches!(self.element, "loc" | "link") {
            self.link(text, "");
        }
        if self.element == "title" && self.page.title.is_empty() {
            let mut title = TextBuilder::new(MAX_TITLE_BYTES);
            title.push(text);
            self.page.title = title.finish().0;
        }
        if !is_for_machines(self.element) {
            self.main_text(text);
        }
        self.text.push(text);
    }

    /// Appends to the main text. Feeds carry their items' HTML as text, so markup is stripped.
    fn main_text(&mut self, text: &str) {
        if memchr::memchr(b'<', text.as_bytes()).is_some() {
            self.main_text.push_lines(&html::extract(text).text);
        } else {
            self.main_text.push(text);
        }
    }

    fn link(&mut self, href: &str, rel: &str) {
        let Some(href) = link_target(href) else { return };
        if self.page.links.len() == MAX_LINKS {
            self.page.truncated = true;
            return;
        }
        self.page.links.push(href, prefix(rel, MAX_REL_BYTES));
    }
}

/// Elements of feeds and sitemaps whose text is an address, a date or a key.
fn is_for_machines(element: &str) -> bool {
    matches!(
        element,
        "link"
            | "loc"
            | "guid"
            | "id"
            | "url"
            | "docs"
            | "uri"
            | "email"
            | "pubDate"
            | "lastBuildDate"
            | "date"
            | "updated"
            | "published"
            | "lastmod"
            | "changefreq"
            | "priority"
            | "ttl"
            | "language"
            | "generator"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn targets(page: &PageText) -> Vec<&str> {
        page.links.iter().map(|link| link.href).collect()
    }

    #[test]
    fn feeds_and_sitemaps_have_text_and_links() {
        let rss = extract(
            "<?xml version='1.0'?><rss><channel><title>News &amp; more</title><link>https://a.test/</link>\
             <item><title><![CDATA[One <b>two</b>]]></title><link>https://a.test/1?a&amp;b</link></item><!-- no --></channel></rss>",
        );
        assert_eq!(rss.title, "News & more");
        assert_eq!(rss.text, "News & more\nhttps://a.test/\nOne <b>two</b>\nhttps://a.test/1?a&b");
        assert_eq!(
            read("<rss><title>A</title><pubDate>no</pubDate><description>&lt;p>B &lt;b>c</description>").1,
            "A\nB c"
        );
        assert_eq!(targets(&rss), ["https://a.test/", "https://a.test/1?a&b"]);
        let atom = extract("<feed><link rel='self' href='/feed'/><atom:link href=\"/x\"/></feed>");
        assert_eq!((targets(&atom), atom.links.get(0).map(|link| link.rel)), (vec!["/feed", "/x"], Some("self")));
        let sitemap = extract("<urlset><url><loc> https://a.test/p </loc><lastmod>2026-01-02</lastmod></url>");
        assert_eq!(targets(&sitemap), ["https://a.test/p"]);
        let rates =
            extract("<Rates xmlns='x'><Rate currency='USD' value='1.08'/><Rate currency='GBP'>no</Rate></Rates>");
        assert_eq!(rates.text, "currency=\"USD\" value=\"1.08\"\ncurrency=\"GBP\" no");
    }

    proptest! {
        #[test]
        fn any_soup_is_a_document(soup in "(<|>|/|!--|-->|\\?|=|\"|a|link|loc|title|href|é|&|<!\\[CDATA\\[|\\]\\]>| ){0,60}") {
            let _ = extract(&soup);
        }
    }
}
