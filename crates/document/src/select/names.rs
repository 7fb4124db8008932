//! Rules of the HTML standard for elements by their names, as far as these decide where the elements end (section 13.2.6).

use crate::tag_name::TagName;

/// Blocks whose start tag ends an open paragraph, and whose end tag ends everything inside of them.
fn is_block(name: TagName) -> bool {
    matches!(
        name.as_bytes(),
        b"address"
            | b"article"
            | b"aside"
            | b"blockquote"
            | b"center"
            | b"dd"
            | b"details"
            | b"dialog"
            | b"dir"
            | b"div"
            | b"dl"
            | b"dt"
            | b"fieldset"
            | b"figcaption"
            | b"figure"
            | b"footer"
            | b"header"
            | b"hgroup"
            | b"li"
            | b"listing"
            | b"main"
            | b"menu"
            | b"nav"
            | b"ol"
            | b"pre"
            | b"section"
            | b"summary"
            | b"ul"
    )
}

/// Start tags that end an open paragraph.
pub(super) fn ends_paragraph(name: TagName) -> bool {
    is_block(name)
        || is_heading(name)
        || matches!(name.as_bytes(), b"form" | b"hr" | b"p" | b"plaintext" | b"table" | b"xmp")
}

pub(super) fn is_heading(name: TagName) -> bool {
    matches!(name.as_bytes(), b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6")
}

/// Elements that begin anew in the next block if a block ended them.
pub(super) fn is_formatting(name: TagName) -> bool {
    matches!(
        name.as_bytes(),
        b"a" | b"b"
            | b"big"
            | b"code"
            | b"em"
            | b"font"
            | b"i"
            | b"nobr"
            | b"s"
            | b"small"
            | b"strike"
            | b"strong"
            | b"tt"
            | b"u"
    )
}

/// Elements that no formatting reaches into.
pub(super) fn is_marker(name: TagName) -> bool {
    matches!(name.as_bytes(), b"td" | b"th" | b"caption" | b"object" | b"template")
}

/// Elements that an end tag of another name within them does not end.
pub(super) fn is_special(name: TagName) -> bool {
    (ends_paragraph(name) && name.as_bytes() != b"dialog")
        || is_table_part(name)
        || matches!(
            name.as_bytes(),
            b"body"
                | b"button"
                | b"frameset"
                | b"head"
                | b"html"
                | b"iframe"
                | b"noembed"
                | b"noframes"
                | b"noscript"
                | b"object"
                | b"script"
                | b"select"
                | b"style"
                | b"template"
                | b"textarea"
                | b"title"
        )
}

pub(super) fn is_table_part(name: TagName) -> bool {
    matches!(
        name.as_bytes(),
        b"caption" | b"col" | b"colgroup" | b"tbody" | b"td" | b"tfoot" | b"th" | b"thead" | b"tr"
    )
}

/// The elements of a table that hold no content of their own.
pub(super) fn is_table_frame(name: TagName) -> bool {
    matches!(name.as_bytes(), b"table" | b"tbody" | b"tfoot" | b"thead" | b"tr")
}

/// Start tags that belong to the head as long as the body has not begun.
pub(super) fn is_of_head(name: TagName) -> bool {
    matches!(
        name.as_bytes(),
        b"base" | b"link" | b"meta" | b"noframes" | b"noscript" | b"script" | b"style" | b"template" | b"title"
    )
}

/// Start tags inside which the formatting that a block ended begins anew: they are part of a line.
pub(super) fn is_part_of_line(name: TagName) -> bool {
    !ends_paragraph(name)
        && !is_table_part(name)
        && !is_of_head(name)
        && !matches!(
            name.as_bytes(),
            b"iframe" | b"noembed" | b"param" | b"rb" | b"rp" | b"rt" | b"source" | b"textarea" | b"track"
        )
}

/// End tags that end everything up to the element of their name, if that is in scope.
pub(super) fn ends_in_scope(name: TagName) -> bool {
    is_block(name) || matches!(name.as_bytes(), b"button" | b"object")
}

/// How far the search for an open element goes.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Scope {
    Default,
    /// Not out of a list.
    Item,
    /// Not out of a button.
    Button,
    /// Out of anything but a table.
    Table,
}

impl Scope {
    /// Whether the search ends at an HTML element of this name.
    pub(super) fn ends_at(self, name: TagName) -> bool {
        match name.as_bytes() {
            b"html" | b"table" | b"template" => true,
            b"caption" | b"object" | b"td" | b"th" => self != Self::Table,
            b"ol" | b"ul" => self == Self::Item,
            b"button" => self == Self::Button,
            _ => false,
        }
    }
}
