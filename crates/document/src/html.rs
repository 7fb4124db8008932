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
    MAX_ANCHOR_BYTES, MAX_FEEDS, MAX_LINKS, MAX_REL_BYTES, MAX_TEXT_BYTES, MAX_TITLE_BYTES, PageText, link_target,
};
use crate::refresh::refresh_target;
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
    links_truncated: bool,
    /// Whether the head has ended: at the first text or element that cannot be in it.
    is_past_head: bool,
    /// Whether the next raw text is shown in place of scripts or frames, neither of which is run or shown here.
    is_fallback: bool,
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
            TextKind::Data => {
                if !self.is_past_head {
                    self.is_past_head = self.html[place.clone()].bytes().any(|byte| !byte.is_ascii_whitespace());
                }
                self.push(wide, place, References::Decoded);
            }
            TextKind::RcData => self.push(wide, place, References::Decoded),
            TextKind::Verbatim => self.push(wide, place, References::Kept),
            TextKind::Raw if self.is_fallback => self.fallback(place),
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
        self.is_past_head |= !IS_OF_HEAD.of(tag.name);
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
        self.is_fallback = false;
        match tag.name.as_bytes() {
            b"noscript" | b"noframes" => self.is_fallback = true,
            b"frame" | b"iframe" => self.frame(tag.attributes()),
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
        if self.canonical.is_none() && !self.is_past_head && has("canonical") {
            self.canonical = target();
        } else if self.feeds.len() < MAX_FEEDS && is_feed(&media_type) && has("alternate") {
            self.feeds.extend(target());
        }
    }

    /// Reads a link. Returns false if it leads nowhere or the page has too many.
    fn link(&mut self, attributes: &str) -> bool {
        let [href, rel] = values_of(attributes, ["href", "rel"]);
        let Some(href) = href else { return false };
        let rel = rel.map(entities::decode_attribute).unwrap_or_default();
        self.add_link(&entities::decode_attribute(href), &rel)
    }

    fn add_link(&mut self, href: &str, rel: &str) -> bool {
        let Some(href) = link_target(href) else { return false };
        if self.links.len() == MAX_LINKS {
            self.links_truncated = true;
            return false;
        }
        self.links.push(href, prefix(rel, MAX_REL_BYTES));
        self.anchors.push(self.text.len()..self.text.len());
        true
    }

    /// Reads what leads on without a click: a frame or a refresh. It is no part of an open link.
    fn lead_on(&mut self, target: &str, rel: &str) {
        self.close_link();
        self.add_link(target, rel);
    }

    fn frame(&mut self, attributes: &str) {
        if let Some(source) = attribute(attributes, "src") {
            self.lead_on(&source, "");
        }
    }

    /// Reads the links of the text for readers without scripts or frames. The text itself is not visible to others.
    fn fallback(&mut self, place: Range<usize>) {
        self.is_fallback = false;
        let html = &self.html[place];
        let mut inner = HtmlReader { html, is_past_head: true, ..HtmlReader::default() };
        hand_tokens(html, &mut Inner(&mut inner));
        for link in inner.links.iter() {
            self.lead_on(link.href, link.rel);
        }
        self.links_truncated |= inner.links_truncated;
    }

    fn close_link(&mut self) {
        if let (true, Some(anchor)) = (self.link_is_open, self.anchors.last_mut()) {
            anchor.end = self.text.len();
        }
        self.link_is_open = false;
    }

    fn meta(&mut self, attributes: &str) {
        let values = values_of(attributes, ["http-equiv", "content"]);
        let [header, content] = values.map(|value| entities::decode_attribute(value.unwrap_or_default()));
        if header.trim().eq_ignore_ascii_case("refresh") {
            refresh_target(&content).into_iter().for_each(|target| self.lead_on(target, ""));
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
static IS_OF_HEAD: PerName<bool> = per_name!(is_of_head);

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
    match name {
        b"a" | b"area" | b"base" | b"frame" | b"iframe" | b"link" | b"meta" | b"noframes" | b"noscript" => true,
        // Text in these is raw, too, and is no fallback.
        b"noembed" | b"style" | b"xmp" => true,
        _ => matches!(name, b"template" | b"textarea" | b"title"),
    }
}

/// Whether an element leaves the head open (HTML standard, "in head" and "after head").
const fn is_of_head(name: &[u8]) -> bool {
    match name {
        b"html" | b"head" | b"base" | b"link" | b"meta" | b"title" | b"style" | b"script" => true,
        _ => matches!(name, b"template" | b"noscript" | b"noframes"),
    }
}

/// Hands the tokens of a fallback on. What is raw in it has no links: there is one level of fallbacks.
struct Inner<'r, 'a>(&'r mut HtmlReader<'a>);

impl<'a> TakeTokens<'a> for Inner<'_, 'a> {
    fn text(&mut self, _: impl Wide, _: Range<usize>, _: TextKind) {}

    fn start(&mut self, wide: impl Wide, tag: StartTag<'a>) {
        self.0.start(wide, tag);
    }

    fn end(&mut self, name: TagName) {
        self.0.end(name);
    }
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
mod tests;
