//! The formats of bodies, in one table: how each is known, and how it becomes text.
//!
//! A further format is a row: its [`ContentKind`] decides everything after that, blocks, links, main text and topics
//! included. A format that is no text itself, such as an office document, makes HTML of its bytes. One whose readers
//! cannot be bounded, such as PDF, is read in a process of its own.

use crate::charset::{DecodedText, decode, is_wide};
use crate::content_kind::ContentKind;
use crate::office::{decode_office, looks_like_office};

#[derive(Debug)]
pub struct Format {
    /// Media types, of which one may begin or end with a star. The first names the format where no header does.
    media_types: &'static [&'static str],
    /// Whether a body begins like this format.
    looks_like: fn(&[u8]) -> bool,
    /// Whether a body is text in some charset, so that other programs can take it as text.
    pub is_text: bool,
    /// Whether a process of its own reads a body ([`crate::ReadConfined`]), and makes HTML of it.
    pub is_confined: bool,
    /// How its text is read.
    pub kind: ContentKind,
    /// Makes text of a body and its `Content-Type`. `None`: only the digest of the body counts.
    decode: for<'a> fn(&'a [u8], Option<&str>) -> Option<DecodedText<'a>>,
}

/// All formats. The first that fits is that of a body.
const FORMATS: [Format; 8] = [
    Format {
        media_types: &["application/pdf"],
        looks_like: |start| start.starts_with(b"%PDF-"),
        is_text: false,
        is_confined: true,
        kind: ContentKind::Html,
        decode: |_, _| None,
    },
    OFFICE,
    // A picture with words, such as a badge, is read like one in a page.
    Format {
        media_types: &["image/svg+xml"],
        looks_like: |start| start.starts_with(b"<svg"),
        is_text: false,
        is_confined: false,
        kind: ContentKind::Html,
        decode: |body, content_type| in_charset(body, content_type).filter(|decoded| decoded.text.contains("<text")),
    },
    // Before those that are text: no text has such a byte.
    Format { looks_like: |start| memchr::memchr(0, start).is_some(), ..UNKNOWN },
    Format {
        media_types: &["text/xml", "application/xml", "application/*+xml"],
        looks_like: |start| start.starts_with(b"<?xml") && !is_xhtml(start),
        is_text: true,
        is_confined: false,
        kind: ContentKind::Xml,
        decode: in_charset,
    },
    Format {
        media_types: &["text/html", "application/xhtml+xml"],
        looks_like: |start| start.starts_with(b"<"),
        is_text: true,
        is_confined: false,
        kind: ContentKind::Html,
        decode: in_charset,
    },
    Format {
        media_types: &["application/json", "text/json", "application/x-ndjson", "*+json"],
        looks_like: |start| start.starts_with(b"{") || start.starts_with(b"["),
        is_text: true,
        is_confined: false,
        kind: ContentKind::Json,
        decode: in_charset,
    },
    Format {
        media_types: &[
            "text/*",
            "application/javascript",
            "application/x-javascript",
            "application/yaml",
            "application/toml",
        ],
        looks_like: |_| true,
        is_text: true,
        is_confined: false,
        kind: ContentKind::Text,
        decode: in_charset,
    },
];

/// The format of bodies whose media type no other format has, such as pictures.
const UNKNOWN: Format = Format {
    media_types: &[],
    looks_like: |_| false,
    is_text: false,
    is_confined: false,
    kind: ContentKind::Opaque,
    decode: |_, _| None,
};

const OFFICE: Format = Format {
    media_types: &[
        "application/vnd.openxmlformats-officedocument.*",
        "application/vnd.ms-word.document.macroenabled.12",
        "application/vnd.ms-excel.sheet.macroenabled.12",
        "application/vnd.ms-powerpoint.presentation.macroenabled.12",
        "application/vnd.oasis.opendocument.*",
        "application/epub+zip",
    ],
    // Other archives begin with the same bytes.
    looks_like: |_| false,
    is_text: false,
    is_confined: false,
    kind: ContentKind::Html,
    decode: decode_office,
};

/// Media types that say nothing.
const NO_MEDIA_TYPES: [&str; 4] = ["", "*/*", "unknown/unknown", "application/unknown"];
/// Media types that servers also give to office documents, which are known by their files then.
const OFTEN_OFFICE: [&str; 6] = [
    "application/octet-stream",
    "application/zip",
    "application/x-zip-compressed",
    "application/msword",
    "application/vnd.ms-excel",
    "application/vnd.ms-powerpoint",
];
/// Bytes of a body by which it is known.
const START_BYTES: usize = 1024;

impl Format {
    /// The format by the `Content-Type` header, or by the first bytes of the body if the header says nothing.
    pub fn of(content_type: Option<&str>, body: &[u8]) -> &'static Self {
        let media_type = essence(content_type);
        let is_unnamed = NO_MEDIA_TYPES.contains(&media_type.as_str());
        if (is_unnamed || OFTEN_OFFICE.contains(&media_type.as_str())) && looks_like_office(body) {
            return &OFFICE;
        }
        let found = match is_unnamed {
            true => {
                let start = start_of(body);
                FORMATS.iter().find(|format| (format.looks_like)(start.trim_ascii_start()))
            }
            // The exact name first: XHTML is no other XML.
            false => FORMATS.iter().find(|format| format.media_types.contains(&media_type.as_str())).or_else(|| {
                FORMATS.iter().find(|format| format.media_types.iter().any(|pattern| fits(pattern, &media_type)))
            }),
        };
        found.unwrap_or(&UNKNOWN)
    }

    /// The name of the format where a header names none.
    pub(crate) fn name(&self) -> Option<&'static str> {
        self.media_types.first().copied().filter(|name| !name.contains('*'))
    }

    /// The text of a body. `None` if only the digest of the body counts.
    pub fn decode<'a>(&self, body: &'a [u8], content_type: Option<&str>) -> Option<DecodedText<'a>> {
        (self.decode)(body, content_type)
    }
}

/// The media type of a `Content-Type` header in lower case, without parameters. Empty without a header.
pub(crate) fn essence(content_type: Option<&str>) -> String {
    content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn in_charset<'a>(body: &'a [u8], content_type: Option<&str>) -> Option<DecodedText<'a>> {
    Some(decode(body, content_type))
}

/// Whether a media type fits a name with a star.
fn fits(pattern: &str, media_type: &str) -> bool {
    pattern
        .split_once('*')
        .is_some_and(|(start, end)| media_type.strip_prefix(start).is_some_and(|rest| rest.ends_with(end)))
}

/// The first bytes, as if each character had one.
fn start_of(body: &[u8]) -> Vec<u8> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let mut start = body[..body.len().min(START_BYTES)].to_vec();
    if is_wide(body) {
        start.retain(|byte| !matches!(byte, 0 | 0xfe | 0xff));
    }
    start
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
    fn the_header_names_the_format_and_the_first_bytes_do_when_there_is_none() {
        let check = |header, body: &str, kind| assert_eq!(ContentKind::of(header, body.as_bytes()), kind, "{header:?}");
        check(Some("Text/HTML; charset=utf-8"), "", ContentKind::Html);
        check(Some("application/rss+xml"), "", ContentKind::Xml);
        check(Some("application/ld+json"), "", ContentKind::Json);
        check(Some("text/markdown"), "<html>", ContentKind::Text);
        check(Some("image/svg+xml"), "<svg>", ContentKind::Html);
        check(Some("application/pdf"), "", ContentKind::Html);
        check(None, " \n<!doctype html>", ContentKind::Html);
        check(None, "<?xml version='1.0'?>", ContentKind::Xml);
        check(None, "<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0'>", ContentKind::Html);
        check(None, "{\"a\": 1}", ContentKind::Json);
        check(None, "a\0b", ContentKind::Opaque);
        check(None, "<\0p\0>\0x\0", ContentKind::Html);
        check(None, "hello", ContentKind::Text);
        check(Some("*/*"), "%PDF-1.7 \0", ContentKind::Html);
        check(Some("application/yaml"), "a: 1", ContentKind::Text);
        check(Some("application/zip"), "<html>", ContentKind::Opaque);
    }

    #[test]
    fn bodies_that_are_text_become_text() {
        for format in &FORMATS {
            let decoded = format.decode(b"caf\xe9", Some("text/plain; charset=windows-1252"));
            assert!(!format.is_text || decoded.is_some_and(|decoded| decoded.text == "café"), "{format:?}");
        }
    }
}
