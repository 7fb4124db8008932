//! What a sitemap or feed comes to.

use serde::Serialize;

/// The most entries taken from one file: what the protocol allows a sitemap.
pub const MAX_ENTRIES: usize = 50_000;
/// The most problems named of one file; more are only counted.
const MAX_PROBLEMS: usize = 100;
/// The longest address taken, in bytes (the protocol's limit).
const MAX_URL_BYTES: usize = 2_048;

/// What kind of file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A sitemap: pages.
    Urlset,
    /// An index: sitemaps.
    Index,
    /// RSS.
    Rss,
    /// Atom.
    Atom,
    /// An address a line.
    Text,
    /// A JSON feed.
    JsonFeed,
}

/// One address and what is said of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Entry {
    /// As written, entities resolved.
    pub url: String,
    /// When it last changed (in a feed, when it was updated or else published), RFC 3339 in UTC. A date without a time
    /// stands for its first second.
    pub last_modified: Option<String>,
    /// How often it is said to change: `always`, `hourly`, `daily`, `weekly`, `monthly`, `yearly` or `never`.
    pub change_frequency: Option<String>,
    /// Its weight among the site's pages, 0 to 1.
    pub priority: Option<f64>,
}

impl Entry {
    /// When it last changed, in seconds since 1970.
    pub fn last_modified_s(&self) -> Option<i64> {
        Some(self.last_modified.as_deref()?.parse::<jiff::Timestamp>().ok()?.as_second())
    }
}

/// A sitemap or feed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sitemap {
    /// What it is; `None` when it is nothing we know.
    pub kind: Option<Kind>,
    /// What it lists, in its order.
    pub entries: Vec<Entry>,
    /// What is wrong with it, for people.
    pub problems: Vec<String>,
    /// Problems beyond those named.
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

    /// Takes an entry with an address in, as far as there is room.
    pub(crate) fn push(&mut self, entry: Entry) {
        if entry.url.len() > MAX_URL_BYTES {
            self.problem(format!("an address has {} bytes, {MAX_URL_BYTES} are allowed", entry.url.len()));
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
