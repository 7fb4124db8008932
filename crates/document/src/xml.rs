//! Extracts text and links from XML: feeds, sitemaps, documents.
//!
//! All text between tags counts, CDATA included, one line per element. So do the values of attributes, except in feeds.
//! Links are those of feeds and sitemaps: the text of `<loc>` and `<link>`, and the `href` of `<link>`. The parser does
//! not validate: a broken feed is read as far as possible.

use crate::attributes::attributes_of;
use crate::content_kind::ContentKind;
use crate::entities;
use crate::html::{self, attribute, tag_length};
use crate::page_text::{
    MAX_HREF_BYTES, MAX_LINKS, MAX_REL_BYTES, MAX_TEXT_BYTES, MAX_TITLE_BYTES, PageText, link_target,
};
use crate::text::{Gap, TextBuilder, prefix};
use memchr::memmem;
use std::borrow::Cow;

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
        depth: 0,
        bases: Vec::new(),
        merged_left: 4 * xml.len() + SPARE_BYTES,
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
    /// The number of open elements.
    depth: usize,
    /// `xml:base` of open elements within the root, each with the number of elements around its own and resolved against those
    /// around it as far as it is relative. That of the root is the base of the document.
    bases: Vec<(usize, String)>,
    /// Bytes that links merged with their bases may still take. A base of kilobytes could stand before each of many short
    /// links.
    merged_left: usize,
}

/// Bytes of merged links beyond a multiple of the document's.
const SPARE_BYTES: usize = 64 << 10;

/// The most elements with a base within each other.
const MAX_BASES: usize = 64;

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
            self.depth = self.depth.saturating_sub(1);
            self.bases.pop_if(|(opened, _)| *opened >= self.depth);
            return;
        }
        let name_end =
            inside.find(|character: char| character.is_ascii_whitespace() || character == '/').unwrap_or(inside.len());
        let (name, attributes) = inside.split_at(name_end);
        self.element = name.rsplit(':').next().unwrap_or(name);
        if let Some(base) = attribute(attributes, "xml:base") {
            self.base(base.trim());
        }
        if self.element == "link"
            && let Some(href) = attribute(attributes, "href")
        {
            self.link(&href, &attribute(attributes, "rel").unwrap_or_default());
        }
        if inside.ends_with('/') {
            self.bases.pop_if(|(opened, _)| *opened >= self.depth);
        } else {
            self.depth += 1;
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

    fn base(&mut self, base: &str) {
        if self.depth == 0 {
            self.page.base = self.page.base.take().or_else(|| Some(base.to_owned()).filter(|base| !base.is_empty()));
        } else if self.bases.len() < MAX_BASES {
            let around = self.bases.last().map_or("", |(_, base)| base);
            self.bases.push((self.depth, merged(around, base).unwrap_or_default()));
        }
    }

    fn link(&mut self, href: &str, rel: &str) {
        let Some(href) = link_target(href) else { return };
        let base = self.bases.last().map(|(_, base)| base.as_str());
        let most = base.map_or(0, |base| base.len() + href.len());
        if self.page.links.len() == MAX_LINKS || most > self.merged_left {
            self.page.truncated = true;
            return;
        }
        self.merged_left -= most;
        let merged = match base {
            Some(base) => merged(base, href).map(Cow::Owned),
            None => Some(Cow::Borrowed(href)),
        };
        if let Some(href) = merged {
            self.page.links.push(&href, prefix(rel, MAX_REL_BYTES));
        }
    }
}

/// A reference that means, relative to the document's base, what `reference` means relative to `base` (RFC 3986 §5.2.3). `None`
/// if it is too long.
fn merged(base: &str, reference: &str) -> Option<String> {
    let path = base.split(['?', '#']).next().unwrap_or_default();
    let authority = path.find("://").map_or(0, |at| at + 3);
    let scheme = reference.split([':', '/', '?', '#']).next().unwrap_or_default();
    let has_scheme = reference[scheme.len()..].starts_with(':');
    let merged = if base.is_empty() || has_scheme || reference.starts_with("//") {
        reference.to_owned()
    } else if reference.is_empty() || reference.starts_with('#') {
        format!("{}{reference}", base.split('#').next().unwrap_or_default())
    } else if reference.starts_with('?') {
        format!("{path}{reference}")
    } else if reference.starts_with('/') {
        let root = path[authority..].find('/').map_or(path.len(), |at| authority + at);
        format!("{}{reference}", if authority > 0 { &path[..root] } else { "" })
    } else {
        match path[authority..].rfind('/') {
            Some(slash) => format!("{}{reference}", &path[..=authority + slash]),
            None if authority > 0 => format!("{path}/{reference}"),
            None => reference.to_owned(),
        }
    };
    (merged.len() <= MAX_HREF_BYTES).then_some(merged)
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

    #[test]
    fn links_are_relative_to_the_bases_around_them() {
        let feed = extract(
            "<?xml version='1.0'?><feed xml:base='https://a.test/blog/'><entry xml:base='2026/'><link href='one'/></entry>\
             <entry><link href='two'/></entry><entry xml:base='http://b.test'><link href='/x'/><link xml:base='c/' href='d?e'/>\
             <link href='f'/></entry></feed>",
        );
        assert_eq!(feed.base.as_deref(), Some("https://a.test/blog/"));
        assert_eq!(targets(&feed), ["2026/one", "two", "http://b.test/x", "http://b.test/c/d?e", "http://b.test/f"]);
        let deep = format!("<a>{}", "<a xml:base='x/'>".repeat(100_000));
        assert!(extract(&deep).links.is_empty());
    }

    #[test]
    fn a_merged_reference_means_the_same() {
        for (base, reference, expected) in [
            ("", "x", "x"),
            ("a/b", "c", "a/c"),
            ("a", "c", "c"),
            ("a/b?d/e", "?f", "a/b?f"),
            ("a/b?d#e", "#f", "a/b?d#f"),
            ("/a/", "//b.test/", "//b.test/"),
            ("/a/", "mailto:x", "mailto:x"),
            ("/a/", "/b", "/b"),
            ("http://a.test/b/c", "/d", "http://a.test/d"),
            ("http://a.test", "d", "http://a.test/d"),
        ] {
            assert_eq!(merged(base, reference).as_deref(), Some(expected), "{base} {reference}");
        }
        assert_eq!(merged(&"x/".repeat(3_000), "y"), None);
    }

    proptest! {
        #[test]
        fn any_soup_is_a_document(soup in "(<|>|/|!--|-->|\\?|=|\"|a|link|loc|title|href|é|&|<!\\[CDATA\\[|\\]\\]>| ){0,60}") {
            let _ = extract(&soup);
        }
    }
}
