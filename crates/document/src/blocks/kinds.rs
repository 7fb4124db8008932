//! The role of each HTML element for the blocks of a page.

use crate::hash::text_hash;
use crate::tag_name::{PerName, TagName, per_name};

/// The effect of a start tag.
#[derive(Clone, Copy, Debug)]
pub(super) enum TagEffect {
    Block,
    Link,
    /// `<br>`, `<hr>`.
    Break,
    /// `<base>`, `<link>`, `<meta>`.
    Head,
    Image,
    /// `<input>`: its value is shown.
    Input,
    /// A block whose attributes say how a form works: buttons, choices, the form itself.
    Control,
    /// `<meter>`, `<progress>`, `<time>`, `<textarea>`: their content is in their attributes, or is not markup.
    Field,
    /// Embedded content: films, frames, maps of links.
    Media,
    /// Struck through: still written there, and no longer true.
    Struck,
    /// `<title>` and `<script>`: may say something about the page as a whole.
    Fact,
    /// An element whose text is not visible or not part of the page.
    Dropped,
    /// An element whose content is not markup; none of it is text of the page.
    Raw,
    /// An element without content.
    Void,
    Inline,
}

impl TagEffect {
    /// Whether elements of this kind begin a block.
    #[inline]
    pub(super) fn is_block(self) -> bool {
        matches!(self, Self::Block | Self::Control)
    }

    /// Whether the attributes of such an element may hide what is in it.
    #[inline]
    pub(super) fn may_hide(self) -> bool {
        matches!(self, Self::Inline | Self::Field | Self::Media | Self::Struck) || self.is_block()
    }
}

pub(super) const OBJECT: TagName = TagName::named(b"object");
pub(super) const P: TagName = TagName::named(b"p");
pub(super) const TD: TagName = TagName::named(b"td");
pub(super) const SUMMARY: TagName = TagName::named(b"summary");

/// The elements that a start tag closes implicitly, and those that the search for them stops at.
#[derive(Clone, Copy)]
pub(super) struct Implied {
    pub(super) ends: &'static [TagName],
    pub(super) up_to: &'static [TagName],
}

pub(super) static IMPLIED: PerName<Option<Implied>> = per_name!(implied);

const fn implied(name: &[u8]) -> Option<Implied> {
    const LI: TagName = TagName::named(b"li");
    const DT: TagName = TagName::named(b"dt");
    const DD: TagName = TagName::named(b"dd");
    const DL: TagName = TagName::named(b"dl");
    const TH: TagName = TagName::named(b"th");
    const TR: TagName = TagName::named(b"tr");
    const TABLE: TagName = TagName::named(b"table");
    const OPTION: TagName = TagName::named(b"option");
    const SELECT: TagName = TagName::named(b"select");
    const PARTS: &[TagName] = &[TagName::named(b"thead"), TagName::named(b"tbody"), TagName::named(b"tfoot")];
    const LISTS: &[TagName] = &[TagName::named(b"ul"), TagName::named(b"ol"), TagName::named(b"menu")];
    let (ends, up_to): (&[TagName], &[TagName]) = match name {
        b"li" => (&[LI], LISTS),
        b"dt" | b"dd" => (&[DT, DD], &[DL]),
        b"td" | b"th" => (&[TD, TH], &[TR, TABLE]),
        b"tr" => (&[TR], &[TABLE]),
        b"thead" | b"tbody" | b"tfoot" => (PARTS, &[TABLE]),
        b"option" => (&[OPTION], &[SELECT]),
        _ => return None,
    };
    Some(Implied { ends, up_to })
}

pub(super) static KINDS: PerName<TagEffect> = per_name!(kind_of);
pub(super) static IS_PARAGRAPH: PerName<bool> = per_name!(is_paragraph);
pub(super) static NAME_HASHES: PerName<u64> = per_name!(text_hash);

const fn kind_of(name: &[u8]) -> TagEffect {
    match name {
        b"div" | b"p" | b"li" | b"td" | b"th" | b"tr" | b"ul" | b"ol" | b"h1" | b"h2" | b"h3" | b"h4" | b"h5"
        | b"h6" | b"section" | b"article" | b"main" | b"nav" | b"footer" | b"header" | b"aside" | b"dl" | b"dt"
        | b"dd" | b"table" | b"tbody" | b"thead" | b"tfoot" | b"blockquote" | b"pre" | b"figure" | b"figcaption"
        | b"details" | b"summary" | b"address" | b"body" | b"label" | b"dialog" | b"menu" | b"optgroup" => {
            TagEffect::Block
        }
        b"button" | b"option" | b"select" | b"fieldset" | b"form" => TagEffect::Control,
        b"meter" | b"progress" | b"time" | b"textarea" => TagEffect::Field,
        b"video" | b"audio" | b"source" | b"iframe" | b"embed" | b"area" => TagEffect::Media,
        b"s" | b"strike" | b"del" => TagEffect::Struck,
        b"a" => TagEffect::Link,
        b"br" | b"hr" => TagEffect::Break,
        b"base" | b"link" | b"meta" => TagEffect::Head,
        b"img" => TagEffect::Image,
        b"input" => TagEffect::Input,
        b"title" | b"script" => TagEffect::Fact,
        b"template" | b"object" | b"canvas" | b"datalist" => TagEffect::Dropped,
        b"style" | b"noscript" | b"noframes" | b"noembed" | b"xmp" => TagEffect::Raw,
        b"col" | b"track" | b"wbr" | b"param" | b"path" | b"use" | b"rect" | b"circle" | b"line" | b"polygon" => {
            TagEffect::Void
        }
        _ => TagEffect::Inline,
    }
}

const fn is_paragraph(name: &[u8]) -> bool {
    matches!(name, b"p" | b"li" | b"td" | b"th" | b"tr")
}
