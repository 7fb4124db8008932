//! The data to judge the crawl by.

use simweb::{ChangeTrace, LedgerEntry};

/// When pages changed, what was fetched, and how much each page counts.
#[derive(Clone, Debug)]
pub(super) struct Books {
    pub(super) judged: ChangeTrace,
    pub(super) ledger: Vec<LedgerEntry>,
    pub(super) weights: Vec<f64>,
}
