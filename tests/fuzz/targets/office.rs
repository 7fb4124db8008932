//! Office documents and books of any bytes.
#![no_main]

use document::Body;
use libfuzzer_sys::fuzz_target;

/// Bounds of `crates/document/src/office`, with room for what stands around a document's text.
const MAX_HTML_BYTES: usize = 5 << 20;

fuzz_target!(|file: &[u8]| {
    let body = Body::new(file, Some("application/epub+zip"), None);
    let blocks = body.blocks();
    assert_eq!(blocks.is_opaque, body.html().is_none());
    assert!(body.html().is_none_or(|html| html.len() <= MAX_HTML_BYTES && html.contains("<main>")));
    assert_eq!(body.text(), document::extract(Some("application/epub+zip"), file));
});
