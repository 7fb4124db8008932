//! Extracts visible text and links from HTML in one pass.
//!
//! [`crate::markup`] separates text from tags. Here each tag decides whether a block ends, a link begins, or the head
//! declares something. No tree and no stack is kept, so every page, however deep or broken, takes linear time.

use crate::attributes::values_of;
use crate::content_kind::ContentKind;
use crate::entities;
use crate::links::Links;
use crate::markup::{StartTag, TakeTokens, TextKind, hand_tokens};
use crate::page_text::{
    MAX_ANCHOR_BYTES, MAX_FEEDS, MAX_LINKS, MAX_REL_BYTES, MAX_TEXT_BYTES, MAX_TITLE_BYTES, MetaRobots, PageText,
    link_target,
};
use crate::tag_name::{PerName, TagName, per_name};
use crate::text::{Gap, References, TextBuilder, prefix};
use std::ops::Range;
use wide_bytes::Wide;

pub use crate::attributes::{attribute, tag_length};

/// Extracts the text and links of a page.
pub fn extract(html: &str) -> PageText {
    let mut reader = HtmlReader::new(html);
    hand_tokens(html, &mut reader);
    reader.finish().0
}

/// Extracts a page from its tokens.
#[derive(Default)]
pub struct HtmlReader<'a> {
    html: &'a str,
    text: TextBuilder,
    title: Option<TextBuilder>,
    /// Whether the last opened element with such text was `<title>`; the other is `<textarea>`.
    in_title: bool,
    /// The number of open `<template>`s, whose content is not visible.
    templates: usize,
    links: Links,
    anchors: Vec<Range<usize>>,
    /// Whether the last link is still open.
    link_is_open: bool,
    base: Option<String>,
    canonical: Option<String>,
    feeds: Vec<String>,
    robots: MetaRobots,
    links_truncated: bool,
}

impl<'a> TakeTokens<'a> for HtmlReader<'a> {
    #[inline(always)]
    fn text(&mut self, wide: impl Wide, place: Range<usize>, kind: TextKind) {
        if self.templates > 0 {
            return;
        }
        match kind {
            TextKind::RcData if self.in_title => {
                if self.title.is_none() {
                    let mut title = TextBuilder::new(MAX_TITLE_BYTES);
                    title.push(&entities::decode(&self.html[place]));
                    self.title = Some(title);
                }
            }
            TextKind::Data | TextKind::RcData => self.push(wide, place, References::Decoded),
            TextKind::Verbatim => self.push(wide, place, References::Kept),
            TextKind::Raw | TextKind::Script => {}
        }
    }

    #[inline(always)]
    fn start(&mut self, _: impl Wide, tag: StartTag<'a>) {
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

impl<'a> HtmlReader<'a> {
    /// A reader for the tokens of this page.
    pub fn new(html: &'a str) -> Self {
        Self {
            html,
            text: TextBuilder::with_room(MAX_TEXT_BYTES, html.len()),
            links: Links::with_room(html.len() / 16),
            ..Self::default()
        }
    }

    /// Appends visible text of the page.
    #[inline(always)]
    fn push(&mut self, wide: impl Wide, place: Range<usize>, references: References) {
        self.text.push_within(wide, self.html, place.start, place.end, references);
    }

    fn read(&mut self, tag: StartTag<'_>) {
        match tag.name.as_bytes() {
            b"template" => self.templates += usize::from(!is_shadow_root(tag)),
            b"title" => self.in_title = true,
            b"textarea" => self.in_title = false,
            b"a" => {
                self.close_link();
                self.link_is_open = self.link(tag.attributes());
            }
            b"area" => {
                self.close_link();
                self.link(tag.attributes());
            }
            b"base" if self.base.is_none() => {
                self.base = attribute(tag.attributes(), "href").filter(|href| !href.is_empty());
            }
            b"link" => self.head_link(tag.attributes()),
            b"meta" => self.meta(tag.attributes()),
            _ => {}
        }
    }

    /// Reads a `<link>` of the head.
    fn head_link(&mut self, attributes: &str) {
        let [rel, media_type, href] = values_of(attributes, ["rel", "type", "href"]);
        let (Some(rel), Some(href)) = (rel, href) else { return };
        let (rel, media_type) =
            (entities::decode_attribute(rel), entities::decode_attribute(media_type.unwrap_or_default()));
        let has = |name: &str| rel.split_whitespace().any(|word| word.eq_ignore_ascii_case(name));
        let target = || link_target(&entities::decode_attribute(href)).map(str::to_owned);
        if self.canonical.is_none() && has("canonical") {
            self.canonical = target();
        } else if self.feeds.len() < MAX_FEEDS && is_feed(&media_type) && has("alternate") {
            self.feeds.extend(target());
        }
    }

    /// Reads a link. Returns false if it leads nowhere or the page has too many.
    fn link(&mut self, attributes: &str) -> bool {
        let [href, rel] = values_of(attributes, ["href", "rel"]);
        let Some(href) = href else { return false };
        let href = entities::decode_attribute(href);
        let Some(href) = link_target(&href) else { return false };
        if self.links.len() == MAX_LINKS {
            self.links_truncated = true;
            return false;
        }
        let rel = rel.map(entities::decode_attribute).unwrap_or_default();
        self.links.push(href, prefix(&rel, MAX_REL_BYTES));
        self.anchors.push(self.text.len()..self.text.len());
        true
    }

    fn close_link(&mut self) {
        if let (true, Some(anchor)) = (self.link_is_open, self.anchors.last_mut()) {
            anchor.end = self.text.len();
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

    /// Ends the page. Returns it with the range of each link's anchor in its text.
    pub fn finish(mut self) -> (PageText, Vec<Range<usize>>) {
        self.close_link();
        let (text, truncated) = self.text.finish();
        let anchor = |place: &Range<usize>| prefix(text[place.clone()].trim_ascii_start(), MAX_ANCHOR_BYTES);
        self.links.set_anchors(self.anchors.iter().map(anchor));
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
        (page, self.anchors)
    }
}

/// Whether a `<link>` of this media type leads to a feed (HTML standard, §4.6.7.1).
fn is_feed(media_type: &str) -> bool {
    const TYPES: [&str; 4] =
        ["application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml"];
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    TYPES.iter().any(|feed| essence.eq_ignore_ascii_case(feed))
}

/// Whether an element is a declarative shadow root, which is shown, and not a template for scripts.
pub(crate) fn is_shadow_root(tag: StartTag<'_>) -> bool {
    tag.name.as_bytes() == b"template" && attribute(tag.attributes(), "shadowrootmode").is_some()
}

/// Whether an element is laid out within a line of text.
#[inline]
pub fn is_inline(name: TagName) -> bool {
    IS_INLINE.of(name)
}

static GAPS: PerName<Gap> = per_name!(gap_of);
static IS_READ: PerName<bool> = per_name!(is_read);

static IS_INLINE: PerName<bool> = per_name!(is_laid_out_inline);

const fn is_laid_out_inline(name: &[u8]) -> bool {
    match name {
        b"br" | b"img" => true,
        // These separate nothing because they show nothing.
        b"script" | b"style" | b"template" | b"noscript" => false,
        _ => matches!(gap_of(name), Gap::NOTHING),
    }
}

/// Whether a start tag matters beyond ending a block.
const fn is_read(name: &[u8]) -> bool {
    matches!(name, b"a" | b"area" | b"base" | b"link" | b"meta" | b"template" | b"textarea" | b"title")
}

/// The separation that a tag puts between the texts on its two sides.
const fn gap_of(name: &[u8]) -> Gap {
    match name {
        b"a" | b"abbr" | b"acronym" | b"b" | b"bdi" | b"bdo" | b"big" | b"cite" | b"code" | b"data" | b"del"
        | b"dfn" | b"em" | b"font" | b"i" | b"ins" | b"kbd" | b"label" | b"mark" | b"nobr" | b"q" | b"rb" | b"rp"
        | b"rt" | b"ruby" | b"s" | b"samp" | b"script" | b"small" | b"span" | b"strike" | b"strong" | b"style"
        | b"sub" | b"sup" | b"template" | b"noscript" | b"time" | b"tt" | b"u" | b"var" | b"wbr" => Gap::NOTHING,
        b"td" | b"th" | b"img" | b"svg" | b"button" | b"input" | b"select" | b"option" | b"textarea" | b"iframe" => {
            Gap::SPACE
        }
        _ => Gap::LINE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::RawLink;
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
        check("a<template shadowrootmode=open><p>b<template>no</template></template>c", "a\nbc");
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
        let link = |href, anchor, rel| RawLink { href, anchor, rel };
        let expected = [
            link("/a", "first one", ""),
            link("/b?x=1&y=2", "", "nofollow noopener"),
            link("/c", "un closed", ""),
            link("/d", "next", ""),
            link("/e", "", ""),
        ];
        assert_eq!(page.links.iter().collect::<Vec<_>>(), expected);
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
        // Missing ends of comments and quotes are searched for only once.
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
