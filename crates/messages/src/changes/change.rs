//! The product: changes of pages.

use crate::{Digest, Verdict};
use page::{CanonicalUrl, PageId, Timestamp};
use serde::{Deserialize, Serialize};

/// The product: a page is new, changed, gone or back, leads elsewhere, something else is served in its place, or a seed
/// cannot be fetched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageChange {
    /// Identical for every delivery of this change: topic-partition-offset-index of its cause.
    pub change_id: String,
    /// Id of the page. Also the record key.
    pub page_id: PageId,
    pub url: CanonicalUrl,
    /// Kind of change: the page is new, changed, missing, gone or back.
    pub verdict: Verdict,
    /// Share of the meaningful content that changed, 0 to 1.
    pub magnitude: f64,
    /// Time of the fetch that saw the change.
    pub seen_at: Timestamp,
    /// Time of the fetch before. The change happened between the two.
    pub previous_seen_at: Option<Timestamp>,
    /// HTTP status of the last response.
    pub status: Option<u16>,
    pub content_digest: Option<Digest>,
    /// Texts that are new, each cut around the difference.
    pub added: Vec<String>,
    /// Texts that were removed, each cut around the difference.
    pub removed: Vec<String>,
    /// Targets of links that are new.
    pub links_added: Vec<String>,
    /// Targets of links that were removed.
    pub links_removed: Vec<String>,
    /// Added and removed texts in pairs, in page order.
    pub changes: Vec<ChangedUnit>,
    /// Number of pieces of the page that differ and did not count.
    pub passed_over: i32,
    /// Number of pieces that counted and are not listed.
    pub left_out: i32,
    /// Whether the text of the page's main part changed.
    pub content_changed: bool,
    /// Whether the links of its main part changed.
    pub links_changed: bool,
    /// Whether something outside its main part changed, or something that changes by itself.
    pub structure_changed: bool,
    /// Whether another page of the host changed in mostly the same words within the day before.
    pub host_event: bool,
    /// Whether changes of this page usually persist until the next fetch.
    pub changes_last: bool,
    /// Name or number of the watch rule of the page.
    pub rule: Option<String>,
    /// The triggers of the rule that fired, as written.
    pub triggers: Vec<String>,
    /// The parts that the rule watches and that this version does not have, as written.
    pub not_found: Vec<String>,
    /// The page's title, if it has one.
    pub title: Option<String>,
    /// The values of the rule that differ from those last seen.
    pub values: Vec<WatchedValue>,
    /// The parts and triggers of the rule that see nothing since this look, as written.
    pub lost: Vec<String>,
    /// Those that see something again.
    pub found_again: Vec<String>,
    /// The other page that redirects of this one lead to.
    pub leads_to: Option<String>,
    /// The kind of text served in the page's place: `empty`, `maintenance`, `consent`, `login`, `error` or `other_page`.
    pub looks_like: Option<String>,
    /// Why the first request for a seed brought no page: the name of the kind of answer, such as `dns_failed`.
    pub failure: Option<String>,
    /// The owner's preferences on the use of the page, each with the statement that decides: `train-ai=n@content-usage`.
    pub preferences: Vec<String>,
}

impl PageChange {
    /// A change that lists nothing.
    pub fn bare(change_id: String, url: CanonicalUrl, verdict: Verdict, seen_at: Timestamp) -> Self {
        Self {
            change_id,
            page_id: url.page_id(),
            url,
            verdict,
            magnitude: 0.0,
            seen_at,
            previous_seen_at: None,
            status: None,
            content_digest: None,
            added: Vec::new(),
            removed: Vec::new(),
            links_added: Vec::new(),
            links_removed: Vec::new(),
            changes: Vec::new(),
            passed_over: 0,
            left_out: 0,
            content_changed: false,
            links_changed: false,
            structure_changed: false,
            host_event: false,
            changes_last: true,
            rule: None,
            triggers: Vec::new(),
            not_found: Vec::new(),
            title: None,
            values: Vec::new(),
            lost: Vec::new(),
            found_again: Vec::new(),
            leads_to: None,
            looks_like: None,
            failure: None,
            preferences: Vec::new(),
        }
    }
}

/// A value that a watch rule watches, before and after a change. Each side is a number or a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WatchedValue {
    /// The fact, the subject of a trigger, or the watched part, as the rule writes it.
    pub watch: String,
    pub number_before: Option<f64>,
    pub number_after: Option<f64>,
    pub text_before: Option<String>,
    pub text_after: Option<String>,
    /// The code or sign of the currency, or `%`.
    pub unit: Option<String>,
}

/// A piece of a page that changed: a text, or the target of a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedUnit {
    /// The text or target before the change. `None`: it is new.
    pub before: Option<String>,
    /// The text or target after the change. `None`: it is gone.
    pub after: Option<String>,
    /// Its row, the text that the link is in, or the heading above it.
    #[serde(rename = "where")]
    pub place: String,
}
