//! Reads everything about a page in one pass over its tokens.
//!
//! [`document::extract`] is the part of this that is cheap enough for every fetch, and [`MainText`] the part that shows what
//! the page is about. Here the same tokens also give dates, language and structure.

use crate::dates::{DateReader, PageDates};
use crate::page_reader::{MainText, PageReader, meta, other_text};
use crate::{language, structure};
use document::attributes::attribute;
use document::markup::{StartTag, TakeTokens, TextKind, Wide, hand_tokens};
use document::tag_name::TagName;
use document::{Body, ContentKind, LinkedPage, prefix};
use page::LinkResolver;
use serde::Serialize;
use std::ops::Range;

/// Bytes of a description that are kept.
const MAX_DESCRIPTION_BYTES: usize = 1024;
/// Keywords of a page that are kept, and the bytes of each.
const MAX_KEYWORDS: usize = 64;
const MAX_KEYWORD_BYTES: usize = 64;
/// Bytes of text on each side of a link that count as its context.
const CONTEXT_BYTES: usize = 80;

/// The content of a page, as printed by `recrawl text`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PageReading {
    /// How the body was read.
    pub kind: ContentKind,
    /// The title on one line: `<title>`, `og:title`, the first heading, or the most prominent line before the text, in this
    /// order. Empty if the page has no title.
    pub title: String,
    /// The main text: one line per block, without navigation, advertisements, comments and captions. Never empty if the
    /// page has text.
    pub text: String,
    /// All visible text: whitespace folded, one line per block.
    pub full_text: String,
    /// The page about itself: `<meta name=description>` or `og:description`, on one line, up to 1,024 bytes; empty
    /// if it does not.
    pub description: String,
    /// The words of `<meta name=keywords>`, up to 64.
    pub keywords: Vec<String>,
    /// The primary language subtag, as declared or else guessed from the text; `None` if neither is available.
    pub language: Option<String>,
    /// The WHATWG name of the character encoding; `None` for a body that is not text.
    pub charset: Option<&'static str>,
    /// Links in page order.
    pub links: Vec<ReadLink>,
    /// `<link rel=canonical>`, resolved.
    pub canonical: Option<String>,
    /// Directives for robots, in lower case: `noindex`, `nofollow`, `max-snippet:50`.
    pub robots: Vec<String>,
    pub dates: PageDates,
    /// Sixteen hexadecimal digits that are equal for pages whose markup has the same shape, whatever their texts and
    /// the lengths of their lists; `None` without markup.
    pub structure: Option<String>,
    /// Whether text or links were dropped beyond [`document::MAX_TEXT_BYTES`] or [`document::MAX_LINKS`].
    pub truncated: bool,
}

/// A link with the text around it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReadLink {
    /// The target, resolved against the page's address and `<base href>`; as written if that fails or is too
    /// long ([`LinkResolver`]).
    pub url: String,
    /// The text of the link, up to 256 bytes.
    pub anchor: String,
    /// The `rel` attribute as written; empty if absent.
    pub rel: String,
    /// The words around the link on its line, including the anchor; empty if the anchor is.
    pub context: String,
}

/// Reads a body, given its `Content-Type` header and the address it came from. Never fails: a body that cannot be
/// understood has little text or none.
pub fn read(body: &[u8], content_type: Option<&str>, url: Option<&str>) -> PageReading {
    read_body(&Body::new(body, content_type, url))
}

/// As [`read`], for a body that brings a reader of its own.
pub fn read_body(body: &Body<'_>) -> PageReading {
    let url = body.address();
    let Some(decoded) = body.decoded() else {
        return PageReading { kind: ContentKind::Opaque, ..PageReading::default() };
    };
    let mut reading = match body.html() {
        Some(html) => read_html(html, decoded.charset, url),
        None => {
            let (page, text) = other_text(body);
            let title = page.title.clone();
            of_page(MainText::new(LinkedPage::without_words(page), title, text), url)
        }
    };
    reading.language =
        reading.language.or_else(|| language::guess(&reading.text)).or_else(|| language::guess(&reading.full_text));
    reading
}

fn read_html(html: &str, charset: &'static str, url: Option<&str>) -> PageReading {
    let mut readers = (PageReader::new(html), HeadReader::new(html));
    hand_tokens(html, &mut readers);
    let (page, head) = readers;
    let (page, tree) = page.finish(Some(charset));
    PageReading {
        language: head.language.or(head.weak_language),
        robots: head.robots,
        description: head.description,
        keywords: head.keywords,
        dates: head.dates.finish(),
        structure: Some(format!("{:016x}", structure::fingerprint(&tree))),
        ..of_page(page, url)
    }
}

fn of_page(MainText { linked, title, text }: MainText, url: Option<&str>) -> PageReading {
    let LinkedPage { page, anchors, .. } = linked;
    let mut links = LinkResolver::new(url, page.base.as_deref());
    let mut resolve = |target: &str| links.resolve(target).unwrap_or_else(|_| target.to_owned());
    let canonical = page.canonical.as_deref().map(&mut resolve);
    let context = |index: usize| anchors.get(index).map_or("", |anchor| surroundings(&page.text, anchor));
    let read_link = |(index, link): (usize, document::RawLink<'_>)| ReadLink {
        url: resolve(link.href),
        anchor: link.anchor.to_owned(),
        rel: link.rel.to_owned(),
        context: context(index).replace('\n', " "),
    };
    PageReading {
        kind: page.kind,
        charset: page.charset,
        links: page.links.iter().enumerate().map(read_link).collect(),
        canonical,
        title,
        text,
        full_text: page.text,
        truncated: page.truncated,
        ..PageReading::default()
    }
}

/// The line of an anchor, up to [`CONTEXT_BYTES`] on both sides, cut between words. Empty for an anchor without words.
fn surroundings<'a>(text: &'a str, anchor: &Range<usize>) -> &'a str {
    if text[anchor.clone()].trim().is_empty() {
        return "";
    }
    let (before, after) = (&text[..anchor.start], &text[anchor.end..]);
    // A line end at the start of the anchor belongs to the gap before it.
    let line = if text[anchor.clone()].starts_with('\n') { "" } else { before.rsplit('\n').next().unwrap_or_default() };
    let mut start = line.len() - line.len().min(CONTEXT_BYTES);
    start = line.ceil_char_boundary(start);
    if start > 0 {
        start += line[start..].find(' ').unwrap_or(0);
    }
    let rest = after.split('\n').next().unwrap_or_default();
    let near = prefix(rest, CONTEXT_BYTES);
    let end = if near.len() < rest.len() { near.rfind(' ').unwrap_or(near.len()) } else { near.len() };
    text[anchor.start - (line.len() - start)..anchor.end + end].trim()
}

/// Reads the declarations in the head of a page, and the dates in its body.
#[derive(Default)]
struct HeadReader<'a> {
    html: &'a str,
    language: Option<String>,
    /// The language from declarations that are often left at a default.
    weak_language: Option<String>,
    robots: Vec<String>,
    description: String,
    keywords: Vec<String>,
    dates: DateReader,
    in_json_ld: bool,
}

impl<'a> TakeTokens<'a> for HeadReader<'a> {
    fn text(&mut self, _: impl Wide, place: Range<usize>, kind: TextKind) {
        if self.in_json_ld && kind == TextKind::Script {
            self.dates.json_ld(&self.html[place]);
        }
    }

    fn start(&mut self, _: impl Wide, tag: StartTag<'a>) {
        self.in_json_ld = false;
        match tag.name.as_bytes() {
            b"html" if self.language.is_none() => {
                self.language = ["lang", "xml:lang"].iter().find_map(|name| {
                    attribute(tag.attributes(), name).and_then(|value| language::primary_subtag(&value))
                });
            }
            b"script" => self.in_json_ld = tag.is_json_ld(),
            b"meta" => self.meta(tag),
            b"time" => self.dates.element(&tag),
            _ if tag.attributes().contains("itemprop") => self.dates.element(&tag),
            _ => {}
        }
    }

    fn end(&mut self, _: TagName) {}
}

impl<'a> HeadReader<'a> {
    fn new(html: &'a str) -> Self {
        Self { html, ..Self::default() }
    }

    fn meta(&mut self, tag: StartTag<'_>) {
        self.dates.meta(&tag);
        let Some((name, content)) = meta(tag) else { return };
        match name.as_str() {
            "robots" => {
                let directives = content.split(',').map(|word| word.trim().to_ascii_lowercase());
                self.robots.extend(directives.filter(|word| !word.is_empty()));
            }
            "description" | "og:description" | "dc.description" if self.description.is_empty() => {
                let words: Vec<&str> = content.split_whitespace().collect();
                prefix(&words.join(" "), MAX_DESCRIPTION_BYTES).clone_into(&mut self.description);
            }
            "keywords" if self.keywords.is_empty() => {
                let words = content.split([',', ';', '，', '、', '；']).map(str::trim).filter(|word| !word.is_empty());
                let words = words.take(MAX_KEYWORDS).map(|word| prefix(word, MAX_KEYWORD_BYTES).to_owned());
                self.keywords = words.collect();
            }
            "content-language" | "language" | "og:locale" | "dc.language" if self.weak_language.is_none() => {
                self.weak_language = language::primary_subtag(&content);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read_at(html: &str, url: Option<&str>) -> PageReading {
        read(html.as_bytes(), Some("text/html; charset=utf-8"), url)
    }

    #[test]
    fn links_are_resolved_and_have_their_words_around_them() {
        let html = "<base href=/dir/><link rel=canonical href=c><p>Read <a href='a?x=1&amp;y' rel=nofollow>this page</a> before you go.</p>\
                    <p>Not here.<p><a href=//b.test/>there</a><a href='http://[bad'>bad</a>";
        let reading = read_at(html, Some("https://a.test/x/y"));
        let urls: Vec<&str> = reading.links.iter().map(|link| link.url.as_str()).collect();
        assert_eq!(urls, ["https://a.test/dir/a?x=1&y", "https://b.test/", "http://[bad"]);
        assert_eq!((reading.links[0].anchor.as_str(), reading.links[0].rel.as_str()), ("this page", "nofollow"));
        assert_eq!(reading.links[0].context, "Read this page before you go.");
        assert_eq!(reading.links[1].context, "therebad");
        let reading_of = |html| read_at(html, None).links[0].context.clone();
        assert_eq!(reading_of("<p>a<p><a href=/x>b<br>c</a> d"), "b c d");
        assert_eq!(reading_of("<p>a<p><a href=/x><img></a>"), "");
        assert_eq!(reading.canonical.as_deref(), Some("https://a.test/dir/c"));
        assert_eq!(read_at(html, None).links[0].url, "a?x=1&y");
    }

    #[test]
    fn surroundings_are_cut_between_words() {
        let html = format!("<p>{}<a href=/x>here</a> {}", "before ".repeat(40), "after ".repeat(40));
        let context = &read_at(&html, None).links[0].context;
        assert!(context.starts_with("before before") && context.ends_with("after after"), "{context}");
        assert!(context.contains("before here after") && context.len() < 200);
    }

    #[test]
    fn the_head_is_read() {
        let html = "<html lang=de-CH><meta name=ROBOTS content='NoIndex, max-snippet:5'>\
                    <meta property=og:title content='A &amp; B'><meta property=og:locale content=fr_FR>\
                    <script type=application/ld+json>{\"datePublished\":\"2020-01-31\"}</script><p>Hallo";
        let reading = read_at(html, None);
        assert_eq!((reading.title.as_str(), reading.language.as_deref()), ("A & B", Some("de")));
        assert_eq!(reading.robots, ["noindex", "max-snippet:5"]);
        assert_eq!(reading.dates.published.as_deref(), Some("2020-01-31T00:00:00Z"));
        let title = |html| read_at(html, None).title;
        assert_eq!(title("<title> </title><meta property=og:title content=''><h2>First</h2><h1>Best</h1>"), "Best");
        assert_eq!(title("<p><b>Bold</b></p><p>plain"), "Bold");
        assert_eq!(read_at("<meta property=og:locale content=fr_FR>", None).language.as_deref(), Some("fr"));
    }

    #[test]
    fn what_a_page_says_of_itself_is_read_and_bounded() {
        let html = "<meta name=description content=' Ships &amp;\n boats '><meta property=og:description content=no>\
                    <meta name=Keywords content='航班，景区, ships;;'><p>x";
        let reading = read_at(html, None);
        assert_eq!(
            (reading.description.as_str(), reading.keywords),
            ("Ships & boats", vec!["航班".to_owned(), "景区".to_owned(), "ships".to_owned(),])
        );
        let long = "帆船,".repeat(2000);
        let reading =
            read_at(&format!("<meta name=description content='{long}'><meta name=keywords content='{long}'>"), None);
        assert!(reading.description.len() <= MAX_DESCRIPTION_BYTES && reading.keywords.len() == MAX_KEYWORDS);
    }

    #[test]
    fn the_fields_have_the_names_scripts_rely_on() {
        let json =
            serde_json::to_value(read(b"<title>T</title><a href=/x>y</a>", None, Some("http://a.test/"))).unwrap();
        for field in [
            "title",
            "text",
            "full_text",
            "description",
            "keywords",
            "language",
            "charset",
            "links",
            "canonical",
            "robots",
            "dates",
        ] {
            assert!(json.get(field).is_some(), "{field}");
        }
        assert_eq!((&json["title"], &json["kind"]), (&"T".into(), &"html".into()));
        assert_eq!(json["links"][0]["url"], "http://a.test/x");
        assert!(json["dates"].get("published").is_some() && json["dates"].get("modified").is_some());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(
            body in "(<|>|/|=|\"| |a|é|title|p|div|script|svg|table|td|li|href|meta|lang|\\{|\\}|\\[|:|,|http://|\n){0,60}",
            kind in proptest::sample::select(vec!["text/html", "application/xml", "application/json", "text/plain", "x/y"]),
            url in proptest::option::of("(http://a.test/)?.{0,10}")
        ) {
            let reading = read(body.as_bytes(), Some(kind), url.as_deref());
            prop_assert!(!reading.text.is_empty() || reading.full_text.is_empty());
        }
    }
}
