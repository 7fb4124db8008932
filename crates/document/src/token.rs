//! What a page of HTML is made of: text, start tags and end tags, as slices of it.

use crate::tag_name::TagName;
use std::ops::Range;
use wide_bytes::Wide;

/// A piece of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// Text as written.
    Text(&'a str, TextKind),
    /// A start tag.
    Start(Tag<'a>),
    /// An end tag.
    End(TagName),
}

/// What a text is, by the tag before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// Text with character references.
    Data,
    /// `<title>` and `<textarea>`: text with character references and without tags.
    RcData,
    /// `<style>`, `<iframe>`, `<noscript>` and their like: nothing to see.
    Raw,
    /// A script: nothing to see.
    Script,
    /// Behind `<plaintext>`, or CDATA within SVG or MathML: text without character references.
    Verbatim,
}

/// A start tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag<'a> {
    /// Its name, in lower case.
    pub name: TagName,
    pub(crate) html: &'a str,
    /// Where its name ends, and where its `>` is.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl<'a> Tag<'a> {
    /// What stands between the name and the `>`, for [`crate::attributes`].
    #[inline]
    pub fn attributes(&self) -> &'a str {
        &self.html[self.attributes_place()]
    }

    /// Where in the page that stands.
    #[inline(always)]
    pub fn attributes_place(&self) -> Range<usize> {
        self.start..self.end
    }

    /// Whether it ends in `/>`.
    pub fn is_self_closing(&self) -> bool {
        self.attributes().ends_with('/')
    }
}

/// Who takes the tokens of a page in. Its functions should be inlined.
pub trait TakeTokens<'a> {
    /// The text between two places of the page.
    fn text(&mut self, wide: impl Wide, place: Range<usize>, kind: TextKind);
    /// Takes a start tag.
    fn start(&mut self, wide: impl Wide, tag: Tag<'a>);
    /// Takes an end tag.
    fn end(&mut self, name: TagName);
}

/// Two readers of one page, told the same.
impl<'a, A: TakeTokens<'a>, B: TakeTokens<'a>> TakeTokens<'a> for (A, B) {
    #[inline(always)]
    fn text(&mut self, wide: impl Wide, place: Range<usize>, kind: TextKind) {
        self.0.text(wide, place.clone(), kind);
        self.1.text(wide, place, kind);
    }

    #[inline(always)]
    fn start(&mut self, wide: impl Wide, tag: Tag<'a>) {
        self.0.start(wide, tag);
        self.1.start(wide, tag);
    }

    #[inline(always)]
    fn end(&mut self, name: TagName) {
        self.0.end(name);
        self.1.end(name);
    }
}
