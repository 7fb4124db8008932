//! Text and links of a body, of whatever kind it is.

use crate::content_kind::ContentKind;
use crate::links::Links;

/// The most visible text kept of a page, in bytes.
pub const MAX_TEXT_BYTES: usize = 2 << 20;
/// The most links kept of a page.
pub const MAX_LINKS: usize = 10_000;
/// The most feeds kept of a page.
pub const MAX_FEEDS: usize = 8;
pub(crate) const MAX_HREF_BYTES: usize = 4096;
pub(crate) const MAX_ANCHOR_BYTES: usize = 256;
pub(crate) const MAX_REL_BYTES: usize = 256;
pub(crate) const MAX_TITLE_BYTES: usize = 1024;

/// What a page says, and where it points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageText {
    /// How the body was read.
    pub kind: ContentKind,
    /// The WHATWG name of the character encoding; `None` for a body that is not text.
    pub charset: Option<&'static str>,
    /// The title, on one line; empty when there is none.
    pub title: String,
    /// What a reader sees: whitespace folded, one line per block.
    pub text: String,
    /// Links in the order in which they stand.
    pub links: Links,
    /// `<base href>`: what links are relative to, itself perhaps relative to the page's address.
    pub base: Option<String>,
    /// `<link rel=canonical>`, as written.
    pub canonical: Option<String>,
    /// Feeds the page names for itself: `<link rel=alternate>` of a feed's type, as written.
    pub feeds: Vec<String>,
    /// `<meta name=robots>`.
    pub robots: MetaRobots,
    /// Whether text or links did not fit ([`MAX_TEXT_BYTES`], [`MAX_LINKS`]).
    pub truncated: bool,
}

/// What a page asks of robots in its head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MetaRobots {
    /// `noindex` or `none`.
    pub noindex: bool,
    /// `nofollow` or `none`.
    pub nofollow: bool,
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
            robots: MetaRobots::default(),
            truncated: false,
        }
    }
}

/// A target as kept, or `None` when it leads nowhere: within the page, to a script, or beyond all length.
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

/// A text without white space at its ends, of which nearly no target has any.
fn trimmed(text: &str) -> &str {
    match text.as_bytes() {
        [b'!'..=b'~', .., b'!'..=b'~'] => text,
        _ => text.trim(),
    }
}
