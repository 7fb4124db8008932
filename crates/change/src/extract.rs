//! A body of any kind to text and links.

use crate::body::Body;
use crate::charset::{Decoded, is_wide};
use crate::links::Links;
use crate::{html, plain, xml};
use serde::Serialize;

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

/// How a body is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentKind {
    /// Markup whose visible text counts.
    Html,
    /// Feeds, sitemaps and other XML: the text of all elements counts.
    Xml,
    /// JSON: all of it counts, whitespace folded.
    Json,
    /// Text of any other kind.
    Text,
    /// Not text: it has a digest and nothing else.
    #[default]
    Opaque,
}

impl ContentKind {
    /// By the `Content-Type` header, or by the look of the body when there is none.
    pub fn of(content_type: Option<&str>, body: &[u8]) -> Self {
        let essence =
            content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match essence.as_str() {
            "text/html" | "application/xhtml+xml" => Self::Html,
            "text/xml" | "application/xml" => Self::Xml,
            "application/json" | "text/json" | "application/x-ndjson" => Self::Json,
            "" | "*/*" | "unknown/unknown" | "application/unknown" => Self::by_look(body),
            // Not `image/svg+xml`: a picture, whatever it is written in.
            other if other.starts_with("application/") && other.ends_with("+xml") => Self::Xml,
            other if other.ends_with("+json") => Self::Json,
            "application/javascript" | "application/x-javascript" | "application/yaml" | "application/toml" => {
                Self::Text
            }
            other if other.starts_with("text/") => Self::Text,
            _ => Self::Opaque,
        }
    }

    fn by_look(body: &[u8]) -> Self {
        let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
        let mut start = body[..body.len().min(1024)].to_vec();
        if is_wide(body) {
            start.retain(|byte| !matches!(byte, 0 | 0xfe | 0xff));
        }
        let start = start.trim_ascii_start();
        match start {
            _ if memchr::memchr(0, start).is_some() => Self::Opaque,
            [b'<', b'?', b'x', b'm', b'l', ..] if !is_xhtml(start) => Self::Xml,
            [b'<', ..] => Self::Html,
            [b'{' | b'[', ..] => Self::Json,
            _ if start.starts_with(b"%PDF-") => Self::Opaque,
            _ => Self::Text,
        }
    }
}

/// Whether a document that begins as XML is a page all the same.
fn is_xhtml(start: &[u8]) -> bool {
    let names_html = |at: usize| start[at + 1..].get(..4).is_some_and(|name| name.eq_ignore_ascii_case(b"html"));
    memchr::memchr_iter(b'<', start).any(names_html) || memchr::memmem::find(start, b"DOCTYPE html").is_some()
}

/// Reads a body, given its `Content-Type` header. Never fails: what cannot be understood has little text or none.
pub fn extract(content_type: Option<&str>, body: &[u8]) -> PageText {
    Body::new(body, content_type, None).text()
}

impl PageText {
    /// Of a text of this kind.
    pub(crate) fn of(kind: ContentKind, decoded: &Decoded<'_>) -> Self {
        let page = match kind {
            ContentKind::Html => html::extract(&decoded.text),
            ContentKind::Xml => xml::extract(&decoded.text),
            ContentKind::Json | ContentKind::Text | ContentKind::Opaque => plain::lines(kind, &decoded.text),
        };
        Self { charset: Some(decoded.charset), ..page }
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_header_says_what_a_body_is_and_its_look_does_when_there_is_none() {
        let check = |header, body: &str, kind| assert_eq!(ContentKind::of(header, body.as_bytes()), kind, "{header:?}");
        check(Some("Text/HTML; charset=utf-8"), "", ContentKind::Html);
        check(Some("application/rss+xml"), "", ContentKind::Xml);
        check(Some("application/ld+json"), "", ContentKind::Json);
        check(Some("text/markdown"), "<html>", ContentKind::Text);
        check(Some("image/svg+xml"), "<svg>", ContentKind::Opaque);
        check(Some("application/pdf"), "", ContentKind::Opaque);
        check(None, " \n<!doctype html>", ContentKind::Html);
        check(None, "<?xml version='1.0'?>", ContentKind::Xml);
        check(None, "<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0'>", ContentKind::Html);
        check(None, "{\"a\": 1}", ContentKind::Json);
        check(None, "a\0b", ContentKind::Opaque);
        check(None, "<\0p\0>\0x\0", ContentKind::Html);
        check(None, "hello", ContentKind::Text);
    }

    #[test]
    fn text_and_json_keep_their_lines_and_lose_their_indentation() {
        assert_eq!(extract(Some("text/plain"), b"  a   b\r\n\r\n c ").text, "a b\nc");
        assert_eq!(extract(Some("application/json"), b"{\n  \"a\": 1\n}").text, "{\n\"a\": 1\n}");
        let opaque = extract(Some("image/png"), b"\x89PNG");
        assert_eq!((opaque.text.as_str(), opaque.charset), ("", None));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_page(
            body in proptest::collection::vec(any::<u8>(), 0..400),
            kind in proptest::sample::select(vec!["text/html", "application/xml", "application/json", "text/plain", "x/y", ""])
        ) {
            let _ = extract(Some(kind), &body);
        }
    }
}
