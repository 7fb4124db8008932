//! What does a site say of its own pages? Sitemaps and feeds, as hints of what is new and what changed.
//!
//! [`read`] takes whatever stands at such an address: a sitemap or an index of sitemaps (sitemaps.org protocol 0.9, with
//! the news extension), RSS 0.9 to 2.0, Atom (RFC 4287), a JSON feed (jsonfeed.org), or a list of addresses; gzipped or
//! not. It is read as written in the wild: what cannot be used is named as a problem, and the rest goes on.
//!
//! What a file says is evidence, never truth: who reads a hint learns how often it was right.
//!
//! This crate never fetches, never reads a clock, and never follows an index to its sitemaps. Memory is bounded by
//! [`MAX_BYTES`] and [`MAX_ENTRIES`].

mod dates;
mod json;
mod list;
mod sitemap;
mod unpack;
mod xml;

pub use crate::sitemap::{Entry, Kind, MAX_ENTRIES, Sitemap};
pub use crate::unpack::MAX_BYTES;

/// Reads a sitemap or feed. Never fails: bytes that are none have no entries and a problem that says why.
///
/// ```
/// let file = b"<urlset><url><loc>https://a.test/1</loc><lastmod>2026-11-21</lastmod></url></urlset>";
/// let sitemap = sitemaps::read(file);
/// assert_eq!(sitemap.kind, Some(sitemaps::Kind::Urlset));
/// assert_eq!(sitemap.entries[0].url, "https://a.test/1");
/// assert_eq!(sitemap.entries[0].last_modified.as_deref(), Some("2026-11-21T00:00:00Z"));
/// ```
pub fn read(bytes: &[u8]) -> Sitemap {
    let mut sitemap = Sitemap::default();
    let text = unpack::text(bytes, &mut sitemap);
    match text.trim_start().bytes().next() {
        None => sitemap.problem("the file is empty".to_owned()),
        Some(b'<') => xml::read(&text, &mut sitemap),
        Some(b'{' | b'[') => json::read(&text, &mut sitemap),
        Some(_) => list::read(&text, &mut sitemap),
    }
    sitemap
}
