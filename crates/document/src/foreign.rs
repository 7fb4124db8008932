//! SVG and MathML within HTML. There CDATA is text, and `<title>` or `<style>` is an ordinary tag.

use crate::tag_name::{PerName, TagName, per_name};
use crate::token::StartTag;

/// SVG and HTML nested in one another beyond this depth are read as HTML.
const DEEPEST: usize = 64;

/// Tracks whether a position is in SVG or MathML, in the simplest form that gets real pages right: only the elements
/// that switch between the languages, without a tree.
#[derive(Debug, Default)]
pub(crate) struct ForeignContent {
    /// The open elements that switch: SVG or MathML roots at even indices, HTML inside them at odd ones.
    open: Vec<TagName>,
    /// The open element of a picture whose text is not shown, such as its title, style or script.
    hidden: Option<TagName>,
}

impl ForeignContent {
    /// Whether no SVG or MathML is open, not even around HTML.
    #[inline]
    pub(crate) fn is_outside(&self) -> bool {
        self.open.is_empty()
    }

    /// Whether the content here is SVG or MathML.
    #[inline]
    pub(crate) fn is_inside(&self) -> bool {
        self.open.len() % 2 == 1
    }

    /// Whether the text here is hidden.
    #[inline]
    pub(crate) fn hides(&self) -> bool {
        self.hidden.is_some()
    }

    /// Records a start tag. Returns whether its element is SVG or MathML.
    #[inline]
    pub(crate) fn start(&mut self, tag: &StartTag<'_>) -> bool {
        // Fast path for nearly every tag.
        if self.open.is_empty() && !IS_ROOT.of(tag.name) {
            return false;
        }
        self.start_switching(tag)
    }

    fn start_switching(&mut self, tag: &StartTag<'_>) -> bool {
        let name = tag.name.as_bytes();
        let was_inside = self.is_inside();
        if self.is_inside() && self.hidden.is_none() && is_hidden(name) && !tag.is_self_closing() {
            self.hidden = Some(tag.name);
        }
        if !self.is_inside() {
            if is_root(name) && !tag.is_self_closing() && self.open.len() < DEEPEST {
                self.open.push(tag.name);
            }
        } else if breaks_out(name) {
            *self = Self::default();
        } else if is_html_within(name) && !tag.is_self_closing() {
            self.open.push(tag.name);
        }
        was_inside && !self.open.is_empty()
    }

    #[inline]
    pub(crate) fn end(&mut self, name: TagName) {
        if !self.open.is_empty() {
            self.end_switching(name);
        }
    }

    fn end_switching(&mut self, name: TagName) {
        if self.hidden == Some(name) || matches!(name.as_bytes(), b"svg" | b"math") {
            self.hidden = None;
        }
        if let Some(place) = self.open.iter().rposition(|&open| open == name) {
            self.open.truncate(place);
        } else if self.is_inside() && matches!(name.as_bytes(), b"p" | b"br") {
            *self = Self::default();
        }
    }
}

static IS_ROOT: PerName<bool> = per_name!(is_root);

const fn is_root(name: &[u8]) -> bool {
    matches!(name, b"svg" | b"math")
}

/// HTML and MathML text integration points (HTML standard, section 13.2.6).
pub(crate) fn is_html_within(name: &[u8]) -> bool {
    matches!(name, b"foreignobject" | b"desc" | b"title" | b"mi" | b"mo" | b"mn" | b"ms" | b"mtext" | b"annotation-xml")
}

fn is_hidden(name: &[u8]) -> bool {
    matches!(name, b"title" | b"desc" | b"metadata" | b"style" | b"script")
}

/// Start tags that close all SVG and MathML (section 13.2.6.5).
pub(crate) fn breaks_out(name: &[u8]) -> bool {
    matches!(
        name,
        b"b" | b"big"
            | b"blockquote"
            | b"body"
            | b"br"
            | b"center"
            | b"code"
            | b"dd"
            | b"div"
            | b"dl"
            | b"dt"
            | b"em"
            | b"embed"
            | b"h1"
            | b"h2"
            | b"h3"
            | b"h4"
            | b"h5"
            | b"h6"
            | b"head"
            | b"hr"
            | b"i"
            | b"img"
            | b"li"
            | b"listing"
            | b"menu"
            | b"meta"
            | b"nobr"
            | b"ol"
            | b"p"
            | b"pre"
            | b"ruby"
            | b"s"
            | b"small"
            | b"span"
            | b"strong"
            | b"strike"
            | b"sub"
            | b"sup"
            | b"table"
            | b"tt"
            | b"u"
            | b"ul"
            | b"var"
    )
}
