//! Guesses the media type of a body without a `content-type` from its first bytes, as browsers do (WHATWG MIME Sniffing
//! §7.1, without the parts that only browsers need).

/// Number of bytes examined.
const LOOKED_AT: usize = 1_445;

/// Prefixes matched without regard to case, after white space.
const MARKUP: [(&[u8], &str); 16] = [
    (b"<!doctype html", "text/html"),
    (b"<html", "text/html"),
    (b"<head", "text/html"),
    (b"<body", "text/html"),
    (b"<title", "text/html"),
    (b"<script", "text/html"),
    (b"<style", "text/html"),
    (b"<table", "text/html"),
    (b"<div", "text/html"),
    (b"<h1", "text/html"),
    (b"<br", "text/html"),
    (b"<p", "text/html"),
    (b"<a", "text/html"),
    (b"<!--", "text/html"),
    (b"<?xml", "text/xml"),
    (b"%pdf-", "application/pdf"),
];

const SIGNATURES: [(&[u8], &str); 10] = [
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF8", "image/gif"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"RIFF", "application/octet-stream"),
    (b"OggS\0", "application/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"PK\x03\x04", "application/zip"),
    (b"\xfe\xff", "text/plain"),
    (b"\xff\xfe", "text/plain"),
];

/// The likely media type of a body.
pub(crate) fn media_type(body: &[u8]) -> &'static str {
    let start = &body[..body.len().min(LOOKED_AT)];
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    let begins =
        |beginning: &[u8]| text.get(..beginning.len()).is_some_and(|text| text.eq_ignore_ascii_case(beginning));
    if let Some((_, found)) = MARKUP.iter().find(|(beginning, _)| begins(beginning)) {
        return found;
    }
    if let Some((_, found)) = SIGNATURES.iter().find(|(signature, _)| start.starts_with(signature)) {
        return found;
    }
    if start.iter().any(|&byte| is_binary(byte)) { "application/octet-stream" } else { "text/plain" }
}

/// Bytes that do not occur in text.
fn is_binary(byte: u8) -> bool {
    matches!(byte, 0..=8 | 11 | 14..=26 | 28..=31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_known_by_its_beginning() {
        let check = |body: &[u8], expected| assert_eq!(media_type(body), expected, "{body:?}");
        check(b"", "text/plain");
        check(b"  \r\n<!DOCTYPE HTML><p>x", "text/html");
        check(b"\xef\xbb\xbf<p>x", "text/html");
        check(b"<?xml version=\"1.0\"?><rss/>", "text/xml");
        check(b"%PDF-1.7\n\xe2\xe3", "application/pdf");
        check(b"\x89PNG\r\n\x1a\n\0\0", "image/png");
        check(b"PK\x03\x04\0\0", "application/zip");
        check(b"plain words, tr\xe8s simple", "text/plain");
        check(b"\xff\xfeh\0i\0", "text/plain");
        check(b"\x7fELF\x02\x01", "application/octet-stream");
        check(b"text and then\0", "application/octet-stream");
    }
}
