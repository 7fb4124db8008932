//! HTML to visible text and links, in one pass.
//!
//! lol_html tells text from markup, with all of HTML's states (scripts, titles, comments, foreign content). What lies
//! between two of its texts is whole tags and comments; those few bytes are read here: does a block end, does a link begin,
//! what does a `<meta>` say. No tree and no stack is kept, so no page, however deep or broken, takes more than linear time.

use crate::entities;
use crate::extract::{
    ContentKind, Link, MAX_ANCHOR_BYTES, MAX_LINKS, MAX_REL_BYTES, MAX_TEXT_BYTES, MAX_TITLE_BYTES, MetaRobots,
    PageText, link_target,
};
use crate::text::{Gap, TextBuilder, prefix};
use lol_html::html_content::TextType;
use lol_html::{DocumentContentHandlers, HtmlRewriter, Settings};
use std::ops::Range;

/// Extracts a page.
pub(crate) fn extract(html: &str) -> PageText {
    let mut reader = Reader::new(html);
    let handlers = DocumentContentHandlers::default().text(|chunk: &mut lol_html::html_content::TextChunk<'_>| {
        reader.text(chunk.source_location().bytes(), chunk.text_type());
        Ok(())
    });
    let settings = Settings::new()
        .append_document_content_handler(handlers)
        .with_strict(false)
        .with_adjust_charset_on_meta_tag(false);
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    // Only handlers and memory limits can fail, and there are none that do; what was read before would still count.
    match rewriter.write(html.as_bytes()) {
        Ok(()) => drop(rewriter.end()),
        Err(_) => drop(rewriter),
    }
    reader.finish()
}

struct Reader<'a> {
    html: &'a str,
    /// Up to where the page has been read.
    at: usize,
    text: TextBuilder,
    title: Option<TextBuilder>,
    /// Whether the last tag read was `<title>`.
    in_title: bool,
    /// How many `<template>`s are open: nothing in them is seen.
    templates: usize,
    links: Vec<Link>,
    /// The open link: its index, and where its text begins.
    open_link: Option<(usize, usize)>,
    base: Option<String>,
    canonical: Option<String>,
    robots: MetaRobots,
    links_truncated: bool,
}

impl<'a> Reader<'a> {
    fn new(html: &'a str) -> Self {
        Self {
            html,
            at: 0,
            text: TextBuilder::new(MAX_TEXT_BYTES),
            title: None,
            in_title: false,
            templates: 0,
            links: Vec::new(),
            open_link: None,
            base: None,
            canonical: None,
            robots: MetaRobots::default(),
            links_truncated: false,
        }
    }

    fn text(&mut self, range: Range<usize>, text_type: TextType) {
        // Chunks come in order and within the page; anything else would be a fault of the parser, and is passed over.
        let Some(text) = self.html.get(range.clone()).filter(|_| range.start >= self.at) else { return };
        self.markup(range.start);
        self.at = range.end;
        if self.templates > 0 {
            return;
        }
        match text_type {
            TextType::Data => self.text.push(&entities::decode(text)),
            TextType::RCData if self.in_title => {
                let title = self.title.get_or_insert_with(|| TextBuilder::new(MAX_TITLE_BYTES));
                title.push(&entities::decode(text));
            }
            TextType::RCData => self.text.push(&entities::decode(text)),
            TextType::PlainText | TextType::CDataSection => self.text.push(text),
            // Scripts, styles, `<noscript>`, `<iframe>`, `<noframes>`: not seen.
            TextType::ScriptData | TextType::RawText => {}
        }
    }

    /// Reads the tags and comments up to a place.
    fn markup(&mut self, end: usize) {
        let html: &'a str = self.html;
        let Some(mut rest) = html.get(self.at..end) else { return };
        // Nearly always the next tag follows at once.
        let next_tag = |bytes: &[u8]| if bytes.starts_with(b"<") { Some(0) } else { memchr::memchr(b'<', bytes) };
        while let Some(start) = next_tag(rest.as_bytes()) {
            rest = &rest[start + 1..];
            let bytes = rest.as_bytes();
            if bytes.starts_with(b"!--") {
                let Some(length) = comment_length(bytes) else { return };
                rest = &rest[length..];
                continue;
            }
            let closing = bytes.first() == Some(&b'/');
            let name_start = usize::from(closing);
            let name_length = bytes[name_start..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
            if name_length == 0 {
                continue;
            }
            let name = TagName::new(&bytes[name_start..name_start + name_length]);
            rest = &rest[name_start + name_length..];
            let Some(length) = tag_length(rest.as_bytes()) else { return };
            let attributes = &rest[..length];
            rest = &rest[length..];
            self.tag(&name, closing, attributes);
        }
    }

    fn tag(&mut self, name: &TagName, closing: bool, attributes: &'a str) {
        let name = name.as_bytes();
        self.in_title = false;
        if self.templates == 0 {
            self.text.separate(gap_of(name));
        }
        match (name, closing) {
            (b"template", false) => self.templates += 1,
            (b"template", true) => self.templates = self.templates.saturating_sub(1),
            _ if self.templates > 0 => {}
            (b"title", false) => self.in_title = self.title.is_none(),
            (b"a", _) => {
                self.close_link();
                if !closing && self.link(attributes) {
                    self.open_link = Some((self.links.len() - 1, self.text.len()));
                }
            }
            (b"area", false) => {
                self.link(attributes);
            }
            (b"base", false) if self.base.is_none() => {
                self.base = attribute(attributes, "href").filter(|href| !href.is_empty());
            }
            (b"link", false) if self.canonical.is_none() && attribute_has_word(attributes, "rel", "canonical") => {
                self.canonical = attribute(attributes, "href").and_then(|href| link_target(&href));
            }
            (b"meta", false) => self.meta(attributes),
            _ => {}
        }
    }

    /// Takes a link in, if it leads anywhere.
    fn link(&mut self, attributes: &str) -> bool {
        let (mut href, mut rel) = (None, None);
        for (name, value) in attributes_of(attributes) {
            if href.is_none() && name.eq_ignore_ascii_case("href") {
                href = Some(entities::decode(value));
            } else if rel.is_none() && name.eq_ignore_ascii_case("rel") {
                rel = Some(entities::decode(value));
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
        true
    }

    fn close_link(&mut self) {
        if let Some((index, start)) = self.open_link.take() {
            let anchor = prefix(self.text.as_str()[start..].trim(), MAX_ANCHOR_BYTES);
            self.links[index].anchor = anchor.replace('\n', " ");
        }
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

    fn finish(mut self) -> PageText {
        self.markup(self.html.len());
        self.close_link();
        let (text, truncated) = self.text.finish();
        PageText {
            title: self.title.map(|title| title.finish().0).unwrap_or_default(),
            text,
            links: self.links,
            base: self.base,
            canonical: self.canonical,
            robots: self.robots,
            truncated: truncated || self.links_truncated,
            ..PageText::empty(ContentKind::Html)
        }
    }
}

/// A tag's name in lower case, cut after ten bytes: none that matters here is longer.
struct TagName {
    bytes: [u8; 10],
    length: usize,
}

impl TagName {
    fn new(name: &[u8]) -> Self {
        let mut bytes = [0; 10];
        let length = name.len().min(bytes.len());
        bytes[..length].copy_from_slice(&name[..length]);
        bytes.make_ascii_lowercase();
        Self { bytes, length }
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// How a tag separates the texts on its two sides.
fn gap_of(name: &[u8]) -> Gap {
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

/// How long a comment is, from its `!` to past its `>`; `None` when it does not end.
fn comment_length(bytes: &[u8]) -> Option<usize> {
    if bytes.starts_with(b"!-->") || bytes.starts_with(b"!--->") {
        return memchr::memchr(b'>', bytes).map(|at| at + 1);
    }
    memchr::memchr_iter(b'>', bytes)
        .find(|&at| bytes[..at].ends_with(b"--") || bytes[..at].ends_with(b"--!"))
        .map(|at| at + 1)
}

/// How long a tag is behind its name, past its `>`. A `>` in a quoted value is not the end.
pub(crate) fn tag_length(bytes: &[u8]) -> Option<usize> {
    if bytes.starts_with(b">") {
        return Some(1);
    }
    let mut at = 0;
    loop {
        at += memchr::memchr3(b'>', b'"', b'\'', &bytes[at..])?;
        let quote = bytes[at];
        if quote == b'>' {
            return Some(at + 1);
        }
        // A quote opens a value only behind `=`; elsewhere it is a letter of a name.
        let opens = bytes[..at].trim_ascii_end().ends_with(b"=");
        at += 1;
        if opens {
            at += memchr::memchr(quote, &bytes[at..])? + 1;
        }
    }
}

/// The value of an attribute, character references decoded. The first of two counts.
pub(crate) fn attribute(attributes: &str, name: &str) -> Option<String> {
    attributes_of(attributes)
        .find(|(attribute, _)| attribute.eq_ignore_ascii_case(name))
        .map(|(_, value)| entities::decode(value).into_owned())
}

fn attribute_has_word(attributes: &str, name: &str, word: &str) -> bool {
    attribute(attributes, name)
        .is_some_and(|value| value.split_whitespace().any(|other| other.eq_ignore_ascii_case(word)))
}

/// The attributes in what stands between a tag's name and past its `>`.
fn attributes_of(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let text = text.strip_suffix('>').unwrap_or(text);
    let bytes = text.as_bytes();
    let skip = move |at: usize, what: fn(u8) -> bool| {
        bytes[at..].iter().position(|&byte| !what(byte)).map_or(bytes.len(), |length| at + length)
    };
    let mut at = 0;
    std::iter::from_fn(move || {
        // All places below are next to ASCII bytes or at the ends, so they lie between characters.
        let name_start = skip(at, |byte| byte.is_ascii_whitespace() || byte == b'/');
        if name_start == bytes.len() {
            return None;
        }
        // A name may begin with `=`, but not contain it.
        let first = usize::from(bytes[name_start] == b'=');
        let name_end = skip(name_start + first, |byte| !byte.is_ascii_whitespace() && byte != b'=' && byte != b'/');
        let name = &text[name_start..name_end];
        let equals = skip(name_end, |byte| byte.is_ascii_whitespace());
        if bytes.get(equals) != Some(&b'=') {
            at = name_end;
            return Some((name, ""));
        }
        let value_start = skip(equals + 1, |byte| byte.is_ascii_whitespace());
        let value = match bytes.get(value_start) {
            Some(quote @ (b'"' | b'\'')) => {
                let inside = &text[value_start + 1..];
                let length = memchr::memchr(*quote, inside.as_bytes()).unwrap_or(inside.len());
                at = (value_start + length + 2).min(bytes.len());
                &inside[..length]
            }
            _ => {
                at = skip(value_start, |byte| !byte.is_ascii_whitespace());
                &text[value_start..at]
            }
        };
        Some((name, value))
    })
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
        check("<svg><title>picture</title><![CDATA[x<y]]></svg>", "picture\nx<y");
        check("<head><title>no</title></head>yes", "yes");
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
