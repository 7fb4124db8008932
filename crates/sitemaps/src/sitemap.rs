//! The content of a sitemap or feed.

use crate::dates::WrittenDate;
use serde::Serialize;

/// Most entries taken from one file: the protocol's limit for a sitemap.
pub const MAX_ENTRIES: usize = 50_000;
/// Most problems listed per file. Further ones are only counted.
const MAX_PROBLEMS: usize = 100;
/// Longest URL accepted, in bytes (the protocol's limit).
const MAX_URL_BYTES: usize = 2_048;

/// Format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SitemapKind {
    /// A sitemap, which lists pages.
    Urlset,
    /// A sitemap index, which lists sitemaps.
    Index,
    Rss,
    Atom,
    /// One URL per line.
    Text,
    JsonFeed,
}

/// A URL with its metadata.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SitemapEntry {
    /// The URL as written, with entities resolved.
    pub url: String,
    /// Time of the last change, in RFC 3339 and UTC. In a feed it is the time of the update, or else of the
    /// publication. A date without a time means its first second.
    pub last_modified: Option<String>,
    /// Length of what the date leaves open, in seconds: a day if it has no time.
    #[serde(skip)]
    pub last_modified_open_s: i64,
    /// Announced frequency of changes: `always`, `hourly`, `daily`, `weekly`, `monthly`, `yearly` or `never`.
    pub change_frequency: Option<String>,
    /// Weight relative to the site's other pages, 0 to 1.
    pub priority: Option<f64>,
    /// Whether it is a sitemap rather than a page.
    #[serde(skip)]
    pub is_sitemap: bool,
}

impl SitemapEntry {
    pub(crate) fn set_date(&mut self, date: Option<WrittenDate>) {
        self.last_modified_open_s = date.as_ref().map_or(0, |date| date.open_s);
        self.last_modified = date.map(|date| date.utc);
    }

    /// Time of the last change, in seconds since 1970.
    pub fn last_modified_s(&self) -> Option<i64> {
        Some(self.last_modified.as_deref()?.parse::<jiff::Timestamp>().ok()?.as_second())
    }
}

/// A parsed sitemap or feed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sitemap {
    /// Format of the file. `None` if it is unknown.
    pub kind: Option<SitemapKind>,
    /// The entries, in the file's order.
    pub entries: Vec<SitemapEntry>,
    /// Faults of the file, as text for people.
    pub problems: Vec<String>,
    /// Number of problems that are not listed.
    pub further_problems: usize,
}

impl Sitemap {
    pub(crate) fn problem(&mut self, problem: String) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        } else {
            self.further_problems += 1;
        }
    }

    /// Adds an entry, if there is room and its URL is not too long.
    pub(crate) fn push(&mut self, entry: SitemapEntry) {
        if entry.url.len() > MAX_URL_BYTES {
            self.problem(format!("a URL has {} bytes; at most {MAX_URL_BYTES} are allowed", entry.url.len()));
        } else if self.is_full() {
            self.problem(format!("more than {MAX_ENTRIES} entries"));
        } else {
            self.entries.push(entry);
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.entries.len() >= MAX_ENTRIES
    }
}
