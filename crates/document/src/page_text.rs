//! The text and links of a body of any kind.

use crate::content_kind::ContentKind;
use crate::links::Links;

/// The most visible text kept per page, in bytes.
pub const MAX_TEXT_BYTES: usize = 2 << 20;
/// The most links kept per page.
pub const MAX_LINKS: usize = 10_000;
/// The most feeds kept per page.
pub const MAX_FEEDS: usize = 8;
pub(crate) const MAX_HREF_BYTES: usize = 4096;
pub(crate) const MAX_ANCHOR_BYTES: usize = 256;
pub(crate) const MAX_REL_BYTES: usize = 256;
pub(crate) const MAX_TITLE_BYTES: usize = 1024;

/// The text, links and declarations of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageText {
    /// How the body was read.
    pub kind: ContentKind,
    /// The WHATWG name of the character encoding; `None` for a body that is not text.
    pub charset: Option<&'static str>,
    /// The title on one line; empty if absent.
    pub title: String,
    /// The visible text: whitespace folded, one line per block.
    pub text: String,
    /// Links in page order.
    pub links: Links,
    /// `<base href>`, the base for relative links. It may itself be relative to the page's address.
    pub base: Option<String>,
    /// `<link rel=canonical>`, as written.
    pub canonical: Option<String>,
    /// Feeds declared by the page, as written: `<link rel=alternate>` with a feed's media type.
    pub feeds: Vec<String>,
    /// Whether text or links were dropped beyond [`MAX_TEXT_BYTES`] or [`MAX_LINKS`].
    pub truncated: bool,
}

impl PageText {
    pub(crate) fn empty(kind: ContentKind) -> Self {
        Self {
            kind,
            charset: None,
            title: String::new(),
            text: String::new(),
            links: Links::default(),
            base: None,
            canonical: None,
            feeds: Vec::new(),
            truncated: false,
        }
    }
}

/// A trimmed link target, or `None` if it leads nowhere: within the page, to a script, or too long.
pub(crate) fn link_target(href: &str) -> Option<&str> {
    let href = trimmed(href);
    let scheme = |name: &str| href.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    let leads_nowhere = match href.as_bytes() {
        [] | [b'#', ..] => true,
        [b'j' | b'J' | b'd' | b'D' | b'a' | b'A', ..] => scheme("javascript:") || scheme("data:") || scheme("about:"),
        _ => false,
    };
    (!leads_nowhere && href.len() <= MAX_HREF_BYTES).then_some(href)
}

/// Trims white space. Nearly no target has any, so that case is tested first.
fn trimmed(text: &str) -> &str {
    match text.as_bytes() {
        [b'!'..=b'~', .., b'!'..=b'~'] => text,
        _ => text.trim(),
    }
}
