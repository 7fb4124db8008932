//! The tokens of an HTML page: text, start tags and end tags, as slices of it.

use crate::attributes::attribute;
use crate::tag_name::TagName;
use std::ops::Range;
use wide_bytes::Wide;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// Text as written.
    Text(&'a str, TextKind),
    Start(StartTag<'a>),
    End(TagName),
}

/// The kind of a text, by the tag before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// Text with character references.
    Data,
    /// `<title>` and `<textarea>`: text with character references and without tags.
    RcData,
    /// Content of `<style>`, `<iframe>`, `<noscript>` and similar elements: not visible.
    Raw,
    /// A script: not visible.
    Script,
    /// Text after `<plaintext>`, or CDATA within SVG or MathML: without character references.
    Verbatim,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartTag<'a> {
    /// The name in lower case.
    pub name: TagName,
    pub(crate) html: &'a str,
    /// The end of the name, and the position of the `>`.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl<'a> StartTag<'a> {
    /// The text between the name and the `>`, for [`crate::attributes`].
    #[inline]
    pub fn attributes(&self) -> &'a str {
        &self.html[self.attributes_place()]
    }

    /// The range of [`attributes`](Self::attributes) in the page.
    #[inline(always)]
    pub fn attributes_place(&self) -> Range<usize> {
        self.start..self.end
    }

    /// The name as written, in any case. Unlike [`name`](Self::name), it is there for names that no reader knows.
    pub fn written_name(&self) -> &'a str {
        let before = &self.html[..self.start];
        before.rfind('<').map_or("", |open| &before[open + 1..])
    }

    /// Whether the content of a `<script>` is JSON-LD.
    pub fn is_json_ld(&self) -> bool {
        attribute(self.attributes(), "type").is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/ld+json"))
    }

    /// Whether the tag ends in `/>`.
    pub fn is_self_closing(&self) -> bool {
        self.attributes().ends_with('/')
    }
}

/// A consumer of the tokens of a page. Implementations should be inlined.
pub trait TakeTokens<'a> {
    /// Receives a text, as its range in the page.
    fn text(&mut self, wide: impl Wide, place: Range<usize>, kind: TextKind);
    fn start(&mut self, wide: impl Wide, tag: StartTag<'a>);
    fn end(&mut self, name: TagName);
}

/// Two consumers that receive the same tokens.
impl<'a, A: TakeTokens<'a>, B: TakeTokens<'a>> TakeTokens<'a> for (A, B) {
    #[inline(always)]
    fn text(&mut self, wide: impl Wide, place: Range<usize>, kind: TextKind) {
        self.0.text(wide, place.clone(), kind);
        self.1.text(wide, place, kind);
    }

    #[inline(always)]
    fn start(&mut self, wide: impl Wide, tag: StartTag<'a>) {
        self.0.start(wide, tag);
        self.1.start(wide, tag);
    }

    #[inline(always)]
    fn end(&mut self, name: TagName) {
        self.0.end(name);
        self.1.end(name);
    }
}
