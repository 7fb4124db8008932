//! Converts bytes to text: gzip, then the character encoding.

use crate::sitemap::Sitemap;
use encoding_rs::{Encoding, UTF_8};
use flate2::read::MultiGzDecoder;
use std::borrow::Cow;
use std::io::Read;

/// Most bytes read of an unpacked file: the protocol's limit for a sitemap (50 MiB).
pub const MAX_BYTES: usize = 50 << 20;
/// The XML declaration with the encoding is within these first bytes.
const DECLARATION_BYTES: usize = 256;

pub(crate) fn text<'a>(bytes: &'a [u8], sitemap: &mut Sitemap) -> Cow<'a, str> {
    let bytes = if bytes.starts_with(b"\x1f\x8b") { Cow::Owned(gunzip(bytes, sitemap)) } else { Cow::Borrowed(bytes) };
    let (encoding, mark) = match Encoding::for_bom(&bytes) {
        Some(known) => known,
        None => (declared(&bytes).unwrap_or(UTF_8), 0),
    };
    let end = bytes.len().min(MAX_BYTES);
    if end < bytes.len() {
        sitemap.problem(format!("longer than {MAX_BYTES} bytes; the rest is ignored"));
    }
    let decode = |bytes: &[u8]| encoding.decode_without_bom_handling(&bytes[mark..end]).0.into_owned();
    match bytes {
        Cow::Borrowed(bytes) => encoding.decode_without_bom_handling(&bytes[mark..end]).0,
        Cow::Owned(bytes) => Cow::Owned(decode(&bytes)),
    }
}

/// Unpacks one byte more than the limit, so that a larger file is noticed without unpacking all of it.
fn gunzip(bytes: &[u8], sitemap: &mut Sitemap) -> Vec<u8> {
    let mut unpacked = Vec::new();
    if let Err(error) = MultiGzDecoder::new(bytes).take(MAX_BYTES as u64 + 1).read_to_end(&mut unpacked) {
        sitemap.problem(format!("gzip: {error}"));
    }
    unpacked
}

/// The encoding named in the XML declaration.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(DECLARATION_BYTES)];
    let head = head.trim_ascii_start().strip_prefix(b"<?xml")?;
    let head = std::str::from_utf8(&head[..head.windows(2).position(|pair| pair == b"?>")?]).ok()?;
    let label = head.split_once("encoding")?.1.trim_start().strip_prefix('=')?.trim_start();
    let quote = label.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    Encoding::for_label(label[1..].split(quote).next()?.as_bytes())
}
