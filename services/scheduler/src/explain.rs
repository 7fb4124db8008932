//! Explains why a page is due or not, from a partition's tables, beside the running loop.

pub use frontier::explain::{Explanation, HintQuality, Hints, HostCap, RateRange, SweepHazard};

use crate::outlook::read;
use crate::state::{HOSTS, OUTLOOK, PAGES};
use frontier::{FrontierRules, ScheduledPage};
use page::{CanonicalUrl, HostName, Timestamp};
use stream::{TableError, TaskTables};
use sweeps::Outlook;

/// The tables could not be read.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ExplainError {
    /// A table failed.
    #[error(transparent)]
    Tables(#[from] TableError),
    /// A record in a table is damaged.
    #[error("{0}")]
    Record(String),
}

/// Explains the decision about a page. `price` is the last published one. Returns `None` when the page is not known.
///
/// # Errors
/// When the tables cannot be read.
pub fn explain(
    tables: &TaskTables,
    rules: &FrontierRules,
    url: &CanonicalUrl,
    price: Option<f64>,
    now: Timestamp,
) -> Result<Option<Explanation>, ExplainError> {
    let mut outlook = Outlook::default();
    tables.scan(OUTLOOK, b"", &mut |key, record| -> Result<(), ExplainError> {
        let changes = read(key, record).map_err(ExplainError::Record)?;
        outlook.apply(&changes).map_err(|error| ExplainError::Record(error.to_string()))
    })?;
    let schedule = tables.get(HOSTS, &HostName::of(url))?;
    let (site, mut pages) = (url.site_key(), Vec::new());
    // Most pages are of other sites: their addresses are read, and no more.
    let may_be_of_site =
        |encoded: &[u8]| ScheduledPage::address_in(encoded).is_none_or(|address| address.contains(site.as_str()));
    tables.scan_wanted(PAGES, b"", may_be_of_site, &mut |id, page| -> Result<(), ExplainError> {
        if page.url.site_key() == site {
            pages.push((id, page));
        }
        Ok(())
    })?;
    Ok(frontier::explain::explain(rules, url, outlook, &pages, schedule, price, now))
}
