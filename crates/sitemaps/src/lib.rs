//! Reads sitemaps and feeds, which are hints of new and changed pages.
//!
//! [`read`] accepts a sitemap or a sitemap index (sitemaps.org protocol 0.9, with the news extension), RSS 0.9 to 2.0,
//! Atom (RFC 4287), a JSON feed (jsonfeed.org), or a list of URLs, gzipped or not. The parser is lenient: it reports
//! unusable parts as problems and reads the rest.
//!
//! The content is evidence, not truth. The users of hints learn how often they are right.
//!
//! This crate never fetches, never reads a clock, and never follows an index to its sitemaps. [`MAX_BYTES`] and
//! [`MAX_ENTRIES`] bound its memory.

mod bases;
mod dates;
mod json;
mod list;
mod loose_dates;
mod sitemap;
mod unpack;
mod xml;

use page::CanonicalUrl;

pub use crate::sitemap::{MAX_ENTRIES, Sitemap, SitemapEntry, SitemapKind};
pub use crate::unpack::MAX_BYTES;

/// A date in any form of the protocols: its first second since 1970, and the seconds that it leaves open (a day if it has no
/// time). `None` for an invalid date.
pub fn date(written: &str) -> Option<(i64, i64)> {
    let date = dates::read(written)?;
    Some((date.utc.parse::<jiff::Timestamp>().ok()?.as_second(), date.open_s))
}

/// Reads a sitemap or feed. Never fails: other files have no entries, and a problem that says why.
///
/// ```
/// let file = b"<urlset><url><loc>https://a.test/1</loc><lastmod>2026-11-21</lastmod></url></urlset>";
/// let sitemap = sitemaps::read(file);
/// assert_eq!(sitemap.kind, Some(sitemaps::SitemapKind::Urlset));
/// assert_eq!(sitemap.entries[0].url, "https://a.test/1");
/// assert_eq!(sitemap.entries[0].last_modified.as_deref(), Some("2026-11-21T00:00:00Z"));
/// ```
pub fn read(bytes: &[u8]) -> Sitemap {
    read_at(bytes, None)
}

/// Reads a sitemap or feed that was fetched from this address, to which `xml:base` may be relative. Where the file has a base,
/// the addresses of entries are resolved against it; otherwise they are as written.
pub fn read_at(bytes: &[u8], address: Option<&CanonicalUrl>) -> Sitemap {
    let mut sitemap = Sitemap::default();
    let text = unpack::text(bytes, &mut sitemap);
    match text.trim_start().bytes().next() {
        None => sitemap.problem("the file is empty".to_owned()),
        Some(b'<') => xml::read(&text, address, &mut sitemap),
        Some(b'{' | b'[') => json::read(&text, &mut sitemap),
        Some(_) => list::read(&text, &mut sitemap),
    }
    sitemap
}
