//! Determines the kind of a body from its header, or else from its first bytes.

use crate::charset::is_wide;
use serde::Serialize;

/// How a body is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentKind {
    /// HTML: the visible text counts.
    Html,
    /// Feeds, sitemaps and other XML: the text of all elements counts.
    Xml,
    /// JSON: everything counts, whitespace folded.
    Json,
    /// Any other text.
    Text,
    /// Not text: only its digest counts.
    #[default]
    Opaque,
}

impl ContentKind {
    /// The kind by the `Content-Type` header, or by the first bytes of the body if there is no header.
    pub fn of(content_type: Option<&str>, body: &[u8]) -> Self {
        match essence(content_type).as_str() {
            "text/html" | "application/xhtml+xml" => Self::Html,
            "text/xml" | "application/xml" => Self::Xml,
            "application/json" | "text/json" | "application/x-ndjson" => Self::Json,
            "" | "*/*" | "unknown/unknown" | "application/unknown" => Self::by_look(body),
            // Except `image/svg+xml`: a picture, although written in XML.
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
            _ if start.starts_with(PDF_MAGIC) => Self::Opaque,
            _ => Self::Text,
        }
    }
}

/// How PDF files begin.
pub(crate) const PDF_MAGIC: &[u8] = b"%PDF-";

/// The media type of a `Content-Type` header in lower case, without parameters. Empty without a header.
pub(crate) fn essence(content_type: Option<&str>) -> String {
    content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether a document that begins as XML is an HTML page.
fn is_xhtml(start: &[u8]) -> bool {
    let names_html = |at: usize| start[at + 1..].get(..4).is_some_and(|name| name.eq_ignore_ascii_case(b"html"));
    memchr::memchr_iter(b'<', start).any(names_html) || memchr::memmem::find(start, b"DOCTYPE html").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
