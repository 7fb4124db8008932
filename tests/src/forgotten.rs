//! Traces of a page that an operator has forgotten.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

use detector::PageSketch;
use messages::Encoded;
use page::CanonicalUrl;

/// Stands in the text of [`PAGE`] only.
pub const MARK: &str = "Kaltenbrunnersdorf";
/// The page that is forgotten.
pub const PAGE: &str = "http://www.leaf.test/3";
/// Pages of the site.
pub const PAGES: usize = 6;

/// Content-Type and body for a path of a site whose front page links to five others. One of them has the mark, and all link
/// back.
pub fn site(path: &str) -> (&'static str, String) {
    let links: String = (1..PAGES).map(|number| format!("<a href=\"/{number}\">page {number}</a> ")).collect();
    let mark = if path == "/3" { MARK } else { "" };
    let body = format!(
        "<title>Page {path}</title><main><h1>Page {path}</h1><p>These are the words of page {path} {mark}.</p>{links}</main>"
    );
    match path {
        "/robots.txt" => ("text/plain", "User-agent: *\nAllow: /\n".to_owned()),
        _ => ("text/html", body),
    }
}

/// Whether the mark is somewhere in the bytes.
pub fn has_mark(bytes: &[u8]) -> bool {
    bytes.windows(MARK.len()).any(|window| window == MARK.as_bytes())
}

/// Whether an entry of a stage's table is about the page, by its id in the key or the mark in the value. Two facts may stay,
/// as they reveal no content: that the page is not wanted, and the number of its last request.
pub fn is_trace(stage: &str, table: &str, key: &[u8], value: &[u8]) -> bool {
    let id = CanonicalUrl::parse(PAGE).unwrap().page_id();
    let is_about = key.windows(id.0.len()).any(|window| window == id.0) || has_mark(value);
    let is_denial = match (stage, table) {
        ("scheduler", "forgotten") => true,
        ("detector", "pages") => PageSketch::decode(value).is_ok_and(|sketch| {
            let PageSketch { attempt, forgotten_at, .. } = sketch;
            sketch == PageSketch { attempt, forgotten_at, forgotten: true, ..PageSketch::default() }
        }),
        _ => false,
    };
    is_about && !is_denial
}
