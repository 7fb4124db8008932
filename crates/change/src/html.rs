//! HTML to visible text and links, in one pass.
//!
//! [`crate::markup`] tells text from tags; here each tag says whether a block ends, a link begins, or what the head of the
//! page declares. No tree and no stack is kept, so no page, however deep or broken, takes more than linear time.

use crate::attributes::{attribute_has_word, attributes_of};
use crate::entities;
use crate::extract::{
    ContentKind, Link, MAX_ANCHOR_BYTES, MAX_FEEDS, MAX_LINKS, MAX_REL_BYTES, MAX_TEXT_BYTES, MAX_TITLE_BYTES,
    MetaRobots, PageText, link_target,
};
use crate::markup::{Tag, TakeTokens, TextKind, Token, tokens};
use crate::tag_name::{PerName, TagName, per_name};
use crate::text::{Gap, References, TextBuilder, prefix};
use std::ops::Range;

pub(crate) use crate::attributes::{attribute, tag_length};

/// Extracts a page.
pub(crate) fn extract(html: &str) -> PageText {
    let mut reader = Reader::new(html);
    tokens(html).hand_to(&mut reader);
    reader.finish().page
}

/// What a page has, and where in its text its links stand.
pub(crate) struct Read {
    pub(crate) page: PageText,
    /// For each link the bytes of its anchor in the text of the page.
    pub(crate) anchors: Vec<Range<usize>>,
}

/// Takes the tokens of a page in.
#[derive(Default)]
pub(crate) struct Reader<'a> {
    html: &'a str,
    text: TextBuilder,
    title: Option<TextBuilder>,
    /// Whether the last tag read was `<title>`.
    in_title: bool,
    /// How many `<template>`s are open: nothing in them is seen.
    templates: usize,
    links: Vec<Link>,
    anchors: Vec<Range<usize>>,
    /// Whether the last link is still open.
    link_is_open: bool,
    base: Option<String>,
    canonical: Option<String>,
    feeds: Vec<String>,
    robots: MetaRobots,
    links_truncated: bool,
}

impl<'a> TakeTokens<'a> for Reader<'a> {
    #[inline(always)]
    fn text(&mut self, text: &'a str, kind: TextKind) {
        if self.templates > 0 {
            return;
        }
        match kind {
            TextKind::RcData if self.in_title => {
                if self.title.is_none() {
                    let mut title = TextBuilder::new(MAX_TITLE_BYTES);
                    title.push(&entities::decode(text));
                    self.title = Some(title);
                }
            }
            TextKind::Data | TextKind::RcData => self.push(text, References::Decoded),
            TextKind::Verbatim => self.push(text, References::Kept),
            TextKind::Raw | TextKind::Script => {}
        }
    }

    #[inline(always)]
    fn start(&mut self, tag: &Tag<'a>) {
        self.in_title = false;
        if self.templates > 0 {
            self.templates += usize::from(tag.name.as_bytes() == b"template");
            return;
        }
        self.text.separate(GAPS.of(tag.name));
        if IS_READ.of(tag.name) {
            self.read(tag);
        }
    }

    #[inline(always)]
    fn end(&mut self, name: TagName) {
        self.in_title = false;
        if self.templates > 0 {
            self.templates -= usize::from(name.as_bytes() == b"template");
            return;
        }
        self.text.separate(GAPS.of(name));
        if name.as_bytes() == b"a" {
            self.close_link();
        }
    }
}

impl<'a> Reader<'a> {
    /// For the tokens of this page.
    pub(crate) fn new(html: &'a str) -> Self {
        let mut text = TextBuilder::new(MAX_TEXT_BYTES);
        text.reserve(html.len() / 2);
        Self { html, text, ..Self::default() }
    }

    pub(crate) fn take(&mut self, token: &Token<'a>) {
        match token {
            Token::Text(text, kind) => self.text(text, *kind),
            Token::Start(tag) => self.start(tag),
            Token::End(name) => self.end(*name),
        }
    }

    /// Adds a text that is part of the page.
    #[inline(always)]
    fn push(&mut self, text: &'a str, references: References) {
        let start = text.as_ptr().addr() - self.html.as_ptr().addr();
        self.text.push_within(self.html, start, start + text.len(), references);
    }

    fn read(&mut self, tag: &Tag<'_>) {
        match tag.name.as_bytes() {
            b"template" => self.templates += 1,
            b"title" => self.in_title = true,
            b"a" => {
                self.close_link();
                self.link_is_open = self.link(tag.attributes);
            }
            b"area" => {
                self.close_link();
                self.link(tag.attributes);
            }
            b"base" if self.base.is_none() => {
                self.base = attribute(tag.attributes, "href").filter(|href| !href.is_empty());
            }
            b"link" if self.canonical.is_none() && attribute_has_word(tag.attributes, "rel", "canonical") => {
                self.canonical = attribute(tag.attributes, "href").and_then(|href| link_target(&href));
            }
            b"link" if self.feeds.len() < MAX_FEEDS && names_feed(tag.attributes) => {
                let target = attribute(tag.attributes, "href").and_then(|href| link_target(&href));
                self.feeds.extend(target);
            }
            b"meta" => self.meta(tag.attributes),
            _ => {}
        }
    }

    /// Takes a link in, if it leads anywhere.
    fn link(&mut self, attributes: &str) -> bool {
        let (mut href, mut rel) = (None, None);
        for (name, value) in attributes_of(attributes) {
            if href.is_none() && name.eq_ignore_ascii_case("href") {
                href = Some(entities::decode_attribute(value));
            } else if rel.is_none() && name.eq_ignore_ascii_case("rel") {
                rel = Some(entities::decode_attribute(value));
            }
        }
        let Some(href) = href.and_then(|href| link_target(&href)) else { return false };
        if self.links.len() == MAX_LINKS {
            self.links_truncated = true;
            return false;
        }
        let rel = rel.unwrap_or_default();
        let rel = prefix(&rel, MAX_REL_BYTES).to_owned();
        self.links.push(Link { href, rel, anchor: String::new() });
        self.anchors.push(self.text.len()..self.text.len());
        true
    }

    fn close_link(&mut self) {
        if let (true, Some(link), Some(anchor)) = (self.link_is_open, self.links.last_mut(), self.anchors.last_mut()) {
            anchor.end = self.text.len();
            let words = prefix(self.text.since(anchor.start).trim(), MAX_ANCHOR_BYTES);
            link.anchor = if words.contains('\n') { words.replace('\n', " ") } else { words.to_owned() };
        }
        self.link_is_open = false;
    }

    fn meta(&mut self, attributes: &str) {
        if !attribute(attributes, "name").is_some_and(|name| name.trim().eq_ignore_ascii_case("robots")) {
            return;
        }
        for word in attribute(attributes, "content").unwrap_or_default().split(',') {
            let word = word.trim();
            let none = word.eq_ignore_ascii_case("none");
            self.robots.noindex |= none || word.eq_ignore_ascii_case("noindex");
            self.robots.nofollow |= none || word.eq_ignore_ascii_case("nofollow");
        }
    }

    pub(crate) fn finish(mut self) -> Read {
        self.close_link();
        let (text, truncated) = self.text.finish();
        let page = PageText {
            title: self.title.map(|title| title.finish().0).unwrap_or_default(),
            text,
            links: self.links,
            base: self.base,
            canonical: self.canonical,
            feeds: self.feeds,
            robots: self.robots,
            truncated: truncated || self.links_truncated,
            ..PageText::empty(ContentKind::Html)
        };
        Read { page, anchors: self.anchors }
    }
}

/// Whether a `<link>` leads to a feed of the page's site (HTML standard, §4.6.7.1).
fn names_feed(attributes: &str) -> bool {
    const TYPES: [&str; 4] =
        ["application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml"];
    let media_type = attribute(attributes, "type").unwrap_or_default();
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    TYPES.iter().any(|feed| essence.eq_ignore_ascii_case(feed)) && attribute_has_word(attributes, "rel", "alternate")
}

static GAPS: PerName<Gap> = per_name!(gap_of);
static IS_READ: PerName<bool> = per_name!(is_read);

/// Start tags that say more than where a block ends.
const fn is_read(name: &[u8]) -> bool {
    matches!(name, b"a" | b"area" | b"base" | b"link" | b"meta" | b"template" | b"title")
}

/// How a tag separates the texts on its two sides.
const fn gap_of(name: &[u8]) -> Gap {
    match name {
        b"a" | b"abbr" | b"acronym" | b"b" | b"bdi" | b"bdo" | b"big" | b"cite" | b"code" | b"data" | b"del"
        | b"dfn" | b"em" | b"font" | b"i" | b"ins" | b"kbd" | b"label" | b"mark" | b"nobr" | b"q" | b"rb" | b"rp"
        | b"rt" | b"ruby" | b"s" | b"samp" | b"script" | b"small" | b"span" | b"strike" | b"strong" | b"style"
        | b"sub" | b"sup" | b"template" | b"noscript" | b"time" | b"tt" | b"u" | b"var" | b"wbr" => Gap::Nothing,
        b"td" | b"th" | b"img" | b"svg" | b"button" | b"input" | b"select" | b"option" | b"textarea" | b"iframe" => {
            Gap::Space
        }
        _ => Gap::Line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text_of(html: &str) -> String {
        extract(html).text
    }

    #[test]
    fn text_is_what_a_reader_sees() {
        let check = |html, expected: &str| assert_eq!(text_of(html), expected, "{html}");
        check("a<b>b</b>c <i> d</i>", "abc d");
        check("<p>one<p>two<br>three<div>four</div>five", "one\ntwo\nthree\nfour\nfive");
        check("<table><tr><td>a<td>b<tr><td>c</table>", "a b\nc");
        check("a<!-- <p>no --><script>no()</script><style>no{}</style><noscript>no</noscript>b", "ab");
        check("a<template><p>no</p></template>b<template>", "ab");
        check("<script><!-- <script> </script> no --></script>yes", "yes");
        check("<textarea> typed &amp; <b></textarea>", "typed & <b>");
        check("&lt;tag&gt; &eacute;t&#233;&nbsp;&hellip;", "<tag> été …");
        check("1 < 2 <3 and a<b", "1 < 2 <3 and a");
        check("<p title=\"<div>no>\" x='>'>yes", "yes");
        check("<svg><title>no</title><![CDATA[x<y]]></svg>", "x<y");
        check("<head><title>no</title></head>yes<title>no</title>", "yes");
        check("<!doctype html><html><body>网页<br>\u{a0}</body>", "网页");
        check("", "");
    }

    #[test]
    fn the_head_is_read() {
        let page = extract(
            "<head><TITLE>A &amp; B\n C</TITLE><base href='/dir/'><base href=/no>\
             <link rel=stylesheet href=/s.css><link rel='x CANONICAL' href=\"https://a.test/?p=1&amp;q=2\">\
             <meta name=Robots content='noarchive, NoFollow'><title>second</title></head>",
        );
        assert_eq!(page.title, "A & B C");
        assert_eq!(page.base.as_deref(), Some("/dir/"));
        assert_eq!(page.canonical.as_deref(), Some("https://a.test/?p=1&q=2"));
        assert_eq!(page.robots, MetaRobots { noindex: false, nofollow: true });
        assert_eq!(extract("<meta name=robots content=none>").robots, MetaRobots { noindex: true, nofollow: true });
    }

    #[test]
    fn feeds_are_alternates_of_a_feeds_type() {
        let page = extract(
            "<link rel='alternate home' type='Application/RSS+XML; charset=utf-8' href='/feed?a=1&amp;b=2'>\
             <link rel=alternate type=text/html hreflang=fr href=/fr><link rel=preload type=application/rss+xml href=/no>\
             <link type=application/feed+json rel=Alternate href=feed.json><template><link rel=alternate \
             type=application/atom+xml href=/no></template>",
        );
        assert_eq!(page.feeds, ["/feed?a=1&b=2", "feed.json"]);
        let many = "<link rel=alternate type=application/atom+xml href=/f>".repeat(100);
        assert_eq!(extract(&many).feeds.len(), MAX_FEEDS);
    }

    #[test]
    fn links_come_with_target_words_and_rel() {
        let page = extract(
            "<a href='/a'>first <b>one</b></a> x <a class=y HREF = /b?x=1&amp;y=2 rel=\"nofollow noopener\"><img></a>\
             <a name=z>no</a><a href=#top>no</a><a href=' JavaScript:no() '>no</a>\
             <a href=/c><p>un</p><p>closed</p><a href=/d>next<area href=/e><template><a href=/no></template>",
        );
        let link =
            |href: &str, anchor: &str, rel: &str| Link { href: href.into(), anchor: anchor.into(), rel: rel.into() };
        let expected = [
            link("/a", "first one", ""),
            link("/b?x=1&y=2", "", "nofollow noopener"),
            link("/c", "un closed", ""),
            link("/d", "next", ""),
            link("/e", "", ""),
        ];
        assert_eq!(page.links, expected);
        assert!(page.links[1].is_nofollow() && !page.links[0].is_nofollow());
    }

    #[test]
    fn a_script_changing_between_words_is_no_change() {
        let page = |token| format!("<p>hello <script nonce={token}>t='{token}'</script>world<!--{token}-->");
        assert_eq!(text_of(&page("abc")), text_of(&page("defghi")));
    }

    #[test]
    fn deep_and_unclosed_markup_takes_linear_time() {
        let deep = format!("{}{}x", "<b>".repeat(300_000), "</i>".repeat(300_000));
        assert_eq!(text_of(&deep), "x");
        // Ends of comments and quotes that never come are looked for once.
        assert_eq!(text_of(&"<!-- ".repeat(200_000)), "");
        assert_eq!(text_of(&"<a href=\"".repeat(200_000)), "");
        assert_eq!(text_of(&"<a ' ".repeat(200_000)), "");
    }

    #[test]
    fn what_does_not_fit_is_left_out_and_said_so() {
        let page = extract(&"<a href=/x>word</a> ".repeat(MAX_LINKS + 1));
        assert_eq!((page.links.len(), page.truncated), (MAX_LINKS, true));
        let page = extract(&"word ".repeat(MAX_TEXT_BYTES / 4));
        assert!(page.text.len() <= MAX_TEXT_BYTES && page.truncated);
    }

    proptest! {
        #[test]
        fn any_soup_is_a_page(
            soup in "(<|>|/|!--|-->|=|\"|'| |a|b|é|&|&#|amp;|title|script|style|template|textarea|href|meta|svg|<!\\[CDATA\\[|\\]\\]>){0,60}"
        ) {
            let page = extract(&soup);
            prop_assert!(page.text.len() <= soup.len() * 3);
        }
    }
}
